"""Operators, conversions and array methods of Variables, against flax and against the value."""

from __future__ import annotations

import copy
import math
import operator
import timeit
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv]
ARITHMETIC += [operator.mod, operator.pow, operator.matmul]
BITWISE = [operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor]
IN_PLACE = [
    (operator.iadd, operator.add),
    (operator.isub, operator.sub),
    (operator.imul, operator.mul),
    (operator.itruediv, operator.truediv),
    (operator.ifloordiv, operator.floordiv),
    (operator.imod, operator.mod),
    (operator.ipow, operator.pow),
    (operator.imatmul, operator.matmul),
    (operator.ilshift, operator.lshift),
    (operator.irshift, operator.rshift),
    (operator.iand, operator.and_),
    (operator.ior, operator.or_),
    (operator.ixor, operator.xor),
]
ORDER = [operator.lt, operator.le, operator.gt, operator.ge]

PAIRS: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "variable-variable": lambda make, x, y: (make(x), make(y)),
    "variable-array": lambda make, x, y: (make(x), y),
    "array-variable": lambda make, x, y: (x, make(y)),
    "variable-numpy": lambda make, x, y: (make(x), np.asarray(y)),
    "numpy-variable": lambda make, x, y: (np.asarray(x), make(y)),
    "numpy_scalar-variable": lambda make, x, y: (np.asarray(x)[1], make(y)),
    "variable-scalar": lambda make, x, y: (make(x), 2),
    "scalar-variable": lambda make, x, y: (2, make(y)),
    "variable_of_int-array": lambda make, x, y: (make(3), y),
    "variable_of_int-int": lambda make, x, y: (make(7), 2),
}


def outcome(compute: Callable[[], Any]) -> Any:
    """Return what a computation gives in comparable form, or that it is an error."""
    try:
        result = compute()
    except (TypeError, ValueError, IndexError, AttributeError):
        return "error"
    if isinstance(result, jax.Array | np.ndarray | np.generic):
        return (type(result).__name__, str(result.dtype), np.asarray(result).tolist())
    return (type(result).__name__, result)


def float_operands() -> tuple[jax.Array, jax.Array]:
    return jnp.array([1.5, 2.0, -3.0]), jnp.array([0.5, -2.0, 4.0])


def int_operands() -> tuple[jax.Array, jax.Array]:
    return jnp.array([1, 2, 12]), jnp.array([3, 1, 2])


def name(function: Any) -> str:
    return str(function.__name__).strip("_")


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("op", ARITHMETIC, ids=name)
def test_arithmetic_gives_what_flax_gives(op: Any, pair: Any) -> None:
    operands = float_operands()
    ours = outcome(lambda: op(*pair(nnx.Param, *operands)))
    assert ours == outcome(lambda: op(*pair(flax_nnx.Param, *operands)))


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("op", BITWISE, ids=name)
def test_bitwise_operators_give_what_flax_gives(op: Any, pair: Any) -> None:
    operands = int_operands()
    ours = outcome(lambda: op(*pair(nnx.Param, *operands)))
    assert ours == outcome(lambda: op(*pair(flax_nnx.Param, *operands)))


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_equality_gives_what_flax_gives(pair: Any) -> None:
    operands = float_operands()
    ours = outcome(lambda: operator.eq(*pair(nnx.Param, *operands)))
    assert ours == outcome(lambda: operator.eq(*pair(flax_nnx.Param, *operands)))


@pytest.mark.parametrize(
    "other", [None, "text", 3, object(), [1]], ids=["none", "text", "int", "object", "list"]
)
@pytest.mark.parametrize("value", [1, "text", [1], None, (1, 2)], ids=repr)
def test_equality_of_values_that_are_no_arrays_gives_what_flax_gives(
    value: Any, other: Any
) -> None:
    assert (nnx.Param(value) == other) is (flax_nnx.Param(value) == other)
    assert (nnx.Param(value) != other) is (flax_nnx.Param(value) != other)


@pytest.mark.parametrize("pair", list(PAIRS.values())[:8], ids=list(PAIRS)[:8])
@pytest.mark.parametrize("op", [*ORDER, operator.ne], ids=name)
def test_order_and_inequality_are_those_of_the_values(op: Any, pair: Any) -> None:
    operands = float_operands()
    got = op(*pair(nnx.Param, *operands))
    expected = op(*pair(lambda value: value, *operands))
    np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


@pytest.mark.parametrize(("in_place", "plain"), IN_PLACE, ids=[name(op) for op, _ in IN_PLACE])
@pytest.mark.parametrize("as_variable", [False, True], ids=["array", "variable"])
def test_an_in_place_operator_writes_the_result_and_keeps_the_variable(
    in_place: Any, plain: Any, as_variable: bool
) -> None:
    x, y = (jnp.eye(2, dtype=jnp.int32) * 5, jnp.array([[1, 2], [3, 1]]))
    variable = nnx.Param(x)
    result = in_place(variable, nnx.Param(y) if as_variable else y)
    assert result is variable
    assert outcome(lambda: variable.get_value()) == outcome(lambda: plain(x, y))


