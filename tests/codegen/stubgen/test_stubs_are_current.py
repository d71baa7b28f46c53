"""The committed stub package is what the generator writes, on every Python and backend."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

from tests.support.processes import run_process
from typed_nnx_codegen.stubgen import __main__ as command
from typed_nnx_codegen.stubgen.overloads import Overloads


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """The files of the stub package, generated now."""
    return command.render()


@pytest.mark.thorough
def test_the_committed_stubs_are_what_the_generator_writes(files: dict[str, str]) -> None:
    assert command.stale(files) == [], f"Fix: {command.COMMAND}"


def test_the_package_declares_itself_partial() -> None:
    assert (command.TARGET / "py.typed").read_text(encoding="utf-8") == "partial\n"


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["cuda", "no_such_backend"])
def test_neither_jax_nor_the_backend_nor_the_hash_seed_takes_part(
    backend: str, tmp_path: Path, files: dict[str, str]
) -> None:
    program = (
        "import sys, pathlib\n"
        "from typed_nnx_codegen.stubgen import __main__ as command\n"
        "command.write(command.render(), pathlib.Path(sys.argv[1]))\n"
        "print([m for m in ('jax', 'typed_nnx', 'numpy') if m in sys.modules])\n"
    )
    environment = {**os.environ, "JAX_PLATFORMS": backend, "PYTHONHASHSEED": "7"}
    done = run_process([sys.executable, "-c", program, str(tmp_path)], env=environment, check=True)
    assert done.stdout.strip() == "[]"
    assert command.stale(files, tmp_path) == []


def test_writing_removes_what_is_no_longer_generated_and_writes_the_rest(tmp_path: Path) -> None:
    (tmp_path / "old.pyi").write_text("x: int\n", encoding="utf-8")
    files = {"py.typed": "partial\n", "deep/new.pyi": "y: int\n"}
    command.write(files, tmp_path)
    assert command.stale(files, tmp_path) == []
    assert not (tmp_path / "old.pyi").exists()


@pytest.mark.thorough
def test_check_refuses_a_changed_file_and_names_the_command(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = {**files, "py.typed": "whole\n"}
    monkeypatch.setattr(command, "render", lambda: changed)
    assert command.main(["--check"]) == 1
    assert "typed_nnx-stubs/py.typed is not current.\n  Fix: make stubs" in capsys.readouterr().err


def test_no_module_is_declared_twice() -> None:
    modules = [each.module for each in command.MODULES]
    assert len(modules) == len(set(modules))


def test_a_module_imports_the_names_that_it_uses_and_no_others() -> None:
    module = Overloads(
        "typed_nnx._graph.some_overloads",
        ["from typing import Any, Never", "from a import C", "from typing import overload"],
        ["\n@overload\ndef f(x: Any) -> None: ...\n", "y: int"],
    )
    assert module.path == "_graph/some_overloads.pyi"
    assert module.text() == (
        "from typing import Any, overload\n\n@overload\ndef f(x: Any) -> None: ...\n\ny: int\n"
    )


def test_every_module_is_a_program() -> None:
    for module in command.MODULES:
        ast.parse(module.text())
