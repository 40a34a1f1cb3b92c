"""Tables: read, write and encode them; import from the modules.

Nothing is re-exported here, so that the command line starts without the table library.
"""
