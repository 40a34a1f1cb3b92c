.DEFAULT_GOAL := help
.PHONY: help demo browser test test-slow fuzz lint format bench pages docs clean

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS  := $(VENV)/.installed-docs

# The first interpreter that is new enough; override with `make PYTHON=/path/to/python3.12 …`.
IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c '$(IS_NEW_ENOUGH)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

$(STAMP): pyproject.toml benchmarks/pyproject.toml constraints.txt
	@test -n "$(PYTHON)" && "$(PYTHON)" -c '$(IS_NEW_ENOUGH)' || { \
		echo "secant needs Python 3.11 or newer; '$(or $(PYTHON),python3)' is not." \
		     "Install one, or name it: make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[dev]" -e ./benchmarks
	@touch $@

demo: $(STAMP)  ## run the tour; its pages and figures land in demo-output/
	$(BIN)/secant demo --output demo-output

# Tests of pages need a browser; without one they are skipped.
browser:
	@for name in chromium chromium-browser google-chrome; do \
		command -v $$name >/dev/null 2>&1 && exit 0; done; scripts/install-chromium

# Most of the time of the tests is compilation: share compiled programs among processes and runs.
test test-slow: export JAX_COMPILATION_CACHE_DIR ?= $(CURDIR)/.pytest_cache/programs
test test-slow: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS ?= 0
test test-slow: export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES ?= 0

# Two processes share two cores, so each gets one BLAS thread.
test test-slow: export OMP_NUM_THREADS ?= 1

# Compile with few optimisations, because most programs run for a second. Tests that train for long use the
# fixture `optimised`; `make test-slow` compiles as users do.
test: export JAX_DISABLE_MOST_OPTIMIZATIONS ?= 1
test: export XLA_FLAGS ?= --xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=1 --xla_cpu_parallel_codegen_split_count=1
test: $(STAMP) browser  ## run the tests that take seconds, and name the slowest ten
	$(BIN)/python -m pytest -n 2 --dist loadscope --durations 10

# Killed processes, corrupted files and random input, one after the other: they print their counts.
COUNTED := tests/hostile tests/e2e/test_killed.py tests/e2e/test_any_input.py benchmarks/tests/unit/test_sweeps.py

test-slow: $(STAMP)  ## run the long tests only
	$(BIN)/python -m pytest -m slow -s $(COUNTED)
	$(BIN)/python -m pytest -m slow -n 2 --dist loadscope $(COUNTED:%=--ignore=%)

SECONDS_EACH ?= 60
fuzz: $(STAMP)  ## fuzz the readers of model files and configurations
	$(BIN)/python -m pip install -q -c constraints.txt "atheris>=3.0" || echo "atheris cannot be installed here." >&2
	$(BIN)/python -m tests.fuzz.fuzz_model_file -max_total_time=$(SECONDS_EACH) -max_len=20000
	$(BIN)/python -m tests.fuzz.fuzz_config -max_total_time=$(SECONDS_EACH)

lint: $(STAMP)  ## check style, types, import layers and security advisories
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/audit

format: $(STAMP)  ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## run the core benchmark suite
	$(BIN)/secant bench run core

pages: $(STAMP)  ## write the tables of results in docs/ and README.md from the committed rows
	$(BIN)/secant bench report --readme README.md

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[dev,docs]"
	@touch $@

# Pictures of the gallery, one per example, drawn again when the example changes.
GALLERY := $(patsubst examples/%.py,docs/figures/gallery/%.png,$(wildcard examples/*.py))

docs/figures/gallery/%.png: examples/%.py | $(STAMP)
	@mkdir -p $(@D)
	$(BIN)/python $< $@

docs: $(DOCS) $(GALLERY)  ## build the documentation into site/
	$(BIN)/python scripts/draw_imports.py
	$(BIN)/python scripts/build_docs.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build  # with --quiet, warnings would not count as errors
	$(BIN)/python scripts/build_docs.py --check

clean:  ## remove caches and outputs, keep the environment
	rm -rf build dist demo-output fuzz-findings site docs/figures/gallery .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis .coverage
	find src tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} +
