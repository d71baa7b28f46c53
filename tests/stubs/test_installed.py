"""The stubs count for both checkers where typed_nnx is installed from its wheel."""

from __future__ import annotations

import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.support.processes import run_process
from tests.support.type_checkers import CHECKERS, FOLDER, REPOSITORY, Checks

PROGRAM = """\
from typing import Any

import jax
import typed_nnx as nnx
from typing_extensions import assert_type

def loss(model: nnx.Linear, x: jax.Array) -> jax.Array:
    return model(x).sum()

def use(model: nnx.Linear, x: jax.Array) -> None:
    assert_type(nnx.FROM_WHEEL, int)
    grads = nnx.grad(loss)(model, x)
    assert_type(grads, nnx.State[Any, Any, nnx.Linear, type[nnx.Param[Any]]])
    nnx.grad(loss)(x, model)
    assert_type(grads, int)
"""
LINES = PROGRAM.count("\n")
WRONG = {LINES - 1, LINES}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel of the repository and the other packages of this one."""
    folder = tmp_path_factory.mktemp("installed")
    _run("hatchling", "build", "--target", "wheel", "--directory", str(folder))
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    names = {"base": str(environment), "platbase": str(environment)}
    packages = Path(sysconfig.get_path("purelib", vars=names))
    _run("pip", "install", "--no-deps", "--no-index", "--target", str(packages), str(wheel))
    with (packages / "typed_nnx" / "__init__.py").open("a", encoding="utf-8") as source:
        source.write("FROM_WHEEL: int = 1\n")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    scripts = Path(sysconfig.get_path("scripts", vars=names))
    return scripts / Path(sys.executable).name


def _run(module: str, *words: str) -> None:
    run_process([sys.executable, "-m", module, *words], cwd=REPOSITORY, timeout=900, check=True)


@pytest.mark.slow
def test_both_checkers_use_the_stubs_of_a_regular_install(python: Path) -> None:
    checks = Checks(folder=FOLDER.with_name("type_checks_of_wheel"), python=python)
    program = checks.write_module("program", PROGRAM)
    errors = checks.errors([program])
    found = {checker: {one.line for one in errors[checker]} for checker in CHECKERS}
    assert found == {"mypy": WRONG, "pyright": WRONG}, errors
