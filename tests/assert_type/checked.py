"""All case files, and one with planted mistakes, checked by both checkers in one run of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.assert_type import generated_gradients, generated_split
from tests.support.type_checkers import Checks, Finding, Findings

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent
HARNESS = {"models", "marks", "checked", "check"}
WRITTEN = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted(FOLDER.glob("*.py"))
    if path.stem not in HARNESS and not path.stem.startswith(("test_", "generated_"))
}
GENERATED = {
    "every_gradient": generated_gradients.text(),
    "every_selection": generated_split.text(),
}
# The text of each case file by its name.
CASES = {**WRITTEN, **GENERATED}
PLANTED = """\
import jax
import typed_nnx as nnx
from typing_extensions import assert_type
from tests.assert_type.models import MLP

def planted(model: MLP, x: jax.Array) -> None:
    assert_type(model(x), jax.Array)
    assert_type(model(x), int)
    model.nothing
    model.nothing  # E
    model(x)  # E
    model.nothing  # E: [attr-defined|reportAttributeAccessIssue]
    model.nothing  # E: [arg-type|reportArgumentType]
"""
# Line of the planted file -> what each checker's report must say of it.
MISTAKES = {
    8: "reports an error that is not marked",
    9: "reports an error that is not marked",
    11: "reports nothing, though the line is marked",
    13: "reports not [",
}


def check_cases(names: Iterable[str]) -> Findings:
    """Return the errors by checker and case, with those of the planted file and of the models."""
    checks = Checks()
    files = {"models": FOLDER / "models.py", "planted": checks.write_module("planted", PLANTED)}
    for name in names:
        is_generated = name in GENERATED
        files[name] = (
            checks.write_module(name, CASES[name]) if is_generated else FOLDER / f"{name}.py"
        )
    found = {}
    for checker, findings in checks.errors([*files.values()]).items():
        by_case: dict[str, list[Finding]] = {}
        for finding in findings:
            by_case.setdefault(Path(finding.path).stem, []).append(finding)
        found[checker] = by_case
    return found
