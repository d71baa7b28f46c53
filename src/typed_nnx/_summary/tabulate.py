"""`tabulate`: a model as a table of the calls in it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from typed_nnx._core.display_counts import size_text
from typed_nnx._core.module import Module
from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.paths import Path
from typed_nnx._summary.call_info import CallInfo, filter_rng_streams
from typed_nnx._summary.descriptions import describe_variable, text_of
from typed_nnx._summary.holdings import Holding, holdings_of
from typed_nnx._summary.instrumented import in_class, public_methods
from typed_nnx._summary.recording import Recorded, Recording
from typed_nnx.errors import MethodNotFoundError, MissingPackageError, NotTabulatedError

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def tabulate(  # noqa: PLR0913 -- the options of NNX
    obj: Any,
    *input_args: Any,
    depth: int | None = None,
    method: str = "__call__",
    row_filter: Callable[[CallInfo], bool] = filter_rng_streams,
    table_kwargs: Mapping[str, Any] = _NOTHING,
    column_kwargs: Mapping[str, Any] = _NOTHING,
    console_kwargs: Mapping[str, Any] = _NOTHING,
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
        NotTabulatedError: `obj` is no object of ours.
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
    obj: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], depth: int | None
) -> list[Recorded]:
    if not isinstance(obj, GraphNode):
        raise NotTabulatedError(type(obj).__name__)
    cls = type(obj)
    if not callable(in_class(cls, method)):
        known = [name for name, _ in public_methods(cls) if in_class(Module, name) is None]
        raise MethodNotFoundError(cls.__name__, method, tuple(known))
    recording = Recording(depth)
    recording.run(obj, method, args, kwargs)
    return recording.rows


def _render(
    obj: Any, rows: list[Recorded], costs: list[str], options: tuple[Mapping[str, Any], ...]
) -> str:
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError as error:
        raise MissingPackageError("tabulate", "rich", "tools") from error
    table_kwargs, column_kwargs, console_kwargs = options
    holdings = holdings_of(obj)
    total = holdings[()]
    kinds = sorted(total.sizes, key=lambda kind: (kind.__name__, len(kind.__mro__)))
    given: dict[str, Any] = {
        "show_header": True, "show_lines": True, "show_footer": True,
        "title": f"{type(obj).__name__} Summary",
        "caption": f"\nTotal Parameters: {size_text(total.total)}", "caption_style": "bold",
        **table_kwargs,
    }  # fmt: skip
    table: Any = Table(**given)
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


def _styled(text: str) -> Any:
    from rich.text import Text

    styled = Text(text)
    styled.highlight_regex(r"[\w<>]+(?=\[[\d,]*\])", "dim")  # the dtype of an array
    styled.highlight_regex(r"^[\d,]+ (?=\()", "bold")  # a number of elements ...
    styled.highlight_regex(r"\([\d,.]+ \w?B\)$", "bold dim")  # ... and of bytes
    return styled


def _printed(console_class: Any, table: Any, console_kwargs: Mapping[str, Any]) -> str:
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
