"""Pairs of dependent variables with known mutual information."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
from jaxtyping import Array, PRNGKeyArray

from secant.datasets.pair import Draw, Map, Pair

JointDraw = Callable[[PRNGKeyArray, int], tuple[Array, Array]]


@dataclass(frozen=True)
class DependentPair:
    """Variables x and y with a joint distribution whose mutual information is known exactly.

    `MI(x; y) = KL(p(x, y) ‖ p(x) p(y))`, in nats. The log ratio need not be known, so maps without
    a closed-form inverse are allowed: see `through`.

    Attributes:
        name: Identifier, unique among the pairs of a benchmark.
        dim_x: Number of columns of x.
        dim_y: Number of columns of y.
        sample: `(key, n) → (x, y)` of shapes (n, dim_x) and (n, dim_y), traceable by JAX with `n`
            static; row i of x goes with row i of y.
        mutual_information: The truth, in nats.

    Examples:
        >>> import jax
        >>> from secant.datasets import bmi_tasks
        >>> task = bmi_tasks()[0]
        >>> x, y = task.sample(jax.random.key(0), 100)
        >>> x.shape, y.shape, round(task.mutual_information, 4)
        ((100, 1), (100, 1), 0.4133)
    """

    name: str
    dim_x: int
    dim_y: int
    sample: JointDraw
    mutual_information: float

    @classmethod
    def from_pair(cls, pair: Pair, dim_x: int, *, name: str | None = None) -> "DependentPair":
        """The joint p_1 of a pair whose p_0 is the product of its margins: `MI = KL(p_1 ‖ p_0)`.

        Args:
            pair: With a known `kl`, such as those of `secant.datasets.dependence`.
            dim_x: How many of the first columns are x; the rest are y.
            name: Name of the new pair; that of `pair` by default.

        Returns:
            The variables x and y.

        Raises:
            ValueError: If `pair.kl` is unknown, or `dim_x` leaves x or y without columns.

        Examples:
            >>> from secant.datasets import additive_noise
            >>> round(DependentPair.from_pair(additive_noise(0.1), 1).mutual_information, 4)
            1.7094
        """
        if pair.kl is None:
            raise ValueError(f"`pair` must have a known `kl`; {pair.name} has none.")
        if not 1 <= dim_x < pair.n_features:
            raise ValueError(f"`dim_x` must lie in [1, {pair.n_features - 1}]; got {dim_x}.")
        return cls(
            name=pair.name if name is None else name,
            dim_x=dim_x,
            dim_y=pair.n_features - dim_x,
            sample=partial(_split, pair.draw_1, dim_x),
            mutual_information=pair.kl,
        )

    def through(self, map_x: Map, map_y: Map, name: str) -> "DependentPair":
        """The variables f(x) and g(y): `MI(f(x); g(y)) = MI(x; y)` where f and g are injective.

        Args:
            map_x: f, `(n, dim_x) → (n, m)`, injective row by row; m may exceed `dim_x`.
            map_y: g, likewise.
            name: Name of the new pair.

        Returns:
            The mapped variables, with the same truth.

        Examples:
            >>> import jax.numpy as jnp
            >>> from secant.datasets import bmi_tasks
            >>> bmi_tasks()[0].through(jnp.exp, jnp.negative, "mapped").dim_x
            1
        """
        return DependentPair(
            name=name,
            dim_x=_n_columns(map_x, self.dim_x),
            dim_y=_n_columns(map_y, self.dim_y),
            sample=partial(_mapped, self.sample, map_x, map_y),
            mutual_information=self.mutual_information,
        )


# Module-level functions bound with `partial`, unlike closures, can be pickled.


def _split(draw: Draw, dim_x: int, key: PRNGKeyArray, n: int) -> tuple[Array, Array]:
    """The first columns and the last."""
    rows = draw(key, n)
    return rows[:, :dim_x], rows[:, dim_x:]


def _mapped(
    sample: JointDraw, map_x: Map, map_y: Map, key: PRNGKeyArray, n: int
) -> tuple[Array, Array]:
    """(f(x), g(y))."""
    x, y = sample(key, n)
    return map_x(x), map_y(y)


def _n_columns(map_rows: Map, dim: int) -> int:
    """Columns of the image, without computing it."""
    return int(jax.eval_shape(map_rows, jax.ShapeDtypeStruct((1, dim), "float32")).shape[1])
