"""Internal helpers: files, processes, clusters, versions and escaping."""
