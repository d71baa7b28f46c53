# Every target works as the first command on a fresh machine with Python 3.11 or newer:
# it creates .venv, installs the project and its tools there, and runs.

VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.demo-installed
DOCS_STAMP := $(VENV)/.docs-installed
WORKERS ?= 2
VERSIONS := 3.11 3.12 3.13 3.14
# Run a second time in the mode that verifies each use of a cached record.
VERIFIED := tests/graph tests/fuzz
# Devices are the user's choice everywhere else; checks and tests mean the same on every machine.
export JAX_PLATFORMS ?= cpu
# Where it is set, each of many processes compiles all of jax's Python anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo fuzz test test-all test-lowest test-newest test-mypy peer-suite test-installs dist check lint types generated generate stubs format bench gpu docs docs-serve install clean

help:
	@echo "make demo      take a Linen project to typed_nnx: migrate, check, train, compare (about two minutes)"
	@echo "make test      the tests in a few minutes;  make test CASES=all  all but the slow ones, as in CI"
	@echo "make check     ruff, mypy, pyright; generated files are current, the documentation builds"
	@echo "make test-all  the test suite with its slow part, on every Python of: $(VERSIONS)"
	@echo "make fuzz N=10000  so many random programs, compared with a slow reference and with flax, and graphs"
	@echo "make dist      wheel and sdist in dist/, reproducible;  make test-installs  into empty environments"
	@echo "make test-lowest  the tests with the oldest versions of everything that pyproject.toml allows"
	@echo "make test-newest  the tests with the newest jax and flax, on a Python newer than 3.11"
	@echo "make test-mypy  the plugin with mypy's newest release;  MYPY=git+https://github.com/python/mypy  with its master"
	@echo "make peer-suite  flax's own tests of NNX, with typed_nnx as flax.nnx"
	@echo "make bench     the benchmarks: graph engine, transforms, training; the table of the README"
	@echo "make gpu       on a GPU or TPU: its tests, benchmarks and docs/gpu.md;  PYTHON=python3  instead of $(VENV)"
	@echo "make docs      the documentation in build/site;  make docs-serve  shows it in a browser"
	@echo "make stubs     write stubs/typed_nnx-stubs anew, which type checkers read"
	@echo "make format    let ruff rewrite what it can;  make generate  rewrite generated files"

install: $(STAMP)

# Made again when pyproject.toml changes. The stamp is written last, so a broken install is repeated. What is
# imported is compiled then; compiling all of it takes as long as unpacking it.
$(STAMP): pyproject.toml
	@test -x $(BIN)/python || "$$(.ci/find-python)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@touch $@

# A part of the above, which takes three quarters of the time.
$(DEMO_STAMP): pyproject.toml
	@test -x $(BIN)/python || "$$(.ci/find-python)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[demo]'
	@touch $@

$(DOCS_STAMP): pyproject.toml
	@test -x $(BIN)/python || "$$(.ci/find-python)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

# The documentation in build/site; a broken link or anchor fails.
docs: $(DOCS_STAMP)
	$(BIN)/python -m docs._site.build

docs-serve: $(DOCS_STAMP)
	$(BIN)/python -m docs._site.build --serve

# Each program runs for seconds: to optimise it fully takes longer.
demo: export XLA_FLAGS ?= --xla_backend_optimization_level=1
demo: $(or $(wildcard $(STAMP)),$(DEMO_STAMP))
	$(BIN)/python -m examples.linen_digits

# Without what is marked thorough: what takes seconds, most cases of tests with many. CI says CASES=all.
CASES ?= some
CHOSEN := $(if $(filter all,$(CASES)),not slow,not slow and not thorough)

test: $(STAMP)
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "$(CHOSEN)"
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "$(CHOSEN)" --typed-nnx-verify $(VERIFIED)

# What fails is cut down and saved in tests/fuzz/found.txt, which `make test` replays.
N ?= 1000

fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz $(N) --processes $(WORKERS)

test-all:
	@set -e; for version in $(VERSIONS); do \
	  if python="$$(.ci/find-python $$version 2>/dev/null)"; then \
	    echo "== Python $$version: $$python"; \
	    test -x .venv-$$version/bin/python || "$$python" -m venv .venv-$$version; \
	    $(MAKE) --no-print-directory VENV=.venv-$$version test-everything; \
	  else \
	    echo "== Python $$version: skipped, not on this machine"; \
	  fi; \
	done

.PHONY: test-everything
test-everything: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[checkers]'
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "slow or not slow"
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "slow or not slow" --typed-nnx-verify $(VERIFIED)

