"""Tables: read and written, and turned into numbers; import from the module that is used.

Nothing is re-exported here, so that the command line starts without the table library.
"""
