"""``typed-nnx stubs``: what it writes, says and returns."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click.testing
import pytest

from tests.codegen.model_stubs.overlay_models import ARRAY, Library, attribute, model, models_of
from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_codegen.model_stubs import generation
from typed_nnx_codegen.model_stubs.models import Models, Problem

LIBRARY = Library()
PARAM = LIBRARY("Param", ARRAY)
OVERLAY = Path("typings/typed_nnx_models.pyi")
BROKEN = Problem("app/broken.py", 7, "invalid syntax")

Run = Callable[..., click.testing.Result]


def net(*names: str) -> Models:
    attributes = [attribute(name, PARAM) for name in names]
    return models_of(*LIBRARY.classes(), model("app:Net", *attributes, path="app/net.py"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command in an empty folder; the reader returns the models given."""
    monkeypatch.chdir(tmp_path)

    def run(models: Models, *arguments: str) -> click.testing.Result:
        monkeypatch.setattr(generation, "read", lambda *given, **more: models)
        return click.testing.CliRunner().invoke(typed_nnx, ["stubs", *arguments])

    return run


def test_it_writes_the_overlay_and_says_so(run: Run) -> None:
    result = run(net("w"), "app")
    assert result.exit_code == 0
    assert result.output == f"{OVERLAY}: 1 model, written\n"
    assert OVERLAY.read_text().startswith("# Written by `typed-nnx stubs app`.")


def test_an_unchanged_overlay_is_not_touched(run: Run) -> None:
    run(net("w"), "app")
    os.utime(OVERLAY, (1, 1))
    result = run(net("w"), "app")
    assert result.output == f"{OVERLAY}: 1 model, unchanged\n"
    assert OVERLAY.stat().st_mtime == 1


def test_the_first_line_has_no_path_of_the_machine(run: Run, tmp_path: Path) -> None:
    run(net("w"), str(tmp_path / "app"), "--out", str(tmp_path / "stubs"), "--runtime", "flax.nnx")
    first = (tmp_path / "stubs" / "typed_nnx_models.pyi").read_text().splitlines()[0]
    assert "typed-nnx stubs app --out stubs --runtime flax.nnx`" in first
    assert str(tmp_path) not in first


def test_check_is_silent_about_a_current_overlay(run: Run) -> None:
    run(net("w"), "app")
    result = run(net("w"), "app", "--check")
    assert (result.exit_code, result.output) == (0, f"{OVERLAY}: 1 model, current\n")


def test_check_names_the_classes_that_differ_and_writes_nothing(run: Run) -> None:
    run(net("w"), "app")
    before = OVERLAY.read_text()
    result = run(net("w", "v"), "app", "--check")
    assert result.exit_code == 1
    assert result.stderr == (
        f"{OVERLAY} is out of date in NetParamState, NetState.\n  Fix: typed-nnx stubs app\n"
    )
    assert OVERLAY.read_text() == before


def test_check_reports_a_missing_overlay(run: Run) -> None:
    result = run(net("w"), "app", "--check")
    assert result.exit_code == 1
    assert result.stderr == f"{OVERLAY} is missing.\n  Fix: typed-nnx stubs app\n"
    assert not OVERLAY.parent.exists()


def test_a_broken_file_is_named_and_the_others_are_written(run: Run) -> None:
    result = run(replace(net("w"), problems=(BROKEN,)), "app")
    assert result.exit_code == 1
    assert result.stderr == "app/broken.py:7: invalid syntax\n"
    assert "class NetState" in OVERLAY.read_text()


def test_no_models_leave_the_overlay_as_it_is(run: Run) -> None:
    run(net("w"), "app")
    before = OVERLAY.read_text()
    result = run(Models({}, ()), "lib")
    assert result.exit_code == 1
    assert "no model classes in lib" in result.stderr
    assert "Fix:" in result.stderr
    assert OVERLAY.read_text() == before


def test_a_source_that_is_not_there_is_wrong_use(run: Run) -> None:
    result = run(Models({}, (), (Problem("nowhere", 1, "not found"),)), "nowhere")
    assert result.exit_code == 2
    assert result.stderr.startswith("nowhere:1: not found\n")


@pytest.mark.parametrize("arguments", [[], ["app", "--runtime", "torch"]])
def test_wrong_use_has_status_2(run: Run, arguments: list[str]) -> None:
    assert run(net("w"), *arguments).exit_code == 2
    assert not OVERLAY.parent.exists()


def test_a_failure_while_writing_keeps_the_old_overlay_and_leaves_nothing_behind(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(net("w"), "app")
    before = OVERLAY.read_text()

    def fail(*places: object) -> None:
        raise OSError(28, "No space left on device", str(OVERLAY))

    monkeypatch.setattr(os, "replace", fail)
    result = run(net("w", "v"), "app")
    assert result.exit_code == 2
    assert f"typed-nnx: {OVERLAY}: No space left on device\n  Fix: " in result.stderr
    assert OVERLAY.read_text() == before
    assert sorted(os.listdir(OVERLAY.parent)) == ["jax", OVERLAY.name]
