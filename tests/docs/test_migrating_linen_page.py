"""docs/migrating-linen.md: its example is what the command writes, and its table has all markers."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.type_checkers import REPOSITORY
from typed_nnx_codegen.migrate.command import migrate
from typed_nnx_codegen.migrate.linen.domain.class_plan import TITLES
from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options

PAGE = (REPOSITORY / "docs" / "migrating-linen.md").read_text(encoding="utf-8")
BEFORE, AFTER, *_ = re.findall(r"^```py\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_example_is_what_the_command_writes(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(BEFORE)
    (tmp_path / "ruff.toml").write_text("line-length = 100\n")  # as in this project
    (result,) = migrate_linen([path], [path], Options())
    assert result.after == AFTER


def test_the_table_has_each_marker_with_its_title() -> None:
    rows = re.findall(r"^\| \[(TN2\d\d)\]\(\S+\) \| (.*?) \| .+ \|$", PAGE, flags=re.MULTILINE)
    assert dict(rows) == TITLES


def test_the_page_names_the_options_that_are_for_linen_alone() -> None:
    of_linen = {"linen", "output", "example", "gradual"}
    options = {each.opts[0] for each in migrate.params if each.name in of_linen}
    assert len(options) == len(of_linen)
    assert {name for name in options if name not in PAGE} == set()
