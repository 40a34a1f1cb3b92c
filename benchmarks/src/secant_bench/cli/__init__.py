"""The commands that this package adds to `secant`: `bench` and `data`."""
