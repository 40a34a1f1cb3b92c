"""Fuzz target: bytes as a configuration file. `make fuzz` runs it."""

from pathlib import Path
from typing import get_type_hints

from secant.cli.config import ConfigError, checked, parsed_toml
from secant.training import Training

OPTIONS = {"seed": int, "quiet": bool, "columns": list[str] | None, "output": Path, "level": float}
TRAINING = get_type_hints(Training)
CORPUS = (
    b"seed = 1\nquiet = true\ncolumns = ['a', \"b*\"]\noutput = 'm.secant'\nlevel = 0.5\n",
    b"[training]\nsteps = 50\nlearning-rate = 1e-4\npatience = 'none'\n",
    b"training = {steps = 0x10, batch_size = 1_000}\nlevel = nan # a comment\n",
    b'columns = ["""\na\\u0041""", 1979-05-27T07:32:00Z, [[]], {a.b = inf}]\n[[a.b]]\n',
)


def target(data: bytes) -> None:
    """Accepted, or refused with a short message; anything else is a finding."""
    try:
        found = parsed_toml(data, "c.toml")
        table = found.pop("training", {})
        checked(found, OPTIONS, where="c.toml")
        if isinstance(table, dict):
            Training(**checked(table, TRAINING, where="c.toml, [training]"))
    except ConfigError as error:
        assert len(str(error)) < 500  # noqa: PT017
    except ValueError as error:  # of Training: a number out of its range
        assert str(error).startswith("Training needs")  # noqa: PT017


if __name__ == "__main__":
    from tests.fuzz.running import run

    run(target, CORPUS, ["secant.cli.config", "secant._host.toml_files", "tomllib"])
