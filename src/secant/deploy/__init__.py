"""Fitted models at work: exported, and scoring tables and folders of tables."""
