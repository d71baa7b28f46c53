from __future__ import annotations

import json
import sys

import pytest

from tests.support.processes import run_process

HEAVY = ("click", "flax", "libcst", "mypy", "orbax", "rich", "treescope", "typed_nnx_codegen")


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after the statement."""
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = run_process([sys.executable, "-c", program], check=True)
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.thorough
def test_importing_the_package_loads_no_tool_and_no_oracle() -> None:
    assert not modules_after("import typed_nnx") & set(HEAVY)


@pytest.mark.parametrize("package", ["typed_nnx_mypy", "typed_nnx_codegen.cli"])
def test_importing_a_tool_loads_neither_jax_nor_the_runtime(package: str) -> None:
    assert not modules_after(f"import {package}") & {"jax", "flax", "numpy", "typed_nnx"}