def test_an_in_place_operator_leaves_a_mutable_value_of_someone_else_alone() -> None:
    mine = np.ones(3)
    variable = nnx.Variable(mine)
    variable += 1
    np.testing.assert_array_equal(mine, np.ones(3))
    np.testing.assert_array_equal(variable.get_value(), 2 * np.ones(3))


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda: nnx.Param(1) + 2.5, 3.5),
        (lambda: 2.5 + nnx.Param(1), 3.5),
        (lambda: nnx.Param(1) + nnx.Param(2.5), 3.5),
        (lambda: operator.add([2], nnx.Param([1])), [2, 1]),
        (lambda: divmod(nnx.Param(7), 2), (3, 1)),
        (lambda: divmod(7, nnx.Param(2)), (3, 1)),
        (lambda: pow(nnx.Param(5), 2, 3), 1),
        (lambda: sum([nnx.Param(1), nnx.Param(2)]), 3),
    ],
    ids=["int+float", "float+int", "mixed", "list", "divmod", "rdivmod", "pow-mod", "sum"],
)
def test_operators_of_python_values_work_where_flax_gives_up(compute: Any, expected: Any) -> None:
    assert compute() == expected


class Foreign:
    """A right operand with opinions of its own."""

    def __radd__(self, other: Any) -> tuple[str, Any]:
        return ("radd", other)

    def __rmatmul__(self, other: Any) -> tuple[str, Any]:
        return ("rmatmul", other)


def test_a_foreign_right_operand_gets_its_turn_with_the_value() -> None:
    value = jnp.ones(2)
    label, seen = nnx.Param(value) + Foreign()
    assert label == (flax_nnx.Param(value) + Foreign())[0] == "radd"
    assert seen is value
    assert (nnx.Param(value) @ Foreign())[0] == "rmatmul"


@pytest.mark.parametrize("op", [operator.add, operator.matmul, operator.lt], ids=name)
def test_operands_that_do_not_fit_raise_type_error(op: Any) -> None:
    with pytest.raises(TypeError):
        op(nnx.Param(jnp.ones(2)), "text")


VALUES: dict[str, Any] = {
    "floats": jnp.array([0.0, 1.26, -2.5]),
    "ints": jnp.array([0, 1, 2]),
    "scalar": jnp.float32(1.5),
    "int_scalar": jnp.int32(2),
    "int": 3,
    "float": 2.5,
    "numpy": np.arange(3.0),
    "list": [1, 2],
    "empty": [],
}

ONE_OPERAND: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "invert": operator.invert,
    "round": round,
    "round_to_one_digit": lambda x: round(x, 1),
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "ceil": math.ceil,
    "floor": math.floor,
    "trunc": math.trunc,
    "bool": bool,
    "len": len,
    "list": lambda x: [outcome(lambda y=y: y) for y in x],  # type: ignore[misc]  # y may be anything
    "reversed": lambda x: [outcome(lambda y=y: y) for y in reversed(x)],  # type: ignore[misc]  # as above
    "contains": lambda x: 1 in x,
    "asarray": np.asarray,
    "asarray_float64": lambda x: np.asarray(x, dtype=np.float64),
    "jnp_asarray": jnp.asarray,
    "jnp_sin": jnp.sin,
    "numpy_sin": np.sin,
    "numpy_add": lambda x: np.add(x, 1),
    "numpy_sum": np.sum,
}

# Of a Python number in flax's Variable numpy makes an array of objects.
NUMPY_FUNCTIONS = [function for key, function in ONE_OPERAND.items() if "numpy" in key]
NUMPY_FUNCTIONS.append(np.asarray)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("function", ONE_OPERAND.values(), ids=ONE_OPERAND)
def test_one_operand_functions_give_what_flax_or_else_the_value_gives(
    function: Any, value: Any
) -> None:
    expected = outcome(lambda: function(flax_nnx.Param(value)))
    sees_an_object = function in NUMPY_FUNCTIONS and isinstance(value, int | float)
    if expected == "error" or sees_an_object:
        expected = outcome(lambda: function(value))
    assert outcome(lambda: function(nnx.Param(value))) == expected


@pytest.mark.parametrize(
    ("function", "value", "expected"),
    [
        (bool, 0, False),
        (bool, jnp.int32(1), True),
        (bool, None, False),
        (complex, 2, 2 + 0j),
        (math.ceil, jnp.float32(1.5), 2),
        (np.asarray, 1, np.array(1)),
    ],
    ids=["bool-int", "bool-scalar", "bool-none", "complex", "ceil", "asarray"],
)
def test_conversions_work_where_flax_gives_up(function: Any, value: Any, expected: Any) -> None:
    assert function(nnx.Param(value)) == expected


def test_a_variable_has_no_hash_as_in_flax() -> None:
    for module in (nnx, flax_nnx):
        with pytest.raises(TypeError, match="unhashable type: 'Param'"):
            hash(module.Param(1))


