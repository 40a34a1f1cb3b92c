import os
import subprocess
import sys

import jax
import pytest

from secant import cli
from secant._host import jax_process as module
from secant._host.jax_process import folder_of_programs, set_environment

FIT = """
import numpy as np, secant
secant.keep_programs({folder!r})
rng = np.random.default_rng(0)
training = secant.Training(steps=2, batch_size=32, evaluate_every=1)
trunk = secant.models.ResidualMLP(width=8, depth=0)
ratio = secant.ClassifierRatio(trunk=trunk, training=training, random_state=0)
ratio.fit_samples(rng.normal(size=(200, 2)), rng.normal(0.5, 1.0, (200, 2)))
print(ratio.log_ratio(np.ones((1, 2)))[0])
"""


def fitted(folder):
    plain = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    done = subprocess.run(
        [sys.executable, "-c", FIT.format(folder=str(folder))],
        check=True,
        capture_output=True,
        text=True,
        env=plain,
    )
    return done.stdout


def programs(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*-cache")}


@pytest.mark.slow
def test_a_second_process_finds_the_programs_of_the_first(tmp_path):
    first = fitted(tmp_path)
    kept = programs(tmp_path)
    assert len(kept) > 3
    assert fitted(tmp_path) == first
    assert programs(tmp_path) == kept  # nothing was compiled again


def test_the_command_line_keeps_programs_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = {}
    set_environment(found)
    assert found["JAX_COMPILATION_CACHE_DIR"] == str(tmp_path / "secant" / "programs")
    assert folder_of_programs().is_dir()
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert folder_of_programs().parts[-3:] == (".cache", "secant", "programs")


@pytest.mark.parametrize("name", ["JAX_COMPILATION_CACHE_DIR"])
def test_what_the_user_has_set_stands(name):
    found = {name: "mine"}
    set_environment(found)
    assert found == {name: "mine"}


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path, monkeypatch):
    (tmp_path / "secant").write_text("a file in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = {}
    set_environment(found)
    assert found == {}


def test_the_oldest_programs_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "_MOST_PROGRAMS", 4)
    folder = folder_of_programs()
    folder.mkdir(parents=True)
    for age in range(5):
        path = folder / f"{age}-cache"
        path.write_text("program")
        os.utime(path, (1_000 - age, 1_000 - age))
        set_environment({})
    assert sorted(programs(folder)) == ["0-cache", "1-cache"]


@pytest.mark.parametrize(
    ("words", "kept"), [(["fit"], True), ([], True), (["bench", "run"], False)]
)
def test_benchmarks_compile_anew(tmp_path, monkeypatch, words, kept):
    monkeypatch.setattr(sys, "argv", ["secant", *words])
    monkeypatch.setattr(cli, "app", lambda: None)
    monkeypatch.setattr(os, "environ", {"XDG_CACHE_HOME": str(tmp_path)})
    cli.main()
    assert ("JAX_COMPILATION_CACHE_DIR" in os.environ) == kept


def test_programs_in_memory_are_let_go_before_they_are_too_many(tmp_path, monkeypatch):
    maps = tmp_path / "maps"
    monkeypatch.setattr(module, "_MAPS", maps)
    monkeypatch.setattr(module, "_MOST_MAPS", 2)
    compiled = jax.jit(lambda x: x + 1)
    compiled(1.0)
    for lines, left in (("a\nb\n", 1), ("a\nb\nc\n", 0)):
        maps.write_text(lines)
        module.forget_if_too_many()
        assert compiled._cache_size() == left


@pytest.mark.parametrize(
    ("name", "known"), [("xla_llvm_disable_expensive_passes", True), ("x", False)]
)
def test_options_that_xla_does_not_know_are_left_out(monkeypatch, name, known):
    monkeypatch.setattr(module, "_QUICK", name)
    module.quick_compilation.cache_clear()
    try:
        options = module.quick_compilation(1)
        assert options == ({"xla_backend_optimization_level": 1, name: False} if known else {})
        assert jax.jit(abs, compiler_options=options)(-2.0) == 2.0
    finally:
        module.quick_compilation.cache_clear()
