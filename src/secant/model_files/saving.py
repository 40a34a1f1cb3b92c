"""Save fitted estimators to `.secant` files, which hold no code, and load them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from secant._host.atomic_files import cause_in_words, write_atomically
from secant._host.provenance import versions
from secant.model_files.container import Contents, packed, read, read_header, unpacked
from secant.model_files.decoder import decoded
from secant.model_files.encoder import FORMAT, encoded
from secant.model_files.errors import ModelFileError, escaped
from secant.model_files.strict_json import JSON, parsed_json, written

__all__ = ["FORMAT", "ModelFileError", "Savable", "load", "read_metadata", "save"]


def save(
    estimator: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, JSON] | None = None,
) -> None:
    """Write a fitted estimator to one file, atomically.

    Args:
        estimator: a fitted estimator of secant, without custom parts.
        path: of the file, usually with extension `.secant`. An older file is replaced.
        metadata: any JSON value, for `read_metadata`.

    Raises:
        ModelFileError: a part of the estimator cannot be saved, or the file cannot be written; an
            older file is then unchanged.
    """
    _check_fitted(estimator)
    raw = _packed_estimator(estimator, _checked_metadata(metadata or {}))
    try:
        write_atomically(Path(path), raw)
    except OSError as error:
        raise ModelFileError(f"cannot save to {path}: {cause_in_words(error)}.") from error


def load(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401
    """The estimator in a file that `save` wrote, by this version of secant or an older one.

    Its answers are bit-identical to those of the saved estimator. No code in the file is run, so
    untrusted files can be loaded; the answers of an untrusted model remain untrusted.

    Raises:
        ModelFileError: the file is damaged, not a model file, or of a later version.

    Examples:
        >>> import numpy as np, secant, tempfile
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2))
        >>> ratio = secant.KernelRatio(random_state=0).fit_samples(x_0, x_1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ratio.save(f"{folder}/model.secant")
        ...     loaded = secant.load(f"{folder}/model.secant")
        >>> bool((loaded.log_ratio(x_1) == ratio.log_ratio(x_1)).all())
        True
    """
    try:
        return _estimator(read(Path(path)))
    except ModelFileError as error:
        raise ModelFileError(f"cannot load {path}: {error}") from error.__cause__


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The metadata passed to `save`, without loading the estimator."""
    try:
        header = read_header(Path(path))
        _check_header(header)
    except ModelFileError as error:
        raise ModelFileError(f"cannot read {path}: {error}") from error.__cause__
    return dict(header["metadata"])


class Savable:
    """Estimators that can be written to a file."""

    def save(
        self, path: str | os.PathLike[str], *, metadata: Mapping[str, JSON] | None = None
    ) -> None:
        """Write the fitted estimator to a `.secant` file, for `secant.load`.

        Custom parts, such as a base or a classifier, cannot be saved.

        Args:
            path: of the file; an older file is replaced atomically.
            metadata: any JSON value, for `secant.model_files.read_metadata`.
        """
        assert isinstance(self, BaseEstimator)
        save(self, path, metadata=metadata)


def _packed_estimator(estimator: BaseEstimator, metadata: dict[str, JSON]) -> bytearray:
    """The bytes of a file, after a check that they load."""
    name = f"this {type(estimator).__name__}"
    parts = encoded(estimator, name)
    header = {
        "format": FORMAT,
        "versions": versions(),
        "metadata": metadata,
        "estimator": parts.tree,
    }
    raw = packed(Contents(header, parts.tensors))
    try:
        _estimator(unpacked(raw))
    except ModelFileError as error:
        raise ModelFileError(f"a file of {name} would not load: {error}") from None
    return raw


def _estimator(contents: Contents) -> Any:  # noqa: ANN401
    _check_header(contents.header)
    header = contents.header
    found = decoded(header["estimator"], contents.tensors, version=header["format"])
    if not isinstance(found, BaseEstimator):
        raise ModelFileError(f"it holds a {type(found).__name__}, not an estimator.")
    return found


def _check_header(header: dict[str, Any]) -> None:
    version = header.get("format")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"its format is {escaped(version)}, which is unknown.")
    if version > FORMAT:
        versions = header.get("versions")
        by = versions.get("secant") if isinstance(versions, dict) else None
        raise ModelFileError(
            f"it is of format {version}, written by secant {escaped(by)}; this secant reads "
            f"formats up to {FORMAT}. Install that version of secant, or a later one."
        )
    if set(header) != {"format", "versions", "metadata", "estimator"}:
        raise ModelFileError(f"its header has parts {escaped(sorted(header))}.")
    if not isinstance(header["metadata"], dict):
        raise ModelFileError("its metadata is no dictionary.")


def _check_fitted(estimator: BaseEstimator) -> None:
    if hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    elif not any(name.endswith("_") for name in vars(estimator)):
        raise NotFittedError(f"{type(estimator).__name__} is not fitted: there is nothing to save.")


def _checked_metadata(metadata: Mapping[str, JSON]) -> dict[str, JSON]:
    plain = dict(metadata)
    try:
        is_kept = parsed_json(written(plain)) == plain
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"`metadata` must be what JSON can hold: {error}.") from None
    if not is_kept:
        raise ModelFileError("`metadata` must be what JSON can hold: keys are texts, no tuples.")
    return plain
