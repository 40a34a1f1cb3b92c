"""Nine two-dimensional distributions with exact density."""

from functools import cache

from secant.datasets.toys.curves import (
    circles,
    eight_gaussians,
    moons,
    rings,
    swissroll,
    two_spirals,
)
from secant.datasets.toys.shapes import checkerboard, pinwheel
from secant.datasets.toys.toy import Toy
from secant.datasets.toys.tree import tree

__all__ = ["Toy", "toys"]


@cache
def toys() -> tuple[Toy, ...]:
    """The nine distributions, with the scales and noise of papers on flows.

    Returns:
        swissroll, circles, rings, moons, 8gaussians, pinwheel, 2spirals, checkerboard and tree.

    Examples:
        >>> [toy.name for toy in toys()][:4]
        ['swissroll', 'circles', 'rings', 'moons']
    """
    return (
        swissroll(),
        circles(),
        rings(),
        moons(),
        eight_gaussians(),
        pinwheel(),
        two_spirals(),
        checkerboard(),
        tree(),
    )
