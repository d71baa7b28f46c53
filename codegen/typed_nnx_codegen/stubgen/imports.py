"""The imports of a stub: those of the source that it uses, and those of what is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from typed_nnx_codegen.stubgen.statements import code_of, small


def import_lines(statements: Sequence[cst.BaseStatement], more: Sequence[str], code: str) -> str:
    """Return the import lines that a text needs, sorted, one name to a line.

    Args:
        statements: The statements of the source.
        more: Import lines of what is declared.
        code: The text that follows.
    """
    given = [small(statement) for statement in statements]
    declared = [small(line) for text in more for line in cst.parse_module(text).body]
    used = set(re.findall(r"\w+", code))
    lines: dict[str, str] = {}
    for found in [*given, *declared]:
        for name, line in _lines(found):
            is_passed_on = line.endswith(f"import {name} as {name}")  # for others
            # Of the two that give a TypeVar, the one whose TypeVar has defaults.
            is_better = not lines.get(name, "").startswith("from typing_extensions ")
            if (name in used or is_passed_on) and is_better:
                lines[name] = line
    return "".join(f"{line}\n" for line in sorted(lines.values(), key=_place))


def _place(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line


def _lines(statement: cst.BaseSmallStatement | None) -> Iterator[tuple[str, str]]:
    """Yield each name that a statement imports, with an import of it alone."""
    if isinstance(statement, cst.Import):
        for alias in statement.names:
            text = _text(alias)
            yield text.rpartition(" ")[2].split(".")[0], f"import {text}"
    elif isinstance(statement, cst.ImportFrom) and not isinstance(statement.names, cst.ImportStar):
        assert statement.module is not None, "imports in our source are absolute"
        module = code_of(statement.module).strip()
        for alias in statement.names if module != "__future__" else ():
            text = _text(alias)
            yield text.rpartition(" ")[2], f"from {module} import {text}"


def _text(alias: cst.ImportAlias) -> str:
    return code_of(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip()
