"""What goes in and out of files: fitted estimators as `.secant` files that hold no code."""
