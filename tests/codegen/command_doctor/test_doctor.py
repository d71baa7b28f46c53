"""``typed-nnx doctor``: what it says of a project, and how it says it."""

from __future__ import annotations

import functools
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import typed_nnx_codegen.stubgen.__main__ as generator
from tests.codegen.command.running import run, run_on_terminal
from tests.codegen.command_doctor.installed import hide
from tests.codegen.model_stubs.overlay_models import net
from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_codegen.doctor import command, plugin
from typed_nnx_codegen.doctor.finding import Finding
from typed_nnx_codegen.doctor.plugin import plugin_findings
from typed_nnx_codegen.doctor.stubs import stub_findings
from typed_nnx_codegen.model_stubs.models import Models, Problem

REAL_RENDER = generator.render
STUBS = generator.TARGET
NAMED = '[tool.mypy]\nplugins = ["typed_nnx_mypy"]\n'
OUR_TABLE = "[tool.typed_nnx]\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, the root of a repository with nothing in it."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def doctor(*arguments: str) -> Result:
    """Run the command without jax; a traceback fails the test."""
    result = CliRunner().invoke(typed_nnx, ["doctor", "--no-backend", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def as_json(result: Result) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(result.stdout)
    return said


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {each.name: each for each in findings}


@functools.cache
def stubs() -> dict[str, str]:
    """Return what the generator makes; it takes seconds, and always makes the same."""
    return REAL_RENDER()


@pytest.fixture(autouse=True)
def made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stubs be made once."""
    monkeypatch.setattr(generator, "render", stubs)


@pytest.fixture
def without_mypy_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the plugin load, where a test is about something else."""
    fine = Finding("mypy plugin", "loads in mypy", "ok", "yes")
    monkeypatch.setattr(plugin, "loading", lambda limit: fine)


# -- the mypy plugin ----------------------------------------------------------------------------

CASES: dict[str, tuple[dict[str, str], str, str]] = {
    "no settings": ({}, "note", "no settings of mypy"),
    "named": ({"pyproject.toml": NAMED}, "ok", "in pyproject.toml"),
    "named in INI": ({"mypy.ini": "[mypy]\nplugins=a,typed_nnx_mypy\n"}, "ok", "in mypy.ini"),
    "not named": ({"setup.cfg": "[mypy]\nstrict=True\n"}, "note", "setup.cfg does not name it"),
    "set up and not named": ({"pyproject.toml": OUR_TABLE}, "fix", "no settings of mypy"),
    "misspelt": (
        {"pyproject.toml": '[tool.mypy]\nplugins = ["typed-nnx-mypy"]\n'},
        "fix",
        "names 'typed-nnx-mypy'",
    ),
}


@pytest.mark.usefixtures("without_mypy_runs")
@pytest.mark.parametrize(("files", "state", "said"), CASES.values(), ids=CASES.keys())
def test_it_is_told_whether_the_project_uses_the_plugin(
    project: Path, files: dict[str, str], state: str, said: str
) -> None:
    for name, text in files.items():
        (project / name).write_text(text, encoding="utf-8")
    finding = by_name(list(plugin_findings(project, 60)))["switched on"]
    assert (finding.state, said in finding.found) == (state, True), finding
    assert (finding.remedy == "") == (state == "ok")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        (f'{NAMED}{OUR_TABLE}runtimes = ["flax.nnx"]\n', "ok", "valid, in pyproject.toml"),
        (f"{NAMED}{OUR_TABLE}runtime = 1\n", "fix", "has no setting 'runtime'"),
        (f'{NAMED}[tool.typed_nnx.severity]\nnnx-x = "off"\n', "fix", "names 'nnx-x'"),
    ],
)
def test_settings_of_the_plugin_are_read_as_the_plugin_reads_them(
    project: Path, text: str, state: str, said: str
) -> None:
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    finding = by_name(list(plugin_findings(project, 60)))["[tool.typed_nnx]"]
    assert (finding.state, said in finding.found) == (state, True), finding
    assert str(project) not in finding.found


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["[tool.mypy\n", "\x00", '[tool]\nmypy = "'])
def test_settings_that_cannot_be_read_are_told(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    finding = by_name(list(plugin_findings(project, 60)))["mypy's settings"]
    assert finding.state == "fix"
    assert finding.found.startswith("pyproject.toml: cannot be read")


@pytest.mark.usefixtures("project")
def test_a_plugin_that_mypy_cannot_load_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken" / "typed_nnx_mypy"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('not today')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(broken.parent))
    finding = by_name(list(plugin_findings(tmp_path, 60)))["loads in mypy"]
    assert finding.state == "fix"
    assert "not today" in finding.found


# -- stubs --------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_stub_package_is_compared_with_the_runtime(project: Path) -> None:
    finding = by_name(list(stub_findings(project)))["typed_nnx-stubs"]
    assert finding.state == "ok", finding


@pytest.mark.parametrize("what", ["changed", "a file less", "absent", "twice"])
def test_stubs_that_are_not_those_of_the_runtime_are_told(
    project: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    without = [each for each in sys.path if not Path(each, "typed_nnx-stubs").is_dir()]
    here = project / "packages"
    if what == "absent":
        monkeypatch.setattr(sys, "path", without)
    else:
        shutil.copytree(STUBS, here / "typed_nnx-stubs")
        monkeypatch.setattr(sys, "path", [str(here), *(sys.path if what == "twice" else without)])
    some = here / "typed_nnx-stubs" / "_transforms" / "grad_overloads.pyi"
    if what == "changed":
        some.write_text(f"{some.read_text()}\n", encoding="utf-8")
    elif what == "a file less":
        some.unlink()
    findings = [each for each in stub_findings(project) if each.name == "typed_nnx-stubs"]
    assert [each.state for each in findings] == (["fix", "ok"] if what == "twice" else ["fix"])
    assert findings[0].remedy
    if what in ("changed", "a file less"):
        assert "_transforms/grad_overloads.pyi" in findings[0].found


def test_the_overlay_is_told_whether_it_is_there_and_current(
    project: Path, models: Callable[[Models], None]
) -> None:
    def state() -> tuple[str, str]:
        finding = by_name(list(stub_findings(project)))["overlay"]
        return finding.state, finding.remedy

    assert state() == ("note", "typed-nnx stubs PACKAGE")
    models(net("w"))
    CliRunner().invoke(typed_nnx, ["stubs", "app"])
    assert state() == ("ok", "")
    models(net("w", "v"))
    assert state() == ("fix", "typed-nnx stubs app")
    models(Models({}, (), (Problem("app/a.py", 1, "broken"),)))
    assert state()[0] == "fix"
    Path("typings/typed_nnx_models.pyi").write_text("", encoding="utf-8")
    assert state() == ("fix", "typed-nnx stubs PACKAGE --out typings")


def test_an_overlay_where_pyright_does_not_look_is_told(
    project: Path, models: Callable[[Models], None]
) -> None:
    models(net("w"))
    CliRunner().invoke(typed_nnx, ["stubs", "app"])
    (project / "pyrightconfig.json").write_text(
        '{ // a comment\n "stubPath": "build/stubs", }', encoding="utf-8"
    )
    finding = by_name(list(stub_findings(project)))["overlay"]
    assert finding.state == "fix"
    assert "pyright looks in " in finding.found
    (project / "pyrightconfig.json").write_text(
        f'{{{finding.remedy.partition(" in ")[0]!r}: "typings"}}'.replace("'", '"'),
        encoding="utf-8",
    )
    assert by_name(list(stub_findings(project)))["overlay"].state == "ok"


# -- what is missing, and what is said ----------------------------------------------------------


@pytest.mark.usefixtures("project", "without_mypy_runs")
@pytest.mark.parametrize(
    "names", [("mypy",), ("flax",), ("jax", "jaxlib"), ("mypy", "jax", "flax")]
)
def test_parts_that_are_missing_are_told_and_nothing_breaks(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    hide(monkeypatch, *names)
    result = doctor("--json")
    assert result.exit_code == (1 if "jax" in names else 0)
    said = {each["name"]: each for each in as_json(result)["findings"]}
    for name in names:
        assert said[name]["found"].startswith("not installed")


@pytest.mark.usefixtures("project", "without_mypy_runs")
def test_an_installation_that_raises_when_it_is_looked_at_is_a_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def look(folder: Path) -> Iterator[Finding]:
        yield Finding("stubs", "first", "ok", "seen")
        raise KeyError("half of a package")

    monkeypatch.setattr(command, "stub_findings", look)
    result = doctor("--json")
    assert result.exit_code == 1
    first, rest = as_json(result)["findings"][-2:]
    assert (first["name"], rest["state"]) == ("first", "fix")
    assert "KeyError: 'half of a package'" in rest["found"]


@pytest.mark.thorough
@pytest.mark.usefixtures("without_mypy_runs")
def test_the_json_says_what_the_table_says_and_the_status_follows_from_it(project: Path) -> None:
    for text, status in (("", 0), (OUR_TABLE, 1)):
        (project / "pyproject.toml").write_text(text, encoding="utf-8")
        result = doctor("--json")
        said = as_json(result)
        states = {each["state"] for each in said["findings"]}
        assert result.exit_code == status
        assert said["ok"] == (status == 0) == ("fix" not in states)
        assert all(each["remedy"] for each in said["findings"] if each["state"] == "fix")
        shown = " ".join(doctor().stdout.split())
        for each in said["findings"]:
            assert f"{each['name']} {each['state']} {each['found']}" in shown
            assert each["remedy"] in shown


@pytest.mark.usefixtures("project", "without_mypy_runs")
def test_json_goes_to_a_file_beside_the_table_or_to_standard_output_alone() -> None:
    assert "nothing to fix" in doctor("--json", "out.json").stdout
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["ok"] is True
    assert as_json(doctor("--json", "-"))["ok"] is True


@pytest.mark.usefixtures("without_mypy_runs")
def test_quiet_shows_only_what_is_to_be_fixed(project: Path) -> None:
    assert doctor("-q").output == ""
    (project / "pyproject.toml").write_text(OUR_TABLE, encoding="utf-8")
    result = doctor("--quiet")
    assert [line.split()[:3] for line in result.stdout.splitlines() if line] == [
        ["mypy", "plugin"],
        ["switched", "on", "fix"],
        ["To", "fix:"],
        ["switched", "on:", "plugins"],
    ]


@pytest.mark.thorough
def test_a_pipe_gets_a_line_for_each_finding_and_a_terminal_no_line_that_is_too_wide(
    project: Path,
) -> None:
    more = {"XLA_FLAGS": " ".join(["--xla_backend_optimization_level=0"] * 9)}
    done = run("doctor", "--no-backend", folder=project, more=more)
    lines = done.stdout.splitlines()
    assert "\x1b" not in done.stdout
    assert all(line == line.rstrip() for line in lines)
    said = as_json(doctor("--json"))["findings"]
    assert sum(each["found"] in line for each in said for line in lines) >= len(said)
    status, shown = run_on_terminal(
        "doctor", "--no-backend", folder=project, more={"NO_COLOR": "1"}
    )
    assert status == 0
    # The remedies are below the table: they are commands to copy, and those are not cut.
    table = shown.partition("If you want it")[0]
    table = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", table).replace("\r", "\n")
    table = table[table.rindex("versions") :]
    assert max(map(len, table.splitlines())) <= 80


# -- --fix --------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.usefixtures("without_mypy_runs")
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("pyproject.toml", OUR_TABLE, f"{OUR_TABLE}\n{NAMED}"),
        (
            "pyproject.toml",
            f"# mine\n[tool.mypy]  # here\nstrict = true\n\n{OUR_TABLE}",
            f'# mine\n[tool.mypy]  # here\nplugins = ["typed_nnx_mypy"]\nstrict = true\n\n{OUR_TABLE}',
        ),
        (
            "pyproject.toml",
            f"[tool.mypy]\nplugins = ['one']  # why\n{OUR_TABLE}",
            f"[tool.mypy]\nplugins = ['one', 'typed_nnx_mypy']  # why\n{OUR_TABLE}",
        ),
        (
            "pyproject.toml",
            f'[tool.mypy]\nplugins = [\n  "one.a",\n  "one",  # why\n]\n{OUR_TABLE}',
            f'[tool.mypy]\nplugins = [\n  "one.a",\n  "one", "typed_nnx_mypy",  # why\n]\n{OUR_TABLE}',
        ),
        (
            "mypy.ini",
            "[mypy]\nplugins = one\n[mypy-x.*]\nstrict = True\n",
            "[mypy]\nplugins = one, typed_nnx_mypy\n[mypy-x.*]\nstrict = True\n",
        ),
        (
            "setup.cfg",
            "[mypy]\nplugins =\n    one,\n    two\n",
            "[mypy]\nplugins =\n    one,\n    two, typed_nnx_mypy\n",
        ),
    ],
    ids=["no settings", "no plugins", "another plugin", "several lines", "INI", "lines of INI"],
)
def test_fix_names_the_plugin_and_changes_nothing_else(
    project: Path, name: str, before: str, after: str
) -> None:
    (project / "pyproject.toml").write_text(OUR_TABLE, encoding="utf-8")
    (project / name).write_text(before, encoding="utf-8")
    assert doctor().exit_code == 1
    assert (project / name).read_text(encoding="utf-8") == before
    found = as_json(doctor("--fix", "--json"))
    states = {each["name"]: each["state"] for each in found["findings"]}
    assert states["switched on"] == "ok"
    assert (project / name).read_text(encoding="utf-8") == after
    assert doctor("--fix").exit_code == 0
    assert (project / name).read_text(encoding="utf-8") == after


@pytest.mark.thorough
@pytest.mark.usefixtures("without_mypy_runs")
@pytest.mark.parametrize(
    "text",
    [
        f'[tool.mypy]\nplugins = ["on\\u0065"]\n{OUR_TABLE}',
        f"tool.mypy.plugins = ['one']\n{OUR_TABLE}",
        "[tool.mypy]\nplugins = ['one']\n",
    ],
    ids=["an escape", "without a section", "no fix is wanted"],
)
def test_fix_leaves_alone_what_it_is_not_sure_of(project: Path, text: str) -> None:
    path = project / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    doctor("--fix")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.usefixtures("project", "without_mypy_runs")
def test_fix_runs_the_command_that_writes_the_overlay(
    models: Callable[[Models], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def run_here(command: list[str], **options: Any) -> None:
        ran.append(command)
        CliRunner().invoke(typed_nnx, command[3:])

    models(net("w"))
    CliRunner().invoke(typed_nnx, ["stubs", "app"])
    models(net("w", "v"))
    monkeypatch.setattr("typed_nnx_codegen.doctor.stubs.subprocess.run", run_here)
    before = OVERLAY.read_text(encoding="utf-8")
    finding = by_name([Finding(**each) for each in _findings(doctor("--json"))])["overlay"]
    assert (finding.state, OVERLAY.read_text(encoding="utf-8"), ran) == ("fix", before, [])
    finding = by_name([Finding(**each) for each in _findings(doctor("--json", "--fix"))])["overlay"]
    assert finding.state == "ok"
    assert OVERLAY.read_text(encoding="utf-8") != before
    assert [command[3:] for command in ran] == [["stubs", "app"]]


OVERLAY = Path("typings/typed_nnx_models.pyi")


def _findings(result: Result) -> Iterator[dict[str, Any]]:
    for each in as_json(result)["findings"]:
        fixable = each.pop("fixable")
        assert fixable is (each["remedy"] == "typed-nnx stubs app" or each["name"] == "switched on")
        yield each
