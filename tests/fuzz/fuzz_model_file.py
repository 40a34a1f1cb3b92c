"""Fuzz target: bytes as a model file, as they are and with a valid checksum.

`make fuzz` runs it. Without a valid checksum, nearly every file would be refused at once.
"""

from pathlib import Path

from sklearn.base import BaseEstimator

from secant.model_files import ModelFileError
from secant.model_files.container import seal, unpacked
from secant.model_files.saving import _estimator

FOLDER = Path(__file__).parents[1] / "golden/models"
CORPUS = tuple(path.read_bytes() for path in sorted(FOLDER.glob("*.secant")))


def target(data: bytes) -> None:
    """An estimator, or a `ModelFileError` that is short; anything else is a finding."""
    with_checksum = bytearray(data)
    seal(with_checksum)
    for raw in (data, with_checksum):
        try:
            found = _estimator(unpacked(raw))
        except ModelFileError as error:
            assert len(str(error)) < 500  # noqa: PT017
        else:
            assert isinstance(found, BaseEstimator)


if __name__ == "__main__":
    from tests.fuzz.running import run

    run(target, CORPUS, ["secant.model_files", "json"])
