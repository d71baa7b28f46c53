"""All case files, and one with planted mistakes, checked by both checkers in one run of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.type_checkers import Checks, Finding, Findings

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent
HARNESS = {"models", "marks", "checked", "check", "constructs"}
CASES = sorted(
    path
    for path in FOLDER.glob("*.py")
    if path.stem not in HARNESS and not path.stem.startswith("test_")
)
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


def check_cases(cases: Sequence[Path]) -> Findings:
    """Return the errors by checker and by the name of the file, with the planted file among them.

    Args:
        cases: The files to check.
    """
    checks = Checks()
    planted = checks.write_module("planted", PLANTED)
    by_checker = checks.errors([FOLDER / "models.py", *cases, planted])
    found = {}
    for checker, findings in by_checker.items():
        by_file: dict[str, list[Finding]] = {}
        for finding in findings:
            by_file.setdefault(Path(finding.path).name, []).append(finding)
        found[checker] = by_file
    return found
