"""Functions that make arrays of a shape, random ones too."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    Array,
    Code,
    CodeList,
    Const,
    Seq,
    Shape,
    Size,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import broadcast, inserted, removed
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Rule,
    dim_of,
    is_none,
    names,
    prefixed,
    shape_of,
)

_WITH_SHAPE_SECOND: Final = names(
    "bits cauchy exponential gumbel laplace logistic maxwell normal rademacher uniform"
)
_WITH_SHAPE_THIRD: Final = names(
    "bernoulli chisquare gamma generalized_normal geometric loggamma lognormal pareto poisson"
    " rayleigh t wald"
)
_TWO_PARAMETERS: Final = names("beta binomial f truncated_normal weibull_min double_sided_maxwell")


def _filled(call: Arguments) -> Value:
    return Array(call.wanted(0, "shape"))


def _array(call: Arguments) -> Value:
    value = call.get(0, "object", "a", "x")
    is_known = not isinstance(value, Unknown | Const | Code) or _is_number(value)
    if isinstance(value, CodeList):
        return Array(Shape((value.count,)))
    # A field may be a number or nested tuples.
    return Array(shape_of(value)) if is_known else Array()


def _is_number(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, int | float | complex)


def _arange(call: Arguments) -> Value:
    first = call.get(0, "start")
    start, stop = as_dim(0), dim_of(first)
    if call.given(1, "stop") and not call.is_none(1, "stop"):
        begins = stop
        stop = dim_of(call.get(1, "stop"))
        if begins is None:
            return Array(Shape((None,)))
        start = begins
    step = dim_of(call.get(2, "step", default=Const(1)))
    if stop is None or step is None or not step.terms:
        return Array(Shape((None,)))
    return Array(Shape((_steps(start, stop, step),)))


def _steps(start: Dim, stop: Dim, step: Dim) -> Dim | None:
    by, length = step.constant, stop - start
    if by is not None and by < 0:
        length, by = -length, -by
    count = length.ceil_divided(step if by is None else by)
    return as_dim(max(count.constant, 0)) if count.constant is not None else count


def _linspace(call: Arguments) -> Value:
    count = dim_of(call.get(2, "num", default=Const(50)))
    axis = call.integer(None, "axis", default=0)
    ends = broadcast((call.shape(0, "start"), call.shape(1, "stop")))
    if call.flag("retstep") is not False or axis is None:
        return Unknown("what linspace gives")
    return Array(inserted(ends, axis, count))


def _eye(call: Arguments) -> Value:
    rows = dim_of(call.get(0, "N", "n"))
    columns = call.get(1, "M")
    return Array(Shape((rows, rows if is_none(columns) else dim_of(columns))))


def _tri(call: Arguments) -> Value:
    return _eye(call)


def _triangle(call: Arguments) -> Value:
    return Array(call.shape(0, "m"))


def _from_function(call: Arguments) -> Value:
    return Array(call.wanted(1, "shape"))


def _window(call: Arguments) -> Value:
    return Array(Shape((dim_of(call.get(0, "M")),)))


def _iota(call: Arguments) -> Value:
    return Array(Shape((dim_of(call.get(1, "size")),)))


def _broadcasted_iota(call: Arguments) -> Value:
    return Array(call.wanted(1, "shape"))


def _lax_full(call: Arguments) -> Value:
    return Array(call.wanted(0, "shape"))


def _one_hot(call: Arguments) -> Value:
    shape, classes = call.shape(0, "x"), dim_of(call.get(1, "num_classes"))
    axis = call.integer(None, "axis", default=-1)
    return Array() if axis is None else Array(inserted(shape, axis, classes))


CREATION: Final[dict[str, Rule]] = {
    **dict.fromkeys(names("zeros ones empty full"), _filled),
    **dict.fromkeys(names("array asarray ascontiguousarray"), _array),
    **dict.fromkeys(names("bartlett blackman hamming hanning"), _window),
    "arange": _arange,
    "linspace": _linspace,
    "logspace": _linspace,
    "geomspace": _linspace,
    "eye": _eye,
    "identity": _eye,
    "tri": _tri,
    "tril": _triangle,
    "triu": _triangle,
    "fromfunction": _from_function,
}
LAX_CREATION: Final[dict[str, Rule]] = {
    "full": _lax_full,
    "full_like": lambda call: Array(call.shape(0, "x")),
    "iota": _iota,
    "broadcasted_iota": _broadcasted_iota,
}
NN_CREATION: Final[dict[str, Rule]] = {"one_hot": _one_hot}


def _random(position: int, *parameters: tuple[int, str]) -> Rule:
    """Return the rule of a distribution.

    Args:
        position: Where the shape is given.
        *parameters: The parameters whose shapes make the shape where none is given.
    """

    def rule(call: Arguments) -> Value:
        if not call.is_none(position, "shape"):
            return Array(call.wanted(position, "shape"))
        given = [call.shape(at, name) for at, name in parameters if call.given(at, name)]
        return Array(broadcast(given))

    return rule


def _categorical(call: Arguments) -> Value:
    if not call.is_none(3, "shape"):
        return Array(call.wanted(3, "shape"))
    axis = call.integer(2, "axis", default=-1)
    return Array() if axis is None else Array(removed(call.shape(1, "logits"), (axis,)))


def _key(call: Arguments) -> Value:
    return Unknown("a random key")


def _split(call: Arguments) -> Value:
    count = dim_of(call.get(1, "num", default=Const(2)))
    number = count.constant if count is not None else None
    if number is None or not 0 < number < 1000:
        return Unknown("random keys")
    return Seq((Unknown("a random key"),) * number)


def _randint(call: Arguments) -> Value:
    return Array(call.wanted(1, "shape"))


def _shuffled(call: Arguments) -> Value:
    value = call.get(1, "x")
    if isinstance(value, Size | Const):
        return Array(Shape((dim_of(value),)))
    return Array(shape_of(value))


def _choice(call: Arguments) -> Value:
    array = call.shape(1, "a")
    wanted = call.wanted(2, "shape") if call.given(2, "shape") else Shape(())
    axis = call.integer(None, "axis", default=0)
    if axis is None or array.rank is None or wanted.lead is not None:
        return Array()
    if array.rank == 0:
        return Array(wanted)
    at = axis % array.rank
    return Array(Shape((*array.dims[:at], *wanted.dims, *array.dims[at + 1 :])))


def _multivariate(call: Arguments) -> Value:
    mean = call.shape(1, "mean")
    if call.is_none(3, "shape"):
        return Array(mean) if mean.rank != 1 or call.shape(2, "cov").rank == 2 else Array()
    return Array(Shape((*call.wanted(3, "shape").dims, mean.axis(-1))))


def _dirichlet(call: Arguments) -> Value:
    alpha = call.shape(1, "alpha")
    if call.is_none(2, "shape"):
        return Array(alpha)
    wanted = call.wanted(2, "shape")
    return Array(Shape((*wanted.dims, alpha.axis(-1)), wanted.lead))


def _orthogonal(call: Arguments) -> Value:
    if not call.is_none(None, "m"):
        return Array()
    size = dim_of(call.get(1, "n"))
    wanted = call.wanted(2, "shape") if call.given(2, "shape") else Shape(())
    return Array(prefixed(wanted.dims, Shape((size, size)))) if not wanted.lead else Array()


RANDOM: Final[dict[str, Rule]] = {
    **dict.fromkeys(_WITH_SHAPE_SECOND, _random(1)),
    **{name: _random(2, (1, "p")) for name in _WITH_SHAPE_THIRD},
    **{name: _random(3, (1, "a"), (2, "b")) for name in _TWO_PARAMETERS},
    "truncated_normal": _random(3, (1, "lower"), (2, "upper")),
    "randint": _randint,
    "categorical": _categorical,
    "permutation": _shuffled,
    "shuffle": _shuffled,
    "choice": _choice,
    "multivariate_normal": _multivariate,
    "dirichlet": _dirichlet,
    "orthogonal": _orthogonal,
    "split": _split,
    **dict.fromkeys(names("PRNGKey key fold_in clone"), _key),
}
