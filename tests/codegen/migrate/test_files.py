"""One file: its bytes, what the rules see of it, and what goes wrong."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.migrate.text_migrations import rename_old
from typed_nnx_codegen.migrate import engine
from typed_nnx_codegen.migrate.files import migrate_bytes, migrate_file, migrate_source
from typed_nnx_codegen.migrate.findings import FileResult, Migrated
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.sources.outcome import TextMigration

PATH = Path("a.py")


def migrated(data: bytes, migrate: TextMigration = rename_old) -> FileResult:
    return migrate_source(data, PATH, migrate)


def after(data: bytes, migrate: TextMigration = rename_old) -> bytes:
    result = migrated(data, migrate)
    assert not result.error
    return result.after


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(b"a\r\nold\r\nb\r\n", b"a\r\n# marker\r\nnew\r\nb\r\n", id="CRLF"),
        pytest.param(b"a\rold\rb\r", b"a\r# marker\rnew\rb\r", id="CR"),
        pytest.param(b"a\r\nb\nold\rc\r\n", b"a\r\nb\n# marker\rnew\rc\r\n", id="mixed"),
        pytest.param(b"a\nold", b"a\n# marker\nnew", id="no line end at the end"),
        pytest.param(b"a\r\nold", b"a\r\n# marker\r\nnew", id="CRLF, none at the end"),
        pytest.param(b"old", b"# marker\nnew", id="one line without an end"),
        pytest.param(b"old\n\n  \t", b"# marker\nnew\n\n  \t", id="spaces at the end"),
        pytest.param(b"x\t \nold \t\n\t\ny\n", b"x\t \n# marker\nnew \t\n\t\ny\n", id="spaces"),
        pytest.param(b"\xef\xbb\xbfold\n", b"\xef\xbb\xbf# marker\nnew\n", id="byte order mark"),
        pytest.param(b"a\n\x0c\nold\n", b"a\n\x0c\n# marker\nnew\n", id="form feed alone"),
        pytest.param(b"old\n\x0cdef f():\n  a\n", b"# marker\nnew\n\x0cdef f():\n  a\n", id="feed"),
        pytest.param(b"if a:\n\x0c  old\n", b"if a:\n\x0c  # marker\n  new\n", id="feed, changed"),
        pytest.param(
            b"# coding: latin-1\nold = '\xe4'\n",
            b"# coding: latin-1\n# marker\nnew = '\xe4'\n",
            id="Latin-1",
        ),
        pytest.param(
            b"#!/bin/x\n# vim: set fileencoding=cp1251 :\nold='\xff'\n",
            b"#!/bin/x\n# vim: set fileencoding=cp1251 :\n# marker\nnew='\xff'\n",
            id="cookie in the second line",
        ),
    ],
)
def test_bytes_that_no_rule_touched_stay(before: bytes, expected: bytes) -> None:
    assert after(before) == expected


_PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "a = 1",
                "old(1)",
                "if a:\n    old()\n    b()",
                "# ä",
                "",
                "\f",
                "\fb = 2",
                "x = '''",
            ),
            *(
                "'''",
                "(",
                ")",
                "\\",
                "\tz",
                "def f():",
                "  \f  pass",
                "   ",
                "old",
                "class A: pass",
            ),
        ]
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(
    pieces=_PIECES,
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1, max_size=4),
    encoding=st.sampled_from(["utf-8", "utf-8-sig"]),
)
def test_lines_around_a_change_are_the_same_bytes(
    pieces: list[str], ends: list[str], encoding: str
) -> None:
    text = "".join(piece + ends[i % len(ends)] for i, piece in enumerate(pieces))
    data = text.encode(encoding)
    assert migrated(data, Migrated).after == data
    result = migrated(data)
    if result.error:
        assert "line " in result.error
        assert result.after == data
    else:
        kept = [line for line in data.splitlines(keepends=True) if b"old" not in line]
        new = [line for line in result.after.splitlines(keepends=True) if b"marker" not in line]
        assert [line for line in new if b"new" not in line] == kept
        assert result.after.count(b"new") == data.count(b"old")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"old\n\xff\n", "cannot be decoded as utf-8", id="undecodable"),
        pytest.param(b"# coding: nonsense\nold\n", "encoding is not known", id="no such encoding"),
        pytest.param(b"# coding: hex\n01d\n", "encoding is not known", id="no text encoding"),
        pytest.param(
            b"\xef\xbb\xbf# coding: latin-1\nold", "encoding is not known", id="two say so"
        ),
        pytest.param(b"a\n\nold = )\n", "is not valid Python: line 3: unmatched", id="syntax"),
        pytest.param(b"print 'old'\n", "is not valid Python: line 1: ", id="Python 2"),
        pytest.param(b"# coding: utf-7\nold = '+AGE-'", "cannot be written again", id="UTF-7"),
        pytest.param(b"a\nold\0\n", "line 2: it contains a null byte", id="null byte"),
        pytest.param(b"x = " + b"(" * 3000 + b"old" + b")" * 3000, "too deeply", id="brackets"),
        pytest.param(b"x = " + b"-" * 90_000 + b"old", "too deeply", id="operators"),
        pytest.param(
            b"if a:\n  b\n\\\nif old:\n  b\n", "libcst cannot parse it", id="libcst fails"
        ),
        pytest.param(b"\\\nold\n", "line 1: libcst would lose", id="libcst loses a line"),
    ],
)
def test_what_cannot_be_migrated_says_why_and_stays(data: bytes, message: str) -> None:
    result = migrated(data)
    assert message in result.error
    assert result.after == result.before == data
    assert not result.is_changed
    assert not result.findings


def spoil(text: str) -> Migrated:
    return Migrated(f"{text})")


def cross(text: str) -> Migrated:
    return Migrated(f"{text}# €\n")


def hide_cookie(text: str) -> Migrated:
    return Migrated(f"import a\nimport b\n{text}")


def have_bug(text: str) -> Migrated:
    raise KeyError(len(text))


def refuse(text: str) -> Migrated:
    raise engine.MigrationError(f"{len(text)} letters are not enough")


def go_too_deep(text: str) -> Migrated:
    return go_too_deep(text)


@pytest.mark.parametrize(
    ("migrate", "message"),
    [
        (spoil, "would not parse any more"),
        (cross, "cannot be written as iso-8859-1"),
        (hide_cookie, "would not be read as iso-8859-1 any more"),
        (have_bug, "a bug of typed-nnx migrate: KeyError: 27 (in "),
        (refuse, "27 letters are not enough"),
        (go_too_deep, "nested too deeply"),
    ],
)
def test_a_new_text_that_is_wrong_is_not_taken(migrate: TextMigration, message: str) -> None:
    data = b"# coding: latin-1\na = '\xe4\xf6'\n"
    result = migrated(data, migrate)
    assert message in result.error
    assert result.after == data


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_what_ends_the_whole_run_is_not_held_up(error: type[BaseException]) -> None:
    def fail(text: str) -> Migrated:
        raise error

    with pytest.raises(error):
        migrated(b"old", fail)


def test_lines_that_are_equal_and_go_take_no_line_end_of_others_along() -> None:
    assert after(b"a\r\na\nb\n", lambda _: Migrated("a\nb\n")) == b"a\r\nb\n"
    assert after(b"a\r\na\n", lambda _: Migrated("a\n")) == b"a\r\n"


def test_code_for_a_newer_python_is_migrated() -> None:
    # Python 3.11 does not know it; libcst does.
    data = b"type A[T] = list[T]\nold\n"
    assert after(data).endswith(b"# marker\nnew\n")


def test_a_text_that_changes_nothing_may_be_one_that_libcst_does_not_give_back() -> None:
    assert after(b"\\\na\n", lambda text: Migrated("a\n")) == b"\\\na\n"


def test_warnings_about_the_strings_of_users_are_not_ours() -> None:
    # Warnings are errors in tests.
    assert after(b'"\\d"\n1 is 1\nold\n').endswith(b"new\n")


# -- which files --------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the engine is asked to migrate."""
    texts: list[str] = []

    def migrate(text: str, *_: object) -> Migrated:
        texts.append(text)
        return rename_old(text)

    monkeypatch.setattr(engine, "migrate_text", migrate)
    return texts


