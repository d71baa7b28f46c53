"""Reads the case files of rules: what a rule makes of a text.

A file holds the cases of one rule, ``cases/tn103.txt``, or of what all rules do alike::

    ### rewrite: an attribute of the package
    - x = nnx.VariableState
    + x = nnx.Variable

    ### no-op: the new name
    x = nnx.Variable

A case is a difference, or a text that is to stay as it is. ``from flax import nnx`` stands before one
that names neither flax nor typed_nnx. What stands before the colon says what it is for: each
rule has ``rewrite`` or ``marker``, ``no-op``, and as many more as it takes. A case runs with its own
rule alone; ``[all]`` in the title runs all rules, ``[flax]`` migrates to flax.nnx. Every case is also
run a second time, which changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from typed_nnx_codegen.migrate.registry import sides

HEAD = "from flax import nnx\n"
CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """A case of a rule.

    Attributes:
        code: The rule.
        kind: What it is for: ``rewrite``, ``no-op``, ``marker`` or another word.
        title: What is special about it.
        before: The text before.
        after: The text after.
    """

    code: str
    kind: str
    title: str
    before: str
    after: str

    @property
    def runs_all(self) -> bool:
        """Whether all rules run."""
        return "[all]" in self.title

    @property
    def target(self) -> str:
        """The runtime that the text is migrated to."""
        return "flax.nnx" if "[flax]" in self.title else "typed_nnx"


def read_cases(file: Path) -> list[Case]:
    """Return the cases of a file."""
    cases: list[Case] = []
    for part in ("\n" + file.read_text()).split("\n### ")[1:]:
        heading, _, text = part.partition("\n")
        kind, _, title = heading.partition(":")
        lines = text.rstrip("\n").split("\n")
        is_difference = all(line[:2] in {"", "  ", "- ", "+ ", "-", "+"} for line in lines)
        head = "" if "flax" in text or "typed_nnx" in text else HEAD
        before, after = sides("\n".join(lines)) if is_difference else ("\n".join(lines) + "\n",) * 2
        cases.append(
            Case(file.stem.upper(), kind.strip(), title.strip(), head + before, head + after)
        )
    return cases


def all_cases() -> list[Case]:
    """Return the cases of all files."""
    return [case for file in sorted(CASES.glob("*.txt")) for case in read_cases(file)]


def case_parameters() -> list[object]:
    """Return the cases as parameters of a test, with readable names."""
    return [
        pytest.param(case, id=f"{case.code}-{case.kind}-{case.title}".replace(" ", "_"))
        for case in all_cases()
    ]