# The oldest versions that pyproject.toml allows, in an environment of their own.
LOWEST := .venv-lowest
LOWEST_TESTS := tests/core tests/graph tests/transforms tests/nn tests/training tests/summary \
  tests/mypy_plugin tests/codegen/sarif tests/codegen/model_stubs tests/codegen/migrate/test_*.py

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -q -n $(WORKERS) $(LOWEST_TESTS)

$(LOWEST)/.installed: pyproject.toml
	@test -x $(LOWEST)/bin/python || "$$(.ci/find-python 3.11)" -m venv $(LOWEST)
	@$(LOWEST)/bin/python .ci/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint $(LOWEST)/constraints.txt --editable '.[dev]'
	@touch $@

# The plugin with another mypy, in an environment of its own that is as new as can be. mypy checks the
# sources first: what it does not have any more is an error there, with its name and line.
MYPY ?= mypy
OTHER_MYPY := .venv-mypy

test-mypy: $(STAMP)
	@test -x $(OTHER_MYPY)/bin/python || $(BIN)/python -m venv $(OTHER_MYPY)
	$(OTHER_MYPY)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(OTHER_MYPY)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade '$(MYPY)'
	@$(OTHER_MYPY)/bin/mypy --version
	@status=0; $(OTHER_MYPY)/bin/mypy mypy_plugin codegen/typed_nnx_codegen/lint || status=1; \
	  $(OTHER_MYPY)/bin/python -m pytest -q -n $(WORKERS) tests/mypy_plugin tests/codegen/lint || status=1; \
	  exit $$status

# What does not depend on the release of flax that we compare with, on the newest jax, jaxlib and flax. jax wants
# a newer Python than 3.11 for its newest.
NEWEST := .venv-newest
NEWEST_TESTS := tests/core tests/graph tests/transforms tests/training tests/summary

test-newest:
	@test -x $(NEWEST)/bin/python || "$$(.ci/find-python 3.13 || .ci/find-python 3.12)" -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade jax jaxlib flax optax
	$(NEWEST)/bin/python -m pytest -q -n $(WORKERS) -m "$(CHOSEN)" $(NEWEST_TESTS)

# The NNX tests of flax's own release, from the package index, against the table of those that may fail.
peer-suite: $(STAMP)
	$(BIN)/python -m tests.peer.suite --workers $(WORKERS)

# Built three times, compared, checked; the same bytes on every machine.
dist: $(STAMP)
	@rm -rf dist
	$(BIN)/python .ci/dist.py

# Into empty environments, from the package index: a gigabyte and some minutes.
test-installs: dist
	$(BIN)/python .ci/clean_installs.py $(VERSIONS)

check: lint types generated docs-check

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP) $(DOCS_STAMP)
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m pytest -q -m slow tests/project/test_types_complete.py tests/stubs

generated: $(STAMP)
	$(BIN)/python -m typed_nnx_codegen.migrate.name_tables --check
	$(BIN)/python -m typed_nnx_codegen.migrate.rules_page --check
	$(BIN)/python -m typed_nnx_codegen.stubgen --check

.PHONY: docs-check
docs-check: $(STAMP) $(DOCS_STAMP)
	$(BIN)/python -m pytest -q -m slow tests/docs/test_built_site.py

generate: $(STAMP) stubs
	$(BIN)/python -m typed_nnx_codegen.migrate.name_tables --write
	$(BIN)/python -m typed_nnx_codegen.migrate.rules_page --write

stubs: $(STAMP)
	$(BIN)/python -m typed_nnx_codegen.stubgen --write

format: $(STAMP)
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format

bench: $(STAMP)
	$(BIN)/python -m benchmarks.graph
	$(BIN)/python -m benchmarks.dispatch
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.comparison

# On whatever accelerator jax finds. PYTHON is an interpreter whose jax knows it, with what the tests need.
PYTHON ?= $(BIN)/python
GPU_TESTS := tests/transforms/test_gpu.py tests/training/test_accelerator.py

gpu: export JAX_PLATFORMS := $(filter-out cpu,$(JAX_PLATFORMS))
gpu: export PYTHONPATH := src:codegen:$(PYTHONPATH)
gpu: $(if $(filter $(BIN)/python,$(PYTHON)),$(STAMP))
	$(PYTHON) -m pytest -q -m gpu $(GPU_TESTS)
	$(PYTHON) -m benchmarks.gpu --write

clean:
	rm -rf .venv .venv-* .peer-suite build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
