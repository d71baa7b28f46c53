"""Matrix products, `einsum`, attention, and patterns of einops, where axes have names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, as_dim, product
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    Array,
    Seq,
    Shape,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import (
    broadcast,
    combined_dim,
    inserted,
    positive_axis,
    removed,
    split_front,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Rule,
    axes_in,
    dim_of,
    integers_of,
    is_none,
    items_of,
    prefixed,
    shape_of,
    size_value,
    text_of,
)


def multiplied(first: Shape, second: Shape) -> Shape:
    """Return the shape of `first @ second`."""
    if 0 in (first.rank, second.rank):
        return ANY_SHAPE
    if first.rank == 1:
        return Shape(()) if second.rank == 1 else removed(second, (-2,))
    if second.rank == 1:
        return removed(first, (-1,))
    column = second.axis(-1)
    if second.rank == 2:
        rows = removed(first, (-1,))
        return Shape((*rows.dims, column), rows.lead)
    left, right = first.expanded(2), second.expanded(2)
    dims = left.axis(-2), column
    if first.lead is None and second.lead is not None and len(first.dims) == 2:
        # Mostly a batch of matrices with the same one, or just two matrices.
        return Shape(dims, right.lead and replace(right.lead, sure=0))
    if first.lead and second.lead and first.lead.argument != second.lead.argument:
        lead = left.lead if min(len(first.dims), len(second.dims)) > 1 else ANY_SHAPE.lead
        return Shape((*left.dims[:-2], *dims), lead)
    batch = _batch(Shape(left.dims[:-2], left.lead), Shape(right.dims[:-2], right.lead))
    return Shape((*batch.dims, *dims), batch.lead)


def _batch(first: Shape, second: Shape) -> Shape:
    for known, other in ((first, second), (second, first)):
        if known.lead is None and other.lead is not None:
            return known
    return broadcast((first, second))


def _matmul(call: Arguments) -> Value:
    return Array(multiplied(call.shape(0, "a"), call.shape(1, "b")))


def _dot(call: Arguments) -> Value:
    first, second = call.shape(0, "a"), call.shape(1, "b")
    if 0 in (first.rank, second.rank):
        return Array(broadcast((first, second)))
    if second.rank is None or second.rank < 3:
        return Array(multiplied(first, second))
    return Array(_side_by_side(removed(first, (-1,)), removed(second, (-2,))))


def _side_by_side(first: Shape, second: Shape) -> Shape:
    if first.lead is None:
        return prefixed(first.dims, second)
    if second.lead is None:
        lead = replace(first.lead, sure=0) if first.lead.front else first.lead
        return Shape((*first.dims, *second.dims), lead)
    return Shape(second.expanded(1).dims, ANY_SHAPE.lead)


def _vdot(call: Arguments) -> Value:
    return Array(Shape(()))


def _outer(call: Arguments) -> Value:
    first, second = call.shape(0, "a"), call.shape(1, "b")
    return Array(Shape((first.size_from(0), second.size_from(0))))


def _inner(call: Arguments) -> Value:
    first, second = call.shape(0, "a"), call.shape(1, "b")
    if 0 in (first.rank, second.rank):
        return Array(broadcast((first, second)))
    return Array(_side_by_side(removed(first, (-1,)), removed(second, (-1,))))


def _tensordot(call: Arguments) -> Value:
    first, second = call.shape(0, "a"), call.shape(1, "b")
    count = call.integer(2, "axes", default=2)
    if count is not None:
        pairs = tuple(range(-count, 0)), tuple(range(count))
    else:
        items = items_of(call.get(2, "axes")) or ()
        sides = [integers_of(item) for item in items]
        if len(sides) != 2 or sides[0] is None or sides[1] is None:
            return Array()
        pairs = sides[0], sides[1]
    return Array(_side_by_side(removed(first, pairs[0]), removed(second, pairs[1])))


def _dot_general(call: Arguments) -> Value:
    first, second = call.shape(0, "lhs"), call.shape(1, "rhs")
    groups = items_of(call.get(2, "dimension_numbers")) or ()
    numbers = [
        integers_of(axes_in(shape, side))
        for group in groups
        for side, shape in zip(items_of(group) or (), (first, second), strict=False)
    ]
    known = [
        tuple(positive_axis(shape, axis) for axis in side)
        for side, shape in zip(numbers, (first, second) * 2, strict=False)
        if side is not None
    ]
    if len(numbers) != 4 or len(known) != 4:
        return Array()
    if known[2] and None in (first.rank, second.rank):
        return Array()
    batch = tuple(first.axis(axis) for axis in known[2])
    rests = (
        removed(first, {*known[0], *known[2]}),
        removed(second, {*known[1], *known[3]}),
    )
    return Array(prefixed(batch, _side_by_side(*rests)))


def _cross(call: Arguments) -> Value:
    return Array(broadcast((call.shape(0, "a"), call.shape(1, "b"))))


def _multi_dot(call: Arguments) -> Value:
    arrays = call.get(0, "arrays")
    if not isinstance(arrays, Seq) or not arrays.items:
        return Unknown("the arrays are not known one by one")
    result = shape_of(arrays.items[0])
    for item in arrays.items[1:]:
        result = multiplied(result, shape_of(item))
    return Array(result)


PRODUCTS: Final[dict[str, Rule]] = {
    "matmul": _matmul,
    "dot": _dot,
    "vdot": _vdot,
    "outer": _outer,
    "inner": _inner,
    "tensordot": _tensordot,
    "cross": _cross,
    "linalg.multi_dot": _multi_dot,
    "linalg.solve": lambda call: Array(call.shape(1, "b")),
    "linalg.det": lambda call: Array(removed(call.shape(0, "a"), (-1, -2))),
    "vecdot": lambda call: Array(
        removed(broadcast((call.shape(0, "x1"), call.shape(1, "x2"))), (-1,))
    ),
}
LAX_PRODUCTS: Final[dict[str, Rule]] = {
    "dot": _dot,
    "batch_matmul": lambda call: Array(multiplied(call.shape(0, "lhs"), call.shape(1, "rhs"))),
    "dot_general": _dot_general,
}


ELLIPSIS: Final = "..."


@dataclass
class NamedAxes:
    """The sizes of named axes.

    Attributes:
        sizes: The sizes by name; None for one that is not known.
        rest: What the ellipsis stands for; None where there is none.
    """

    sizes: dict[str, Dim | None] = field(default_factory=dict)
    rest: Shape | None = None

    def read(self, axes: list[str], shape: Shape) -> bool:
        """Take the sizes of the axes of a shape; False where it does not fit.

        Args:
            axes: The names of its axes, with an ellipsis where there is one.
            shape: The shape.
        """
        if ELLIPSIS not in axes:
            known = shape.with_rank(len(axes))
            if known is None:
                return False
            self._take(axes, known.dims)
            return True
        at = axes.index(ELLIPSIS)
        after = len(axes) - at - 1
        shape = shape.expanded(after)
        if len(shape.dims) < after or (shape.lead is None and len(shape.dims) < len(axes) - 1):
            return False
        split = len(shape.dims) - after
        front, rest = split_front(Shape(shape.dims[:split], shape.lead), at)
        self._take(axes[:at], front)
        self._take(axes[at + 1 :], shape.dims[split:])
        self.rest = rest if self.rest is None else broadcast((self.rest, rest))
        return True

    def _take(self, axes: list[str], dims: tuple[Dim | None, ...]) -> None:
        for axis, dim in zip(axes, dims, strict=True):
            had = self.sizes.get(axis)
            self.sizes[axis] = dim if had is None else combined_dim(had, dim)

    def made(self, axes: list[str]) -> Shape:
        """Return the shape of an array with these axes."""
        at = axes.index(ELLIPSIS) if ELLIPSIS in axes else len(axes)
        front = tuple(self.sizes.get(axis) for axis in axes[:at])
        back = tuple(self.sizes.get(axis) for axis in axes[at + 1 :])
        rest = Shape(()) if self.rest is None or at == len(axes) else self.rest
        return prefixed(front, Shape((*rest.dims, *back), rest.lead))


def _einsum(call: Arguments) -> Value:
    pattern = call.text(0, "subscripts")
    if pattern is None:
        return Unknown("an einsum whose pattern is not literal")
    left, arrow, right = pattern.replace(" ", "").partition("->")
    inputs = [_axes(part) for part in left.split(",")]
    operands = call.positional[1:]
    if len(inputs) != len(operands):
        return Unknown("an einsum with another number of operands than its pattern has")
    named = NamedAxes()
    for axes, operand in zip(inputs, operands, strict=True):
        # An operand that is not known has the axes all the same.
        if not named.read(axes, shape_of(operand)):
            return Unknown(f"an operand of the einsum {pattern!r} has another rank")
    return Array(named.made(_axes(right) if arrow else _implied(inputs)))


def _axes(text: str) -> list[str]:
    before, ellipsis, after = text.partition(ELLIPSIS)
    return [*before, *([ELLIPSIS] if ellipsis else []), *after]


def _implied(inputs: list[list[str]]) -> list[str]:
    """Return the axes of the result where the pattern has no arrow."""
    counts = Counter(axis for axes in inputs for axis in axes)
    once = sorted(axis for axis, count in counts.items() if count == 1 and axis != ELLIPSIS)
    return [ELLIPSIS, *once] if ELLIPSIS in counts else once


EINSUMS: Final[dict[str, Rule]] = {"einsum": _einsum}


_TOKEN: Final = re.compile(r"\s*(\.\.\.|…|[A-Za-z_]\w*|\d+|[()])")
_OPTIONS: Final = frozenset(("reduction", "tensor", "pattern"))


@dataclass(frozen=True)
class _Axis:
    """An axis in a pattern.

    Attributes:
        parts: The names of what it is made of; one where it is not in parentheses.
        grouped: Whether it is in parentheses.
    """

    parts: tuple[str, ...]
    grouped: bool = False


@dataclass
class _Pattern:
    left: list[_Axis]
    right: list[_Axis]
    named: NamedAxes = field(default_factory=NamedAxes)

    def read(self, shape: Shape) -> bool:
        """Take the sizes of the axes on the left from a shape."""
        spelled = [_label(axis, k) for k, axis in enumerate(self.left)]
        whole = NamedAxes()
        if not whole.read(spelled, shape):
            return False
        self.named.rest = whole.rest
        for label, axis in zip(spelled, self.left, strict=True):
            if label != ELLIPSIS and not self._solve(axis, whole.sizes[label]):
                return False
        return True

    def _solve(self, axis: _Axis, size: Dim | None) -> bool:
        """Find the one part of an axis whose size is not given."""
        sizes = self.named.sizes
        open_parts = [part for part in axis.parts if self.size(part) is None]
        if len(open_parts) > 1:
            return True
        if open_parts and size is not None:
            given = [self.size(part) for part in axis.parts if part != open_parts[0]]
            by = product(dim for dim in given if dim is not None)
            sizes[open_parts[0]] = size // by
        return True

    def size(self, part: str) -> Dim | None:
        """Return the size of a part of an axis."""
        return as_dim(int(part)) if part.isdigit() else self.named.sizes.get(part)

    def made(self) -> Shape:
        """Return the shape with the axes on the right."""
        at = next((k for k, axis in enumerate(self.right) if ELLIPSIS in axis.parts), None)
        if at is None:
            return Shape(tuple(map(self._joined, self.right)))
        front, back = self.right[:at], self.right[at + 1 :]
        rest = self.named.rest or Shape(())
        if self.right[at].grouped:
            rest = Shape((self._joined(self.right[at]),))
        made = Shape((*rest.dims, *map(self._joined, back)), rest.lead)
        return prefixed(map(self._joined, front), made)

    def _joined(self, axis: _Axis) -> Dim | None:
        sizes = [
            (self.named.rest or Shape(())).size_from(0) if part == ELLIPSIS else self.size(part)
            for part in axis.parts
        ]
        known = [size for size in sizes if size is not None]
        return product(known) if len(known) == len(sizes) else None


def _label(axis: _Axis, position: int) -> str:
    return ELLIPSIS if axis.parts == (ELLIPSIS,) else f"{position}"


def _parsed(text: str) -> list[_Axis] | None:
    """Return the axes of one side of a pattern; None where it is no pattern."""
    axes: list[_Axis] = []
    group: list[str] | None = None
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        token = match.group(1).replace("…", ELLIPSIS)
        if token == "(":
            if group is not None:
                return None
            group = []
        elif token == ")":
            if group is None:
                return None
            axes.append(_Axis(tuple(group), grouped=True))
            group = None
        elif group is not None:
            group.append(token)
        else:
            axes.append(_Axis((token,)))
    return None if group is not None else axes


def _sizes(call: Arguments) -> dict[str, Dim | None]:
    return {name: dim_of(value) for name, value in call.named.items() if name not in _OPTIONS}


def _pattern(call: Arguments) -> _Pattern | Unknown:
    text = call.text(1, "pattern")
    if text is None or text.count("->") != 1:
        return Unknown("a pattern that is not literal")
    left, right = (_parsed(side) for side in text.split("->"))
    if left is None or right is None:
        return Unknown(f"a pattern {text!r} that is not understood")
    ellipses = sum(ELLIPSIS in axis.parts for axis in left)
    if ellipses > 1 or any(ELLIPSIS in axis.parts and axis.grouped for axis in left):
        return Unknown(f"a pattern {text!r} that is not understood")
    pattern = _Pattern(left, right)
    pattern.named.sizes.update(_sizes(call))
    return pattern


def _rearranged(call: Arguments) -> Value:
    value = call.get(0, "tensor")
    if isinstance(value, Seq):
        shapes = [shape_of(item) for item in value.items]
        best = min(shapes, key=lambda shape: shape.lead is not None, default=Shape(()))
        shape = prefixed((as_dim(len(shapes)),), best)
    else:
        shape = shape_of(value)
    pattern = _pattern(call)
    if isinstance(pattern, Unknown):
        return pattern
    return Array(pattern.made()) if pattern.read(shape) else Unknown("an array of another rank")


def _parsed_shape(call: Arguments) -> Value:
    text = call.text(1, "pattern")
    axes = None if text is None else _parsed(text)
    if axes is None or any(len(axis.parts) != 1 for axis in axes):
        return Unknown("a pattern that is not understood")
    named = NamedAxes()
    names = [axis.parts[0] for axis in axes]
    if not named.read(_distinct(names), call.shape(0, "x")):
        return Unknown("an array of another rank")
    return Table({name: size_value(named.sizes.get(name)) for name in names if name != "_"})


def _einops_einsum(call: Arguments) -> Value:
    """Return a sum of products, whose pattern comes last: `einsum(x, w, "b i, i j -> b j")`."""
    *operands, last = call.positional or (Unknown(),)
    if "pattern" in call.named:
        operands, last = list(call.positional), call.named["pattern"]
    text = text_of(last)
    if text is None or text.count("->") != 1 or "(" in text:
        return Unknown("a pattern that is not literal")
    left, right = text.split("->")
    inputs = [part.split() for part in left.split(",")]
    if len(inputs) != len(operands):
        return Unknown("an einsum with another number of operands than its pattern has")
    named = NamedAxes()
    for axes, operand in zip(inputs, operands, strict=True):
        if not named.read(axes, shape_of(operand)):
            return Unknown(f"an operand of the einsum {text!r} has another rank")
    return Array(named.made(right.split()))


def _distinct(names: Iterable[str]) -> list[str]:
    return [f"_{k}" if name == "_" else name for k, name in enumerate(names)]


EINOPS: Final[dict[str, Rule]] = {
    "rearrange": _rearranged,
    "reduce": _rearranged,
    "repeat": _rearranged,
    "parse_shape": _parsed_shape,
    "einsum": _einops_einsum,
}


def _attended(call: Arguments) -> Value:
    """Return the shape of the query with the width of the value."""
    if not call.is_none(None, "return_residual"):
        return Unknown("attention with residuals")
    query, value = call.shape(0, "query"), call.shape(2, "value")
    rows = removed(query, (-1,))
    width = value.axis(-1)
    return Array(Shape((*rows.dims, query.axis(-1) if width is None else width), rows.lead))


def _as_query(call: Arguments) -> Value:
    """Return the shape of the query: kernels for attention want one width of all three."""
    if not call.is_none(None, "return_residuals"):
        return Unknown("attention with residuals")
    return Array(call.shape(0, "q"))


def _weights(call: Arguments) -> Value:
    query, key = call.shape(0, "query").expanded(3), call.shape(1, "key")
    if len(query.dims) < 3:
        return Array()
    batch, (length, heads, _) = query.dims[:-3], query.dims[-3:]
    return Array(Shape((*batch, heads, length, key.axis(-3)), query.lead))


def _mask(query: Shape, key: Shape, call: Arguments, position: int) -> Value:
    rows, columns = inserted(query, -1, as_dim(1)), inserted(key, -2, as_dim(1))
    more = call.integer(position, "extra_batch_dims", default=0)
    if more is None:
        return Array()
    mask = inserted(broadcast((rows, columns)), -3, as_dim(1))
    return Array(prefixed((as_dim(1),) * more, mask))


def _attention_mask(call: Arguments) -> Value:
    return _mask(call.shape(0, "query_input"), call.shape(1, "key_input"), call, 3)


def _causal_mask(call: Arguments) -> Value:
    shape = call.shape(0, "x")
    return _mask(shape, shape, call, 1)


def _combined(call: Arguments) -> Value:
    masks = [value for value in call.positional if not is_none(value)]
    return Array(broadcast(map(shape_of, masks))) if masks else NONE


ATTENTION: Final[dict[str, Rule]] = {
    "dot_product_attention": _attended,
    "dot_product_attention_weights": _weights,
    "make_attention_mask": _attention_mask,
    "make_causal_mask": _causal_mask,
    "combine_masks": _combined,
}
ATTENTION_KERNELS: Final[dict[str, Rule]] = {
    "tpu.flash_attention.flash_attention": _as_query,
    "gpu.attention.mha": _as_query,
}
