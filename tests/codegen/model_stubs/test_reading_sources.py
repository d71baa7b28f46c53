"""What is read, what cannot be, and that reading executes nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.codegen.model_stubs.reading_project import attributes
from typed_nnx_codegen.model_stubs.reading import read, resolving
from typed_nnx_codegen.model_stubs.reading.building import new_options

if TYPE_CHECKING:
    from pathlib import Path

    from mypy.options import Options

    from tests.codegen.model_stubs.reading_project import Project

MODEL = """
import typed_nnx as nnx
class Model(nnx.Module):
    def __init__(self):
        self.rngs = nnx.Rngs(0)
"""


def test_a_file_a_folder_and_a_package_are_sources(project: Project) -> None:
    project.write(
        {
            "one.py": MODEL,
            "folder/two.py": MODEL,
            "pack/__init__.py": "",
            "pack/sub/__init__.py": "",
            "pack/sub/three.py": MODEL,
            "src/inner/__init__.py": MODEL,
            "not_named.py": MODEL,
        }
    )
    models = project.read("one.py", "folder", "pack.sub", "inner")
    assert models.roots == ("one:Model", "two:Model", "pack.sub.three:Model", "inner:Model")
    assert models.classes["inner:Model"].path == "src/inner/__init__.py"
    assert not models.problems


def test_nothing_is_imported_or_executed(project: Project) -> None:
    project.write(
        {
            "app/__init__.py": "open('was_executed', 'w')\nraise SystemExit(3)",
            "app/models.py": MODEL + "\nopen('was_executed', 'w')\nraise SystemExit(3)\n",
            "conftest.py": "open('was_executed', 'w')",
        }
    )
    models = project.read("app")
    assert models.roots == ("app.models:Model",)
    assert not (project.folder / "was_executed").exists()
    assert not {"app", "app.models", "conftest"} & set(sys.modules)


@pytest.mark.thorough
def test_a_syntax_error_is_a_problem_and_the_others_are_read(project: Project) -> None:
    project.write(
        {
            "app/__init__.py": "",
            "app/broken.py": "import typed_nnx\n\nclass A(:\n    pass\n",
            "app/also.py": "def f():\n    return (\n",
            "app/fine.py": MODEL,
            "app/uses.py": """
                from app.broken import A
                from app.fine import Model
                class B(A): ...
                class C(Model):
                    def __init__(self, a: A): self.a = a
            """,
        }
    )
    models = project.read("app")
    assert models.roots == ("app.fine:Model", "app.uses:C")
    assert attributes(models.classes["app.uses:C"]) == {"rngs": "Rngs[RngStream]", "a": "?"}
    assert [(p.path, p.line) for p in models.problems if p.path.endswith("broken.py")] == [
        ("app/broken.py", 3)
    ]
    assert {p.path for p in models.problems} == {"app/broken.py", "app/also.py"}
    assert project.read("app") == models
    project.write({"app/broken.py": "class A: pass", "app/also.py": ""})
    assert not project.read("app").problems
    assert attributes(project.read("app").classes["app.uses:C"])["a"] == "static"


def test_a_broken_file_that_is_only_imported_does_not_stop_the_others(project: Project) -> None:
    project.write({"other.py": "class A(:", "app.py": f"import other\n{MODEL}"})
    models = project.read("app.py")
    assert models.roots == ("app:Model",)
    assert [p.path for p in models.problems] == ["other.py"]


def test_a_file_that_is_no_text_is_a_problem(project: Project) -> None:
    project.write({"app/__init__.py": MODEL})
    (project.folder / "app/bytes.py").write_bytes(b"x = '\xff\xfe'\n")
    models = project.read("app")
    assert models.roots == ("app:Model",)
    assert [p.path for p in models.problems] == ["app/bytes.py"]


def test_what_is_not_there_is_a_problem(project: Project) -> None:
    project.write({"one.py": MODEL, "empty/notes.txt": ""})
    models = project.read("one.py", "gone.py", "no.such.package", "empty")
    assert models.roots == ("one:Model",)
    assert [p.path for p in models.problems] == ["gone.py", "no.such.package", "empty"]
    assert all("Fix:" in p.message for p in models.problems)


def test_errors_of_types_are_no_problems(project: Project) -> None:
    project.write({"one.py": MODEL + "        self.x: int = 'text'\nundefined + 1\n"})
    assert not project.read("one.py").problems


def test_two_files_with_one_name_are_a_problem(project: Project) -> None:
    project.write({"a/train.py": MODEL, "b/train.py": MODEL})
    models = project.read("a", "b")
    assert models.roots == ("train:Model",)
    assert [p.path for p in models.problems] == ["b/train.py"]
    assert project.read("a", "a/train.py").problems == ()


def test_modules_of_folders_that_are_no_packages_have_the_names_they_are_imported_by(
    project: Project,
) -> None:
    project.write(
        {
            "runs/big/models.py": MODEL,
            "runs/big/train.py": f"from runs.big.models import Model as Other\n{MODEL}",
            "single/alone.py": MODEL,
        }
    )
    models = project.read("runs", "single")
    assert models.roots == ("runs.big.models:Model", "runs.big.train:Model", "alone:Model")
    assert not models.problems


def test_source_without_models_has_none(project: Project) -> None:
    project.write({"one.py": "import json\nclass A: pass\n"})
    models = project.read("one.py")
    assert (models.roots, models.problems) == ((), ())


def test_the_overlay_that_was_written_before_is_not_read(project: Project) -> None:
    project.write({"app.py": MODEL, "typings/typed_nnx_models.pyi": "from app import (\n"})
    models = project.read(".")
    assert (models.roots, models.problems) == (("app:Model",), ())


def test_a_python_that_does_not_run_is_an_error_with_a_remedy(project: Project) -> None:
    project.write({"app.py": MODEL})
    with pytest.raises(ValueError, match="Fix: pass the path"):
        read(["app.py"], cache=None, python="no/such/python")


NEW_SYNTAX = """
import typed_nnx as nnx
type Maybe[T] = T | None
class Gate(nnx.Module): ...
class Box[M: nnx.Module](nnx.Module):
    def __init__(self, inner: M, other: Maybe[Gate]):
        self.inner = inner
        self.other = other
class Filled(Box[Gate]): ...
"""


@pytest.mark.slow  # mypy reads the libraries for another version of Python
def test_syntax_of_a_newer_python_is_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def newer(executable: str | None, cache: Path | None) -> Options:
        options = new_options(executable, cache)
        options.python_version = (3, 13)
        return options

    monkeypatch.setattr(resolving, "new_options", newer)
    project.write({"app.py": NEW_SYNTAX})
    models = project.read("app.py")
    assert not models.problems
    assert models.classes["app:Box"].parameters == ("M",)
    assert attributes(models.classes["app:Box"]) == {"inner": "M", "other": "Gate | None"}
    assert attributes(models.classes["app:Filled"]) == {"inner": "Gate", "other": "Gate | None"}


def test_what_is_imported_but_not_named_is_read_as_a_library_is(project: Project) -> None:
    project.write(
        {
            "app/__init__.py": "",
            "app/layers.py": MODEL,
            "app/models.py": """
                from app.layers import Model
                class Child(Model):
                    def __init__(self):
                        super().__init__()
                        self.model = Model()
            """,
        }
    )
    models = project.read("app/models.py")
    assert models.roots == ("app.models:Child",)
    expected = {"rngs": "Rngs[RngStream]", "model": "Model"}
    assert attributes(models.classes["app.models:Child"]) == expected
    assert models.classes["app.layers:Model"].path == ""
