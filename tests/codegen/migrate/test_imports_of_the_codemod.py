"""The codemod imports libcst and Python's own modules; only what talks to a person imports more."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import typed_nnx_codegen.migrate

FOLDER = Path(typed_nnx_codegen.migrate.__file__).parent
OURS = "typed_nnx_codegen.migrate"
# What talks to a person; it may be used by the command alone.
SHOWING = {"rules_page", "command", "session", "screen", "diff", "summary", "rule_list", "progress"}
# What carries weights over: it runs the models.
RUNNING = "weights"
# It writes the tables from the installed packages; nothing imports it.
GENERATOR = "name_tables"


def files() -> list[Path]:
    return sorted(path for path in FOLDER.rglob("*.py") if path.stem != GENERATOR)


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_module_imports_what_it_may(path: Path) -> None:
    allowed = {"libcst", *sys.stdlib_module_names}
    if path.parent == FOLDER and path.stem in SHOWING:
        allowed |= {"click", "rich"}
    if path.relative_to(FOLDER).parts[0] == RUNNING:
        allowed |= {"flax", "jax", "numpy", "orbax", "typed_nnx"}
    found = {name for name in imported(path) if not name.startswith("typed_nnx_codegen.")}

    assert {name.partition(".")[0] for name in found} <= allowed


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_module_imports_from_its_layer_or_below(path: Path) -> None:
    ours = {name.removeprefix(f"{OURS}.") for name in imported(path) if name.startswith(OURS)}
    within = path.relative_to(FOLDER).parts[0]

    assert GENERATOR not in ours
    if within == "analysis":
        assert all(name.startswith("analysis") for name in ours)
    if within == "patterns":
        assert not any(name.startswith("rules") for name in ours)
    if within in {"rules", "patterns"}:
        assert not any(name.startswith(("engine", "sources", "report", "files")) for name in ours)
    if path.stem not in SHOWING:
        assert not ours & SHOWING
    if within != RUNNING:
        assert not any(name.startswith(f"{RUNNING}.") or name == RUNNING for name in ours)
