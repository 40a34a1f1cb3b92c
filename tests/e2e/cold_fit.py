"""A default fit in a fresh process: compiled programs, and files of secant that run.

Run by test_cold_fit.py, without JAX's cache. Prints one JSON object.
"""

import json
import logging
import sys
from pathlib import Path


class Compiled(logging.Handler):
    """The names of programs as they are compiled."""

    def __init__(self):
        super().__init__()
        self.names = []

    def emit(self, record):
        message = record.getMessage()
        if message.startswith("Finished XLA compilation of "):
            self.names.append(message.split()[4])


def main():
    import jax
    import numpy as np

    import secant

    root, seen = Path(secant.__file__).parent, set()

    def profile(frame, event, _):
        if event == "call":
            seen.add(frame.f_code.co_filename)

    compiled = Compiled()
    for name in ("jax._src.dispatch", "jax._src.interpreters.pxla"):
        logger = logging.getLogger(name)
        logger.addHandler(compiled)
        logger.propagate = False
    jax.config.update("jax_log_compiles", val=True)
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(1000, 3)), 0.5 + rng.normal(size=(1000, 3))
    # The default but for the number of steps, which is no part of a program.
    training = secant.Training(steps=60, batch_size=256)
    ratio = secant.SecantRatio(training=training, random_state=0)
    sys.setprofile(profile)
    ratio.fit_samples(x_0, x_1)
    sys.setprofile(None)
    ratio.log_ratio(x_1)
    files = sorted(str(Path(f).relative_to(root)) for f in seen if f.startswith(str(root)))
    print(json.dumps({"programs": compiled.names, "files": files}))


if __name__ == "__main__":
    main()
