"""Statements that changed have the lines that ruff gives them; the others stay byte for byte."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from typed_nnx_codegen.migrate import ruff
from typed_nnx_codegen.migrate.layout import line_width, with_layout

BEFORE = '''\
import   os  # a comment


class A( object ):
    """Text."""
    x = [ 1,2,
          3 ]

    def f(self, a,b):
        # above
        if a: return  b
        elif (b):
            y = g( a,
                   b )

            # below
        else:
            y = 1; z = 2
        return   y
'''


def laid_out(before: str, after: str, folder: Path) -> str:
    """Return a new text as it is written."""
    return with_layout({folder / "file.py": (before, after)})[folder / "file.py"]


def test_statements_that_did_not_change_stay(tmp_path: Path) -> None:
    after = BEFORE.replace("        return   y", "        return   (y)")
    expected = BEFORE.replace("        return   y", "        return y")
    assert laid_out(BEFORE, after, tmp_path) == expected


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        ("import   os  # a comment", "import   sys  # a comment", "import sys  # a comment"),
        ("class A( object ):", "class B( object ):", "class B(object):"),
        ("def f(self, a,b):", "def f(self, a,b,c):", "def f(self, a, b, c):"),
        (
            "        if a: return  b",
            "        if (c): return  b",
            "        if c:\n            return b",
        ),
        ("elif (b):", "elif (c):", "elif c:"),
        ("g( a,\n                   b )", "h( a,\n                   b )", "h(a, b)"),
        ("y = 1; z = 2", "y = 1; z = 3", "y = 1\n            z = 3"),
        (
            "x = [ 1,2,\n          3 ]",
            "x = [ 1,2,\n          4, ]",
            "x = [\n        1,\n        2,\n        4,\n    ]",
        ),
    ],
)
def test_a_statement_that_changed_has_the_lines_of_ruff(
    old: str, new: str, written: str, tmp_path: Path
) -> None:
    assert laid_out(BEFORE, BEFORE.replace(old, new), tmp_path) == BEFORE.replace(old, written)


def test_a_new_statement_has_the_width_the_quotes_and_the_indentation_of_its_file(
    tmp_path: Path,
) -> None:
    (tmp_path / "ruff.toml").write_text("line-length = 30\n")
    before = "def f():\n  return 'a', 'b'\n"
    after = before + '\n\ndef g():\n  return call("first", second, third, fourth)\n'
    lines = laid_out(before, after, tmp_path).removeprefix(before).strip().split("\n")
    assert lines[1] == "  return call("
    assert lines[2:] == [f"      {one}," for one in ("'first'", "second", "third", "fourth")] + [
        "  )"
    ]


@pytest.mark.parametrize("indent", ["\t", "   ", "        "])
def test_blocks_stay_blocks_however_they_are_indented(indent: str, tmp_path: Path) -> None:
    before = f"if a:\n{indent}x = 1\nif b:\n  y = 2\n"
    after = before.replace("x = 1", "x = f(  1)").replace("y = 2", "y = f(  2)")
    text = laid_out(before, after, tmp_path)
    assert text == before.replace("x = 1", "x = f(1)").replace("y = 2", "y = f(2)")


@pytest.mark.parametrize("indent", ["  ", "\t", "        "])
def test_cases_of_a_match_are_indented_as_they_were(indent: str, tmp_path: Path) -> None:
    before = (
        "def f(x):\n.match (\n..x\n.):\n..# first\n..case 'case':\n...y = 1\n..case _:\n...y = 2\n"
    )
    before = before.replace(".", indent)
    after = before.replace("..x".replace(".", indent), "..z".replace(".", indent))
    expected = after.replace(f"(\n{indent * 2}z\n{indent})", "z")
    assert laid_out(before, after, tmp_path) == expected


def test_a_comment_that_is_too_long_breaks_no_code(tmp_path: Path) -> None:
    before = "x = f(a)  # a comment\n"
    after = f"x = g(a)  # {'long ' * 20}\n"
    assert laid_out(before, after, tmp_path) == after


def test_line_ends_stay_what_they_are(tmp_path: Path) -> None:
    before = "x = 1\r\ny  = 2\r\n"
    assert laid_out(before, "x = f( 1)\r\ny  = 2\r\n", tmp_path) == "x = f(1)\r\ny  = 2\r\n"


def test_a_text_that_ruff_cannot_read_takes_no_other_along(tmp_path: Path) -> None:
    broken, good = tmp_path / "broken.py", tmp_path / "good.py"
    texts = with_layout({broken: ("x = 1\n", "x = (\n"), good: ("x = 1\n", "x = f( 1)\n")})
    assert texts == {broken: "x = (\n", good: "x = f(1)\n"}


def test_without_ruff_a_text_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruff, "_program", lambda: None)
    assert laid_out("x = 1\n", "x = f( 1)\n", tmp_path) == "x = f( 1)\n"


def test_files_mean_what_they_meant(tmp_path: Path) -> None:
    for path in sorted(Path(__file__).parent.glob("linen/corpus/*.py"))[::12]:
        text = path.read_text()
        after = text.replace(", ", " ,  ")
        written = laid_out(text, after, tmp_path)
        assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(after))
        assert written != after


def test_the_line_length_is_that_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 120\n")
    inner = tmp_path / "package"
    inner.mkdir()
    assert line_width(inner) == 120
    (inner / "ruff.toml").write_text("line-length = 70\n")
    line_width.cache_clear()
    assert line_width(inner) == 70
