"""What the codemod makes of older programs runs on both runtimes, with equal results."""

from __future__ import annotations

import sys
import warnings

import pytest

from tests.codegen.migrate.proof_programs import (
    Proof,
    all_proofs,
    assert_equal_results,
    migrated,
    run,
)
from typed_nnx_codegen.migrate.options import FLAX_NNX, TYPED_NNX
from typed_nnx_codegen.migrate.registry import Rule, all_rules

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
