"""The guide to several devices and hosts, run as written; its script by two processes."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.docs.guides import GUIDES, run, text_of

import secant
from secant import samples

RESULTS = GUIDES.parents[1] / "benchmarks/results"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The names that the blocks define, and their output."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        return run("several-devices.md")


def operations(width, batch, d, depth=2, order=12):
    return 2 * batch * (4 * d * width + 6 * depth * width**2 + 6 * width * order)


def test_the_table_is_what_the_block_prints(page):
    shown = re.search(r"```text\n(.*?)```", text_of("several-devices.md"), re.DOTALL)[1]
    printed = "".join(f"{name:<40}{value:10.3g}\n" for name, value in page["cost"].items())
    assert shown == printed


def test_the_rate_of_two_cores_is_the_measured_one(page):
    lines = (RESULTS / "performance-step.jsonl").read_text(encoding="utf-8").splitlines()
    row = next(
        r
        for r in map(json.loads, lines)
        if (r["width"], r["batch"], r["n_features"]) == (512, 512, 63)
    )
    rate = operations(row["width"], row["batch"], row["n_features"]) / (1e-3 * row["step_ms"])
    assert page["two_cores"] == pytest.approx(rate, rel=0.01)
    assert f"take {row['bare_over_step']:.2f} of its time" in text_of("several-devices.md")
    assert page["step"] == operations(page["w"], page["B"], page["d"])


def test_what_is_subsampled():
    text = text_of("several-devices.md")
    rows = {
        "scaling": samples._ROWS_FOR_SCALING,
        "mixtures for the anchor": samples._ROWS_IN_HAND,
        "drift column by column": samples._ROWS_AS_THEY_CAME,
    }
    for name, number in rows.items():
        assert f"| {name} | {number:,} |" in text
    assert f"`validation_rows` = {secant.Training().validation_rows:,}" in text


def shards(folder, process):
    """Parquet files of a host: x_0 in order, x_1 in reverse, so that none looks like the whole."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name, sign, shift in (("a", 1, 0.0), ("b", -1, 0.8)):
        rows = rng.normal(shift, 1.0, (4000, 2))
        own = np.array_split(rows[np.argsort(sign * rows.sum(1))], 2)[process]
        for i, part in enumerate(np.array_split(own, 3)):
            pq.write_table(
                pa.table({"u": part[:, 0], "v": part[:, 1]}), folder / f"{name}-{i}.parquet"
            )


@pytest.mark.slow
def test_the_script_run_by_two_processes(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        re.search(
            r'```python title="train.py"\n(.*?)```', text_of("several-devices.md"), re.DOTALL
        )[1]
    )
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{door.getsockname()[1]}"
    hosts, model = [], tmp_path / "model.secant"
    for process in range(2):
        folder = tmp_path / f"host-{process}"
        shards(folder, process)
        words = [str(process), "2", address, str(folder), str(model)]
        hosts.append(
            subprocess.Popen([sys.executable, script, *words], stderr=subprocess.PIPE, text=True)
        )
    said = [host.communicate(timeout=600)[1] for host in hosts]
    assert [host.returncode for host in hosts] == [0, 0], "\n".join(said)
    assert sorted(p.name for p in Path(tmp_path / "host-1").glob("*.npy")) == ["a.npy", "b.npy"]
    rows = np.random.default_rng(1).normal(0.4, 1.0, (500, 2))
    error = secant.load(model).log_ratio(rows) - (0.8 * rows.sum(1) - 0.64)
    assert np.sqrt(np.mean(error**2)) < 0.4  # a host alone would be wrong by several nats
