"""The sizes of convolutions, pooling and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, as_dim, maximum
from typed_nnx_codegen.migrate.linen.domain.values import (
    Array,
    Code,
    CodeTuple,
    Const,
    Seq,
    Shape,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import changed
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Rule,
    dim_of,
    is_none,
    items_of,
    names,
    size_value,
    text_of,
)

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


def conv_transpose_output(
    spatial: Sequence[Dim | None],
    kernel: Option,
    strides: Option = None,
    padding: Option = "SAME",
    kernel_dilation: Option = None,
) -> tuple[Dim | None, ...]:
    """Return the spatial sizes behind a transposed convolution (see `conv_output`)."""
    count = len(spatial)
    sizes, steps, spread = (
        _for_each_axis(as_value(option), count) for option in (kernel, strides, kernel_dilation)
    )
    named = text_of(as_value(padding))
    pads = _pads(as_value(padding), count)
    made: list[Dim | None] = []
    for k, size in enumerate(spatial):
        window, step = _spanned(sizes[k], spread[k]), steps[k]
        if named is None:
            made.append(_slid(_added(_spanned(size, step), pads[k]), window, _ONE))
        elif size is None or step is None:
            made.append(None)
        elif named.upper() in ("SAME", "CIRCULAR"):
            made.append(size * step)
        elif named.upper() == "VALID" and window is not None:
            made.append(size * step + _excess(window, step))
        else:
            made.append(None)
    return tuple(made)


def _excess(window: Dim, step: Dim) -> Dim:
    """Return how far the last window reaches over the next step."""
    difference = window - step
    if difference.constant is not None:
        return as_dim(max(difference.constant, 0))
    return maximum(difference, as_dim(0))


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
    if isinstance(value, Code) and not value.is_number:
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
    is_open = isinstance(value, Code) and not value.is_number
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


def _pool(call: Arguments) -> Value:
    shape = call.shape(0, "inputs")
    window = items_of(call.get(1, "window_shape"))
    if window is None:
        return Array()
    count = len(window)
    strides, padding = call.get(2, "strides"), call.get(3, "padding", default=Const("VALID"))
    shape = shape.expanded(count + 1)
    if len(shape.dims) < count + 1:
        return Unknown("fewer axes than the window has")
    at = len(shape.dims) - count - 1
    spatial = conv_output(shape.dims[at:-1], Seq(window), strides, padding)
    return Array(Shape((*shape.dims[:at], *spatial, shape.dims[-1]), shape.lead))


def _reduce_window(call: Arguments) -> Value:
    shape = call.shape(0, "operand")
    window = items_of(call.get(3, "window_dimensions"))
    known = None if window is None else shape.with_rank(len(window))
    if window is None or known is None:
        return Array()
    dilated = call.given(6, "base_dilation") or call.given(7, "window_dilation")
    padding = call.get(5, "padding", default=Const("VALID"))
    steps = call.get(4, "window_strides")
    return (
        Array() if dilated else Array(Shape(conv_output(known.dims, Seq(window), steps, padding)))
    )


def _convolved(call: Arguments) -> Value:
    """Return the result of `conv_general_dilated` where the layout is the default or spelled."""
    numbers = items_of(call.get(6, "dimension_numbers"))
    layouts = [text_of(item) for item in numbers or ()]
    known = [text for text in layouts if text is not None]
    if numbers is None and call.is_none(6, "dimension_numbers"):
        rank = call.shape(1, "rhs").rank or call.shape(0, "lhs").rank
        letters = "DHWXYZ"[: (rank or 2) - 2]
        known = [f"NC{letters}", f"OI{letters}", f"NC{letters}"] if rank else []
    if len(known) != 3:
        return Array()
    return _in_layout(call, known)


def _numbers(call: Arguments) -> Value:
    """Return the layouts that a convolution is told, as they are written."""
    return call.get(2, "dimension_numbers")


def _in_layout(call: Arguments, layouts: list[str]) -> Value:
    inputs, kernel, output = layouts
    array, weights = (
        call.shape(at, name).with_rank(len(layout))
        for at, name, layout in ((0, "lhs", inputs), (1, "rhs", kernel))
    )
    letters = [letter for letter in output if letter not in "NC"]
    if array is None or weights is None or not set(letters) <= set(inputs) & set(kernel):
        return Array()
    spatial = conv_output(
        [array.dims[inputs.index(letter)] for letter in letters],
        Seq(tuple(size_value(weights.dims[kernel.index(letter)]) for letter in letters)),
        _in_order(call.get(2, "window_strides"), inputs, letters),
        _in_order(call.get(3, "padding"), inputs, letters),
        _in_order(call.get(5, "rhs_dilation"), inputs, letters),
        _in_order(call.get(4, "lhs_dilation"), inputs, letters),
    )
    sizes = dict(zip(letters, spatial, strict=True))
    sizes |= {"N": array.dims[inputs.index("N")], "C": weights.dims[kernel.index("O")]}
    return Array(Shape(tuple(sizes[letter] for letter in output)))


def _in_order(option: Value, inputs: str, letters: list[str]) -> Value:
    """Return an option for the spatial axes of the input, in the order of the output."""
    items = items_of(option)
    spatial = [letter for letter in inputs if letter not in "NC"]
    if items is None or len(items) != len(spatial):
        return option
    return Seq(tuple(items[spatial.index(letter)] for letter in letters))


def _resized(call: Arguments) -> Value:
    return Array(call.wanted(1, "shape"))


POOLING: Final[dict[str, Rule]] = dict.fromkeys(("avg_pool", "max_pool", "min_pool"), _pool)
LAX_WINDOWS: Final[dict[str, Rule]] = {
    "reduce_window": _reduce_window,
    "conv": _convolved,
    "conv_with_general_padding": _convolved,
    "conv_general_dilated": _convolved,
    "conv_dimension_numbers": _numbers,
}
IMAGE: Final[dict[str, Rule]] = {
    "resize": _resized,
    "scale_and_translate": _resized,
}


def _along_one(call: Arguments) -> Value:
    return _transformed(call, lambda size: size)


def _to_half(call: Arguments) -> Value:
    return _transformed(call, _half)


def _half(size: Dim) -> Dim:
    return size // 2 + 1


def _transformed(call: Arguments, made: Callable[[Dim], Dim]) -> Value:
    shape, axis = call.shape(0, "a"), call.integer(2, "axis", default=-1)
    if axis is None:
        return Array()
    size = shape.axis(axis) if call.is_none(1, "n") else dim_of(call.get(1, "n"))
    return Array(changed(shape, axis, None if size is None else made(size)))


def _from_half(call: Arguments) -> Value:
    shape, axis = call.shape(0, "a"), call.integer(2, "axis", default=-1)
    if axis is None:
        return Array()
    if not call.is_none(1, "n"):
        return Array(changed(shape, axis, dim_of(call.get(1, "n"))))
    size = shape.axis(axis)
    return Array(changed(shape, axis, None if size is None else (size - 1) * 2))


def _along_several(call: Arguments) -> Value:
    return Array(call.shape(0, "a")) if call.is_none(1, "s") else Array()


def _several_to_half(call: Arguments) -> Value:
    shape, axes = call.shape(0, "a"), call.axes(2, "axes")
    if axes is None and call.is_none(2, "axes"):
        axes = (-1,)
    if axes is None or not call.is_none(1, "s"):
        return Array()
    size = shape.axis(axes[-1])
    return Array(changed(shape, axes[-1], None if size is None else _half(size)))


def _frequencies(call: Arguments) -> Value:
    return Array(Shape((dim_of(call.get(0, "n")),)))


def _half_frequencies(call: Arguments) -> Value:
    size = dim_of(call.get(0, "n", default=Const(None)))
    return Array(Shape((None if size is None else _half(size),)))


FOURIER: Final[dict[str, Rule]] = {
    **dict.fromkeys(names("fft ifft"), _along_one),
    **dict.fromkeys(names("fft2 ifft2 fftn ifftn"), _along_several),
    **dict.fromkeys(names("rfft2 rfftn"), _several_to_half),
    "fftshift": lambda call: Array(call.shape(0, "x")),
    "ifftshift": lambda call: Array(call.shape(0, "x")),
    "rfft": _to_half,
    "irfft": _from_half,
    "fftfreq": _frequencies,
    "rfftfreq": _half_frequencies,
}
