"""Matrix products, `einsum`, patterns of einops, attention, convolutions: axes that meet or have names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import (
    OF_CALL,
    STRIDES,
    Dim,
    Piece,
    as_dim,
    product,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    Array,
    Code,
    CodeTuple,
    Const,
    Seq,
    Shape,
    ShapeOf,
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
    Axes,
    Rule,
    axes_in,
    by_name,
    dim_of,
    if_known,
    integers_of,
    is_none,
    items_of,
    number_of,
    prefixed,
    rule,
    shape_of,
    size_value,
    text_of,
)

_TWO: Final = Const(2)
_VALID: Final = Const("VALID")


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


def _dot(first: Shape, second: Shape) -> Shape:
    if 0 in (first.rank, second.rank):
        return broadcast((first, second))
    if second.rank is None or second.rank < 3:
        return multiplied(first, second)
    return _side_by_side(removed(first, (-1,)), removed(second, (-2,)))


def _side_by_side(first: Shape, second: Shape) -> Shape:
    if first.lead is None:
        return prefixed(first.dims, second)
    if second.lead is None:
        lead = replace(first.lead, sure=0) if first.lead.front else first.lead
        return Shape((*first.dims, *second.dims), lead)
    return Shape(second.expanded(1).dims, ANY_SHAPE.lead)


def _outer(first: Shape, second: Shape) -> Shape:
    return Shape((first.size_from(0), second.size_from(0)))


def _tensordot(first: Shape, second: Shape, axes: Value = _TWO) -> Shape:
    count = number_of(axes)
    if count is not None:
        return _contracted(first, second, tuple(range(-count, 0)), tuple(range(count)))
    sides = [integers_of(item) for item in items_of(axes) or ()]
    known = [side for side in sides if side is not None]
    return _contracted(first, second, *known) if len(known) == len(sides) == 2 else ANY_SHAPE


def _contracted(first: Shape, second: Shape, left: Axes, right: Axes) -> Shape:
    return _side_by_side(removed(first, left), removed(second, right))


def _dot_general(first: Shape, second: Shape, dimension_numbers: Value) -> Shape:
    groups = items_of(dimension_numbers) or ()
    sides = [
        (shape, integers_of(axes_in(shape, side)))
        for group in groups
        for side, shape in zip(items_of(group) or (), (first, second), strict=False)
    ]
    known = [
        tuple(positive_axis(shape, axis) for axis in side)
        for shape, side in sides
        if side is not None
    ]
    if len(sides) != 4 or len(known) != 4:
        return ANY_SHAPE
    left, right, left_batch, right_batch = known
    if left_batch and None in (first.rank, second.rank):
        return ANY_SHAPE
    batch = tuple(first.axis(axis) for axis in left_batch)
    rest = _contracted(first, second, (*left, *left_batch), (*right, *right_batch))
    return prefixed(batch, rest)


_ELLIPSIS: Final = "..."
# An axis in a pattern: its name, or the names of those in parentheses.
_Axis = str | tuple[str, ...]


@dataclass
class _NamedAxes:
    """The sizes of named axes.

    Attributes:
        sizes: The sizes by name; None for one that is not known.
        given: The names whose sizes are arguments.
        rest: What the ellipsis stands for; None where there is none.
    """

    sizes: dict[str, Dim | None] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    rest: Shape | None = None

    def read(self, axes: Sequence[_Axis], shape: Shape) -> bool:
        """Take the sizes of the axes of a shape; False where it does not fit.

        Args:
            axes: Its axes, with an ellipsis where there is one.
            shape: The shape.
        """
        if _ELLIPSIS not in axes:
            known = shape.with_rank(len(axes))
            if known is None:
                return False
            self._take(axes, known.dims)
            return True
        at = axes.index(_ELLIPSIS)
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

    def _take(self, axes: Sequence[_Axis], dims: tuple[Dim | None, ...]) -> None:
        for axis, dim in zip(axes, dims, strict=True):
            if isinstance(axis, str) and not axis.isdigit() and axis not in self.given:
                had = self.sizes.get(axis)
                self.sizes[axis] = dim if had is None else combined_dim(had, dim)
                continue
            # The size of one part follows from those of the others.
            parts = {name: self.size(name) for name in ((axis,) if isinstance(axis, str) else axis)}
            unknown = [name for name, size in parts.items() if size is None]
            if len(unknown) == 1 and dim is not None:
                others = product(size for size in parts.values() if size is not None)
                self.sizes[unknown[0]] = dim // others

    def size(self, axis: _Axis) -> Dim | None:
        """Return the size of an axis."""
        if isinstance(axis, tuple):
            return if_known(lambda *known: product(known), *map(self.size, axis))
        if axis == _ELLIPSIS:
            return None if self.rest is None else self.rest.size_from(0)
        return as_dim(int(axis)) if axis.isdigit() else self.sizes.get(axis)

    def made(self, axes: Sequence[_Axis]) -> Shape:
        """Return the shape of an array with these axes."""
        at = axes.index(_ELLIPSIS) if _ELLIPSIS in axes else len(axes)
        front, back = (tuple(map(self.size, part)) for part in (axes[:at], axes[at + 1 :]))
        rest = Shape(()) if self.rest is None or at == len(axes) else self.rest
        return prefixed(front, Shape((*rest.dims, *back), rest.lead))


def _einsum(subscripts: str, *operands: Shape) -> Shape | Value:
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    inputs = [letters(part) for part in left.split(",")]
    return summed(subscripts, inputs, operands, letters(right) if arrow else _implied(inputs))


def summed(
    pattern: str, inputs: list[list[str]], operands: tuple[Shape, ...], result: list[str]
) -> Shape | Value:
    """Return the shape of a sum of products over axes that have names.

    Args:
        pattern: The pattern, for messages.
        inputs: The axes of each operand.
        operands: The shapes of the operands.
        result: The axes of the result.
    """
    if len(inputs) != len(operands):
        return Unknown("an einsum with another number of operands than its pattern has")
    named = _NamedAxes()
    # An operand that is not known has the axes all the same.
    if not all(named.read(axes, shape) for axes, shape in zip(inputs, operands, strict=True)):
        return Unknown(f"an operand of the einsum {pattern!r} has another rank")
    return named.made(result)


def letters(text: str) -> list[str]:
    """Return the axes of an operand in a pattern of `einsum`."""
    before, ellipsis, after = text.partition(_ELLIPSIS)
    return [*before, *([ellipsis] if ellipsis else []), *after]


def _implied(inputs: list[list[str]]) -> list[str]:
    """Return the axes of the result where the pattern has no arrow."""
    counts = Counter(axis for axes in inputs for axis in axes)
    once = sorted(axis for axis, count in counts.items() if count == 1 and axis != _ELLIPSIS)
    return [_ELLIPSIS, *once] if _ELLIPSIS in counts else once


_AXIS: Final = re.compile(r"\s*(?:\(([^()]*)\)|(\w+|\.\.\.))")
# Arguments of functions of einops that are no sizes of axes.
_OPTIONS: Final = frozenset(("reduction", "tensor", "pattern"))


def _parsed(text: str) -> list[_Axis] | None:
    """Return the axes of one side of a pattern of einops; None where it is no pattern."""
    axes: list[_Axis] = []
    text, position = text.rstrip().replace("…", _ELLIPSIS), 0
    while position < len(text):
        match = _AXIS.match(text, position)
        if match is None:
            return None
        axes.append(match[2] or tuple(match[1].split()))
        position = match.end()
    return axes


def _rearranged(call: Arguments) -> Value:
    text = text_of(call.get(1, "pattern"))
    if text is None or text.count("->") != 1:
        return Unknown("a pattern that is not literal")
    left, right = map(_parsed, text.split("->"))
    grouped = [name for axis in left or () if isinstance(axis, tuple) for name in axis]
    if left is None or right is None or _ELLIPSIS in grouped or left.count(_ELLIPSIS) > 1:
        return Unknown(f"a pattern {text!r} that is not understood")
    sizes = {name: dim_of(one) for name, one in call.named.items() if name not in _OPTIONS}
    named = _NamedAxes(sizes, frozenset(sizes))
    if not named.read(left, shape_of(call.get(0, "tensor"))):
        return Unknown("an array of another rank")
    return Array(named.made(right))


def _einops_einsum(call: Arguments) -> Value:
    """Return a sum of products, whose pattern comes last: `einsum(x, w, "b i, i j -> b j")`."""
    operands = call.positional if "pattern" in call.named else call.positional[:-1]
    text = text_of(call.get(len(operands), "pattern"))
    if text is None or text.count("->") != 1 or "(" in text:
        return Unknown("a pattern that is not literal")
    left, right = text.split("->")
    inputs = [part.split() for part in left.split(",")]
    made = summed(text, inputs, tuple(map(shape_of, operands)), right.split())
    return Array(made) if isinstance(made, Shape) else made


def _attended(
    query: Shape, key: Value, value: Shape, return_residual: Value = NONE
) -> Shape | Value:
    del key
    if not is_none(return_residual):
        return Unknown("attention with residuals")
    width = value.axis(-1)
    rows = removed(query, (-1,))
    return Shape((*rows.dims, query.axis(-1) if width is None else width), rows.lead)


def _attention_weights(query: Shape, key: Shape) -> Shape:
    query = query.expanded(3)
    if len(query.dims) < 3:
        return ANY_SHAPE
    batch, (length, heads, _) = query.dims[:-3], query.dims[-3:]
    return Shape((*batch, heads, length, key.axis(-3)), query.lead)


def _attention_mask(query: Shape, key: Shape, extra_batch_dims: int = 0) -> Shape:
    rows, columns = inserted(query, -1, as_dim(1)), inserted(key, -2, as_dim(1))
    mask = inserted(broadcast((rows, columns)), -3, as_dim(1))
    return prefixed((as_dim(1),) * extra_batch_dims, mask)


def _causal_mask(shape: Shape, extra_batch_dims: int = 0) -> Shape:
    return _attention_mask(shape, shape, extra_batch_dims)


def _combined_masks(*masks: Value) -> Value:
    known = [mask for mask in masks if not is_none(mask)]
    return Array(broadcast(map(shape_of, known))) if known else NONE


_Pair = tuple[Dim | None, Dim | None]
# An option of a layer: a value, or what it is in Python.
Option = Value | int | str | None | Sequence["Option"]
_KEEPS_SIZE: Final = frozenset(("SAME", "SAME_LOWER", "CIRCULAR", "CAUSAL", "REFLECT"))
_ONE: Final = as_dim(1)


def conv_output(
    spatial: Sequence[Dim | None],
    kernel: Option,
    strides: Option = None,
    padding: Option = "SAME",
    kernel_dilation: Option = None,
    input_dilation: Option = None,
) -> tuple[Dim | None, ...]:
    """Return the spatial sizes behind a convolution, whose kernel fits into its input.

    Args:
        spatial: The spatial sizes before it.
        kernel: The size of the kernel, a number for all axes or one for each.
        strides: The strides; None for 1.
        padding: A name, a number, numbers, or pairs of numbers.
        kernel_dilation: The dilation of the kernel; None for 1.
        input_dilation: The dilation of the input; None for 1.

    Returns:
        The size along each axis; None where it is not known.
    """
    count = len(spatial)
    sizes, steps, spread, holes = (
        _for_each_axis(as_value(option), count)
        for option in (kernel, strides, kernel_dilation, input_dilation)
    )
    given = as_value(strides)
    if isinstance(given, Code) and None in steps:
        # A number or a tuple: no size has it in it, but sizes are the same where it is 1.
        steps = [as_dim(Piece(given.code, (*given.binders, OF_CALL, STRIDES)))] * count
    windows = [_spanned(size, by) for size, by in zip(sizes, spread, strict=True)]
    named = text_of(as_value(padding))
    pads = _pads(as_value(padding), count)
    made: list[Dim | None] = []
    for k, size in enumerate(spatial):
        if named is not None:
            one = _named(named.upper(), size, windows[k], steps[k], holes[k])
        else:
            one = _slid(_added(_spanned(size, holes[k]), pads[k]), windows[k], steps[k])
        made.append(one)
    return tuple(made)


def as_value(option: Option) -> Value:
    """Return an option as a value."""
    if isinstance(option, Value):
        return option
    if option is None or isinstance(option, int | str):
        return Const(option)
    return Seq(tuple(as_value(item) for item in option))


def _for_each_axis(value: Value, count: int) -> list[Dim | None]:
    """Return a size for each axis; None where it is not known, 1 where it is not given."""
    if is_none(value):
        return [_ONE] * count
    if isinstance(value, CodeTuple) and value.is_sure and value.shape.rank == count:
        return list(value.shape.dims)
    if isinstance(value, Code) and value.holds != "number":
        # A number or a tuple: the caller knows, we do not.
        return [None] * count
    single = dim_of(value)
    if single is not None:
        return [single] * count
    items = items_of(value)
    if items is None:
        return [None] * count
    dims = [dim_of(item) for item in items]
    if len(dims) == 1:
        dims *= count
    return dims if len(dims) == count else [None] * count


def _pads(value: Value, count: int) -> list[_Pair]:
    is_open = isinstance(value, Code) and value.holds != "number"
    single = None if is_open else dim_of(value)
    if single is not None:
        return [(single, single)] * count
    items = items_of(value)
    pairs: list[_Pair] = []
    for item in items or ():
        inner = items_of(item)
        if inner is None:
            pairs.append((dim_of(item), dim_of(item)))
        else:
            ends = [dim_of(end) for end in inner]
            pairs.append((ends[0], ends[1]) if len(ends) == 2 else (None, None))
    if len(pairs) == 1:
        pairs *= count
    return pairs if len(pairs) == count else [(None, None)] * count


def _spanned(size: Dim | None, dilation: Dim | None) -> Dim | None:
    """Return how far something with gaps reaches."""
    if size is None or dilation is None:
        return None
    return size if dilation == _ONE else (size - 1) * dilation + 1


def _added(size: Dim | None, pair: _Pair) -> Dim | None:
    low, high = pair
    return None if size is None or low is None or high is None else size + low + high


def _slid(size: Dim | None, window: Dim | None, step: Dim | None) -> Dim | None:
    if size is None or window is None or step is None:
        return None
    if window == step:
        return size // window
    if (size - window).constant is not None and step.constant:
        return as_dim(max(((size - window) // step + 1).constant or 0, 0))
    return (size - window) // step + 1


def _named(
    padding: str, size: Dim | None, window: Dim | None, step: Dim | None, holes: Dim | None
) -> Dim | None:
    if holes is None or size is None or step is None:
        return None
    # jax takes no name of a padding for an input with holes.
    if holes != _ONE:
        return None
    if padding == "VALID":
        return _slid(size, window, step)
    return size.ceil_divided(step) if padding in _KEEPS_SIZE else None


def _pooled(
    shape: Shape, window_shape: Value, strides: Value = NONE, padding: Value = _VALID
) -> Shape | Value:
    window = items_of(window_shape)
    if window is None:
        unknown = (None,) * (len(shape.dims) - 1)
        return Shape((*unknown, shape.axis(-1)), None if shape.rank else ANY_SHAPE.lead)
    count = len(window)
    shape = shape.expanded(count + 1)
    if len(shape.dims) < count + 1:
        return Unknown("fewer axes than the window has")
    at = len(shape.dims) - count - 1
    spatial = conv_output(shape.dims[at:-1], Seq(window), strides, padding)
    return Shape((*shape.dims[:at], *spatial, shape.dims[-1]), shape.lead)


def _convolved(
    inputs: Shape,
    kernel: Shape,
    strides: Value = NONE,
    padding: Value = NONE,
    input_dilation: Value = NONE,
    kernel_dilation: Value = NONE,
    dimension_numbers: Value = NONE,
) -> Shape:
    layouts = [text_of(item) for item in items_of(dimension_numbers) or ()]
    known = [text for text in layouts if text is not None]
    spatial = "DHWXYZ"[: (kernel.rank or inputs.rank or 2) - 2]
    if is_none(dimension_numbers) and spatial:
        known = [f"NC{spatial}", f"OI{spatial}", f"NC{spatial}"]
    if isinstance(dimension_numbers, ShapeOf) and spatial:
        # What Linen's own `_conv_dimension_numbers` is called with.
        known = [f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"]
    if len(known) != 3:
        return ANY_SHAPE
    of_inputs, of_kernel, output = known
    array, weights = inputs.with_rank(len(of_inputs)), kernel.with_rank(len(of_kernel))
    named = "".join(letter for letter in output if letter not in "NC")
    if array is None or weights is None or not set(named) <= set(of_inputs) & set(of_kernel):
        return ANY_SHAPE
    moved = conv_output(
        [array.dims[of_inputs.index(letter)] for letter in named],
        Seq(tuple(size_value(weights.dims[of_kernel.index(letter)]) for letter in named)),
        *(
            _in_order(option, of_inputs, named)
            for option in (strides, padding, kernel_dilation, input_dilation)
        ),
    )
    sizes = dict(zip(named, moved, strict=True))
    sizes |= {"N": array.dims[of_inputs.index("N")], "C": weights.dims[of_kernel.index("O")]}
    return Shape(tuple(sizes[letter] for letter in output))


def _in_order(option: Value, inputs: str, letters: str) -> Value:
    """Return an option for the spatial axes of the input, in the order of the output."""
    items = items_of(option)
    spatial = [letter for letter in inputs if letter not in "NC"]
    if items is None or len(items) != len(spatial):
        return option
    return Seq(tuple(items[spatial.index(letter)] for letter in letters))


PRODUCTS: Final = by_name(
    {
        "matmul": rule(multiplied, "a|x1 b|x2"),
        "dot": rule(_dot, "a b"),
        "outer": rule(_outer, "a b"),
        "tensordot": rule(_tensordot, "a b axes"),
        "einsum": rule(_einsum, unclear=Unknown("an einsum whose pattern is not literal")),
    }
)
LAX_PRODUCTS: Final = by_name(
    {
        "dot": rule(_dot, "lhs rhs"),
        "batch_matmul": rule(multiplied, "lhs rhs"),
        "dot_general": rule(_dot_general, "lhs rhs dimension_numbers"),
        "conv conv_with_general_padding conv_general_dilated": rule(
            _convolved, "lhs rhs window_strides padding lhs_dilation rhs_dilation dimension_numbers"
        ),
    }
)
EINOPS: Final[dict[str, Rule]] = {
    **dict.fromkeys(("rearrange", "reduce", "repeat"), _rearranged),
    "einsum": _einops_einsum,
}
ATTENTION: Final = by_name(
    {
        "dot_product_attention": rule(_attended, "query key value * return_residual"),
        "dot_product_attention_weights": rule(_attention_weights, "query key"),
        "make_attention_mask": rule(_attention_mask, "query_input key_input _ extra_batch_dims"),
        "make_causal_mask": rule(_causal_mask, "x extra_batch_dims"),
        "combine_masks": rule(_combined_masks),
    }
)
POOLING: Final = by_name(
    {"avg_pool max_pool min_pool": rule(_pooled, "inputs window_shape strides padding")}
)
