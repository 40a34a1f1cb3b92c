"""Files in and out: tables, and fitted estimators as `.secant` files that hold no code.

Nothing is re-exported here, so that a model file is read without loading the table library.
"""
