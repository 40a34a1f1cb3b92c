"""What every curriculum must satisfy."""

import jax
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.registry import CURRICULA

pytestmark = [
    pytest.mark.usefixtures("unoptimised"),
    pytest.mark.parametrize("curriculum", CURRICULA.values(), ids=CURRICULA),
]

L, T = np.sort(np.random.default_rng(0).uniform(size=(2, 200)), axis=0).astype(np.float32)


@pytest.mark.parametrize("progress", [0.0, 0.3, 1.0])
def test_left_ends_move_towards_t_and_never_past_it(curriculum, progress):
    key = jax.random.key(0, impl="rbg")
    ends = np.asarray(filter_jit(curriculum.left_ends)(key, L, T, np.float32(progress)))
    ulp = np.spacing(np.float32(1.0))  # t − (t − l) is l up to float32 rounding
    assert (ends >= L - ulp).all()
    assert (ends <= T).all()
