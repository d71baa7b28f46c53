from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.code_blocks import Block, Printed, blocks_of, run_blocks

if TYPE_CHECKING:
    from pathlib import Path


def test_blocks_are_found_with_the_text_that_follows_directly() -> None:
    document = "a\n```python\nx\n```\n\n```text\n1\n```\n```python\ny\n```\nb\n```text\n2\n```\n"
    assert blocks_of(document) == [Block("x\n", 2, "1\n"), Block("y\n", 9, None)]


def test_a_document_may_have_no_code() -> None:
    assert blocks_of("words\n") == []


def test_blocks_of_a_document_share_their_names_and_report_what_they_print(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(
        "```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n4\n```\n"
    )
    assert run_blocks(document) == [Printed("page.md:5", "4\n", "3\n")]
