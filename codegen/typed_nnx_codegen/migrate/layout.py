"""Lays out what a migration wrote: ruff formats the statements that changed, the others stay as they are."""

from __future__ import annotations

import ast
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from typed_nnx_codegen.migrate.ruff import run_ruff
from typed_nnx_codegen.migrate.syntax import error_in

_DEFAULT_WIDTH: Final = 88
_WIDEST: Final = 320  # for ruff


# -- the style of a file ---------------------------------------------------------------------------


@cache
def line_width(folder: Path) -> int:
    """Return the line length that ruff or black has for the files of a folder: 88 by default."""
    for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
        try:
            options = tomllib.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        tools = options.get("tool", {}) if name == "pyproject.toml" else {"ruff": options}
        for tool in ("ruff", "black"):
            width: object = tools.get(tool, {}).get("line-length")
            if isinstance(width, int):
                return min(width, _WIDEST)
    return _DEFAULT_WIDTH if folder.parent == folder else line_width(folder.parent)


def _options(path: Path, text: str) -> str:
    """Return the options of ruff for a file: its width and quotes, and whether tabs indent it.

    What goes on in another line is indented by four columns, also where blocks are by two, as in the
    style of Google; `_indented` takes care of the blocks.
    """
    quote = "double" if text.count('"') >= text.count("'") else "single"
    style = "tab" if "\n\t" in text else "space"
    return (
        f"line-length = {line_width(path.parent)}\n"
        f'[format]\nquote-style = "{quote}"\nindent-style = "{style}"\n'
    )


# -- lines -----------------------------------------------------------------------------------------


def with_layout(texts: Mapping[Path, tuple[str, str]]) -> dict[Path, str]:
    """Return the new texts of files, in which statements that changed have the lines that ruff gives them.

    Where ruff is missing, or cannot read a text, it stays as it is.

    Args:
        texts: The text of each file before, and after it was migrated.
    """
    done = {path: after for path, (_, after) in texts.items()}
    changed = {path: pair for path, pair in texts.items() if pair[0] != pair[1]}
    formatted = _formatted(
        {path: (after, _options(path, before)) for path, (before, after) in changed.items()}
    )
    for path, text in formatted.items():
        # Python may know less syntax than ruff, or be at its limits.
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            merged = _merged(*changed[path], text, line_width(path.parent))
            if not error_in(merged):
                done[path] = merged
    return done


def _formatted(texts: Mapping[Path, tuple[str, str]]) -> dict[Path, str]:
    """Return texts as ruff formats them, by one run of it; those that it cannot read as they are.

    Args:
        texts: The text of each file, and the options of ruff for it.
    """
    with TemporaryDirectory() as folder:
        places = {path: Path(folder, str(number), "text.py") for number, path in enumerate(texts)}
        for path, place in places.items():
            text, options = texts[path]
            place.parent.mkdir()
            place.with_name("ruff.toml").write_text(options, encoding="utf-8")
            place.write_bytes(text.encode())
        # In the folder, so that ruff reads no configuration of the project.
        run_ruff("format", "--no-cache", "--quiet", ".", folder=Path(folder))
        return {path: place.read_bytes().decode() for path, place in places.items()}


@dataclass(frozen=True)
class _Part:
    """The lines of a statement; of a compound one those above what is in it.

    Attributes:
        first: The index of its first line.
        stop: The index behind its last line.
        code: How long its last line is, without the comment behind a simple statement.
    """

    first: int
    stop: int
    code: int


def _merged(before: str, after: str, formatted: str, width: int) -> str:
    """Return a text with statements from another layout of it, where they are not those of the old text.

    Args:
        before: The old text.
        after: The new text.
        formatted: The new text, laid out.
        width: How long a line may be.
    """
    old = before.split("\n")
    known = {_key(old, part) for part in _parts(before)}
    lines, laid_out = after.split("\n"), formatted.split("\n")
    result: list[str] = []
    done = 0
    for group in _groups(list(_parts(after)), list(_parts(formatted))):
        own = lines[group[0][0].first : group[-1][0].stop]
        other = laid_out[group[0][1].first : group[-1][1].stop]
        is_new = any(_key(lines, part) not in known for part, _ in group)
        result += lines[done : group[0][0].first]
        done = group[-1][0].stop
        has_long_comment = len(own) == 1 and len(own[0]) > width >= group[-1][0].code
        result += _indented(other, own) if is_new and not has_long_comment else own
    return "\n".join([*result, *lines[done:]])


def _parts(text: str) -> Iterator[_Part]:
    """Yield the statements of a text, in order."""
    lines = text.split("\n")

    def of(node: ast.AST) -> Iterator[_Part]:
        inner = [one for one in _below(node) if isinstance(one, ast.stmt)]
        if isinstance(node, ast.stmt):
            stop = node.end_lineno or node.lineno
            if inner:
                below, column = _first_line(inner[0]), inner[0].col_offset
                if isinstance(node, ast.Match):
                    column = 0
                    below = node.subject.end_lineno or node.lineno
                    while not lines[below].lstrip().startswith("case"):
                        below += 1
                    below += 1
                stop = below if lines[below - 1].encode()[:column].strip(b" \t@") else below - 1
            first = _first_line(node)
            while inner and stop > first and lines[stop - 1].strip()[:1] in ("", "#"):
                stop -= 1
            code = len(lines[stop - 1]) if inner else node.end_col_offset or 0
            yield _Part(first - 1, stop, code)
        for one in inner:
            yield from of(one)

    with warnings.catch_warnings():
        # Escapes in the strings of users are not our business.
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    return of(tree)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements directly in another one."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, (ast.ExceptHandler, ast.match_case)):
            yield from _below(one)
        elif isinstance(one, ast.stmt):
            yield one


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _groups(own: list[_Part], other: list[_Part]) -> Iterator[list[tuple[_Part, _Part]]]:
    """Yield statements of two layouts of a text, those together that have a line in common."""
    group: list[tuple[_Part, _Part]] = []
    for pair in zip(own, other, strict=True):
        if group and all(one.first >= last.stop for one, last in zip(pair, group[-1], strict=True)):
            yield group
            group = []
        group.append(pair)
    if group:
        yield group


def _key(lines: list[str], part: _Part) -> str:
    """Return the text of a statement, wherever its lines begin."""
    return "\n".join(line.strip() for line in lines[part.first : part.stop])


def _indented(lines: list[str], own: list[str]) -> list[str]:
    """Return lines with the indentation of others."""
    before, after = _indent(lines[0]), _indent(own[0])
    if before == after:
        return lines
    if any(quotes in line for line in lines for quotes in ("'''", '"""')):
        return own
    return [after + line.removeprefix(before) if line else line for line in lines]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
