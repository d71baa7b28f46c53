"""What the codemod makes of older programs runs on both runtimes, with equal results.

A proof is a program in ``proofs/``, ``tn103_variable_state.py``, that ends with a ``result``: arrays,
numbers, texts, or containers of them. Its first line says what it does on flax 0.12.8 as it is::

    # fails: AttributeError
    # warns: DeprecationWarning
    # logs: a part of what it logs
    # stays: the rule only puts a marker; what it says: ...

After the migration it has to run on flax.nnx and on typed_nnx without a warning, with equal results.
Where the older program still runs (``warns``, ``logs``), its own result has to be the same too. A program that
``stays`` gets a marker and no other change.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx

from tests.codegen.migrate.older_spellings import WORKING
from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE
from typed_nnx_codegen.migrate.options import FLAX_NNX, TYPED_NNX, Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.registry import Rule, all_rules

FOLDER = Path(__file__).parent / "proofs"


@dataclass(frozen=True)
class Proof:
    """A program that proves a rule.

    Attributes:
        file: Where it is.
        code: The rule.
        kind: ``fails``, ``warns``, ``logs`` or ``stays``.
        what: The error, the warning, a part of the log, or what the marker says.
        text: The program.
    """

    file: Path
    code: str
    kind: str
    what: str
    text: str


def read_proof(file: Path) -> Proof:
    """Return the proof in a file."""
    text = file.read_text()
    kind, _, what = text.partition("\n")[0].removeprefix("# ").partition(": ")
    return Proof(file, file.stem.partition("_")[0].upper(), kind, what.strip(), text)


def all_proofs() -> list[Proof]:
    """Return the proofs of all rules."""
    return [read_proof(file) for file in sorted(FOLDER.glob("tn*.py"))]


def migrated(proof: Proof, target: str) -> str:
    """Return the program after the migration; the rule of the proof has to have done something."""
    options = Options(FLAX_NNX if target == FLAX_NNX else TYPED_NNX)
    found = migrate_text(proof.text, proof.file, Project((proof.file,)), options)
    kind = DECIDE if proof.kind == "stays" else CHANGED
    assert any(one.code == proof.code and one.kind == kind for one in found.findings), found
    return found.text


def run(text: str, name: str, *, strictly: bool = True) -> object:
    """Run a program and return its result.

    Args:
        text: The program.
        name: What its file is called in tracebacks.
        strictly: Whether a deprecation is an error.
    """
    names: dict[str, Any] = {"__name__": "proof"}
    with warnings.catch_warnings():
        warnings.simplefilter("error" if strictly else "ignore")
        exec(compile(text, name, "exec", dont_inherit=True), names)
    return names["result"]


def assert_equal_results(one: object, other: object) -> None:
    """Fail unless two results are equal: arrays to the last bits, all else exactly."""
    ours, theirs = jax.tree.flatten(one), jax.tree.flatten(other)
    assert str(ours[1]) == str(theirs[1])
    for left, right in zip(ours[0], theirs[0], strict=True):
        if isinstance(left, (jax.Array, np.ndarray, float)):
            np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-6)
            assert np.asarray(left).dtype == np.asarray(right).dtype
        else:
            assert left == right


PROOFS = all_proofs()
CHANGING = [proof for proof in PROOFS if proof.kind != "stays"]


def named(proof: Proof) -> str:
    return proof.file.stem


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_each_rule_has_a_proof(rule: type[Rule]) -> None:
    assert rule.code in {proof.code for proof in PROOFS}


@pytest.mark.parametrize("proof", PROOFS, ids=named)
def test_the_program_before_fails_or_warns_on_current_flax(
    proof: Proof, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if proof.kind == "fails":
        with pytest.raises(Exception) as caught:  # noqa: PT011  # its type is compared below
            run(proof.text, proof.file.name, strictly=False)
        assert type(caught.value).__name__ == proof.what
    elif proof.kind == "warns":
        with warnings.catch_warnings(), pytest.raises(Warning) as warned:
            run(proof.text, proof.file.name)
        assert type(warned.value).__name__ == proof.what
    elif proof.kind == "logs":
        monkeypatch.delitem(sys.modules, "flax.experimental.nnx", raising=False)
        run(proof.text, proof.file.name)
        assert proof.what in caplog.text
    else:
        assert proof.kind == "stays"


@pytest.mark.parametrize("proof", CHANGING, ids=named)
def test_the_program_after_runs_on_both_runtimes_with_equal_results(proof: Proof) -> None:
    on_flax = run(migrated(proof, FLAX_NNX), proof.file.name)

    assert_equal_results(run(migrated(proof, TYPED_NNX), proof.file.name), on_flax)
    if proof.kind in {"warns", "logs"}:
        assert_equal_results(run(proof.text, proof.file.name, strictly=False), on_flax)


@pytest.mark.parametrize("proof", [proof for proof in PROOFS if proof.kind == "stays"], ids=named)
def test_a_program_that_only_a_person_can_change_gets_a_marker(proof: Proof) -> None:
    after = migrated(proof, FLAX_NNX)
    marks = [line.strip() for line in after.splitlines() if "TODO[typed-nnx]" in line]

    assert any(f"{proof.code}: " in mark and proof.what in mark for mark in marks)
    kept = [line for line in after.splitlines() if "TODO[typed-nnx]" not in line]
    assert kept == proof.text.splitlines()


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_whose_older_spellings_still_work_says_so(rule: type[Rule]) -> None:
    proofs = {proof.kind for proof in PROOFS if proof.code == rule.code}
    works = rule.code in WORKING or any(hasattr(nnx, name) for name in rule.names)

    assert rule.still_works >= works
    assert not rule.still_works or works or proofs & {"logs", "stays", "warns"}
