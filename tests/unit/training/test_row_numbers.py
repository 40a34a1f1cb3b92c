"""Rows that may be drawn, by their numbers."""

import numpy as np
import pytest

from secant.training.sources import AllBut


@pytest.mark.parametrize(
    "without", [[], [0], [9], [0, 1, 2], [7, 8, 9], [3], [2, 3, 6], list(range(9))]
)
def test_it_is_the_list_without_those(without):
    numbers = AllBut(10, np.array(without, dtype=np.int64))
    kept = np.setdiff1d(np.arange(10), without)
    assert numbers.size == kept.size
    np.testing.assert_array_equal(numbers[np.arange(numbers.size)], kept)


def test_places_may_have_any_shape_and_order():
    numbers = AllBut(6, np.array([1, 4]))
    np.testing.assert_array_equal(numbers[np.array([[3, 0], [2, 2]])], [[5, 0], [3, 3]])


def test_a_billion_rows_take_no_room():
    numbers = AllBut(10**9, np.array([5]))
    assert numbers[np.array([10**9 - 2])].tolist() == [10**9 - 1]
