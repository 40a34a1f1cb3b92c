"""Files appear whole, even if their writers are killed."""

import errno
import os
import random
import subprocess
import sys
import time

import pytest

from secant._host.atomic_files import check_writable, replacing, write_atomically

# Writes one file over and over, all zeros and all ones by turns, until it is killed.
WRITER = """
import sys
from secant._host.atomic_files import write_atomically
print("begins", flush=True)
for number in range(10**9):
    write_atomically(sys.argv[1], bytes([number % 2]) * 300_000)
"""


def killed_while_writing(path, seconds):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    with writer:
        writer.stdout.readline()
        time.sleep(seconds)
        writer.kill()


@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_a_kill_leaves_one_whole_file_and_few_leftovers(kills, tmp_path):
    rng, path = random.Random(0), tmp_path / "model"
    for _ in range(kills):
        killed_while_writing(path, rng.uniform(0.0, 0.05))
        found = path.read_bytes() if path.exists() else b""  # killed before the first was whole
        assert found in (b"", b"\0" * 300_000, b"\1" * 300_000)
        assert len(os.listdir(tmp_path)) <= 2  # the next writer took the earlier leftovers away
    write_atomically(path, b"new")
    assert os.listdir(tmp_path) == ["model"]


def test_leftovers_of_the_dead_go_and_parts_of_the_living_stay(tmp_path):
    left, other = tmp_path / ".model.012345.part", tmp_path / ".models.012345.part"
    left.touch()
    other.touch()
    with replacing(tmp_path / "model") as part:
        assert not left.exists()
        part.write_bytes(b"first")
        write_atomically(tmp_path / "model", b"second")
        assert part.read_bytes() == b"first"
        (tmp_path / "model").unlink()
    assert (tmp_path / "model").read_bytes() == b"first"
    assert sorted(os.listdir(tmp_path)) == [other.name, "model"]


def test_a_folder_is_tried_without_a_trace(tmp_path, monkeypatch):
    check_writable(tmp_path)
    with pytest.raises(FileNotFoundError):
        check_writable(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        check_writable(tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]
    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(OSError, match="Read-only"):
        check_writable(tmp_path)


def refused(path, *_):
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
