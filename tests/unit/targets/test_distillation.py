"""Distillation (E1): a student regressed on a frozen teacher at the ends and along the path."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.laws.oracle import batch, oracle

from secant.paths import DiffusionBridge
from secant.targets import Distillation

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionBridge(gamma=0.5, epsilon=0.1)


def test_a_perfect_student_has_no_loss_and_no_slope():
    teacher = oracle(PATH)
    rows = batch(teacher, n=12)
    target = Distillation(teacher)

    def losses(theta):
        return target.losses(teacher.pushed(theta), PATH, rows)

    np.testing.assert_array_equal(eqx.filter_jit(losses)(np.zeros(5)), 0.0)
    np.testing.assert_array_equal(eqx.filter_jit(jax.jacfwd(losses))(np.zeros(5)), 0.0)


def test_rows_are_x_0_x_1_and_x_t_in_turn():
    teacher = oracle(PATH)
    student = teacher.pushed(np.array([0.0, 1.0, 0.0, 0.0, 0.0]))  # off by Σ_i x_i
    rows = batch(teacher, n=12)
    losses = eqx.filter_jit(lambda: Distillation(teacher).losses(student, PATH, rows))()
    x_t = eqx.filter_jit(PATH.point)(rows.x_0, rows.x_1, rows.z, rows.t).x_t
    turns = [np.asarray(x)[i::3] for i, x in enumerate((rows.x_0, rows.x_1, x_t))]
    for i, x in enumerate(turns):
        np.testing.assert_allclose(losses[i::3], x.sum(axis=1) ** 2, rtol=1e-9)


def test_the_teacher_gets_no_gradient():
    student = oracle(PATH)
    rows = batch(student, n=12)

    def loss(theta):
        return jnp.sum(Distillation(student.pushed(theta)).losses(student, PATH, rows))

    np.testing.assert_array_equal(eqx.filter_jit(jax.grad(loss))(np.full(5, 0.3)), 0.0)
    assert float(eqx.filter_jit(loss)(np.full(5, 0.3))) > 0


def test_time_range_is_the_path_s():
    assert Distillation(oracle(PATH)).time_range(PATH) == PATH.time_range
