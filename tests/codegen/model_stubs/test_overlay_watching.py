"""Waiting for saved files, and what stays of a file that is broken meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.codegen.model_stubs.overlay_models import ARRAY, Library, attribute, model, models_of
from typed_nnx_codegen.model_stubs.models import Models, Problem
from typed_nnx_codegen.model_stubs.watching import (
    Times,
    source_files,
    times,
    wait_for_change,
    with_last_good,
)

FILE, OTHER = Path("a.py"), Path("b.py")


def waited(seen: Times, looks: list[Times]) -> tuple[Times, int]:
    """Return the result and how many of the looks were needed."""
    answers = iter(looks)
    result = wait_for_change(seen, lambda: next(answers), lambda seconds: None)
    return result, len(looks) - len(list(answers))


def test_it_returns_once_the_files_are_left_alone() -> None:
    first, second, third = ({FILE: (number, 1)} for number in (1, 2, 3))
    assert waited(first, [first, first, second, third, third, third]) == (third, 5)


def test_a_change_since_the_last_look_counts() -> None:
    assert waited({FILE: (1, 1)}, [{FILE: (2, 1)}] * 3) == ({FILE: (2, 1)}, 2)


def test_a_file_that_became_known_is_no_change_but_one_that_is_gone_is() -> None:
    both = {FILE: (1, 1), OTHER: (1, 1)}
    result, looks = waited({FILE: (1, 1)}, [both, both, {FILE: (1, 1)}, {FILE: (1, 1)}])
    assert (result, looks) == ({FILE: (1, 1)}, 4)


def models(*names: str, problem: str = "") -> Models:
    weights = attribute("w", Library()("Param", ARRAY))
    classes = [model(f"{name}:Net", weights, path=f"{name}.py") for name in names]
    problems = (Problem(f"{problem}.py", 1, "invalid syntax"),) if problem else ()
    return replace(models_of(*Library().classes(), *classes), problems=problems)


def test_a_broken_file_keeps_its_models() -> None:
    kept = with_last_good(models("a", problem="b"), models("a", "b"))
    assert kept.roots == ("a:Net", "b:Net")
    assert "b:Net" in kept.classes


def test_a_model_that_was_deleted_goes() -> None:
    assert with_last_good(models("a"), models("a", "b")).roots == ("a:Net",)
    assert "c:Net" not in with_last_good(models("a", problem="b"), models("a", "b", "c")).roots


def test_new_files_in_a_folder_are_seen(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "new.py").write_text("")
    (tmp_path / "app" / "notes.txt").write_text("")
    found = source_files([str(tmp_path / "app")], Models({}, ()))
    assert found == {tmp_path / "app" / "new.py"}
    assert times(found | {tmp_path / "gone.py"}).keys() == found
