"""Files in and out: import from the module that is used.

Nothing is re-exported here, so that a model file is read without loading the table library.
"""
