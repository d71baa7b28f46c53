"""The rules of all functions, methods and attributes of arrays, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    Array,
    Code,
    Const,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import swapped
from typed_nnx_codegen.migrate.linen.shapes.contractions import (
    ATTENTION,
    ATTENTION_KERNELS,
    EINOPS,
    EINSUMS,
    LAX_PRODUCTS,
    PRODUCTS,
)
from typed_nnx_codegen.migrate.linen.shapes.creation import (
    CREATION,
    LAX_CREATION,
    NN_CREATION,
    RANDOM,
)
from typed_nnx_codegen.migrate.linen.shapes.elementwise import (
    ACTIVATIONS,
    ELEMENTWISE,
    GATED,
    LAX_ELEMENTWISE,
    QUESTIONS,
    SPECIAL,
    UNCHANGED,
)
from typed_nnx_codegen.migrate.linen.shapes.joining import (
    GATHERING,
    JOINING,
    LAX_GATHERING,
    LAX_JOINING,
    SEGMENTS,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Rule,
    Starred,
    has_star,
    integers_of,
    is_none,
    names,
    rank_size,
    size_value,
)
from typed_nnx_codegen.migrate.linen.shapes.python_builtins import BUILTINS, MATH, OPERATOR
from typed_nnx_codegen.migrate.linen.shapes.reductions import LAX_REDUCTIONS, REDUCTIONS
from typed_nnx_codegen.migrate.linen.shapes.reshaping import (
    LAX_RESHAPING,
    RESHAPING,
    reshaped,
    transposed,
)
from typed_nnx_codegen.migrate.linen.shapes.windows import FOURIER, IMAGE, LAX_WINDOWS, POOLING

NUMPY: Final[dict[str, Rule]] = {
    **ELEMENTWISE,
    **JOINING,
    **REDUCTIONS,
    **RESHAPING,
    **CREATION,
    **PRODUCTS,
    **GATHERING,
    **EINSUMS,
    **QUESTIONS,
}
LAX: Final[dict[str, Rule]] = {
    **LAX_ELEMENTWISE,
    **LAX_JOINING,
    **LAX_REDUCTIONS,
    **LAX_RESHAPING,
    **LAX_CREATION,
    **LAX_PRODUCTS,
    **LAX_GATHERING,
    **LAX_WINDOWS,
}
NN: Final[dict[str, Rule]] = {
    **ACTIVATIONS,
    **NN_CREATION,
    **GATED,
    **ATTENTION,
    **POOLING,
    "logsumexp": REDUCTIONS["logsumexp"],
    "logmeanexp": REDUCTIONS["mean"],
}


def _of_numbers(name: str) -> Rule:
    """Return the rule of a function of numpy on numbers, as that of `math`, and on arrays."""

    def rule(call: Arguments) -> Value:
        is_number = isinstance(call.get(0, "x"), Const | Size) and len(call.positional) == 1
        return (MATH if is_number else NUMPY)[name](call)

    return rule


_SPECIAL: Final[dict[str, Rule]] = {**SPECIAL, "logsumexp": REDUCTIONS["logsumexp"]}
_BY_MODULE: Final[dict[str, dict[str, Rule]]] = {
    "jax.numpy.": NUMPY,
    "numpy.": {
        **NUMPY,
        **{name: _of_numbers(name) for name in names("sqrt exp log log2 log10 ceil floor")},
    },
    "jax.lax.": LAX,
    "jax.nn.": NN,
    "flax.linen.": NN,
    "flax.linen.activation.": NN,
    "flax.nnx.": NN,
    "jax.scipy.special.": _SPECIAL,
    "scipy.special.": _SPECIAL,
    "jax.random.": RANDOM,
    "jax.image.": IMAGE,
    "jax.numpy.fft.": FOURIER,
    "numpy.fft.": FOURIER,
    "flax.linen.attention.": ATTENTION,
    "jax.experimental.pallas.ops.": ATTENTION_KERNELS,
    "flax.linen.pooling.": POOLING,
    "einops.": EINOPS,
    "builtins.": BUILTINS,
    "math.": MATH,
    "operator.": OPERATOR,
    "jax.ops.": SEGMENTS,
}


def rule_of(name: str) -> Rule | None:
    """Return the rule of a function; None where it has none."""
    if name in UNCHANGED:
        return UNCHANGED[name]
    for module, rules in _BY_MODULE.items():
        if name.startswith(module):
            rule = rules.get(name.removeprefix(module))
            if rule is not None:
                return rule
    return None


def known_names() -> list[str]:
    """Return the public names of all functions that have a rule."""
    by_module = [module + name for module, rules in _BY_MODULE.items() for name in rules]
    return sorted({*by_module, *UNCHANGED})


_AS_FUNCTIONS: Final = names(
    "all any argmax argmin argsort clip conj conjugate cumprod cumsum diagonal dot max mean min"
    " prod ptp ravel repeat round sort squeeze std sum swapaxes take trace var"
)
_UNCHANGED: Final = names("block_until_ready copy addressable_data to_device view __array__")
_UPDATES: Final = names("add apply divide max min mul multiply power set subtract")


def _reshape(call: Arguments) -> Value:
    wanted = call.wanted_of_all(1, "shape")
    return Array(reshaped(call.shape(0), wanted))


def _transpose(call: Arguments) -> Value:
    values = call.positional[1:]
    if any(isinstance(value, Starred) for value in values):
        return Array()
    one = values[0] if len(values) == 1 else Seq(values)
    if not values or is_none(one):
        return Array(transposed(call.shape(0), None))
    axes = integers_of(one)
    return Array() if axes is None else Array(transposed(call.shape(0), axes))


def _flatten(call: Arguments) -> Value:
    return Array(reshaped(call.shape(0), Shape((as_dim(-1),))))


def _astype(call: Arguments) -> Value:
    dtype = call.get(1, "dtype")
    return Array(call.shape(0), dtype.code if isinstance(dtype, Code) else "")


def _itself(call: Arguments) -> Value:
    return Array(call.shape(0))


def _item(call: Arguments) -> Value:
    return Unknown("a number in an array")


METHODS: Final[dict[str, Rule]] = {
    **{name: NUMPY[name] for name in _AS_FUNCTIONS},
    **dict.fromkeys(_UNCHANGED, _itself),
    "reshape": _reshape,
    "transpose": _transpose,
    "flatten": _flatten,
    "astype": _astype,
    "item": _item,
    "tolist": _item,
}


def method_result(
    array: Array, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """Return what a method of an array gives.

    Args:
        array: The array.
        name: The method; ``at.set`` and the like for ``x.at[index].set(value)``.
        args: The arguments by position.
        keywords: The arguments by name.

    Returns:
        The result; None where the method is not known.
    """
    kind, _, update = name.partition(".")
    if kind == "at":
        return Array(array.shape, array.dtype) if update in _UPDATES else None
    rule = METHODS.get(name)
    if rule is not None and has_star(args) and name not in ("reshape", "transpose"):
        return Unknown("arguments with a star")
    return None if rule is None else rule(Arguments((array, *args), keywords))


def attribute(value: Value, name: str) -> Value | None:
    """Return an attribute of an array, None where it is not known or a method."""
    if not isinstance(value, Array):
        return None
    shape = value.shape
    match name:
        case "shape":
            return ShapeOf(shape)
        case "ndim":
            return rank_size(shape)
        case "size":
            return size_value(shape.size_from(0))
        case "T":
            return Array(transposed(shape, None), value.dtype)
        case "mT":
            return Array(swapped(shape, -1, -2), value.dtype)
        case "real" | "imag":
            return Array(shape)
        case "dtype":
            return Code(value.dtype) if value.dtype else Unknown("a dtype")
    return None


def function_result(
    name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """Return what a call of a function of a library gives.

    Args:
        name: The public name with its module: ``jax.numpy.mean``, ``builtins.len``.
        args: The arguments by position.
        keywords: The arguments by name.

    Returns:
        The result, `Unknown` where nothing can be said of it; None where the function is not
        known.
    """
    rule = rule_of(name)
    if rule is not None and has_star(args):
        return Unknown("arguments with a star")
    return None if rule is None else rule(Arguments(tuple(args), dict(keywords)))
