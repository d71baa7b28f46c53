"""Files whose classes inherit from Linen modules of other files, without a word of flax."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import run, written

BASE = """import flax.linen as nn


class Base(nn.Module):
    width: int = 3

    def setup(self):
        self.dense = nn.Dense(self.width)

    def __call__(self, x):
        return self.dense(x)
"""
DERIVED = """from base import Base


class Derived(Base):
    more: int = 2

    def __call__(self, x):
        return self.more * self.dense(x)
"""
FURTHER = (
    DERIVED.replace("base", "derived")
    .replace("Base", "Derived")
    .replace("class Derived", "class Further")
)
OTHER = """from base import Base


class Report(dict):
    def of(self, model):
        return {Base.__name__: self[model]}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {"base.py": BASE, "derived.py": DERIVED, "further.py": FURTHER, "other.py": OTHER}
    written(tmp_path, files)
    return tmp_path


def test_a_class_is_migrated_with_the_one_that_it_inherits_from(project: Path) -> None:
    run("--write", project)

    derived = " ".join((project / "derived.py").read_text().split())
    assert "width: int = 3, more: int = 2," in derived
    assert "class Further(Derived):\n    def __init__(" in (project / "further.py").read_text()


def test_a_file_without_a_linen_module_stays_as_it_is(project: Path) -> None:
    run("--write", project)

    assert (project / "other.py").read_text() == OTHER


def test_nothing_changes_when_it_is_run_again(project: Path) -> None:
    run("--write", project)
    before = {path: path.read_text() for path in project.glob("*.py")}
    run("--write", project)

    assert {path: path.read_text() for path in project.glob("*.py")} == before
