"""docs/migrating-haiku.md: its example is what the command writes."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from tests.support.type_checkers import REPOSITORY
from typed_nnx_codegen.migrate.command import migrate

PAGE = (REPOSITORY / "docs" / "migrating-haiku.md").read_text(encoding="utf-8")


def test_the_example_is_what_the_command_writes(tmp_path: Path) -> None:
    before, after, *_ = re.findall(r"^```py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "ruff.toml").write_text("line-length = 100\n")  # as in this project
    file = tmp_path / "models.py"
    file.write_text(before, encoding="utf-8")
    found = CliRunner().invoke(migrate, ["--haiku", str(file), "--write", "--allow-dirty", "-q"])
    assert found.exit_code == 0, found.output
    assert file.read_text(encoding="utf-8") == after
