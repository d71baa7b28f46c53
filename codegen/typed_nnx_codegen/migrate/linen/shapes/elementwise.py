"""Functions that work element by element, ask for a shape, or leave it as it is."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.domain.values import (
    Array,
    Code,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import broadcast, changed
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Rule,
    Starred,
    is_none,
    items_of,
    names,
    number_of,
    rank_size,
    shape_of,
    size_value,
)
from typed_nnx_codegen.migrate.linen.shapes.operators import binary, unary

_SAME: Final = names(
    """
    abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh
    bitwise_not bitwise_invert cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1
    fabs fix floor i0 imag invert log log10 log1p log2 negative positive rad2deg radians real
    reciprocal rint sign round sin sinc sinh spacing sqrt square tan tanh trunc angle around
    nan_to_num flip fliplr flipud roll astype bitwise_count single double int_ uint csingle
    cdouble interp linalg.cholesky linalg.inv linalg.pinv linalg.matrix_power zeros_like
    ones_like full_like empty_like copy unwrap clip real_if_close float16 float32 float64
    bfloat16 float_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 int4 uint4 complex64
    complex128 float8_e4m3fn float8_e5m2
    """
)
_SAME_BOOLEAN: Final = names(
    """
    isfinite isinf isnan isneginf isposinf isreal iscomplex logical_not signbit bool_ bool isin
    """
)
_ACTIVATIONS: Final = names(
    """
    celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax
    mish normalize relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus
    sparse_sigmoid squareplus standardize swish tanh identity
    """
)
_LAX: Final = names(
    """
    abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e bitwise_not cbrt ceil clz conj
    convert_element_type cos cosh cummax cummin cumprod cumsum cumlogsumexp digamma erf erf_inv
    erfc exp exp2 expm1 floor imag integer_pow is_finite lgamma log log1p logistic neg not_
    optimization_barrier population_count real reciprocal reduce_precision rev round rsqrt sign
    sin sinh sort sqrt square stop_gradient tan tanh to_dtype pmean psum pmax pmin
    with_sharding_constraint
    """
)
_SPECIAL: Final = names(
    """
    digamma entr erf erfc erfinv expit exp1 gammaln i0 i0e i1 i1e log_ndtr log_softmax logit
    ndtr ndtri softmax
    """
)
_BINARY: Final = names(
    """
    add arctan2 atan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
    copysign divide divmod equal float_power floor_divide fmax fmin fmod gcd greater
    greater_equal heaviside hypot isclose lcm ldexp left_shift less less_equal logaddexp
    logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply nextafter
    not_equal pow power remainder right_shift subtract true_divide
    """
)
_COMPARING: Final = names(
    """
    equal greater greater_equal isclose less less_equal logical_and logical_or logical_xor
    not_equal eq ne lt le gt ge
    """
)
_LAX_BINARY: Final = names(
    """
    add atan2 bitwise_and bitwise_or bitwise_xor complex div eq ge gt le lt max min mul ne
    nextafter pow rem shift_left shift_right_arithmetic shift_right_logical sub
    """
)
_OF_NUMBERS: Final = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "floor_divide": "//",
    "mod": "%",
    "remainder": "%",
    "power": "**",
    "pow": "**",
    "sub": "-",
    "mul": "*",
}


def _same(call: Arguments) -> Value:
    value = _first(call)
    return value if isinstance(value, Unknown) else Array(shape_of(value))


def _same_boolean(call: Arguments) -> Value:
    value = _first(call)
    return value if isinstance(value, Unknown) else Array(shape_of(value), "bool")


def _first(call: Arguments) -> Value:
    """Return the array, by position or by any of its names."""
    if call.positional:
        value = call.positional[0]
        return Unknown("arguments with a star") if isinstance(value, Starred) else value
    return call.get(None, "x", "a", "operand", "arr", "m", "inputs", "array")


def _flattened_without_axis(call: Arguments) -> Value:
    """Cumulative sums flatten where they are not told an axis."""
    if call.is_none(1, "axis"):
        shape = shape_of(_first(call))
        if shape.rank != 1:
            return Array(Shape((shape.size_from(0),)))
    return _same(call)


def _sorted(call: Arguments) -> Value:
    if call.given(1, "axis") and call.is_none(1, "axis"):
        return Array(Shape((shape_of(_first(call)).size_from(0),)))
    return _same(call)


def _full_like(call: Arguments) -> Value:
    wanted = call.get(None, "shape")
    return _same(call) if is_none(wanted) else Array(call.wanted(9, "shape"))


def _elementwise(*, boolean: bool, operator: str | None = None) -> Rule:
    def rule(call: Arguments) -> Value:
        names = ("x1", "x2", "x", "y", "lhs", "rhs", "a", "b")
        values = [*call.positional[:2], *(call.named[n] for n in names if n in call.named)]
        numbers = (Size, Code)
        if operator and len(values) == 2 and all(isinstance(v, numbers) for v in values):
            return binary(operator, *values)
        unknown = [value for value in values if isinstance(value, Unknown | Starred)]
        if len(values) != 2 or len(unknown) == 2:
            return Unknown("operands that are not known")
        return Array(broadcast(map(shape_of, values)), "bool" if boolean else "")

    return rule


def _where(call: Arguments) -> Value:
    condition = call.get(0, "condition", "pred", "which")
    values = call.get(1, "x", "on_true"), call.get(2, "y", "on_false")
    if is_none(values[0]) and is_none(values[1]):
        return Unknown("a search in an array")
    # What is chosen from says more of the shape than the mask that chooses.
    return Array(broadcast(map(shape_of, (*values, condition))))


def _clip(call: Arguments) -> Value:
    bounds = call.get(1, "min", "a_min"), call.get(2, "max", "a_max")
    arrays = [_first(call), *(bound for bound in bounds if not is_none(bound))]
    return Array(broadcast(map(shape_of, arrays)))


def _lax_clamp(call: Arguments) -> Value:
    values = call.get(1, "x"), call.get(0, "min"), call.get(2, "max")
    return Array(broadcast(map(shape_of, values)))


def _select(call: Arguments) -> Value:
    arrays: list[Value] = []
    for value in (call.get(1, "choicelist"), call.get(0, "condlist"), call.get(2, "default")):
        arrays.extend(value.items if isinstance(value, Seq) else ())
    return Array(broadcast(map(shape_of, arrays))) if arrays else Unknown("a list of arrays")


def _itself(call: Arguments) -> Value:
    return _first(call)


def _difference(call: Arguments) -> Value:
    shape = shape_of(_first(call))
    times, axis = call.integer(1, "n", default=1), call.integer(2, "axis", default=-1)
    if times is None or axis is None or len(call.positional) > 3 or call.given(None, "prepend"):
        return Array()
    size = shape.axis(axis)
    return Array(changed(shape, axis, None if size is None else size - times))


def _polynomial(call: Arguments) -> Value:
    return Array(call.shape(1, "x"))


def _one_truth(call: Arguments) -> Value:
    return Array(Shape(()), "bool")


def _negative(call: Arguments) -> Value:
    value = _first(call)
    return unary("-", value) if isinstance(value, Size | Code) else _same(call)


_CUMULATIVE: Final = ("cumsum", "cumprod", "nancumsum", "nancumprod")

ELEMENTWISE: Final[dict[str, Rule]] = {
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys(_SAME_BOOLEAN, _same_boolean),
    **{
        name: _elementwise(boolean=name in _COMPARING, operator=_OF_NUMBERS.get(name))
        for name in _BINARY
    },
    **dict.fromkeys(_CUMULATIVE, _flattened_without_axis),
    **dict.fromkeys(("zeros_like", "ones_like", "full_like", "empty_like"), _full_like),
    **dict.fromkeys(("sort", "argsort"), _sorted),
    **dict.fromkeys(("allclose", "array_equal"), _one_truth),
    "diff": _difference,
    "polyval": _polynomial,
    "negative": _negative,
    "where": _where,
    "clip": _clip,
    "select": _select,
}
ACTIVATIONS: Final[dict[str, Rule]] = dict.fromkeys(_ACTIVATIONS, _same)
LAX_ELEMENTWISE: Final[dict[str, Rule]] = {
    **dict.fromkeys(_LAX, _same),
    **{
        name: _elementwise(boolean=name in _COMPARING, operator=_OF_NUMBERS.get(name))
        for name in _LAX_BINARY
    },
    "select": _where,
    "clamp": _lax_clamp,
    "stop_gradient": _itself,
    "with_sharding_constraint": _itself,
    "optimization_barrier": _itself,
}
SPECIAL: Final[dict[str, Rule]] = {
    **dict.fromkeys(_SPECIAL, _same),
    "xlogy": _elementwise(boolean=False),
    "xlog1py": _elementwise(boolean=False),
}


def _glu(call: Arguments) -> Value:
    shape, axis = call.shape(0, "x"), call.integer(1, "axis", default=-1)
    if axis is None:
        return Array()
    size = shape.axis(axis)
    return Array(changed(shape, axis, None if size is None else size // 2))


def _array_or_tree(call: Arguments) -> Value:
    return call.get(0, "x", "tree", "operand", "a")


def _all(call: Arguments) -> Value:
    return Seq(call.positional, is_list=True)


def _shape(call: Arguments) -> Value:
    value = call.get(0, "a")
    return value if isinstance(value, Unknown) else ShapeOf(shape_of(value))


def _ndim(call: Arguments) -> Value:
    return rank_size(call.shape(0, "a"))


def _size(call: Arguments) -> Value:
    shape = call.shape(0, "a")
    if not call.is_none(1, "axis"):
        axis = call.integer(1, "axis", default=0)
        return size_value(None if axis is None else shape.axis(axis))
    return size_value(shape.size_from(0))


def _canonical_axes(call: Arguments) -> Value:
    """Return axes as the norms of Linen have them: a tuple, counted from the front."""
    rank, axes = call.get(0, "rank"), call.get(1, "axes")
    found: list[Value] = []
    for axis in items_of(axes) or (axes,):
        number = number_of(axis)
        if number is None:
            return Unknown("axes that are not known")
        found.append(binary("+", rank, axis) if number < 0 else axis)
    return Seq(tuple(found))


GATED: Final[dict[str, Rule]] = {"glu": _glu}
QUESTIONS: Final[dict[str, Rule]] = {"shape": _shape, "ndim": _ndim, "size": _size}
UNCHANGED: Final[dict[str, Rule]] = {
    "jax.ad_checkpoint.checkpoint_name": _array_or_tree,
    "jax.checkpoint_name": _array_or_tree,
    "jax.device_put": _array_or_tree,
    "jax.block_until_ready": _array_or_tree,
    "flax.linen.promote_dtype": _all,
    "flax.linen.dtypes.promote_dtype": _all,
    "flax.linen.normalization._canonicalize_axes": _canonical_axes,
    "flax.linen.with_logical_constraint": _array_or_tree,
    "flax.linen.partitioning.with_sharding_constraint": _array_or_tree,
    "flax.linen.spmd.with_logical_constraint": _array_or_tree,
    "jax.experimental.pjit.with_sharding_constraint": _array_or_tree,
}
