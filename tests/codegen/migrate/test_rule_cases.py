"""Each rule does what its case file says, and a second run changes nothing.

A file holds the cases of one rule, ``cases/tn103.txt``, or of what all rules do alike::

    ### rewrite: an attribute of the package
    - x = nnx.VariableState
    + x = nnx.Variable

    ### no-op: the new name
    x = nnx.Variable

A case is a difference, or a text that is to stay as it is. Imports of jax, jnp and nnx stand before
one that reads them and does not import them. What stands before the colon says what it is for: each
rule has ``rewrite`` or ``marker``, ``no-op``, and as many more as it takes. A case runs with its own
rule alone; ``[all]`` in the title runs all rules, ``[flax]`` migrates to flax.nnx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.options import FLAX_NNX, TYPED_NNX, Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.registry import Rule, all_rules, sides

HERE = Path(__file__)
CASES = HERE.parent / "cases"
each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


@dataclass(frozen=True)
class Case:
    """A case.

    Attributes:
        name: The rule, what it is for, and its title.
        before: The text before.
        after: The text after.
        options: What the migration is asked for.
    """

    name: str
    before: str
    after: str
    options: Options

    @property
    def kind(self) -> str:
        """What it is for: ``rewrite``, ``no-op``, ``marker`` or another word."""
        return self.name.split("-", 1)[1].partition(":")[0]


def read_cases(file: Path) -> Iterator[Case]:
    """Yield the cases of a file."""
    for part in ("\n" + file.read_text()).split("\n### ")[1:]:
        title, _, text = part.rstrip("\n").partition("\n")
        is_difference = all(
            line[:2] in {"", "  ", "- ", "+ ", "-", "+"} for line in text.split("\n")
        )
        head = _head(text)
        before, after = sides(text) if is_difference else (f"{text}\n", f"{text}\n")
        code = file.stem.upper()
        options = Options(
            FLAX_NNX if "[flax]" in title else TYPED_NNX,
            None if "[all]" in title else frozenset({code}),
        )
        yield Case(f"{code}-{title}", head + before, head + after, options)


def _head(text: str) -> str:
    """Return the imports before a case."""
    names = {
        "jax": "import jax\n",
        "jnp": "import jax.numpy as jnp\n",
        "nnx": "from flax import nnx\n",
    }
    imported = " ".join(re.findall(r"import .*", text))
    return "".join(
        statement
        for name, statement in names.items()
        if re.search(rf"(?<![\w.]){name}\.", text) and not re.search(rf"\b{name}\b", imported)
    )


ALL_CASES = [case for file in sorted(CASES.glob("*.txt")) for case in read_cases(file)]


def migrated(text: str, options: Options) -> str:
    return migrate_text(text, HERE.parent / "case.py", Project((HERE,)), options).text


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_a_rule_gives_what_its_case_says(case: Case) -> None:
    after = migrated(case.before, case.options)

    assert after == case.after
    assert migrated(after, case.options) == after


@each_rule
def test_each_rule_has_a_case_that_it_does_something_about_and_one_that_it_leaves(
    rule: type[Rule],
) -> None:
    kinds = {case.kind for case in read_cases(CASES / f"{rule.code.lower()}.txt")}

    assert "no-op" in kinds
    assert kinds & {"rewrite", "marker"}


@each_rule
def test_the_example_of_a_rule_is_what_it_does(rule: type[Rule]) -> None:
    assert migrated(rule.before, Options()) == rule.after
    assert rule.__doc__
    # Flax itself is imported by the last release too.
    assert bool(rule.since) == (rule.code != "TN101")


@each_rule
def test_a_rule_knows_the_package_by_another_name(rule: type[Rule]) -> None:
    before, after = (
        "\n".join(
            line if "TODO" in line else re.sub(r"\bnnx\b", "other", line)
            for line in text.splitlines()
        ).replace("import other", "import nnx as other")
        for text in (rule.before, rule.after)
    )
    assert migrated(before, Options()) == after.replace("typed_nnx as nnx as", "typed_nnx as")


@each_rule
def test_a_rule_leaves_another_package_of_the_same_name(rule: type[Rule]) -> None:
    text = re.sub(r"from flax(\.experimental)? import nnx", "from other import nnx", rule.before)
    text = f"from flax import nnx as unused\n{text}"

    after = migrated(text, Options(FLAX_NNX, frozenset({rule.code})))
    # Of something unknown it may say what is to write if it is of NNX.
    assert "".join(line for line in after.splitlines(True) if "TODO" not in line) == text
