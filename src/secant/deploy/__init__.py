"""Deployment: export models, and score tables and folders of tables."""