METHODS: dict[str, Callable[[Any], Any]] = {
    "shape": lambda v: v.shape,
    "dtype": lambda v: v.dtype,
    "ndim": lambda v: v.ndim,
    "size": lambda v: v.size,
    "nbytes": lambda v: v.nbytes,
    "itemsize": lambda v: v.itemsize,
    "T": lambda v: v.T,
    "mT": lambda v: v.mT,
    "real": lambda v: v.real,
    "imag": lambda v: v.imag,
    "at": lambda v: v.at[0].set(9.0),
    "astype": lambda v: v.astype(jnp.int32),
    "reshape": lambda v: v.reshape(-1),
    "reshape_varargs": lambda v: v.reshape(3, 2),
    "transpose": lambda v: v.transpose(1, 0),
    "sum": lambda v: v.sum(axis=0, keepdims=True),
    "mean": lambda v: v.mean(-1),
    "max": lambda v: v.max(),
    "min": lambda v: v.min(axis=1),
    "std": lambda v: v.std(),
    "var": lambda v: v.var(ddof=1),
    "prod": lambda v: v.prod(),
    "any": lambda v: v.any(),
    "all": lambda v: v.all(axis=0),
    "argmax": lambda v: v.argmax(),
    "argmin": lambda v: v.argmin(axis=1),
    "argsort": lambda v: v.argsort(axis=1),
    "sort": lambda v: v.sort(axis=0),
    "clip": lambda v: v.clip(0.0, 1.0),
    "conj": lambda v: v.conj(),
    "cumsum": lambda v: v.cumsum(axis=1),
    "cumprod": lambda v: v.cumprod(axis=0),
    "diagonal": lambda v: v.diagonal(),
    "dot": lambda v: v.dot(jnp.ones(3)),
    "flatten": lambda v: v.flatten(),
    "item": lambda v: v[0, 0].item(),
    "ravel": lambda v: v.ravel(),
    "repeat": lambda v: v.repeat(2, axis=0),
    "round": lambda v: v.round(1),
    "searchsorted": lambda v: v[0].searchsorted(1.0),
    "squeeze": lambda v: v.squeeze(),
    "swapaxes": lambda v: v.swapaxes(0, 1),
    "take": lambda v: v.take(jnp.array([1, 0])),
    "tolist": lambda v: v.tolist(),
    "trace": lambda v: v.trace(),
    "view": lambda v: v.view(jnp.int32),
    "block_until_ready": lambda v: v.block_until_ready(),
    "addressable_data": lambda v: v.addressable_data(0),
    "devices": lambda v: v.devices(),
    "is_deleted": lambda v: v.is_deleted(),
    "dlpack": lambda v: np.from_dlpack(v),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_array_methods_give_what_flax_gives(method: Any) -> None:
    value = jnp.array([[0.5, 1.25, -2.0], [3.0, 0.0, 1.0]])
    assert outcome(lambda: method(nnx.Param(value))) == outcome(
        lambda: method(flax_nnx.Param(value))
    )


def test_a_numpy_value_answers_with_numpys_own_signature() -> None:
    variable: Any = nnx.Variable(np.arange(4.0))
    assert variable.sum(initial=10.0) == 16.0
    assert variable.tobytes(order="F") == np.arange(4.0).tobytes()


def test_metadata_comes_before_the_attributes_of_the_value_as_in_flax() -> None:
    for module in (nnx, flax_nnx):
        variable = module.Param(jnp.ones(2), mean=0.5, dtype="mine")
        assert (variable.mean, variable.dtype) == (0.5, "mine")


def test_methods_of_the_variable_come_before_those_of_the_value() -> None:
    assert isinstance(nnx.Param(jnp.ones(2)).copy(), nnx.Param)
    assert isinstance(copy.deepcopy(nnx.Param(jnp.ones(2))), nnx.Param)


def test_an_unknown_attribute_names_the_variable_and_its_value() -> None:
    with pytest.raises(AttributeError, match=r"'Param' object has no attribute 'nope'.*'int'"):
        _ = nnx.Param(1).nope
    assert not hasattr(nnx.Param(1), "shape")


def test_operators_and_methods_work_on_traced_values() -> None:
    @jax.jit
    def compute(x: jax.Array) -> jax.Array:
        variable = nnx.Param(x)
        variable += 1.0
        return np.float32(2) * variable + jnp.sin(variable) - variable.sum()  # type: ignore[arg-type]  # jax's types know no __jax_array__

    x = jnp.array([1.0, 2.0])
    np.testing.assert_allclose(compute(x), 2 * (x + 1) + np.sin(x + 1) - 5.0, rtol=1e-6)


@pytest.mark.slow
def test_an_operator_costs_little_more_than_on_the_array() -> None:
    # On ints, where the operation itself is too quick to hide what the Variable adds.
    variable = nnx.Variable(3)

    def best(function: Callable[[], Any]) -> float:
        return min(timeit.repeat(function, number=10_000, repeat=20)) / 10_000

    assert best(lambda: variable + 4) - best(lambda: operator.add(3, 4)) < 0.4e-6
