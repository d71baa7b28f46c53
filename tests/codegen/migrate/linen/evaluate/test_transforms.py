"""Transforms within modules are migrated: outputs, statistics and gradients are those of Linen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from click.testing import CliRunner

from tests.codegen.migrate.linen.corpus_cases import as_users_run
from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.verify.command import verify

_PROGRAMS = Path(__file__).with_name("programs")
_FILES = ("compilation", "ensembles", "layer_stacks", "recurrences")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:kwargs are not supported in vmap:RuntimeWarning")
@pytest.mark.parametrize("runtime", ["typed_nnx", "flax.nnx"])
@pytest.mark.parametrize("name", _FILES)
def test_a_migrated_program_computes_what_linen_computes(
    tmp_path: Path, name: str, runtime: Literal["typed_nnx", "flax.nnx"]
) -> None:
    old, examples = _PROGRAMS / f"{name}.py", _PROGRAMS / f"{name}_example.py"
    (result,) = migrate_linen([old], [old], Options(runtime))
    new, report = tmp_path / old.name, tmp_path / "report.json"
    new.write_text(result.after)
    new.with_suffix(".migration.json").write_text(json.dumps(result.map))

    arguments = [old, new, "--example", examples, "--json", report]
    with as_users_run():
        done = CliRunner().invoke(verify, [str(one) for one in arguments])

    assert report.exists(), done.output
    found = json.loads(report.read_text())["examples"]
    assert {one["example"]: one["error"] or one["items"] for one in found if not one["equal"]} == {}
    assert all(one["items"] for one in found)


@pytest.mark.parametrize("name", _FILES)
def test_nothing_of_a_program_is_left_to_a_person(name: str) -> None:
    old = _PROGRAMS / f"{name}.py"

    (result,) = migrate_linen([old], [old], Options())

    assert [mark.message for plan in result.plans for mark in plan.marks] == []
    assert "nn." not in result.after.replace("nnx.", "")


def test_the_programs_have_more_than_25_examples() -> None:
    texts = [(_PROGRAMS / f"{name}_example.py").read_text() for name in _FILES]

    assert sum(text.count("    Example(") for text in texts) >= 25
