"""Which types mypy and pyright see of ours and of flax's: ``python -m benchmarks.types``.

Counts the revealed types that are precise and the planted mistakes that are reported
(`benchmarks.type_probe`). The packages are taken as installed, ours with its stubs.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.type_probe import MISTAKES, REVEALED, SETUP
from tests.support.type_checkers import CHECKERS, FOLDER, UNTYPED, Checks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.type_checkers import Finding

LIBRARIES = {"ours": "import typed_nnx as nnx", "flax": "from flax import nnx"}
IMPORT = "from {package} import nnx"


@dataclass(frozen=True)
class Seen:
    """What a checker sees of a library: the type of each line, and the mistakes it reports."""

    types: tuple[str, ...]
    reported: tuple[bool, ...]

    @property
    def precise(self) -> int:
        """How many revealed types are the precise ones."""
        return sum(seen == one.precise for seen, one in zip(self.types, REVEALED, strict=True))


def source_of(library: str) -> str:
    """Return the module that is checked: first the revealed lines, then the mistakes."""
    lines = [f"    reveal_type({one.expression})" for one in REVEALED]
    lines += [f"    {mistake}" for mistake in MISTAKES]
    return SETUP.replace(IMPORT, LIBRARIES[library]) + "\n".join(lines) + "\n"


def plain(revealed: str) -> str:
    """Return a type without the modules of its names and without the parameters of States.

    >>> plain("tuple[a.b.GraphDef[m.Model], a.State[Any, Any, m.Model, type[a.Param[Any]]]]")
    'tuple[GraphDef[Model], State]'
    """
    text = re.sub(r"\b[\w]+\.(?=\w)", "", revealed.replace("builtins.", ""))
    return _without_parameters("State", text)


def _without_parameters(name: str, text: str) -> str:
    while (found := re.search(rf"\b{name}\[", text)) is not None:
        start = found.start()
        depth, end = 0, start + len(name)
        while True:
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            end += 1
            if not depth:
                break
        text = text[: start + len(name)] + text[end:]
    return text


def seen_by(reports: Iterable[Finding]) -> Seen:
    """Return what the reports on a probe say of each of its lines."""
    first = SETUP.count("\n") + 1
    types, errors = {}, set()
    for report in reports:
        found = re.search(r'Revealed type is "(.*)"$|Type of ".*" is "(.*)"$', report.message)
        if found:
            types[report.line] = plain(found[1] or found[2])
        elif report.is_error:
            errors.add(report.line)
    after = first + len(REVEALED)
    return Seen(
        tuple(types.get(first + i, "nothing") for i in range(len(REVEALED))),
        tuple(after + i in errors for i in range(len(MISTAKES))),
    )


def probe() -> dict[tuple[str, str], Seen]:
    """Return what is seen, by checker and library."""
    checks = Checks(folder=FOLDER.with_name("type_probe"), untyped=UNTYPED)
    files = {name: checks.write_module(f"probe_{name}", source_of(name)) for name in LIBRARIES}
    return {
        (checker, name): seen_by(one for one in reports if one.path == str(file))
        for checker, reports in checks.reports(list(files.values())).items()
        for name, file in files.items()
    }


def details(seen: dict[tuple[str, str], Seen]) -> Table:
    """Return a table with a row for each line of the probe."""
    columns = [(checker, name) for name in LIBRARIES for checker in CHECKERS]
    table = Table("line", "precise", *(f"{name}, {checker}" for checker, name in columns))
    for i, one in enumerate(REVEALED):
        types = [seen[column].types[i] for column in columns]
        table.add_row(one.expression, one.precise, *("✓" if t == one.precise else t for t in types))
    for i, mistake in enumerate(MISTAKES):
        reported = [seen[column].reported[i] for column in columns]
        table.add_row(mistake, "an error", *("✓" if one else "nothing" for one in reported))
    return table


def main() -> None:
    """Print the counts, and with ``--lines`` what is seen of each line."""
    parser = argparse.ArgumentParser(description="Types that checkers see, ours and flax's.")
    parser.add_argument("--lines", action="store_true", help="print what is seen of each line")
    arguments = parser.parse_args()
    seen = probe()
    console = Console(width=200)
    if arguments.lines:
        console.print(details(seen))
    table = Table("library", "checker", "precise types", "mistakes reported")
    for name in LIBRARIES:
        for checker in CHECKERS:
            one = seen[checker, name]
            precise, reported = f"{one.precise} of {len(REVEALED)}", sum(one.reported)
            table.add_row(name, checker, precise, f"{reported} of {len(MISTAKES)}")
    console.print(table)


if __name__ == "__main__":
    main()
