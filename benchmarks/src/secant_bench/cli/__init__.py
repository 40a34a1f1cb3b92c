"""Commands of `secant` that this package brings: `bench` and `data`."""
