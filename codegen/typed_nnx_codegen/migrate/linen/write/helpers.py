"""Gives files the helpers that their code needs: imported, or defined for flax.nnx."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.node_index import NodeIndex
from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.options import TYPED_NNX


class NestedQuotes(cst.CSTTransformer):
    """Gives the texts that were written into f-strings other quotes than those have.

    Args:
        before: The nodes of the file before: nothing was written into them.
    """

    def __init__(self, before: NodeIndex) -> None:
        super().__init__()
        self._before = before
        self._around: list[str] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Enter what is new."""
        return node not in self._before and super().on_visit(node)

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        """Enter an f-string."""
        self._around.append(node.quote)
        return True

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.FormattedString:
        """Leave an f-string."""
        del original_node
        self._around.pop()
        return updated_node

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        """Write a text with the quotes that are free."""
        del original_node
        quote = updated_node.quote
        if not self._around or quote not in self._around:
            return updated_node
        free = [one for one in ("'", '"') if one not in self._around]
        text = updated_node.raw_value
        if not free or free[0] in text or "\\" in text:
            return updated_node
        return updated_node.with_changes(value=f"{updated_node.prefix}{free[0]}{text}{free[0]}")


_MODULE: Final = "typed_nnx.migrated"
_NAME_OF_NNX = re.compile(r"(?<![\w.])nnx(?=\.)")


class NameTaken(Exception):
    """The file has something else by the name of a helper.

    Args:
        name: The name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"the file has a `{name}` already, which the migration would define")
        self.name = name


def in_order(helpers: Iterable[Helper]) -> list[Helper]:
    """Return helpers, each once, behind those that they need themselves."""
    found: dict[Helper, None] = {}

    def add(helper: Helper) -> None:
        for one in helper.after:
            add(one)
        found[helper] = None

    for helper in helpers:
        add(helper)
    return list(found)


def check_names(helpers: Iterable[Helper], file: File) -> None:
    """See that a file has the names of helpers free.

    Raises:
        NameTaken: It has one for something else.
    """
    for helper in helpers if _is_imported(file) else in_order(helpers):
        if helper.name in _imported(file):
            continue
        found = [one for one in file.analysis.tree.body if _defines(one) == helper.name]
        same = all(code_of(_without_comments(one)).strip() == helper.code.strip() for one in found)
        if not same or (not found and helper.name in file.analysis.scope.seen):
            raise NameTaken(helper.name)


def _is_imported(file: File) -> bool:
    """Whether files import helpers; code for flax.nnx has their definitions."""
    return file.target == TYPED_NNX


def _imported(file: File) -> set[str]:
    """Return the helpers that a file imports already."""
    found = file.analysis.scope.imports.values()
    return {one.local for one in found if one.full == f"{_MODULE}.{one.local}"}


def with_helpers(module: cst.Module, helpers: Iterable[Helper], file: File) -> cst.Module:
    """Return a module that has helpers; the imports that it needs for that are noted.

    Args:
        module: The module, whose imports are not finished yet.
        helpers: The helpers.
        file: The file.
    """
    there = {_defines(one) for one in module.body}
    if _is_imported(file):
        for name in {one.name for one in helpers} - there - _imported(file):
            file.names.added[name] = f"from {_MODULE} import {name}"
        return module
    new = [helper for helper in in_order(helpers) if helper.name not in there]
    if not new:
        return module
    nnx = code_of(file.refer("nnx"))
    statements: list[cst.BaseStatement] = []
    for helper in new:
        for text in helper.imports:
            local = text.rpartition(" ")[2]
            if local not in file.analysis.scope.seen:
                file.names.added.setdefault(local, text)
        parsed = cst.parse_module(_NAME_OF_NNX.sub(nnx, helper.code))
        blank = [cst.EmptyLine(indent=False)] * 2
        for number, one in enumerate(parsed.body):
            lines = (*blank, *(parsed.header if number == 0 else ()), *_lines(one))
            statements.append(one.with_changes(leading_lines=lines))
    place = _behind_imports(module)
    rest = list(module.body[place:])
    if rest and len([line for line in _lines(rest[0]) if line.comment is None]) < 2:
        blank = [cst.EmptyLine(indent=False)] * 2
        kept = [line for line in _lines(rest[0]) if line.comment is not None]
        rest[0] = rest[0].with_changes(leading_lines=[*blank, *kept])
    return module.with_changes(body=[*module.body[:place], *statements, *rest])


def _behind_imports(module: cst.Module) -> int:
    """Return the place behind the last import of the top level, and behind the docstring."""
    place = 0
    for number, one in enumerate(module.body):
        if isinstance(one, (cst.ClassDef, cst.FunctionDef)):
            break
        if number == 0 and module.get_docstring() is not None:
            place = 1
        if any(isinstance(each, (cst.Import, cst.ImportFrom)) for each in _flat(one)):
            place = number + 1
    return place


def _flat(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        if isinstance(child, (cst.BaseStatement, cst.BaseSmallStatement, cst.BaseSuite)):
            yield from _flat(child)


def _defines(node: cst.CSTNode) -> str:
    return node.name.value if isinstance(node, (cst.ClassDef, cst.FunctionDef)) else ""


def _without_comments(node: cst.CSTNode) -> cst.CSTNode:
    return node.with_changes(leading_lines=()) if _defines(node) else node


def _lines(node: cst.CSTNode) -> tuple[cst.EmptyLine, ...]:
    return tuple(getattr(node, "leading_lines", ()))
