"""Functions that reduce arrays over axes or by segments."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import LeadingSize, as_dim, product
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import changed, reduced
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Rule,
    dim_of,
    items_of,
    names,
    size_value,
)

_NAMES: Final = names(
    """
    all amax amin any argmax argmin average count_nonzero logsumexp max mean median min
    nanargmax nanargmin nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar prod
    product ptp std sum var
    """
)


def reduction(call: Arguments) -> Value:
    """Return the result of a reduction: axis second, `keepdims` by name."""
    shape = call.shape(0, "a", "x")
    if Const(value=True) in call.positional[2:]:
        # It may be `keepdims` by position; where that is differs between functions.
        return Array()
    if call.is_none(1, "axis", "axes"):
        return Array(reduced(shape, None, keepdims=call.flag("keepdims")))
    axes = call.axes(1, "axis", "axes")
    if axes is None:
        return Array()
    return Array(reduced(shape, axes, keepdims=call.flag("keepdims")))


def _of_sizes(rule: Rule) -> Rule:
    """Return a rule that multiplies the sizes in a shape too: `np.prod(x.shape[1:])`."""

    def extended(call: Arguments) -> Value:
        first = call.get(0, "a")
        if isinstance(first, ShapeOf | Seq) and call.is_none(1, "axis"):
            size = product_of(first)
            if not isinstance(size, Unknown):
                return size
        return rule(call)

    return extended


def product_of(value: Value) -> Value:
    """Return the product of the sizes in a shape or tuple."""
    if isinstance(value, ShapeOf) and value.shape.lead is not None:
        return _product_of_open(value.shape)
    items = items_of(value)
    dims = [dim_of(item) for item in items or ()]
    known = [dim for dim in dims if dim is not None]
    if items is None or len(known) != len(dims):
        return Unknown("the product of sizes that are not known")
    return size_value(product(known))


def _product_of_open(shape: Shape) -> Value:
    collapsed = shape.collapsed()
    lead = collapsed.lead
    known = [dim for dim in collapsed.dims if dim is not None]
    front = [] if lead is None else [dim for dim in lead.front if dim is not None]
    if lead is None or not lead.argument or len(known) != len(collapsed.dims):
        return Unknown("the product of sizes that are not known")
    if len(front) != len(lead.front):
        return Unknown("the product of sizes that are not known")
    leading = as_dim(LeadingSize(lead.argument, lead.start, lead.stop))
    return size_value(product((*front, leading, *known)))


def _norm(call: Arguments) -> Value:
    shape = call.shape(0, "x")
    if call.is_none(2, "axis"):
        return Array(reduced(shape, None, keepdims=call.flag("keepdims")))
    axes = call.axes(2, "axis")
    return Array(
        ANY_SHAPE if axes is None else reduced(shape, axes, keepdims=call.flag("keepdims"))
    )


def _quantile(call: Arguments) -> Value:
    if call.shape(1, "q") != Shape(()):
        return Array()
    axes = call.axes(2, "axis")
    if axes is None and not call.is_none(2, "axis"):
        return Array()
    return Array(reduced(call.shape(0, "a"), axes, keepdims=call.flag("keepdims")))


def _lax_reduce(call: Arguments) -> Value:
    axes = call.axes(1, "axes")
    return (
        Array() if axes is None else Array(reduced(call.shape(0, "operand"), axes, keepdims=False))
    )


def _lax_arg(call: Arguments) -> Value:
    axis = call.integer(1, "axis", default=0)
    return Array() if axis is None else Array(reduced(call.shape(0), (axis,), keepdims=False))


def _top_k(call: Arguments) -> Value:
    values = Array(changed(call.shape(0, "operand"), -1, dim_of(call.get(1, "k"))))
    return Seq((values, values))


def _trace(call: Arguments) -> Value:
    return Array(reduced(call.shape(0, "a"), (0, 1), keepdims=False))


REDUCTIONS: Final[dict[str, Rule]] = {
    **dict.fromkeys(_NAMES, reduction),
    "prod": _of_sizes(reduction),
    "product": _of_sizes(reduction),
    "linalg.norm": _norm,
    "percentile": _quantile,
    "quantile": _quantile,
    "nanpercentile": _quantile,
    "nanquantile": _quantile,
    "trace": _trace,
}
LAX_REDUCTIONS: Final[dict[str, Rule]] = {
    **dict.fromkeys(
        ("reduce_max", "reduce_min", "reduce_sum", "reduce_prod", "reduce_and", "reduce_or"),
        _lax_reduce,
    ),
    "argmax": _lax_arg,
    "argmin": _lax_arg,
    "top_k": _top_k,
}


def segments(shape: Shape) -> Shape:
    """Return the shape of data that is reduced by segments: only its first size differs."""
    if shape.lead is None:
        return Shape((None, *shape.dims[1:]))
    return Shape(shape.expanded(1).dims, Lead("", None))
