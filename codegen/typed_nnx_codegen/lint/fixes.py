"""Quick fixes: the edits that a report asks for, where what to write is certain."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from typed_nnx_codegen.lint.formats import message_and_fix
from typed_nnx_codegen.sarif.reports import Report

_RUNTIMES: Final = ("typed_nnx", "flax.nnx")
_WRAPPER: Final = re.compile(r"`nnx\.(List|Dict|data)\(\.\.\.\)`")
_FIELD: Final = re.compile(r"^write `\w+: \.\.\. = nnx\.data\(\)`$")
_OTHER_KEY: Final = re.compile(r"^did you mean '(?P<key>\w+)'\?$")
_OTHER_NAME: Final = re.compile(r"^write (?P<name>\w+)= for (?P<wrong>\w+)=$")
_INDEX: Final = re.compile(r"^index it with (?P<index>\d+|'\w+')$")


@dataclass(frozen=True)
class Edit:
    """A text in the place of another one.

    Attributes:
        start: The line, from 1, and the column, from 0 in characters.
        end: The place behind the last character.
        text: The new text.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(frozen=True)
class QuickFix:
    """What a person can choose.

    Attributes:
        title: What it does.
        edits: The edits; they do not overlap.
    """

    title: str
    edits: tuple[Edit, ...]


def fixes_of(report: Report, source: str) -> list[QuickFix]:
    """Return what may be done about a report, the best first; nothing where that is not certain.

    Args:
        report: The report.
        source: The file, as it was checked or with changes in other lines.
    """
    find = _BY_CODE.get(report.code)
    if find is None:
        return []
    try:
        file = _File(source, report)
    except (SyntaxError, ValueError):
        return []
    return list(find(file, message_and_fix(report)[1]))


class _File:
    """A file in which something is to be fixed.

    Args:
        source: Its text.
        report: What is wrong in it.
    """

    def __init__(self, source: str, report: Report) -> None:
        self._lines = source.splitlines()
        self._source = source
        self._report = report
        self.tree = ast.parse(source)

    def nodes(self) -> Iterator[ast.AST]:
        """Yield the expressions and statements that the report is about, the outermost first."""
        start = (self._report.line, self._report.column)
        end = (self._report.end_line, self._report.end_column)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.expr | ast.stmt) and self._span(node) == (start, end):
                yield node

    def text(self, node: ast.AST) -> str:
        """Return the source of a node; a tuple has its parentheses."""
        text = ast.get_source_segment(self._source, node) or ""
        return f"({text})" if isinstance(node, ast.Tuple) and not text.startswith("(") else text

    def replaced(self, node: ast.expr, text: str) -> Edit:
        """Return the edit that puts a text in the place of a node."""
        start, end = self._span(node)
        return Edit(start, end, text)

    def start(self, node: ast.keyword) -> tuple[int, int]:
        """Return where a keyword argument begins."""
        return node.lineno, self._column(node.lineno, node.col_offset)

    def end(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        """Return where a node ends."""
        return self._span(node)[1]

    def alias(self) -> str | None:
        """Return the name that the file has for the runtime."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                for each in node.names:
                    if f"{module}{each.name}" in _RUNTIMES:
                        return each.asname or each.name
        return None

    def _span(self, node: ast.stmt | ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        start = (node.lineno, self._column(node.lineno, node.col_offset))
        return start, (end_line, self._column(end_line, end_column))

    def _column(self, line: int, offset: int) -> int:
        """Return the column of an offset in bytes."""
        return len(self._lines[line - 1].encode()[:offset].decode(errors="replace"))


def _of_container(file: _File, fix: str) -> Iterator[QuickFix]:
    alias = file.alias()
    for node in file.nodes():
        if alias is None or not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        if node.value is None:
            if _FIELD.match(fix):
                edit = Edit(file.end(node), file.end(node), f" = {alias}.data()")
                yield QuickFix(f"Declare it with {alias}.data()", (edit,))
            continue
        for name in _WRAPPER.findall(fix):
            text = f"{alias}.{name}({file.text(node.value)})"
            yield QuickFix(f"Wrap it in {alias}.{name}", (file.replaced(node.value, text),))


def _of_static(file: _File, fix: str) -> Iterator[QuickFix]:
    if not fix.startswith("write `nnx.data(...)`"):
        return
    values = list(file.nodes())
    for call in ast.walk(file.tree):
        if not isinstance(call, ast.Call) or not any(each in values for each in call.args[:1]):
            continue
        if isinstance(call.func, ast.Attribute) and call.func.attr == "static":
            name = f"{file.text(call.func.value)}.data"
            yield QuickFix(f"Mark it with {name}", (file.replaced(call.func, name),))


def _of_order(file: _File, fix: str) -> Iterator[QuickFix]:
    if fix != "move it to the end":
        return
    filters = list(file.nodes())
    for call in ast.walk(file.tree):
        if not isinstance(call, ast.Call):
            continue
        at = next((at for at, each in enumerate(call.args) if each in filters), None)
        if at is None or any(isinstance(each, ast.Starred) for each in call.args):
            continue
        # Each moves up to the place of the one before it: lines and comments stay.
        slots = call.args[at:]
        texts = [*slots[1:], slots[0]]
        edits = (file.replaced(to, file.text(of)) for to, of in zip(slots, texts, strict=True))
        yield QuickFix(f"Move {file.text(slots[0])} to the end", tuple(edits))


def _of_key(file: _File, fix: str) -> Iterator[QuickFix]:
    other, index = _OTHER_KEY.match(fix), _INDEX.match(fix)
    for node in file.nodes():
        if isinstance(node, ast.Attribute) and other is not None:
            edit = Edit(file.end(node.value), file.end(node), f".{other['key']}")
            yield QuickFix(f"Change it to {other['key']}", (edit,))
        elif isinstance(node, ast.Subscript) and (other is not None or index is not None):
            key = f'"{other["key"]}"' if other is not None else index["index"] if index else ""
            yield QuickFix(f"Change it to {key}", (file.replaced(node.slice, key),))


def _of_variable(file: _File, fix: str) -> Iterator[QuickFix]:
    for node in file.nodes():
        if isinstance(node, ast.expr) and fix == f"{file.text(node)}[...]":
            yield QuickFix(f"Take its array, {fix}", (file.replaced(node, fix),))


def _of_call(file: _File, fix: str) -> Iterator[QuickFix]:
    other = _OTHER_NAME.match(fix)
    for node in file.nodes():
        for each in node.keywords if isinstance(node, ast.Call) and other is not None else ():
            if other is not None and each.arg == other["wrong"]:
                text = f"{other['name']}={file.text(each.value)}"
                edit = Edit(file.start(each), file.end(each.value), text)
                yield QuickFix(f"Change it to {other['name']}=", (edit,))


_BY_CODE: Final[Mapping[str, Callable[[_File, str], Iterator[QuickFix]]]] = {
    "nnx-plain-container": _of_container,
    "nnx-static-data": _of_static,
    "nnx-filter-order": _of_order,
    "nnx-state-key": _of_key,
    "nnx-variable-array": _of_variable,
    "nnx-call": _of_call,
}
