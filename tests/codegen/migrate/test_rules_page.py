"""The page of the rules is what the rules say."""

from __future__ import annotations

from pathlib import Path

import pytest

from typed_nnx_codegen.migrate import rules_page
from typed_nnx_codegen.migrate.linen.domain import class_plan
from typed_nnx_codegen.migrate.registry import all_rules


def test_the_page_is_current() -> None:
    assert rules_page.main(["--check"]) == 0


def test_a_page_that_is_not_current_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rules_page, "PAGE", tmp_path / "page.md")

    assert rules_page.main(["--check"]) == 1
    assert "Fix: python -m typed_nnx_codegen.migrate.rules_page --write" in capsys.readouterr().err
    assert rules_page.main(["--write"]) == 0
    assert rules_page.main(["--check"]) == 0


def test_each_rule_and_each_marker_of_linen_code_has_a_row_and_on_the_site_a_section() -> None:
    listed, in_full = rules_page.render(), rules_page.in_full()
    for code in [*(rule.code for rule in all_rules()), *class_plan.TITLES]:
        anchor = f'<a id="{code.lower()}"></a>'
        assert listed.count(f"| {anchor}[{code}](") == 1
        assert in_full.count(f"| [{code}](#{code.lower()}) |") == 1
        assert in_full.count(f"{anchor}\n\n### {code}: ") == 1
