"""Plumbing: files, processes, clusters, versions and escaping."""