def test_files_without_nnx_are_not_parsed_and_have_no_bytes(counted: list[str]) -> None:
    result = migrate_bytes(b"\xff\0old", PATH, Project(()), Options())
    assert result == FileResult(PATH, skipped="no NNX")
    assert not counted


def test_generated_files_are_left_out_unless_a_person_names_them(
    counted: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# @generated\nold = nnx\n")
    assert migrate_file(path, Project((tmp_path,)), Options()).skipped == "generated"
    assert not counted
    assert migrate_file(path, Project((path,)), Options()).is_changed


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.pyi", "old: nnx\n", "# marker\nnew: nnx\n"),
        ("script", "old: nnx\n", "# marker\nnew: nnx\n"),
        ("a.MD", "old nnx\n```py\nold\n```\n", "old nnx\n```py\n# marker\nnew\n```\n"),
        ("a.rst", "old nnx\n\n.. plot::\n\n old\n", "old nnx\n\n.. plot::\n\n # marker\n new\n"),
    ],
)
def test_the_ending_of_a_name_says_what_a_file_is(
    counted: list[str], tmp_path: Path, name: str, text: str, expected: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    result = migrate_file(path, Project((tmp_path,)), Options())
    assert result.after.decode() == expected
    assert path.read_text() == text
    assert counted


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    result = migrate_file(tmp_path / "gone.py", Project((tmp_path,)), Options())
    assert result.error == "it cannot be read: No such file or directory"


def test_this_file_is_migrated_to_itself_where_nothing_is_to_do() -> None:
    data = Path(__file__).read_bytes()
    ast.parse(data)
    assert after(data, Migrated) is data
