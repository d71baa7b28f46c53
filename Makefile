# Every target works as the first command on a fresh machine with Python 3.11 or newer:
# it creates .venv, installs the project and its tools there, and runs.

VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
VERSIONS := 3.11 3.12 3.13
# Run a second time in the mode that verifies each use of a cached record.
VERIFIED := tests/graph $(wildcard tests/transforms/test_equivalence_*.py)
# Devices are the user's choice everywhere else; checks and tests mean the same on every machine.
export JAX_PLATFORMS ?= cpu

.PHONY: help demo test test-all check lint types generated generate stubs format bench install clean

help:
	@echo "make demo      train two networks on real data, restore and test them (under two minutes)"
	@echo "make test      the test suite"
	@echo "make check     ruff, mypy, pyright, generated files are current"
	@echo "make test-all  the test suite with its slow part, on every Python of: $(VERSIONS)"
	@echo "make bench     the benchmarks of the graph engine, the transforms and training, against flax"
	@echo "make stubs     write stubs/typed_nnx-stubs anew, which type checkers read"
	@echo "make format    let ruff rewrite what it can;  make generate  rewrite generated files"

install: $(STAMP)

# Made again when pyproject.toml changes. The stamp is written last, so a broken install is repeated.
$(STAMP): pyproject.toml
	@test -x $(BIN)/python || "$$(.ci/find-python)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	$(BIN)/python -m examples.digits

test: $(STAMP)
	$(BIN)/python -m pytest -q -n $(WORKERS)
	TYPED_NNX_VERIFY=1 $(BIN)/python -m pytest -q -n $(WORKERS) $(VERIFIED)

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
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "slow or not slow"
	TYPED_NNX_VERIFY=1 $(BIN)/python -m pytest -q -n $(WORKERS) -m "slow or not slow" $(VERIFIED)

check: lint types generated

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP)
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m pytest -q -m slow tests/project/test_types_complete.py tests/stubs

generated: $(STAMP)
	$(BIN)/python -m typed_nnx_codegen.samplers --check
	$(BIN)/python -m typed_nnx_codegen.migrate.name_tables --check
	$(BIN)/python -m typed_nnx_codegen.migrate.rules_page --check
	$(BIN)/python -m typed_nnx_codegen.stubgen --check

generate: $(STAMP) stubs
	$(BIN)/python -m typed_nnx_codegen.samplers --write
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
	$(BIN)/python -m benchmarks.types

clean:
	rm -rf .venv .venv-3.* build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
