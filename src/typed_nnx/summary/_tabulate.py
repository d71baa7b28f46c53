"""`tabulate`: a model as a table of the calls in it."""

from __future__ import annotations

import dataclasses
import io
import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from typed_nnx._core.display_rows import Size, counted_as, size_of, size_text, total_of
from typed_nnx._core.modules import Module
from typed_nnx._core.nodes import GraphNode, walk
from typed_nnx._core.paths import Path
from typed_nnx._core.variable import Variable
from typed_nnx._graph.views import in_class, public_methods
from typed_nnx.errors import ArgumentTypeError, MethodNotFoundError, MissingPackageError
from typed_nnx.summary._calls import (
    Args,
    CallInfo,
    Kwargs,
    Recorded,
    Recording,
    Value,
    describe_variable,
    filter_rng_streams,
    text_of,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

Options: TypeAlias = Mapping[str, Any]


@dataclasses.dataclass
class Holding:
    """What one object holds.

    Each Variable counts where it is first met, so that all objects together hold it once.

    Attributes:
        path: The path of the object.
        sizes: By type of Variable, how much is in the object and below it.
        variables: By type of Variable, the object's own Variables by name.
    """

    path: Path
    sizes: dict[type, Size] = dataclasses.field(default_factory=dict)
    variables: dict[type, dict[str, Variable[Value]]] = dataclasses.field(default_factory=dict)


def holdings_of(root: object) -> dict[Path, Holding]:
    """Return what each object of a graph holds, by its first path."""
    found = list(walk(root, (), set()))
    holdings = {path: Holding(path) for path, value in found if isinstance(value, GraphNode)}
    for path, value in found:
        if isinstance(value, Variable):
            _count(value, path, holdings)
    return holdings


def _count(variable: Variable[Value], path: Path, holdings: dict[Path, Holding]) -> None:
    kind = counted_as(type(variable))
    size = size_of(variable.get_raw_value())
    if not size.elements and not hasattr(variable.get_raw_value(), "dtype"):
        return
    around = [path[:end] for end in range(len(path)) if path[:end] in holdings]
    for outer in around:
        holdings[outer].sizes.setdefault(kind, Size()).add(size)
    name = "/".join(map(str, path[len(around[-1]) :]))
    holdings[around[-1]].variables.setdefault(kind, {})[name] = variable


_NOTHING: Options = MappingProxyType({})


def tabulate(  # noqa: PLR0913 -- the options of NNX
    obj: object,
    *input_args: Any,
    depth: int | None = None,
    method: str = "__call__",
    row_filter: Callable[[CallInfo], bool] = filter_rng_streams,
    table_kwargs: Options = _NOTHING,
    column_kwargs: Options = _NOTHING,
    console_kwargs: Options = _NOTHING,
    compute_flops: bool = False,
    compute_vjp_flops: bool = False,
    **input_kwargs: Any,
) -> str:
    """Return a table of the calls that a call of a model makes, and of what the model holds.

    A row says which object was called (by path and type; ``path/method`` for a method other than
    ``__call__``), with which inputs and outputs, what it costs, and which Variables the object
    holds, by type. Only shapes are computed; the model, its random streams and its statistics stay
    as they are. Model and inputs may be shapes themselves.

    Args:
        obj: A Module or another Pytree.
        *input_args: Positional arguments of the method.
        depth: Show objects whose path has at most this length; None for all.
        method: The method that is called.
        row_filter: Whether a row is shown; by default all but those of random streams.
        table_kwargs: Options of ``rich.table.Table``.
        column_kwargs: Options of ``rich.table.Column``, for all columns.
        console_kwargs: Options of ``rich.console.Console``, such as ``width``. By default the text
            has colours where it is printed to a terminal that shows them, and the width of the
            terminal or of the table.
        compute_flops: Add the floating point operations of each call.
        compute_vjp_flops: Add those of each call and its gradient.
        **input_kwargs: Keyword arguments of the method.

    Raises:
        ArgumentTypeError: `obj` is no object of ours.
        MethodNotFoundError: It has no such method.
        MissingPackageError: ``rich`` is not installed.
    """
    rows = _rows(obj, method, input_args, input_kwargs, depth)
    # With the usual filter nothing needs to be counted for what is not shown.
    usual = row_filter is filter_rng_streams
    kept = [row for row in rows if not usual or row_filter(row.info)]
    for row in kept:
        row.info.flops = row.call.flops() if compute_flops else None
        row.info.vjp_flops = row.call.vjp_flops() if compute_vjp_flops else None
    shown = [row for row in kept if usual or row_filter(row.info)]
    costs = [("flops", compute_flops), ("vjp_flops", compute_vjp_flops)]
    options = (table_kwargs, column_kwargs, console_kwargs)
    return _render(obj, shown, [name for name, wanted in costs if wanted], options)


def _rows(
    obj: object, method: str, args: Args, kwargs: Kwargs, depth: int | None
) -> list[Recorded]:
    if not isinstance(obj, GraphNode):
        raise ArgumentTypeError(
            "tabulate",
            f"argument `obj` is a {type(obj).__name__}; expected a Module or another nnx.Pytree.",
            "nnx.tabulate(model, *inputs)",
        )
    cls = type(obj)
    if not callable(in_class(cls, method)):
        known = [name for name, _ in public_methods(cls) if in_class(Module, name) is None]
        raise MethodNotFoundError(cls.__name__, method, tuple(known))
    recording = Recording(depth)
    recording.run(obj, method, args, kwargs)
    return recording.rows


def _render(
    obj: object, rows: list[Recorded], costs: list[str], options: tuple[Options, ...]
) -> str:
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError as error:
        raise MissingPackageError("tabulate", "rich", "'typed-nnx[tools]'") from error
    table_kwargs, column_kwargs, console_kwargs = options
    holdings = holdings_of(obj)
    total = holdings[()]
    kinds = sorted(total.sizes, key=lambda kind: (kind.__name__, len(kind.__mro__)))
    given: Kwargs = {
        "show_header": True, "show_lines": True, "show_footer": True,
        "title": f"{type(obj).__name__} Summary",
        "caption": f"\nTotal Parameters: {size_text(total_of(total.sizes))}", "caption_style": "bold",
        **table_kwargs,
    }  # fmt: skip
    table: Value = Table(**given)
    total_label = _styled("Total")
    total_label.justify = "right"
    labels = ["path", "type", "inputs", "outputs", *costs]
    column = {"justify": "left", **column_kwargs}
    for label in labels:
        table.add_column(label, footer=total_label if label == labels[-1] else "", **column)
    for kind in kinds:
        table.add_column(kind.__name__, footer=_styled(size_text(total.sizes[kind])), **column)
    for row in rows:
        table.add_row(*[_styled(cell) for cell in _cells(row, costs, kinds, holdings)])
    return _printed(Console, table, console_kwargs)


def _cells(
    row: Recorded, costs: list[str], kinds: list[type], holdings: Mapping[Path, Holding]
) -> list[str]:
    info = row.info
    outputs = "" if info.outputs == "None" else text_of(info.outputs)
    path = "/".join(map(str, info.path))
    counted = [f"{getattr(info, name):,}" for name in costs]
    holding = holdings[row.module_path]
    return [
        path, info.type.__name__, info.inputs_repr, outputs, *counted,
        *[_variables_cell(holding, kind) for kind in kinds],
    ]  # fmt: skip


def _variables_cell(holding: Holding, kind: type) -> str:
    if kind not in holding.sizes:
        return ""
    own = {name: describe_variable(v) for name, v in holding.variables.get(kind, {}).items()}
    size = size_text(holding.sizes[kind])
    return f"{text_of({name: own[name] for name in sorted(own)})}\n\n{size}" if own else size


def _styled(text: str) -> Text:
    from rich.text import Text

    styled = Text(text)
    styled.highlight_regex(r"[\w<>]+(?=\[[\d,]*\])", "dim")  # the dtype of an array
    styled.highlight_regex(r"^[\d,]+ (?=\()", "bold")  # a number of elements ...
    styled.highlight_regex(r"\([\d,.]+ \w?B\)$", "bold dim")  # ... and of bytes
    return styled


def _printed(console_class: type[Console], table: Table, console_kwargs: Options) -> str:
    is_terminal = sys.stdout.isatty()
    colours = is_terminal and not os.environ.get("NO_COLOR")
    defaults = {"force_terminal": colours or None, "force_jupyter": False}
    console = console_class(**{"file": io.StringIO(), **defaults, **console_kwargs})
    if not is_terminal and "width" not in console_kwargs:
        wide = console.options.update(width=100_000, max_width=100_000)
        console.width = max(1, console.measure(table, options=wide).maximum)
    with console.capture() as capture:
        console.print(table)
    return "".join([f"{line.rstrip()}\n" for line in capture.get().splitlines()])
