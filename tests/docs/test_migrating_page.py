"""docs/migrating.md: its files are valid, and it names the options that the command has."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
from click.testing import CliRunner

from tests.support.type_checkers import REPOSITORY
from typed_nnx_codegen.migrate import report
from typed_nnx_codegen.migrate.command import migrate, rules
from typed_nnx_codegen.migrate.report import FORMS

PAGE = (REPOSITORY / "docs" / "migrating.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_json_report_of_the_page_is_what_the_schema_says() -> None:
    (example,) = [json.loads(text) for language, text in BLOCKS if language == "json"]
    schema = files(report).joinpath("migration.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(example, json.loads(schema))


def test_the_page_names_every_option_and_every_form_of_report() -> None:
    options = {name for each in (*migrate.params, *rules.params) for name in each.opts}
    named = set(re.findall(r"--[a-z-]+", PAGE))
    assert {name for name in options if name.startswith("--")} <= named
    forms = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert sorted(forms) == sorted(FORMS)


def test_the_sections_are_there_and_the_rules_come_last() -> None:
    sections = re.findall(r"^## (.*)$", PAGE, flags=re.MULTILINE)
    first = [
        "The command",
        "Reports",
        "Exit statuses",
        "In CI",
        "Version steps",
        "What no rule sees",
        "Rules",
    ]
    assert sections == first


def test_the_diff_of_the_page_is_what_the_command_makes_of_the_code(tmp_path: Path) -> None:
    (diff,) = [text for language, text in BLOCKS if language == "diff"]
    before, after = (
        "".join(line[1:] or "\n" for line in diff.splitlines(keepends=True) if line[0] in kept)
        for kept in ("- \n", "+ \n")
    )
    path = tmp_path / "model.py"
    path.write_text(before, encoding="utf-8")
    CliRunner().invoke(migrate, ["--write", "--allow-dirty", str(path)], catch_exceptions=False)
    assert path.read_text(encoding="utf-8") == after
