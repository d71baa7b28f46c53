"""Python blocks in Markdown and reStructuredText; all other text stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.migrate.text_migrations import add_import, rename_old
from typed_nnx_codegen.migrate.files import migrate_source
from typed_nnx_codegen.migrate.findings import Finding, Migrated
from typed_nnx_codegen.migrate.sources.outcome import TextMigration

BLOCK = "old(1)\n"
NEW = "# marker\nnew(1)\n"


def after(name: str, text: str, migrate: TextMigration = rename_old) -> str:
    result = migrate_source(text.encode(), Path(name), migrate)
    assert not result.error
    return result.after.decode()


def findings(name: str, text: str) -> list[Finding]:
    return list(migrate_source(text.encode(), Path(name), rename_old).findings)


def indented(text: str, prefix: str) -> str:
    return "".join(prefix + line for line in text.splitlines(keepends=True))


# -- Markdown -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "info",
    [
        *(
            "python",
            "py",
            "python3",
            "Python",
            "ipython",
            " python ",
            'python title="a"',
            "py,ignore",
        ),
        *("{code-cell}", "{code-cell} ipython3", "{testcode}", "{code-block} python", "{code} py"),
        *("{python}", "{python echo=FALSE}", "{.python .numberLines}", "{ .py }", "python {hl=1}"),
        *("{jupyter-execute}", "{testsetup} group"),
    ],
)
def test_fences_of_python_are_migrated(info: str) -> None:
    text = "old\n```{}\n{}```\nold\n"
    assert after("a.md", text.format(info, BLOCK)) == text.format(info, NEW)


@pytest.mark.parametrize(
    "info", ["", "bash", "text", "pythonic", "{code-block} c", "{code-block}", "{eval-rst}", "md"]
)
def test_other_fences_are_left_alone(info: str) -> None:
    text = f"old\n```{info}\n{BLOCK}```\nold\n"
    assert after("a.md", text) == text


@pytest.mark.parametrize("fence", ["```", "~~~", "`````", "~~~~"])
def test_fences_end_with_their_own_marks(fence: str) -> None:
    text = f"{fence}py\n'''\n``\n{fence[:-1]}\n'''\n{{}}{fence}{fence[0]}\n{BLOCK}"
    assert after("a.md", text.format(BLOCK)) == text.format(NEW)


@pytest.mark.parametrize(
    ("opening", "prefix"),
    [
        ("  ", "  "),
        ("> ", "> "),
        (">", ">"),
        (">> ", ">> "),
        ("- ", "  "),
        ("1. ", "   "),
        ("> * ", ">   "),
        ("\t", "\t"),
        ("      ", "      "),
    ],
)
def test_what_is_in_front_of_the_lines_of_a_block_stays(opening: str, prefix: str) -> None:
    text = "x\n{}```py\n{}{}```\nold\n"
    code = "def f():\n    a\n    old(1)\n"
    new = "def f():\n    a\n    # marker\n    new(1)\n"
    before = text.format(opening, indented(code, prefix), prefix)
    assert after("a.md", before) == text.format(opening, indented(new, prefix), prefix)


def test_empty_lines_of_an_indented_block_stay_as_they_are() -> None:
    text = "- a\n\n  ```py\n  a\n\n  {}\n    \n  b\n  ```\n"
    assert after("a.md", text.format("old")) == text.format("# marker\n  new")


def test_lines_that_become_empty_have_no_spaces() -> None:
    text = "- a\n  ```py\n  a\n{}\n  b\n  ```\n> ```py\n> a\n{}\n> b\n> ```\n"
    new = after(
        "a.md", text.format("  old", "> old"), lambda code: Migrated(code.replace("old", ""))
    )
    assert new == text.format("", ">")


def test_blocks_are_found_in_directives_but_not_in_examples_of_markdown() -> None:
    text = "````{note}\n```py\n{}```\n````\n:::{tip}\n```py\n{}```\n:::\n````md\n```py\nold\n```\n````\n"
    text = text.replace("{note}", "{{note}}").replace("{tip}", "{{tip}}")
    assert after("a.md", text.format(BLOCK, BLOCK)) == text.format(NEW, NEW)


def test_options_of_a_directive_are_not_code() -> None:
    text = "```{{code-cell}} python\n:tags: [old]\n\n{}```\n```{{code-cell}}\n---\na: old\n---\n{}```\n"
    assert after("a.md", text.format(BLOCK, BLOCK)) == text.format(NEW, NEW)


@pytest.mark.parametrize(
    "text", ["```py\n{}", "> ```py\n> {}", "```py\n", "x", "```py", "", "`````py old ```\nold\n"]
)
def test_a_document_may_end_in_a_block(text: str) -> None:
    prefix = "> " if text.startswith(">") else ""
    assert after("a.md", text.format("old")) == text.format(f"# marker\n{prefix}new")


def test_a_block_ends_where_its_quote_ends() -> None:
    text = "> ```py\n> {}\nold\n\n```py\n{}\n```\n"
    new = text.format("# marker\n> new", "# marker\nnew")
    assert after("a.md", text.format("old", "old")) == new


def test_line_ends_of_documents_stay() -> None:
    text = "\ufeffä\r\n```py\r\n{}\r\n```\r\nb\nc\r"
    assert after("a.md", text.format("old")) == text.format("# marker\r\nnew")


# -- blocks are one program ---------------------------------------------------------------------


def test_blocks_see_the_imports_of_earlier_ones_and_broken_ones_are_left_alone() -> None:
    text = (
        "```py\nb\nimport jax\n```\n```py\nold = \n```\n```py\n...\nold\n```\n```py\n  old\n```\n"
    )
    texts: list[str] = []

    def collect(code: str) -> Migrated:
        texts.append(code)
        return rename_old(code)

    assert after("a.md", text, collect) == text.replace("...\nold", "...\n# marker\nnew")
    assert len(texts) == 1
    new = text.replace("import jax\n", "import jax\nimport nnx\n")
    assert after("a.md", text, add_import) == new


def test_findings_have_the_block_and_the_line_in_it() -> None:
    text = "x\n```py\na\nold\n```\n```py\n(\n```\n```py\nif b:\n  old\nold\n```\n"
    found = findings("a.md", text)
    assert [(one.part, one.line) for one in found] == [(1, 2), (3, 2), (3, 3)]


@pytest.mark.parametrize("name", ["a.md", "a.rst"])
def test_sessions_with_prompts_are_left_alone(name: str) -> None:
    text = "```py\n>>> old\n```\n\n>>> old\n\n.. code-block:: python\n\n   >>> old\n   ... old\n"
    assert after(name, text) == text


# -- reStructuredText ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "directive",
    [
        *("code-block:: python", "code:: python", "sourcecode:: python3", "code-block:: ipython3"),
        *("testcode::", "testcode:: group", "jupyter-execute::", "plot::", "code-block::  Python"),
    ],
)
@pytest.mark.parametrize("options", ["", "   :linenos:\n   :caption: old\n"], ids=["", "options"])
def test_directives_with_python_are_migrated(directive: str, options: str) -> None:
    text = f"old::\n\n   old\n\n.. {directive}\n{options}\n{{}}\n   b\n\nold\n"
    before = text.format(indented("def f():\n    old\n", "   "))
    new = indented("def f():\n    # marker\n    new\n", "   ")
    assert after("a.rst", before) == text.format(new)


@pytest.mark.parametrize(
    "directive",
    ["code-block:: c", "code-block::", "note::", "plot:: old.py", "prompt:: python", "code:: bash"],
)
def test_other_directives_are_left_alone(directive: str) -> None:
    text = f".. {directive}\n\n   old\n   x\n"
    assert after("a.rst", text) == text


def test_the_content_of_a_directive_ends_with_its_indentation() -> None:
    text = (
        "* a\n\n  .. code-block:: python\n\n     class A:\n\n         x = 1\n{}\n\n     b\n\n"
        "  old\n\n.. code-block:: python\nold\n"
    )
    new = text.format("         # marker\n         new")
    assert after("a.rst", text.format("         old")) == new


# -- all documents ------------------------------------------------------------------------------

_LINES = st.sampled_from(
    [
        *(
            "```py",
            "```",
            "~~~python",
            "> ```py",
            "> old",
            "> ```",
            "- ```py",
            "  old",
            "  ```",
            ">",
        ),
        *(
            "old",
            ">>> old",
            "... old",
            "    >>> old",
            "text",
            "",
            ".. code-block:: python",
            "   old",
        ),
        *(
            "   :a: b",
            "   >>> old",
            "\told",
            "````{note}",
            "````",
            "   ",
            "```{code-cell}",
            "---",
            "(",
        ),
    ]
)


def test_a_block_in_an_item_of_a_list_ends_where_the_item_does() -> None:
    text = "- ```py\n  old\nold\n"
    assert after("a.md", text) == "- ```py\n  # marker\n  new\nold\n"


@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(_LINES, max_size=14),
    end=st.sampled_from(["\n", "\r\n"]),
    name=st.sampled_from(["a.md", "a.rst"]),
)
def test_lines_that_no_rule_touched_stay(lines: list[str], end: str, name: str) -> None:
    lines = ["x", *lines]
    text = end.join(lines)
    assert after(name, text, Migrated) == text
    new = after(name, text)
    kept = [line for line in new.split(end) if not line.endswith("# marker")]
    assert [line.replace("new", "old").replace("...", ">>>") for line in kept] == [
        line.replace("...", ">>>") for line in lines
    ]


def test_a_block_with_spaces_here_and_tabs_there_is_left_alone() -> None:
    text = "x\n.. code-block:: python\n   old\n\told"
    assert after("a.rst", text) == text
    text = "- ```py\n  old\n\told\n"
    assert after("a.md", text) == text


@pytest.mark.parametrize("name", ["a.md", "a.rst"])
def test_a_document_that_is_no_text_is_an_error(name: str) -> None:
    result = migrate_source(b"\xff", Path(name), rename_old)
    assert "cannot be decoded as utf-8" in result.error
