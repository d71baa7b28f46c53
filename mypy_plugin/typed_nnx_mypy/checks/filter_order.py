"""``nnx-filter-order``: a filter that no leaf can reach, and `...` before the last one."""

from __future__ import annotations

from mypy.nodes import EllipsisExpr

from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import FILTER_ORDER
from typed_nnx_mypy.registry import on_call


@on_call("split", "state", "pop", "split_state", "State.split", "State.filter", "Pytree.pop")
def rest_comes_last(call: Call) -> None:
    """Report `...` before another filter."""
    filters = call.positional[1:]
    for given in filters[:-1]:
        if isinstance(given.expression, EllipsisExpr):
            call.report(
                FILTER_ORDER,
                f"{call.name}: `...` takes every remaining leaf, so it must be the last filter. "
                "Fix: move it to the end",
                given.expression,
            )
