"""What a page says that mypy prints is what mypy, with the plugin, prints of the code on the page."""

from __future__ import annotations

import re

import pytest

from tests.mypy_plugin.run import FOLDER, footer, write
from tests.support.code_blocks import blocks_of
from tests.support.once import locked
from tests.support.type_checkers import REPOSITORY, TypeCheckers

SAID = re.compile(r"^```text\n((?:\w+\.py:\d+: .*\n)+)```$", re.MULTILINE)
# The file that the page has its reader write, and how many blocks of the page it has.
FILES = {"tutorial": ("digits.py", None), "migrating-flax-nnx": ("model.py", 1)}


def page_of(page: str) -> str:
    return (REPOSITORY / "docs" / f"{page}.md").read_text(encoding="utf-8")


def said_of(name: str, program: str, *options: str) -> list[str]:
    """Return the lines that mypy prints of a program, without its summary."""
    folder = FOLDER / "typed_nnx"  # the cases of the plugin are there, and a cache that knows jax
    write([], folder)
    with locked(folder / "lock"):
        (folder / name).write_text(program + footer(), encoding="utf-8")
        return TypeCheckers(folder).mypy_text("--no-error-summary", *options, name).splitlines()


def program_of(page: str) -> tuple[str, str]:
    """Return the file as a reader pastes it: blocks one after another, a blank line between."""
    name, count = FILES[page]
    return name, "\n".join(block.source for block in blocks_of(page_of(page))[:count])


@pytest.mark.thorough
@pytest.mark.parametrize("page", FILES)
def test_a_page_shows_what_mypy_prints(page: str) -> None:
    shown = [line for block in SAID.findall(page_of(page)) for line in block.splitlines()]
    assert len(shown) > 1
    assert shown == said_of(*program_of(page))


@pytest.mark.thorough
def test_mypy_without_the_plugin_finds_nothing_wrong_with_the_model_on_flax() -> None:
    settings = ("--config-file=", "--ignore-missing-imports", "--follow-imports=silent")
    assert said_of(*program_of("migrating-flax-nnx"), *settings) == []
