"""Notebooks: only the code of changed cells is written anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.migrate.text_migrations import add_import, rename_old
from typed_nnx_codegen.migrate.files import migrate_source
from typed_nnx_codegen.migrate.findings import FileResult, Migrated
from typed_nnx_codegen.migrate.sources.outcome import TextMigration

PATH = Path("a.ipynb")


def cell(source: str | list[str], **more: object) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 7,
        "metadata": {"old": 1},
        "outputs": [{"name": "stdout", "output_type": "stream", "text": ["old\n"]}],
        "source": source,
        **more,
    }


def notebook(*cells: dict[str, Any], **metadata: object) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def written(value: object, **form: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, **form) + "\n").encode()


def migrated(data: bytes, migrate: TextMigration = rename_old) -> FileResult:
    result = migrate_source(data, PATH, migrate)
    assert not result.error
    return result


def sources(*codes: str | list[str], migrate: TextMigration = rename_old) -> list[str]:
    """Return the new code of cells."""
    result = migrated(written(notebook(*map(cell, codes))), migrate)
    found = [one["source"] for one in json.loads(result.after)["cells"]]
    return ["".join(source) for source in found]


FORMS: dict[str, dict[str, Any]] = {
    "as Jupyter writes it": {"indent": 1},
    "in one line": {"indent": None},
    "without spaces": {"indent": None, "separators": (",", ":")},
    "with tabs": {"indent": "\t"},
    "with sorted keys": {"indent": 4, "sort_keys": True},
    "escaped": {"indent": 1, "ensure_ascii": True},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("ending", ["", "\n", "\r\n \n"])
def test_all_but_the_code_of_changed_cells_stays(form: dict[str, Any], ending: str) -> None:
    markdown = {"cell_type": "markdown", "metadata": {}, "source": ["old ä\n"]}
    cells = [
        cell(["a ä = 1.50\n", "b"]),
        markdown,
        cell(["x = 'ä\u2028'\n", "old\n", "c"]),
        cell([]),
    ]
    after = [*cells[:2], cell(["x = 'ä\u2028'\n", "# marker\n", "new\n", "c"]), cells[3]]
    dump = {"ensure_ascii": False, **form}
    before = (json.dumps(notebook(*cells, zz=1e5, ä=[]), **dump) + ending).encode()
    expected = (json.dumps(notebook(*after, zz=1e5, ä=[]), **dump) + ending).encode()
    # nbformat splits a line at U+2028 too, but a line that did not change is kept as it is.
    assert migrated(before).after.decode() == expected.decode()
    assert migrated(before, Migrated).after is before


def test_a_text_stays_a_text_and_a_list_of_lines_a_list() -> None:
    data = written(notebook(cell("a\nold"), cell(["old"]), cell(["a\nb\n", "old\n"])))
    after = json.loads(migrated(data).after)
    assert [one["source"] for one in after["cells"]] == [
        "a\n# marker\nnew",
        ["# marker\n", "new"],
        ["a\n", "b\n", "# marker\n", "new\n"],
    ]


def test_notebooks_of_format_3_are_migrated() -> None:
    code = {"cell_type": "code", "language": "python", "input": ["old"], "outputs": []}
    other = {**code, "language": "ruby"}
    text = {"cell_type": "markdown", "source": ["old"]}
    book = {"worksheets": [{"cells": [text, code]}, {"cells": [other, code]}], "nbformat": 3}
    result = migrated(written(book))
    changed = {**code, "input": ["# marker\n", "new"]}
    sheets = [{"cells": [text, changed]}, {"cells": [other, changed]}]
    assert result.after == written({**book, "worksheets": sheets})
    assert [finding.part for finding in result.findings] == [2, 4]


def test_the_cells_are_one_program() -> None:
    texts: list[str] = []

    def collect(text: str) -> Migrated:
        texts.append(text)
        return Migrated(text)

    sources(
        "import jax", "%%bash\nold", "def f():\n  old", "pip install x", "", "# c", migrate=collect
    )
    (text,) = texts
    lines = text.split("\n")
    assert [line for line in lines if not line.startswith("typed_nnx_ipython")] == [
        *("import jax", "def f():", "  old", "# c", "")
    ]


def test_an_import_is_added_to_the_cell_with_imports() -> None:
    codes = ["!pip install x", "%matplotlib inline\nimport jax", "old"]
    assert sources(*codes, migrate=add_import) == [
        *("!pip install x", "%matplotlib inline\nimport jax\nimport nnx", "old")
    ]


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        "%time old(1)",
        "!pip install old",
        "!!ls",
        "?old",
        "old?",
        "old.x??",
        "%pip install \\\n  old \\\n  more",
        "x = !ls old",
        "x = %timeit -o old()",
        'd["a = b"].c = %sql select "old"',
        "a, b = !cmd",
        "if a:\n    !ls\nelse:\n    %cd x",
        "/old a",
        "s = '''\n!ls\n%time\n'''\n%time b",
        "x = (a\n%b)\n%time c",
        '"a = %d" % x\nb = "c?"  # d?\n%time c',
        "# what?\n%time c",
    ],
)
def test_magics_stay(magic: str) -> None:
    assert sources(f"{magic}\nkeep = old\n") == [f"{magic}\n# marker\nkeep = new\n"]
    assert sources(f"keep = old\n{magic}") == [f"# marker\nkeep = new\n{magic}"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("%%time\nold", "%%time\n# marker\nnew"),
        ("%%capture out\n%%timeit -n 1 old\n!ls\nold\n", None),
        ("\n%%time\nold", "\n%%time\n# marker\nnew"),
        ("%%time", "%%time"),
        ("%%bash\nold", "%%bash\nold"),
        ("%%html\n<old>", "%%html\n<old>"),
        ("%%writefile a.py\nold = 1", "%%writefile a.py\nold = 1"),
        ("%%python\nold = 1", "%%python\nold = 1"),
        ("pip install old", "pip install old"),
        ("old =", "old ="),
        ("x = '\ud800'\nold", "x = '\ud800'\nold"),
    ],
)
def test_cells_with_python_are_migrated_and_others_are_left_alone(
    before: str, after: str | None
) -> None:
    data = json.dumps(notebook(cell(before), cell("old"))).encode()
    result = json.loads(migrated(data).after)["cells"]
    expected = after or "%%capture out\n%%timeit -n 1 old\n!ls\n# marker\nnew\n"
    assert [one["source"] for one in result] == [expected, "# marker\nnew"]


def test_findings_have_the_cell_and_the_line_in_it() -> None:
    text = {"cell_type": "markdown", "source": "x"}
    codes = ["a\nold", "%%time\n!ls \\\n  x\n\nold", "x = 1\nold = !ls"]
    book = notebook(cell(codes[0]), text, cell(codes[1]), cell("old ="), cell(codes[2]))
    found = migrated(written(book)).findings
    assert [(one.part, one.line, one.before) for one in found] == [
        (1, 2, "old"),
        (3, 5, "old"),
        (5, 2, "old = !ls"),
    ]


@pytest.mark.parametrize(
    "metadata",
    [
        {"language_info": {"name": "julia"}},
        {"kernelspec": {"language": "R", "name": "ir"}},
        {"kernelspec": {"name": "bash"}},
    ],
)
def test_notebooks_of_other_languages_are_skipped(metadata: dict[str, Any]) -> None:
    result = migrated(written(notebook(cell("old"), **metadata)))
    assert result.skipped.startswith("a notebook of ")


def test_a_cell_of_another_language_is_left_alone() -> None:
    other = cell("old", metadata={"vscode": {"languageId": "r"}})
    kernel = {"kernelspec": {"language": "python", "name": "python3"}}
    result = json.loads(migrated(written(notebook(other, cell("old"), **kernel))).after)
    assert [one["source"] for one in result["cells"]] == ["old", "# marker\nnew"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is not a notebook"),
        ("[]", "it is not a notebook"),
        ('{"cells": [', "not valid JSON"),
        ('{"cells": 1}', "'cells' is not a list"),
        ('{"cells": [1]}', "'cells' is not a list"),
        ('{"cells": []} x', "not valid JSON"),
        ('{"cells" []}', "not valid JSON"),
        ("[" * 100_000, "it is not a notebook"),
        ('{"a":' * 100_000, "too deeply"),
    ],
)
def test_what_is_no_notebook_is_an_error(text: str, message: str) -> None:
    result = migrate_source(text.encode(), PATH, rename_old)
    assert message in result.error


@pytest.mark.parametrize(
    "migrate",
    [
        lambda text: Migrated(text.replace("_part(1)", "_part(2)")),
        lambda text: Migrated(text.replace("typed_nnx_ipython_part(1)\n", "")),
        lambda text: Migrated(text.replace("typed_nnx_ipython(0)", "pass")),
        lambda text: Migrated("typed_nnx_ipython(1)\n" + text),
    ],
)
def test_a_new_text_that_mixes_up_the_cells_is_not_taken(migrate: TextMigration) -> None:
    data = written(notebook(cell("!ls\na"), cell("!cd\nold")))
    result = migrate_source(data, PATH, migrate)
    assert "any more" in result.error or "magic" in result.error
    assert result.after == data


_LINES = st.sampled_from(
    [
        *(
            "a = 1",
            "old",
            "if a:",
            "    old",
            "    !ls",
            "%time x",
            "%%time",
            "%%bash",
            "x?",
            "'''",
        ),
        *("", "  ", "# ä", "x = !ls \\", "b = (", ")", "\f", "c\u2028", "typed_nnx_ipython(0)"),
    ]
)


@settings(max_examples=120, deadline=None)
@given(codes=st.lists(st.lists(_LINES, max_size=6), max_size=4), as_lists=st.booleans())
def test_lines_that_no_rule_touched_stay(codes: list[list[str]], as_lists: bool) -> None:
    texts = ["\n".join(lines) for lines in codes]
    given = [text.splitlines(keepends=True) if as_lists else text for text in texts]
    data = written(notebook(*map(cell, given)))
    assert migrate_source(data, PATH, Migrated).after == data
    result = migrated(data)
    after = json.loads(result.after)["cells"]
    for text, one in zip(texts, after, strict=True):
        new = "".join(one["source"]).split("\n")
        kept = [line.replace("new", "old") for line in new if "# marker" not in line]
        assert kept == text.split("\n")
        assert ("new" in "".join(new)) <= ("old" in text)
