"""What stays in the overlay of a file that is broken while somebody types."""

from __future__ import annotations

from dataclasses import replace

from tests.codegen.model_stubs.overlay_models import ARRAY, Library, attribute, model, models_of
from typed_nnx_codegen.lint.worker import with_last_good
from typed_nnx_codegen.model_stubs.models import Models, Problem


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
