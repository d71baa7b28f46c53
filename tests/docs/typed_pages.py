"""The typed examples: code blocks of pages as modules, and the programs of ``examples``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.code_blocks import blocks_of
from tests.support.type_checkers import REPOSITORY, Checks, Finding, Findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKS = Checks()
PAGES = [
    path.relative_to(REPOSITORY).as_posix()
    for path in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
    if blocks_of(path.read_text(encoding="utf-8"))
]
# A file of `by_hand` imports migrated modules: the demo puts it beside them and checks it there.
PROGRAMS = [
    path.relative_to(REPOSITORY).as_posix()
    for path in sorted((REPOSITORY / "examples").rglob("*.py"))
    if path.parent.name != "by_hand"
]
# Checked with the pages, to show that they are checked at all.
PLANTED = """\
import typed_nnx as nnx


def count(model: nnx.Linear, names: list) -> int:
    return model.nothing


def shown(model):
    model.norm = nnx.BatchNorm("4", rngs=nnx.Rngs(0))
"""


def module_of(document: str) -> str:
    """Return the ``python`` blocks of a document as one module, each line at its own place."""
    lines: list[str] = []
    for block in blocks_of(document):
        lines += [""] * (block.line - len(lines))
        lines += block.source.splitlines()
    return "\n".join(lines) + "\n"


def check_examples() -> Findings:
    """Return the errors by checker and by page or program, and those of "planted"."""
    modules = {page: _module_of_page(page) for page in PAGES}
    modules["planted"] = CHECKS.write_module("pages.planted", PLANTED)
    modules |= {program: REPOSITORY / program for program in PROGRAMS}
    return {
        checker: _by_name(findings, modules)
        for checker, findings in CHECKS.errors(list(modules.values())).items()
    }


def _module_of_page(page: str) -> Path:
    name = page.removesuffix(".md").replace("/", "_").lower()
    return CHECKS.write_module(
        f"pages.{name}", module_of((REPOSITORY / page).read_text(encoding="utf-8"))
    )


def _by_name(findings: list[Finding], modules: Mapping[str, Path]) -> dict[str, list[Finding]]:
    return {
        name: [finding for finding in findings if Path(finding.path) == path]
        for name, path in modules.items()
    }
