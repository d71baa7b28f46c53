"""The table of what was found, and what there is to say below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from typed_nnx_codegen.console.terminal import new_table, print_table
from typed_nnx_codegen.verify.differences import Item, Kind
from typed_nnx_codegen.verify.results import Result

_KINDS: Final[tuple[Kind, ...]] = ("outputs", "collections", "gradients")
_MOST: Final = 12


def print_results(console: Console, results: Sequence[Result], *, is_quiet: bool = False) -> None:
    """Print a table of the examples, then what is wrong with those that failed.

    Args:
        console: Where it goes.
        results: What was found.
        is_quiet: Whether only what is wrong is shown.
    """
    if not is_quiet:
        print_table(console, _table(results))
    for result in results:
        for line in details(result):
            console.print(Text(line), soft_wrap=True)
    if is_quiet:
        return
    equal = sum(result.is_equal for result in results)
    style = "green" if equal == len(results) else "red"
    console.print(Text(f"{equal} of {len(results)} examples are equal", style=f"bold {style}"))


def _table(results: Sequence[Result]) -> Table:
    table = new_table("Example", "Class", "Outputs", "Collections", "Gradients", "Weights", "Note")
    for result in results:
        cells = [_cell(result, kind) for kind in _KINDS]
        note = Text(_note(result), style="red" if result.error else "")
        table.add_row(result.name, result.class_name, *cells, _weights(result), note)
    return table


def details(result: Result) -> list[str]:
    """Return the lines that tell what is wrong with an example; none if nothing is."""
    lines = [f"  {line}" for line in result.error.splitlines()]
    lines += [f"  {each}" for each in result.extra]
    lines += [_line(item) for item in result.differing[:_MOST]]
    if len(result.differing) > _MOST:
        lines.append(f"  and {len(result.differing) - _MOST:,} more; --json has all")
    return [f"{result.name}:", *lines] if lines else []


def _line(item: Item) -> str:
    numbers = f"differs by {item.max_abs:.1e}, relative {item.max_rel:.1e}" if item.max_abs else ""
    return f"  {item.kind} {item.path}: {', '.join(each for each in (numbers, item.note) if each)}"


def _cell(result: Result, kind: Kind) -> Text:
    items = result.of(kind)
    if not items:
        reason = result.without.get(kind, "")
        return Text("random" if reason == "random" else "-", style="dim")
    differing = [item for item in items if item.state == "differs"]
    if differing:
        worst = max(item.max_abs for item in differing)
        size = f" by {worst:.1e}" if worst else ""
        return Text(f"{len(differing)} of {len(items)} differ{size}", style="red")
    drawn = sum(item.state == "random" for item in items)
    if drawn == len(items):
        return Text("random", style="yellow")
    furthest = max(item.max_abs for item in items if item.state == "equal")
    text = f"equal, {furthest:.0e}" if furthest else "equal"
    return Text(f"{text}; {drawn} random" if drawn else text, style="green")


def _weights(result: Result) -> Text:
    loaded = result.loaded
    if loaded is None:
        return Text("-", style="dim")
    said = [f"{len(loaded.filled)} filled"]
    said += [f"{len(loaded.extra)} go nowhere"] if loaded.extra else []
    said += [f"{len(loaded.missing)} not in Linen"] if loaded.missing else []
    said += [f"{len(loaded.cast)} cast"] if loaded.cast else []
    return Text(", ".join(said), style="red" if loaded.extra else "")


def _note(result: Result) -> str:
    if result.error:
        return "failed, see below"
    reasons = [f"no {kind}: {why}" for kind, why in result.without.items() if kind == "gradients"]
    broken = [item for item in result.items if item.state == "equal" and item.note]
    said = [*reasons, *result.notes]
    said += [f"{broken[0].path}: {broken[0].note}"] if broken else []
    return "; ".join(said)
