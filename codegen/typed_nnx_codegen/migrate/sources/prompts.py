"""Examples with prompts: ``>>> `` in front of a statement, ``... `` in front of its other lines."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from typing import Final

from typed_nnx_codegen.migrate.sources.frames import Line, reframe, split_raw

_PROMPT: Final = re.compile(r"([ \t]*)(>>>|\.\.\.)(?: |$)")


def has_prompts(lines: Sequence[Line]) -> bool:
    """Whether code is a session: whether its first line that is not empty has a prompt."""
    first = next((line.code for line in lines if line.code.strip()), "")
    found = _PROMPT.match(first)
    return found is not None and found[2] == ">>>"


def examples_in(lines: Sequence[Line]) -> list[tuple[int, tuple[Line, ...]]]:
    """Return the examples of a session, each with the index of its first line; output is left out."""
    examples: list[tuple[int, list[Line]]] = []
    front: str | None = None
    for index, line in enumerate(lines):
        found = _PROMPT.match(line.code)
        before = line.prefix + found[1] if found else None
        # An example goes on as long as prompts stand below each other.
        if found is None or before is None or (found[2] == "..." and before != front):
            front = None
            continue
        if found[2] == ">>>":
            examples.append((index, []))
        front = before
        framed = Line(line.code[found.end() :], line.prefix + found.group(), line.end)
        examples[-1][1].append(framed)
    return [(index, tuple(example)) for index, example in examples]


def prompted(lines: Sequence[Line], code: str, end: str) -> str:
    """Put the lines of an example and their prompts around new code.

    Each statement gets a prompt of its own, since a session takes one statement at a time.
    """
    front = lines[0].prefix[: lines[0].prefix.rindex(">>>")]
    framed = reframe(lines, code, f"{front}... ", end)
    starts = _first_lines(code)
    new: list[str] = []
    for number, (row, closing) in enumerate(split_raw(framed), 1):
        rest = row[len(front) + 3 :]
        new.append(f"{front}{'>>>' if number in starts else '...'}{rest}{closing}" if row else "")
    return "".join(new)


def _first_lines(code: str) -> set[int]:
    """Return the lines, from 1, at which statements and the comments between them start."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(code).body
    except SyntaxError:
        # The syntax of a newer Python than the one that runs: one example stays one.
        return {1}
    inside: set[int] = set()
    starts = {1}
    for statement in body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(item.lineno for item in decorators)])
        starts.add(first)
        inside.update(range(first, (statement.end_lineno or first) + 1))
    rows = enumerate(code.split("\n"), 1)
    return starts | {number for number, row in rows if row.strip() and number not in inside}
