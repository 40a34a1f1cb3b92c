"""`python -m secant_bench` is `secant bench`."""

from secant.cli import app

if __name__ == "__main__":
    import sys

    app(["bench", *sys.argv[1:]])
