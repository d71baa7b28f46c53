"""Magics of IPython: calls of a name that nobody uses stand for them while the rules work.

A line that starts with ``%``, ``!`` or ``?``, that ends with ``?``, or what is behind the ``=`` of
``x = !ls``, is not Python. ``x = !ls`` keeps its ``x =``, so that ``x`` is known to be something else
from there on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# The code of these cells is Python and runs in the notebook. All others are left alone.
_PYTHON_CELLS: Final = frozenset(
    [
        "capture",
        "debug",
        "heat",
        "ipytest",
        "lprun",
        "memit",
        "memray_flamegraph",
        "mprun",
        "prun",
        "pyinstrument",
        "px",
        "scalene",
        "skip",
        "snakeviz",
        "time",
        "timeit",
        "timeit_once",
        "wandb",
    ]
)
_CELL_MAGIC: Final = re.compile(r"\s*%%(\w+)[^\n]*(?:\n|\Z)")
# `,f a`, `;f a` and `/f a` are IPython's short forms of calls.
_STARTS: Final = ("%", "!", "?", ",", ";", "/")
_TOKEN: Final = re.compile(
    r"""
    (?P<comment>\#.*)
    | (?P<triple>\"\"\"|''')
    | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<assign>(?<![=!<>:])=[ \t]*(?=[%!]))
    | (?P<help>\?)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Protected:
    """Code in which calls stand for magics.

    Attributes:
        code: The code, which is Python where the cell was IPython.
        magics: The text of each magic, by its number.
        lines: The line of the cell that each line of the code is from, from 1.
        name: The name of the function in the calls.
    """

    code: str
    magics: tuple[str, ...]
    lines: tuple[int, ...]
    name: str

    def restored(self, code: str) -> str:
        """Return code with the magics in place of the calls."""
        if not self.magics:
            return code
        return self._calls().sub(lambda call: self.magics[int(call[1])], code)

    def has_all(self, code: str) -> bool:
        """Whether each magic is in code once, in the old order."""
        return self._calls().findall(code) == [str(i) for i in range(len(self.magics))]

    def _calls(self) -> re.Pattern[str]:
        """Return the expression for a call that stands for a magic."""
        return re.compile(rf"\b{self.name}\((\d+)\)")


def split_cell_magics(code: str) -> tuple[str, str] | None:
    """Split the ``%%`` lines at the top from the code of a cell; None where it is not Python."""
    end = 0
    while found := _CELL_MAGIC.match(code, end):
        if found[1] not in _PYTHON_CELLS:
            return None
        end = found.end()
    return code[:end], code[end:]


def protect(code: str, name: str) -> Protected:
    """Put calls in place of magics."""
    lines = code.split("\n")
    new: list[str] = []
    magics: list[str] = []
    numbers: list[int] = []
    scan = _Scan()
    index = 0
    while index < len(lines):
        numbers.append(index + 1)
        start = scan.magic_in(lines[index])
        stop = index + 1
        if start is None:
            new.append(lines[index])
        else:
            while stop < len(lines) and lines[stop - 1].endswith("\\"):
                stop += 1
            new.append(f"{lines[index][:start]}{name}({len(magics)})")
            magics.append("\n".join([lines[index][start:], *lines[index + 1 : stop]]))
        index = stop
    return Protected("\n".join(new), tuple(magics), tuple(numbers), name)


class _Scan:
    """Follows brackets, strings and continued lines from line to line."""

    def __init__(self) -> None:
        self._depth = 0
        self._quotes = ""
        self._is_continued = False

    def magic_in(self, line: str) -> int | None:
        """Return where the magic of the next line starts; None where it has none."""
        starts_statement = not (self._depth or self._quotes or self._is_continued)
        front = len(line) - len(line.lstrip())
        if starts_statement and line.startswith(_STARTS, front):
            return front
        before = (self._depth, self._quotes, self._is_continued)
        for kind, end in self._tokens(line):
            if starts_statement and not self._depth and kind in ("assign", "help"):
                self._depth, self._quotes, self._is_continued = before
                return end if kind == "assign" else front
        self._is_continued = line.endswith("\\") and not self._quotes
        return None

    def _tokens(self, line: str) -> Iterator[tuple[str, int]]:
        """Yield kind and end of what matters in a line; the state is as behind each of them."""
        at = 0
        while True:
            if self._quotes:
                closing = re.compile(rf"(?:\\.|[^\\])*?{self._quotes}").match(line, at)
                if closing is None:
                    return
                self._quotes, at = "", closing.end()
            found = _TOKEN.search(line, at)
            if found is None:
                return
            at = found.end()
            kind = found.lastgroup or ""
            if kind == "triple":
                self._quotes = found.group()
            self._depth = max(0, self._depth + {"open": 1, "close": -1}.get(kind, 0))
            yield kind, at
