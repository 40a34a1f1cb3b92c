"""What processes that train together tell each other; one by itself has only its own word."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from secant.training.devices import current_devices
from secant.training.fingerprints import first_difference

__all__ = [
    "agreed",
    "check_even",
    "common_fingerprint",
    "gathered",
    "highest",
    "pooled",
    "refuse_own_rows",
    "summed",
]

_UNEVEN = 0.01  # by which the processes' shares of the rows may differ


def gathered(array: np.ndarray) -> list[np.ndarray]:
    """An array of one shape and type, from every process."""
    if current_devices().processes == 1:
        return [array]
    from jax.experimental.multihost_utils import process_allgather

    # As bytes: JAX would make float32 of float64.
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    every = np.asarray(process_allgather(raw))
    return [one.copy().view(array.dtype).reshape(array.shape) for one in every]


def agreed(*numbers: float) -> list[float]:
    """The numbers of the first process, by which all decide alike."""
    found: list[float] = gathered(np.array(numbers, dtype=np.float64))[0].tolist()
    return found


def highest(number: int) -> int:
    """The highest that any process has."""
    return max(int(one) for one in gathered(np.array(number)))


def pooled(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "m d"]:
    """The rows of all processes where each has its own; else the rows as they came."""
    if not current_devices().own_rows:
        return rows
    counts = [int(n) for n in gathered(np.array(rows.shape[0]))]
    room = np.zeros((max(counts), rows.shape[1]))
    room[: rows.shape[0]] = rows
    return np.concatenate([x[:n] for x, n in zip(gathered(room), counts, strict=True)])


def summed(array: Float[np.ndarray, ...]) -> Float[np.ndarray, ...]:
    """The sum over processes where each has its own rows; else the array as it came."""
    return np.sum(gathered(array), axis=0) if current_devices().own_rows else array


def check_even(masses: Sequence[float], n_features: int) -> None:
    """Refuse own rows that the processes have unequally many of: batches take as many from each.

    Args:
        masses: for each sample, the number of rows of this process, or the sum of their weights.
        n_features: number of columns.

    Raises:
        ValueError: they differ by more than 1 % a device, or in their columns.
    """
    devices = current_devices()
    if not devices.own_rows:
        return
    every = np.array(gathered(np.array([n_features, *np.divide(masses, devices.share)])))
    if np.ptp(every[:, 0]):
        raise ValueError(
            "with own_rows, every process must bring rows of the same columns; got "
            f"{every[:, 0].astype(int).tolist()} columns."
        )
    for name, column in zip(("x_0", "x_1"), every.T[1:], strict=True):
        if np.ptp(column) > _UNEVEN * column.max():
            raise ValueError(
                f"with own_rows, processes must bring equal shares of {name}, to "
                f"{_UNEVEN:.0%}; got {_shares(column)}. Deal the files out anew, or cut the "
                "longer ones."
            )


def refuse_own_rows(estimator: object) -> None:
    """For estimators that train no network, and would fit the rows of one process only.

    Raises:
        ValueError: every process has rows of its own.
    """
    if current_devices().own_rows:
        raise ValueError(
            "with own_rows, estimators that train a network fit the rows of all processes; "
            f"{type(estimator).__name__} would fit those of one. Fit it outside data_parallel, on "
            "rows gathered in one place."
        )


def _shares(column: Float[np.ndarray, " processes"]) -> str:
    return ", ".join(f"{share:.1%}" for share in column / column.sum())


def common_fingerprint(own: dict[str, str]) -> dict[str, str]:
    """The digests of a training that several processes do together.

    Raises:
        ValueError: they are about to train different things.
    """
    devices = current_devices()
    if devices.processes == 1:
        return own
    raw = np.frombuffer(bytes.fromhex("".join(own.values())), dtype=np.uint8)
    every = [
        dict(zip(own, [part.tobytes().hex() for part in one.reshape(len(own), -1)], strict=True))
        for one in gathered(raw)
    ]
    if devices.own_rows:
        joined = hashlib.sha256("".join(one["data"] for one in every).encode()).hexdigest()
        every = [{**one, "data": joined} for one in every]
    for number, one in enumerate(every):
        difference = first_difference(one, every[0])
        if difference is not None:
            raise ValueError(
                "processes that train together must make the same fit; process "
                f"{number} came with {difference}. Give all the same rows, settings and "
                "`random_state`; for rows of their own, data_parallel(own_rows=True)."
            )
    return every[0]
