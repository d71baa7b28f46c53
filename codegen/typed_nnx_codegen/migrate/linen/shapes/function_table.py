"""The rules of functions, methods and attributes of arrays, by name, and the smallest of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    Array,
    Code,
    CodeList,
    Const,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import (
    JOINING,
    LAX_RESHAPING,
    RESHAPING,
    broadcast,
    changed,
    inserted,
    reduced,
    removed,
    reshaped,
    swapped,
    transposed,
)
from typed_nnx_codegen.migrate.linen.shapes.contractions import (
    ATTENTION,
    EINOPS,
    LAX_PRODUCTS,
    POOLING,
    PRODUCTS,
)
from typed_nnx_codegen.migrate.linen.shapes.indexing import GATHERING, LAX_GATHERING
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    SCALAR,
    Arguments,
    Axes,
    Rule,
    Wanted,
    axes_in,
    by_name,
    dim_of,
    has_star,
    if_known,
    integers_of,
    is_none,
    items_of,
    names,
    number_of,
    rank_size,
    rule,
    shape_of,
    size_value,
    wanted_of_all,
    wanted_shape,
)
from typed_nnx_codegen.migrate.linen.shapes.operators import (
    BUILTINS,
    MATH,
    OPERATOR,
    binary,
    product_of,
)

# The names that functions have for the array they take.
_FIRST: Final = "x|a|operand|arr|m|inputs|array|v|object|ary|tree"
_NOT_KNOWN: Final = Unknown("arrays that are not known one by one")
_ONE: Final = as_dim(1)
_LAST: Final = Const(-1)
_TWO: Final = Const(2)
_XY: Final = Const("xy")
_MOST_ARRAYS: Final = 1000
_FIFTY: Final = Const(50)


def _itself(x: Value) -> Value:
    return x


def _like(x: Shape) -> Shape:
    return x


def _same(x: Value) -> Shape | Value:
    return x if isinstance(x, Unknown) else shape_of(x)


def _wanted(shape: Wanted) -> Shape:
    return shape


_IS_SAME: Final = rule(_same, _FIRST)
_IS_ITSELF: Final = rule(_itself, _FIRST)


def _of_two(operator: str = "", dtype: str = "") -> Rule:
    """Return the rule of a function of two numbers or arrays."""

    def made(x: Value, y: Value) -> Shape | Value:
        if operator and isinstance(x, Size | Code) and isinstance(y, Size | Code):
            return binary(operator, x, y)
        if isinstance(x, Unknown) and isinstance(y, Unknown):
            return Unknown("operands that are not known")
        return broadcast((shape_of(x), shape_of(y)))

    return rule(made, "x1|lhs|a|n|p|z|m|x y|x2|rhs|b|q|lmbda|x|m", dtype)


def _cumulative(x: Value, axis: Value = NONE) -> Shape | Value:
    """Cumulative sums flatten where they are not told an axis."""
    shape = shape_of(x)
    return Shape((shape.size_from(0),)) if is_none(axis) and shape.rank != 1 else _same(x)


def _sorted(x: Value, axis: Value = _LAST) -> Shape | Value:
    return Shape((shape_of(x).size_from(0),)) if is_none(axis) else _same(x)


def _full_like(x: Value, shape: Value = NONE) -> Shape | Value:
    return _same(x) if is_none(shape) else wanted_shape(shape)


def _where(condition: Value, x: Value = NONE, y: Value = NONE) -> Shape | Value:
    if is_none(x) and is_none(y):
        return Unknown("a search in an array")
    # What is chosen from says more of the shape than the mask that chooses.
    return broadcast(map(shape_of, (x, y, condition)))


def _clip(x: Shape, low: Value = NONE, high: Value = NONE) -> Shape:
    return broadcast((x, *(shape_of(bound) for bound in (low, high) if not is_none(bound))))


def _clamp(low: Shape, x: Shape, high: Shape) -> Shape:
    return broadcast((x, low, high))


def _number() -> Shape:
    return SCALAR


def _glu(x: Shape, axis: int = -1) -> Shape:
    return changed(x, axis, if_known(lambda size: size // 2, x.axis(axis)))


def _all(*arrays: Value) -> Value:
    return Seq(arrays, is_list=True)


def _shape(x: Value) -> Value:
    return x if isinstance(x, Unknown) else ShapeOf(shape_of(x))


def _rank(x: Shape) -> Value:
    return rank_size(x)


def _size(x: Shape, axis: int | None = None) -> Value:
    return size_value(x.size_from(0) if axis is None else x.axis(axis))


def _canonical_axes(rank: Value, axes: Value) -> Value:
    """Return axes as the norms of Linen have them: a tuple, counted from the front."""
    found: list[Value] = []
    for axis in items_of(axes) or (axes,):
        number = number_of(axis)
        if number is None:
            return Unknown("axes that are not known")
        found.append(binary("+", rank, axis) if number < 0 else axis)
    return Seq(tuple(found))


_EQUAL = rule(_number, "_", "bool")
_BOOLEAN: Final = rule(_same, _FIRST, "bool")
_COMPARED: Final = _of_two(dtype="bool")
_OPERATORS: Final = {
    "add": "+",
    "subtract sub": "-",
    "multiply mul": "*",
    "divide true_divide": "/",
    "floor_divide": "//",
    "mod remainder": "%",
    "power pow": "**",
}
_ELEMENTWISE: Final = by_name(
    {
        """
        abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh
        bitwise_not bitwise_invert negative cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1
        fabs fix floor i0 imag invert log log10 log1p log2 positive rad2deg radians real
        reciprocal rint sign round sin sinc sinh spacing sqrt square tan tanh trunc angle around
        nan_to_num flip fliplr flipud roll astype bitwise_count single double int_ uint csingle
        cdouble interp linalg.cholesky linalg.inv linalg.pinv linalg.matrix_power copy unwrap
        real_if_close float16 float32 float64 bfloat16 float_ int8 int16 int32 int64 uint8 uint16
        uint32 uint64 int4 uint4 complex64 complex128 float8_e4m3fn float8_e5m2
        """: _IS_SAME,
        """
        isfinite isinf isnan isneginf isposinf isreal iscomplex logical_not signbit bool_ bool isin
        """: _BOOLEAN,
        """
        equal greater greater_equal isclose less less_equal logical_and logical_or logical_xor
        not_equal
        """: _COMPARED,
        """
        arctan2 atan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
        copysign float_power fmax fmin fmod gcd heaviside hypot lcm ldexp left_shift
        logaddexp logaddexp2 maximum minimum nextafter right_shift cross
        """: _of_two(),
        **{names: _of_two(operator) for names, operator in _OPERATORS.items()},
        "cumsum cumprod nancumsum nancumprod": rule(_cumulative, f"{_FIRST} axis"),
        "zeros_like ones_like empty_like": rule(_full_like, f"{_FIRST} _ shape"),
        "full_like": rule(_full_like, f"{_FIRST} _ _ shape"),
        "sort argsort": rule(_sorted, f"{_FIRST} axis"),
        "allclose array_equal": _EQUAL,
        "polyval": rule(_like, "_ x"),
        "where": rule(_where, "condition x y"),
        "clip": rule(_clip, f"{_FIRST} min|a_min max|a_max"),
        "partition argpartition": rule(_sorted, "a _ axis"),
        "shape": rule(_shape, "a"),
        "ndim": rule(_rank, "a"),
        "size": rule(_size, "a axis"),
    }
)


def _array(x: Value) -> Shape:
    if isinstance(x, CodeList):
        return Shape((x.count,))
    is_number = isinstance(x, Const) and isinstance(x.value, int | float | complex)
    # A field may be a number or nested tuples.
    return shape_of(x) if is_number or not isinstance(x, Unknown | Const | Code) else ANY_SHAPE


def _arange(first: Value, second: Value = NONE, step: Dim | None = _ONE) -> Shape:
    start, stop = (as_dim(0), dim_of(first)) if is_none(second) else map(dim_of, (first, second))
    if step is None or not step.terms:
        return Shape((None,))
    return Shape((if_known(_steps, start, stop, step),))


def _steps(start: Dim, stop: Dim, step: Dim) -> Dim:
    by, length = step.constant, stop - start
    if by is not None and by < 0:
        length, by = -length, -by
    count = length.ceil_divided(step if by is None else by)
    return count if count.constant is None else as_dim(max(count.constant, 0))


def _linspace(
    start: Shape, stop: Shape, num: Value = _FIFTY, axis: int = 0, retstep: bool = False
) -> Shape | Value:
    made = inserted(broadcast((start, stop)), axis, dim_of(num))
    return Unknown("what linspace gives") if retstep else made


def _eye(rows: Dim | None, columns: Value = NONE) -> Shape:
    return Shape((rows, rows if is_none(columns) else dim_of(columns)))


def _row(count: Dim | None) -> Shape:
    return Shape((count,))


def _one_hot(x: Shape, num_classes: Dim | None, axis: int = -1) -> Shape:
    return inserted(x, axis, num_classes)


_CREATION: Final = by_name(
    {
        "zeros ones empty full": rule(_wanted),
        "fromfunction": rule(_wanted, "_ shape"),
        "array asarray ascontiguousarray": rule(_array, _FIRST),
        "bartlett blackman hamming hanning kaiser": rule(_row, "M"),
        "bincount": rule(_row, "_ _ _ * length"),
        "resize": rule(_wanted, "_ new_shape"),
        "arange": rule(_arange, "start stop step"),
        "linspace": rule(_linspace, "start stop num * axis retstep"),
        "logspace geomspace": rule(_linspace, "start stop num * axis"),
        "eye identity tri": rule(_eye, "N|n M"),
        "tril triu": rule(_like, "m"),
    }
)


def _sample(shape: Wanted = SCALAR) -> Shape:
    return shape


def _sample_of_one(p: Value = NONE, shape: Value = NONE) -> Shape:
    return _sample_of_two(p, NONE, shape)


def _sample_of_two(p: Value = NONE, q: Value = NONE, shape: Value = NONE) -> Shape:
    """Return the shape that is asked for, else that of the parameters of the distribution."""
    if not is_none(shape):
        return wanted_shape(shape)
    return broadcast(shape_of(one) for one in (p, q) if not is_none(one))


def _categorical(logits: Shape, axis: int = -1, shape: Value = NONE) -> Shape:
    return removed(logits, (axis,)) if is_none(shape) else wanted_shape(shape)


def _key() -> Value:
    return Unknown("a random key")


def _keys(count: Value = _TWO) -> Value:
    number = number_of(count)
    if number is None or not 0 < number < _MOST_ARRAYS:
        return Unknown("random keys")
    return Seq((_key(),) * number)


def _shuffled(x: Value) -> Shape:
    return Shape((dim_of(x),)) if isinstance(x, Size | Const) else shape_of(x)


_RANDOM: Final = by_name(
    {
        "bits cauchy exponential gumbel laplace logistic maxwell normal rademacher uniform": rule(
            _sample, "_ shape"
        ),
        """
        bernoulli chisquare gamma generalized_normal geometric loggamma lognormal pareto poisson
        rayleigh t wald
        """: rule(_sample_of_one, "_ p|a|b|df|lam|scale|mean|sigma shape"),
        "beta binomial f truncated_normal weibull_min double_sided_maxwell": rule(
            _sample_of_two, "_ a|n|lower|dfnum|scale|loc b|p|upper|dfden|concentration|scale shape"
        ),
        "randint": rule(_wanted, "_ shape"),
        "categorical": rule(_categorical, "_ logits axis shape"),
        "permutation shuffle": rule(_shuffled, "_ x"),
        "split": rule(_keys, "_ num"),
        "PRNGKey key fold_in clone": rule(_key, "_"),
    }
)


def _reduced(x: Shape, axis: Value = NONE, keepdims: bool = False) -> Shape:
    axes = integers_of(axes_in(x, axis))
    if axes is None and not is_none(axis):
        return Shape((None,) * x.rank) if keepdims and x.rank else ANY_SHAPE
    return reduced(x, axes, keepdims=keepdims)


def _reduced_here(x: Shape, axis: Axes) -> Shape:
    return removed(x, axis)


def _product(x: Value, axis: Axes | None = None, keepdims: bool = False) -> Shape | Value:
    """Return a reduction, or the product of the sizes in a shape: `np.prod(x.shape[1:])`."""
    if isinstance(x, ShapeOf | Seq) and axis is None:
        size = product_of(x)
        if not isinstance(size, Unknown):
            return size
    return reduced(shape_of(x), axis, keepdims=keepdims)


def _largest(x: Shape, k: Dim | None, axis: int = -1) -> tuple[Shape, Shape]:
    largest = changed(x, axis, k)
    return largest, largest


_REDUCTIONS: Final = by_name(
    {
        """
        sum mean nansum nanmean average count_nonzero
        """: rule(_reduced, "a|x axis|axes _ _ keepdims"),
        "prod product": rule(_product, "a|x axis _ _ keepdims"),
        "std var nanstd nanvar nanprod": rule(_reduced, "a|x axis|axes _ _ _ keepdims"),
        """
        all amax amin any argmax argmin logsumexp max median min nanargmax nanargmin nanmax
        nanmedian nanmin ptp
        """: rule(_reduced, "a|x axis|axes _ keepdims"),
        "linalg.norm": rule(_reduced, "x _ axis keepdims"),
        "linalg.vector_norm": rule(_reduced, "x * axis keepdims"),
    }
)


def _resized_along(shape: Shape, size: Dim | None, axis: int = 0) -> Shape:
    return changed(shape, axis, size)


def _of_matrices(a: Shape) -> Shape:
    return removed(a, (-1, -2))


_MATRICES: Final = by_name(
    {
        "linalg.det": rule(_of_matrices),
        "linalg.cond linalg.matrix_rank": rule(_of_matrices, "x|M"),
        "linalg.trace": rule(_of_matrices, "x"),
        "linalg.solve": rule(_like, "_ b"),
        "linalg.matmul": PRODUCTS["matmul"],
        "linalg.outer": PRODUCTS["outer"],
        "linalg.tensordot": PRODUCTS["tensordot"],
        "linalg.matrix_transpose": RESHAPING["matrix_transpose"],
    }
)
_NUMPY: Final[dict[str, Rule]] = {
    **_ELEMENTWISE,
    **_CREATION,
    **_REDUCTIONS,
    **JOINING,
    **RESHAPING,
    **GATHERING,
    **PRODUCTS,
    **_MATRICES,
    "vdot": rule(_number, "_"),
    "searchsorted": rule(_like, "_ v"),
    "digitize": rule(_like, "x"),
}


_LAX: Final = by_name(
    {
        """
        abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e bitwise_not cbrt ceil clz conj
        convert_element_type cos cosh cummax cummin cumprod cumsum cumlogsumexp digamma erf erf_inv
        erfc exp exp2 expm1 floor imag integer_pow is_finite lgamma log log1p logistic neg not_
        population_count real reciprocal reduce_precision rev round rsqrt sign
        sin sinh sort sqrt square tan tanh to_dtype pmean psum pmax pmin
        """: _IS_SAME,
        "stop_gradient with_sharding_constraint optimization_barrier": _IS_ITSELF,
        "eq ne lt le gt ge": _COMPARED,
        """
        atan2 bitwise_and bitwise_or bitwise_xor complex div igamma igammac max min mulhi nextafter rem
        polygamma zeta shift_left shift_right_arithmetic shift_right_logical
        """: _of_two(),
        "pow": _of_two("**"),
        **{names: _of_two(sign) for names, sign in {"add": "+", "sub": "-", "mul": "*"}.items()},
        "select": rule(_where, "pred|which on_true on_false"),
        "clamp": rule(_clamp, "min x max"),
        "full": rule(_wanted),
        "full_like": rule(_like, "x"),
        "iota": rule(_row, "_ size"),
        "broadcasted_iota broadcast_in_dim": rule(_wanted, "_ shape"),
        """
        reduce_max reduce_min reduce_sum reduce_prod reduce_and reduce_or reduce_xor argmax argmin
        """: rule(_reduced_here, "operand axes|axis"),
        "reduce": rule(_reduced_here, "operands _ _ dimensions"),
        "top_k": rule(_largest, "operand k * axis"),
        "approx_max_k approx_min_k": rule(_largest, "operand k reduction_dimension"),
        "select_n": rule(_like, "_ cases"),
        "axis_index": rule(_number, "_"),
        "scatter scatter_add scatter_apply scatter_max scatter_min scatter_mul scatter_sub": rule(
            _like, "operand"
        ),
        "tile": JOINING["tile"],
        "dynamic_slice": rule(_wanted, "_ _ slice_sizes"),
        "dynamic_slice_in_dim": rule(_resized_along, "operand _ slice_size axis"),
        "dynamic_update_slice dynamic_update_slice_in_dim dynamic_update_index_in_dim": rule(
            _like, "operand"
        ),
        "conv_dimension_numbers": rule(_itself, "_ _ dimension_numbers"),
        **LAX_RESHAPING,
        **LAX_PRODUCTS,
        **LAX_GATHERING,
    }
)
_NN: Final[dict[str, Rule]] = {
    **ATTENTION,
    **POOLING,
    **by_name(
        {
            """
            celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid
            log_softmax mish normalize relu relu6 selu sigmoid silu soft_sign softmax softplus
            sparse_plus sparse_sigmoid squareplus standardize swish tanh identity log1mexp
            """: _IS_SAME,
            "one_hot": rule(_one_hot, "x num_classes * axis"),
            "glu": rule(_glu, "x axis"),
            "logsumexp logmeanexp": _REDUCTIONS["logsumexp"],
        }
    ),
}


def _of_three(x: Shape, y: Value = NONE, z: Value = NONE) -> Shape:
    return _clip(x, y, z)


_SPECIAL: Final = by_name(
    {
        """
        dawsn digamma entr erf erfc erfcx erfinv exp1 expi expit factorial gamma gammaln gammasgn i0
        i0e i1 i1e log_ndtr log_softmax loggamma logit multigammaln ndtr ndtri softmax spence
        """: _IS_SAME,
        """
        betaln boxcox boxcox1p gammainc gammaincc kl_div poch polygamma rel_entr xlogy xlog1py zeta
        """: _of_two(),
        "betainc": rule(_of_three, "a b x"),
        "logsumexp": _REDUCTIONS["logsumexp"],
    }
)


def _half(size: Dim) -> Dim:
    return size // 2 + 1


def _twice(size: Dim) -> Dim:
    return (size - 1) * 2


def _transformed(shape: Shape, n: Value = NONE, axis: int = -1) -> Shape:
    return shape if is_none(n) else changed(shape, axis, dim_of(n))


def _to_half(shape: Shape, n: Value = NONE, axis: int = -1) -> Shape:
    size = shape.axis(axis) if is_none(n) else dim_of(n)
    return changed(shape, axis, if_known(_half, size))


def _from_half(shape: Shape, n: Value = NONE, axis: int = -1) -> Shape:
    size = if_known(_twice, shape.axis(axis)) if is_none(n) else dim_of(n)
    return changed(shape, axis, size)


_Transform = Callable[[Shape, Value, int], Shape]


def _along_several(
    last: _Transform, shape: Shape, sizes: Value = NONE, axes: Axes | None = None
) -> Shape:
    """Return the shape of a transform along several axes, of which the last one is special."""
    if is_none(sizes):
        return last(shape, NONE, axes[-1] if axes else -1)
    items = items_of(sizes)
    if not items:
        return ANY_SHAPE
    *others, end = zip(axes or range(-len(items), 0), items, strict=False)
    for axis, size in others:
        shape = _transformed(shape, size, axis)
    return last(shape, end[1], end[0])


def _half_row(n: Dim | None) -> Shape:
    return _row(if_known(_half, n))


_FOURIER: Final = by_name(
    {
        "fft ifft": rule(_transformed, "a n axis"),
        "rfft": rule(_to_half, "a n axis"),
        "irfft": rule(_from_half, "a n axis"),
        "fft2 ifft2 fftn ifftn": rule(partial(_along_several, _transformed), "a s axes"),
        "rfft2 rfftn": rule(partial(_along_several, _to_half), "a s axes"),
        "irfft2 irfftn": rule(partial(_along_several, _from_half), "a s axes"),
        "fftfreq": rule(_row, "n"),
        "rfftfreq": rule(_half_row, "n"),
        "fftshift ifftshift": rule(_like, "x"),
    }
)


def _of_numbers(name: str) -> Rule:
    """Return the rule of a function of numpy on numbers, as that of `math`, and on arrays."""

    def applied(call: Arguments) -> Value:
        is_number = isinstance(call.get(0, "x"), Const | Size) and len(call.positional) == 1
        return (MATH if is_number else _NUMPY)[name](call)

    return applied


_SCIPY_LINALG: Final = {
    **{name: _NUMPY[f"linalg.{name}"] for name in names("det inv solve")},
    **by_name(
        {"cholesky expm sqrtm": _IS_SAME, "solve_triangular cho_solve lu_solve": rule(_like, "_ b")}
    ),
}
_DENSITIES: Final = "cdf logcdf logpdf logsf pdf ppf sf"
_STATISTICS: Final = {
    **{f"norm.{name}": rule(_of_three, "x|q loc scale") for name in names(_DENSITIES)},
    **{f"logistic.{name}": rule(_of_three, "x|q loc scale") for name in names(_DENSITIES)},
}


_BY_MODULE: Final[dict[str, dict[str, Rule]]] = {
    "jax.numpy.": _NUMPY,
    "numpy.": {
        **_NUMPY,
        **{name: _of_numbers(name) for name in names("sqrt exp log log2 log10 ceil floor")},
    },
    "jax.lax.": _LAX,
    **dict.fromkeys(("jax.nn.", "jax._src.nn.functions.", "flax.nnx."), _NN),
    **dict.fromkeys(("flax.linen.", "flax.linen.activation."), _NN),
    "jax.scipy.special.": _SPECIAL,
    "scipy.special.": _SPECIAL,
    **dict.fromkeys(("jax.scipy.linalg.", "scipy.linalg."), _SCIPY_LINALG),
    **dict.fromkeys(("jax.scipy.stats.", "scipy.stats."), _STATISTICS),
    "jax.random.": _RANDOM,
    "jax.image.": by_name({"resize scale_and_translate": rule(_wanted, "_ shape")}),
    "jax.numpy.fft.": _FOURIER,
    "numpy.fft.": _FOURIER,
    "flax.linen.attention.": ATTENTION,
    "flax.linen.pooling.": POOLING,
    "einops.": EINOPS,
    "builtins.": BUILTINS,
    "math.": MATH,
    "operator.": OPERATOR,
    "jax.ops.": by_name(
        {
            "segment_sum segment_max segment_min segment_prod": rule(
                _resized_along, "data _ num_segments"
            )
        }
    ),
    "": by_name(
        {
            """
            jax.ad_checkpoint.checkpoint_name jax.checkpoint_name jax.device_put
            jax.block_until_ready flax.linen.with_logical_constraint
            flax.linen.with_sharding_constraint
            jax.experimental.pjit.with_sharding_constraint flax.linen.linear._conv_dimension_numbers
            """: _IS_ITSELF,
            "flax.linen.promote_dtype flax.linen.dtypes.promote_dtype": rule(_all),
            "flax.linen.normalization._canonicalize_axes": rule(_canonical_axes),
        }
    ),
}


def rule_of(name: str) -> Rule | None:
    """Return the rule of a function; None where it has none."""
    for module, rules in _BY_MODULE.items():
        if name.startswith(module) and name.removeprefix(module) in rules:
            return rules[name.removeprefix(module)]
    return None


def known_names() -> list[str]:
    """Return the public names of all functions that have a rule."""
    return sorted(module + name for module, rules in _BY_MODULE.items() for name in rules)


def _reshape_method(call: Arguments) -> Value:
    sizes = call.positional[1:]
    wanted = wanted_of_all(sizes) if sizes else wanted_shape(call.get(None, "shape"))
    return Array(reshaped(call.first, wanted))


def _transpose_method(call: Arguments) -> Value:
    array, *axes = call.positional
    if has_star(axes):
        return Array()
    one = axes[0] if len(axes) == 1 else Seq(tuple(axes)) if axes else NONE
    return RESHAPING["transpose"](Arguments((array, one)))


def _flattened(x: Shape) -> Shape:
    return reshaped(x, Shape((as_dim(-1),)))


def _astype(x: Shape, dtype: Value) -> Value:
    return Array(x, dtype.code if isinstance(dtype, Code) else "")


def _item() -> Value:
    return Unknown("a number in an array")


_UPDATES: Final = names("add apply divide max min mul multiply power set subtract")
_AS_FUNCTIONS: Final = names(
    "all any argmax argmin argsort clip conj conjugate cumprod cumsum diagonal dot max mean min prod ptp"
    " ravel repeat round sort squeeze std sum take trace var"
)
METHODS: Final[dict[str, Rule]] = {
    **{name: _NUMPY[name] for name in _AS_FUNCTIONS},
    **by_name(
        {
            "block_until_ready copy addressable_data to_device view __array__": rule(_like, "x"),
            "reshape": _reshape_method,
            "transpose": _transpose_method,
            "swapaxes": rule(swapped, "a axis1 axis2"),
            "flatten": rule(_flattened),
            "astype": rule(_astype, "x dtype"),
            "item tolist": rule(_item, "_"),
        }
    ),
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
            return Array(transposed(shape), value.dtype)
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
