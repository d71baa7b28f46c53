"""``typed-nnx rules``, and the group of the commands: what each costs and what it needs."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tests.codegen.migrate.fake_migration import RULES, install
from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_codegen.console import terminal


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rules instead of those that there are."""
    install(monkeypatch)


@pytest.mark.usefixtures("stand_ins")
def test_rules_are_listed_with_code_before_and_after() -> None:
    result = CliRunner().invoke(typed_nnx, ["rules"])
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "TN103: `nnx.VariableState` is `nnx.Variable` (since flax 0.11.0)\n"
        "  - nnx.VariableState\n  + nnx.Variable\n"
    )
    assert "TN110" in result.stdout
    assert "One class" not in result.stdout
    in_full = CliRunner().invoke(typed_nnx, ["rules", "tn103"]).stdout
    assert "  One class has the work of both.\n" in in_full
    assert "TN110" not in in_full


@pytest.mark.usefixtures("stand_ins")
def test_rules_are_listed_for_programs_and_pages() -> None:
    listed = json.loads(CliRunner().invoke(typed_nnx, ["rules", "--json"]).stdout)
    assert [rule["code"] for rule in listed][: len(RULES)] == [rule.code for rule in RULES]
    assert listed[0]["since"] == "0.11.0"
    assert (listed[0]["before"], listed[0]["after"]) == ("nnx.VariableState\n", "nnx.Variable\n")
    page = CliRunner().invoke(typed_nnx, ["rules", "TN110", "TN103", "--format", "md"]).stdout
    assert page.startswith("### TN103: `nnx.VariableState` is `nnx.Variable`\n")
    assert "```diff\n- nnx.VariableState\n+ nnx.Variable\n```\n" in page
    wrong = CliRunner().invoke(typed_nnx, ["rules", "TN3"])
    assert wrong.exit_code == 2
    assert "there is no rule 'TN3'" in wrong.stderr


@pytest.mark.usefixtures("stand_ins")
def test_the_markers_of_linen_code_are_listed_behind_the_rules() -> None:
    listed = json.loads(CliRunner().invoke(typed_nnx, ["rules", "--json"]).stdout)
    assert [rule["code"] for rule in listed][-10:] == [f"TN20{number}" for number in range(10)]
    shown = CliRunner().invoke(typed_nnx, ["rules", "TN201"]).stdout
    assert shown.startswith("TN201: The size of an input is not known\n")
    assert "--example FILE" in shown


@pytest.mark.usefixtures("stand_ins")
def test_a_terminal_gets_the_example_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda name: True)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = CliRunner().invoke(typed_nnx, ["rules", "TN103"]).stdout
    assert "(since flax 0.11.0)" in shown
    assert [line.strip() for line in shown.splitlines() if line.strip()[:1] in set("+-")] == [
        "- nnx.VariableState",
        "+ nnx.Variable",
    ]


def test_a_command_without_its_packages_names_them_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "rich" else name)
    result = CliRunner().invoke(typed_nnx, ["migrate", "x"])
    assert result.exit_code == 2
    assert "not installed: rich.\n  Fix: pip install 'typed-nnx[tools]'\n" in result.output
