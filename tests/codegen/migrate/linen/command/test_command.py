"""``typed-nnx migrate --linen``: what it shows and writes, its statuses, what it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.codegen.migrate.linen.command.running import run, written
from tests.support.git import git
from typed_nnx_codegen.migrate import ruff
from typed_nnx_codegen.migrate.linen import migration, session
from typed_nnx_codegen.migrate.linen.plan import planner
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.session import Request

HEAD = "from flax import linen as nn\n\n\n"
LAYER = f"""{HEAD}class Layer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))
"""
MODEL = """from flax import linen as nn

from app.layer import Layer


class Model(nn.Module):
    def setup(self):
        self.first = Layer(4)
        self.last = nn.Dense(2)

    def __call__(self, x):
        return self.last(self.first(x))
"""
PLAIN = "import flax\n\nVERSION = flax.__version__\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a package of two Linen files and others."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    files = {"__init__.py": "", "layer.py": LAYER, "model.py": MODEL, "plain.py": PLAIN}
    written(tmp_path / "app", {**files, "notes.md": "`flax.linen`\n"})
    return tmp_path


def texts(folder: Path) -> dict[str, str]:
    """Return the files of a folder."""
    return {one.name: one.read_text() for one in sorted(folder.iterdir()) if one.is_file()}


def classes(path: Path) -> dict[str, Any]:
    """Return the classes of a map."""
    found = json.loads(path.read_text())
    assert found["version"] == 1
    return dict(found["classes"])


def test_a_dry_run_shows_diffs_and_writes_nothing(project: Path) -> None:
    before = texts(project / "app")
    result = run("app")
    assert result.exit_code == 0
    assert "--- a/app/layer.py\n+++ b/app/layer.py\n" in result.stdout
    assert "\n-class Layer(nn.Module):\n" in result.stdout
    assert "\n+class Layer(nnx.Module):\n" in result.stdout
    assert "app/plain.py" not in result.stdout
    assert "2 places in 2 files would change" in result.stderr
    assert texts(project / "app") == before


def test_check_has_status_1_until_the_files_are_written(project: Path) -> None:
    assert run("app", "--check").exit_code == 1
    assert run("app", "--write").exit_code == 0
    assert run("app", "--check").exit_code == 0
    assert (project / "app" / "plain.py").read_text() == PLAIN


def test_write_leaves_a_map_beside_each_migrated_file(project: Path) -> None:
    run("app", "--write")
    app = project / "app"
    assert sorted(one.name for one in app.glob("*.json")) == [
        "layer.migration.json",
        "model.migration.json",
    ]
    (model,) = classes(app / "model.migration.json").values()
    assert model["variables"]["params/first/Dense_0/kernel"] == "first.dense_0.kernel"
    assert model["lifted"] == [{"name": "in_features", "expr": "x.shape[-1]"}]


def test_sizes_travel_from_file_to_file(project: Path) -> None:
    run("app", "--write")
    text = (project / "app" / "model.py").read_text()
    assert "Layer(4, in_features=in_features, rngs=rngs)" in text
    assert "nnx.Linear(4, 2, rngs=rngs)" in text


def test_a_second_run_changes_neither_code_nor_maps(project: Path) -> None:
    run("app", "--write")
    before = texts(project / "app")
    result = run("app", "--write")
    assert result.exit_code == 0
    assert "nothing to change" in result.stdout
    assert texts(project / "app") == before


def test_output_writes_the_new_file_with_its_map_and_leaves_the_old_one(project: Path) -> None:
    result = run("app/layer.py", "-o", "new.py")
    assert result.exit_code == 0
    assert (project / "app" / "layer.py").read_text() == LAYER
    assert "class Layer(nnx.Module)" in (project / "new.py").read_text()
    assert set(classes(project / "new.migration.json")) == {"Layer"}


def test_the_target_decides_which_runtime_is_imported(project: Path) -> None:
    run("app/layer.py", "-o", "new.py", "--target", "flax.nnx")
    text = (project / "new.py").read_text()
    assert "from flax import nnx\n" in text
    assert "typed_nnx" not in text


def test_a_map_that_is_there_keeps_the_classes_of_earlier_runs(project: Path) -> None:
    path = project / "app" / "layer.migration.json"
    path.write_text('{"version": 1, "renamed": {"A": "B"}, "classes": {"Older": {}}}')
    run("app/layer.py", "--write")
    assert set(classes(path)) == {"Older", "Layer"}
    assert json.loads(path.read_text())["renamed"] == {"A": "B"}


def test_a_file_in_the_place_of_the_map_that_is_none_is_not_overwritten(project: Path) -> None:
    path = project / "app" / "layer.migration.json"
    path.write_text("something else")
    result = run("app", "--write")
    assert result.exit_code == 1
    assert "layer.migration.json is there and is not a map" in result.stderr
    assert path.read_text() == "something else"
    assert (project / "app" / "layer.py").read_text() == LAYER
    assert "class Model(nnx.Module)" in (project / "app" / "model.py").read_text()


def test_neither_file_is_written_where_the_code_cannot_be(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(session, "write_atomically", refuse)
    result = run("app/layer.py", "--write")
    assert result.exit_code == 1
    assert "the disk is full" in result.stderr
    assert texts(project / "app")["layer.py"] == LAYER
    assert not (project / "app" / "layer.migration.json").exists()


def test_files_with_changes_that_are_not_committed_are_refused(project: Path) -> None:
    git(Path(), "init")
    git(Path(), "add", "app/model.py")
    git(Path(), "commit", "-m", "a")
    result = run("app", "--write")
    assert result.exit_code == 2
    assert "app/layer.py" in result.stderr
    assert "Fix: commit them first, or give --allow-dirty" in result.stderr
    assert texts(project / "app")["layer.py"] == LAYER
    assert run("app", "--write", "--allow-dirty").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("app", "-o", "new.py"), "-o is for one file"),
        (("app/layer.py", "app/model.py", "-o", "new.py"), "-o is for one file"),
        (("app/layer.py", "-o", "new.py", "--check"), "give one of them"),
        (("app/layer.py", "-o", "nowhere/new.py"), "is in a folder that does not exist"),
        (("app/layer.py", "-o", "app"), "is a folder"),
        (("app/layer.py", "-o", "new.txt"), "is not a Python file"),
        (("app", "--trace-steps", "2"), "--trace-steps is for a program"),
        (("app", "--select", "TN101"), "--select is about older NNX code"),
        (("app", "--from", "0.8"), "--from is about older NNX code"),
        (("missing.py",), "does not exist"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_use_has_status_2_and_says_what_is_wrong(
    project: Path, arguments: tuple[str, ...], says: str
) -> None:
    before = texts(project / "app")
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())
    assert texts(project / "app") == before


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import flax.linen as nn\nclass A(nn.Module:\n", "not valid Python: line 2"),
        ("# coding: nonsense\nimport flax\n", "its encoding is not known"),
        ("import flax\nx = " + "(" * 400 + ")" * 400 + "\n", "nested too deeply"),
        ("import flax\nif a:\n  b\n\\\nif c:\n  b\n", "libcst cannot parse it"),
        (
            "\\\nimport flax.linen as nn\nclass A(nn.Module):\n  a: int\n",
            "libcst would lose spaces or a line end",
        ),
    ],
    ids=["syntax", "encoding", "depth", "libcst fails", "libcst loses a line"],
)
def test_a_file_that_cannot_be_read_is_named_and_others_are_migrated(text: str, says: str) -> None:
    Path("app/bad.py").write_text(text)
    result = run("app", "--write")
    assert result.exit_code == 1
    assert "app/bad.py: " in result.stderr
    assert says in result.stderr
    assert "class Layer(nnx.Module)" in Path("app/layer.py").read_text()
    assert Path("app/bad.py").read_text() == text


@pytest.mark.usefixtures("project")
def test_a_notebook_is_refused_where_it_is_named_and_passed_over_in_a_folder() -> None:
    Path("app/model.ipynb").write_text("{}")
    refused = run("app/model.ipynb")
    assert refused.exit_code == 1
    assert "model.ipynb: modules are migrated in Python files only" in refused.stderr
    assert run("app").exit_code == 0


@pytest.mark.usefixtures("project")
def test_a_file_that_only_has_the_word_linen_is_passed_over() -> None:
    Path("app/sheets.py").write_text("linen = 1\n")
    assert run("app", "--write").exit_code == 0


def test_the_bar_moves_on_with_the_work_and_ends_with_the_last_file(project: Path) -> None:
    files = sorted((project / "app").glob("*.py"))
    steps: list[float] = []
    request = Request(tuple(files), Options(), (), jobs=1)
    session.LinenWork().migrate(files, request, steps.append)
    assert sum(steps) == pytest.approx(len(files))
    assert max(steps) <= 1
    assert len(steps) > 2 * len(files)


@pytest.mark.usefixtures("project")
def test_with_keep_going_a_file_that_is_not_python_is_named_with_its_line_and_is_no_failure() -> (
    None
):
    Path("app/bad.py").write_text("import flax.linen as nn\nclass A(nn.Module:\n")
    result = run("app", "--write", "--keep-going")
    assert result.exit_code == 0
    assert "app/bad.py: it is not valid Python: line 2: " in result.stderr
    assert "class Layer(nnx.Module)" in Path("app/layer.py").read_text()


@pytest.mark.usefixtures("project")
def test_with_keep_going_a_file_that_cannot_be_read_is_still_a_failure() -> None:
    Path("app/bad.py").write_text("# coding: nonsense\nimport flax\n")
    assert run("app", "--write", "--keep-going").exit_code == 1


def test_output_of_a_file_without_modules_is_refused(project: Path) -> None:
    result = run("app/plain.py", "-o", "new.py")
    assert result.exit_code == 1
    assert "it has no module of flax.linen" in result.stderr
    assert not (project / "new.py").exists()


def test_line_ends_encoding_and_byte_order_mark_stay(project: Path) -> None:
    text = "# -*- coding: latin-1 -*-\n# caf\u00e9\n" + LAYER
    path = project / "app" / "layer.py"
    path.write_bytes(text.replace("\n", "\r\n").encode("latin-1"))
    assert run("app/layer.py", "--write").exit_code == 0
    data = path.read_bytes()
    assert b"class Layer(nnx.Module):\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")
    assert "caf\u00e9".encode("latin-1") in data


@pytest.mark.parametrize("form", ["json", "md", "html", "sarif"])
def test_reports_have_the_modules_and_what_is_left_to_a_person(project: Path, form: str) -> None:
    unclear = "x = nn.Dense(2)(f(x))"
    text = LAYER.replace("(self, x):\n", f"(self, x, f):\n        {unclear}\n")
    (project / "app" / "layer.py").write_text(text)
    result = run("app", "--report", form, "--report-file", "-")
    assert result.exit_code == 0
    assert "TN200" in result.stdout
    assert "TN201" in result.stdout
    if form == "json":
        report = json.loads(result.stdout)
        assert [rule["code"] for rule in report["rules"]] == ["TN200", "TN201"]
        found = [each for file in report["files"] for each in file["findings"]]
        place = next(each for each in found if each["code"] == "TN201")
        assert (place["line"], place["kind"], place["before"]) == (9, "decide", "nn.Dense(2)")


def test_a_bug_at_one_module_leaves_it_in_linen_and_the_others_are_migrated(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = LAYER.removeprefix(HEAD).replace("Layer", "Other")
    (project / "app" / "layer.py").write_text(f"{LAYER}\n\n{second}")
    real = planner.Planner._plan

    def fail(self: planner.Planner, cls: Any) -> Any:
        if cls.name == "Other":
            raise KeyError("a bug")
        return real(self, cls)

    monkeypatch.setattr(planner.Planner, "_plan", fail)
    result = run("app", "--write")
    assert result.exit_code == 1
    assert "app/layer.py: Other: a bug of typed-nnx migrate: KeyError" in result.stderr
    text = (project / "app" / "layer.py").read_text()
    assert "class Layer(nnx.Module):" in text
    assert "# TODO[typed-nnx] TN208: could not be migrated: " in text
    assert text.endswith(second)
    assert set(classes(project / "app" / "layer.migration.json")) == {"Layer"}
    assert "class Model(nnx.Module)" in (project / "app" / "model.py").read_text()


def test_a_file_with_syntax_of_a_newer_python_costs_no_second_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = "import jax\nfrom app.layer import nn\n\ntype Size = int\nprint(jax, nn)\n"
    model = f"{HEAD}from app import user\nfrom app.layer import Layer\nprint(user, Layer)\n"
    written(
        tmp_path,
        {"app/__init__.py": "", "app/layer.py": LAYER, "app/user.py": user, "app/model.py": model},
    )
    monkeypatch.chdir(tmp_path)
    runs: list[int] = []
    real = migration.migrate_linen

    def counted(paths: list[Path], *rest: Any) -> Any:
        runs.append(len(paths))
        return real(paths, *rest)

    monkeypatch.setattr(session, "migrate_linen", counted)
    assert run("app/layer.py", "app/model.py").exit_code == 0
    assert runs == [2]


def test_a_bug_at_a_whole_file_leaves_it_and_others_are_migrated(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = migration.migrate_linen

    def fail(paths: list[Path], *rest: Any) -> Any:
        if any(path.name == "layer.py" for path in paths):
            raise KeyError("a bug")
        return real(paths, *rest)

    monkeypatch.setattr(session, "migrate_linen", fail)
    result = run("app", "--write")
    assert result.exit_code == 1
    assert "app/layer.py: a bug of typed-nnx migrate: KeyError: 'a bug'" in result.stderr
    assert (project / "app" / "layer.py").read_text() == LAYER
    assert "class Model(nnx.Module)" in (project / "app" / "model.py").read_text()


def test_a_missing_ruff_is_named_once_with_what_to_do(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ruff, "_program", lambda: None)
    result = run(project, "app")

    assert result.stderr.count("ruff is not installed") == 1
    assert "pip install 'typed-nnx[tools]'" in result.stderr
    assert "class Layer(nnx.Module)" in result.stdout
