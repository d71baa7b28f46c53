"""A second run gives what a first one would give, whatever changed in between."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.codegen.model_stubs.reading_project import attributes
from typed_nnx_codegen.facts import assigned_types
from typed_nnx_codegen.model_stubs.reading import building, resolving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mypy.nodes import Expression, MypyFile
    from mypy.types import Type

    from tests.codegen.model_stubs.reading_project import Project
    from typed_nnx_codegen.model_stubs.models import Models

FILES = {
    "app/__init__.py": "",
    "app/base.py": """
        import typed_nnx as nnx
        class Gate(nnx.Module): ...
        class Thing: ...
        def make(): return Gate()
        def build() -> Gate: return Gate()
    """,
    "app/middle.py": """
        from app.base import Gate, Thing, build
        class Inner(Thing): ...
        def pass_on():
            return build()
    """,
    "app/top.py": """
        import typed_nnx as nnx
        from app.middle import Inner, pass_on, build
        class Top(nnx.Module):
            def __init__(self, inner: Inner):
                self.inner = inner
                self.built = build()
                self.several = nnx.Rngs(0) if inner else build()
    """,
    "app/other.py": """
        import typed_nnx as nnx
        class Other(nnx.Module):
            def __init__(self): self.x = nnx.Rngs(0)
    """,
}


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The modules that mypy checked, for each run."""
    runs: list[set[str]] = []
    modules_of, keep = building.modules_of, assigned_types.keep_types

    def observed(*given: Any) -> Any:
        runs.append(set())
        return modules_of(*given)

    def kept(tree: MypyFile, known: Callable[[Expression], Type | None]) -> None:
        runs[-1].add(tree.fullname)
        keep(tree, known)

    monkeypatch.setattr(resolving, "modules_of", observed)
    monkeypatch.setattr(building, "keep_types", kept)
    return runs


def fresh(project: Project) -> Models:
    """Return what a run finds that remembers the libraries only."""
    kept = project.cache.rename(project.folder / "kept")
    shutil.copytree(kept, project.cache)
    try:
        return project.read("app")
    finally:
        shutil.rmtree(project.cache)
        kept.rename(project.cache)


def top(models: Models) -> dict[str, str]:
    return attributes(models.classes["app.top:Top"])


@pytest.mark.thorough
def test_an_unchanged_run_checks_nothing_and_finds_the_same(
    project: Project, checked: list[set[str]]
) -> None:
    project.write(FILES)
    first, second = project.read("app"), project.read("app")
    assert first == second
    assert checked[1] == set()
    assert top(first) == {"inner": "static", "built": "Gate", "several": "Rngs[RngStream] | Gate"}


def test_a_change_of_one_file_checks_what_depends_on_it(
    project: Project, checked: list[set[str]]
) -> None:
    project.write(FILES)
    project.read("app")
    project.write({"app/other.py": FILES["app/other.py"] + "\n" + "        # a comment"})
    assert project.read("app") == fresh(project)
    assert checked[1] == {"app.other"}


CHANGES = {
    "a class becomes a model": ("app/base.py", "class Thing", "class Thing(nnx.Module)", "inner"),
    "a function returns something else": (
        "app/base.py",
        "def build() -> Gate: return Gate()",
        "def build() -> nnx.Rngs: return nnx.Rngs(0)",
        "built",
    ),
    "a re-export is something else": (
        "app/middle.py",
        "import Gate, Thing, build",
        "import Gate, Thing, Gate as build",
        "",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_what_is_used_changes_what_uses_it(name: str, project: Project) -> None:
    path, old, new, attribute = CHANGES[name]
    project.write(FILES)
    before = project.read("app")
    project.write({path: FILES[path].replace(old, new)})
    after = project.read("app")
    assert after == fresh(project)
    if attribute:
        assert top(before)[attribute] != top(after)[attribute]


def test_a_change_within_a_second_that_keeps_the_size_is_seen(project: Project) -> None:
    project.write(FILES)
    project.read("app")
    path = project.folder / "app/other.py"
    at = path.stat()
    text = path.read_text().replace("nnx.Rngs(0)", "nnx.Dict( )")
    path.write_text(text)
    os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert path.stat().st_size == at.st_size
    found = project.read("app").classes["app.other:Other"]
    assert attributes(found)["x"].startswith("Dict")


def test_files_that_come_and_go_are_seen(project: Project) -> None:
    project.write(FILES)
    project.read("app")
    project.write({"app/new.py": FILES["app/other.py"]})
    assert "app.new:Other" in project.read("app").roots
    (project.folder / "app/new.py").unlink()
    assert "app.new:Other" not in project.read("app").roots


def overwrite(cache: Path) -> None:
    for path in (cache / "mypy").rglob("*"):
        if path.is_file():
            path.write_bytes(b"nonsense" * 900)


def cut_off(cache: Path) -> None:
    for path in (cache / "mypy").rglob("*.db"):
        os.truncate(path, path.stat().st_size // 2)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "mypy's cache gone": lambda cache: shutil.rmtree(cache / "mypy"),
    "mypy's cache overwritten": overwrite,
    "mypy's cache cut off": cut_off,
}


@pytest.mark.slow  # mypy reads the libraries again
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_cache_of_mypy_is_made_again(name: str, project: Project) -> None:
    project.write(FILES)
    before = project.read("app")
    DAMAGES[name](project.cache)
    assert project.read("app") == before
    assert project.read("app") == before


def test_what_makes_the_next_run_quick_is_hidden_from_git(project: Project) -> None:
    project.write(FILES)
    for path in project.cache.rglob(".gitignore"):
        path.unlink()
    project.read("app")
    (ignored,) = project.cache.rglob(".gitignore")
    assert ignored.read_text(encoding="utf-8").splitlines()[-1] == "*"
    assert {path.name for path in project.cache.iterdir()} == {ignored.parent.name}
