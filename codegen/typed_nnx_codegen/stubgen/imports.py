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
    lines: set[tuple[int, str]] = set()
    for found in [*given, *declared]:
        if isinstance(found, cst.ImportFrom) and not isinstance(found.names, cst.ImportStar):
            lines.update(_from_lines(found, used))
        elif isinstance(found, cst.Import):
            lines.update(_plain_lines(found, used))
    return "\n".join(text for _, text in sorted(lines)) + ("\n" if lines else "")


def _from_lines(statement: cst.ImportFrom, used: set[str]) -> Iterator[tuple[int, str]]:
    assert statement.module is not None, "imports in our source are absolute"
    module = code_of(statement.module).strip()
    if module == "__future__":
        return
    assert not isinstance(statement.names, cst.ImportStar)
    for alias in statement.names:
        text = code_of(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip()
        _, _, name = text.rpartition(" ")
        # ``X as X`` is a re-export: it stays for others.
        if name in used or text == f"{name} as {name}":
            yield 1, f"from {module} import {text}"


def _plain_lines(statement: cst.Import, used: set[str]) -> Iterator[tuple[int, str]]:
    for alias in statement.names:
        text = code_of(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip()
        name = text.rpartition(" ")[2].split(".")[0]
        if name in used:
            yield 0, f"import {text}"
