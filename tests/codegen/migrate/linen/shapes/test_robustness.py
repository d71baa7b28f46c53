"""Whatever arguments a function has in the code, the answer is a value and never an error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    Array,
    Code,
    Const,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Slice,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes import (
    Starred,
    attribute,
    binary,
    conv_output,
    function_result,
    method_result,
    subscript,
    unary,
    unpack,
)
from typed_nnx_codegen.migrate.linen.shapes.function_table import METHODS, known_names
from typed_nnx_codegen.migrate.linen.shapes.operators import ON_LITERALS

DIMS = st.sampled_from(
    [None, *map(as_dim, (-1, 0, 1, 3)), as_dim(ArgumentSize("x", -1)), as_dim(Piece("self.a")) * 2]
)
LEADS = st.sampled_from(
    [
        None,
        Lead("", None),
        Lead("x", None),
        Lead("x", -1),
        Lead("y", -2, 1, (as_dim(3),), 0),
        Lead("", None, 0, (None,)),
    ]
)
SHAPES = st.builds(Shape, st.lists(DIMS, max_size=4).map(tuple), LEADS)
LITERALS = st.sampled_from(
    [NONE, *map(Const, (..., True, 1.5, 2j, "b t d -> b d", "ij,jk->ik", "SAME", "no pattern ->"))]
)
SIMPLE: st.SearchStrategy[Value] = st.one_of(
    st.builds(Array, SHAPES, st.sampled_from(["", "bool"]), st.sampled_from(["", "x"])),
    st.builds(ShapeOf, SHAPES),
    st.integers(-4, 5).map(Const),
    LITERALS,
    st.sampled_from([Unknown(), Size(as_dim(ArgumentSize("x", 0))), Code("self.f", ("self",))]),
)
VALUES: st.SearchStrategy[Value] = st.one_of(
    SIMPLE,
    st.builds(Seq, st.lists(SIMPLE, max_size=3).map(tuple), st.booleans()),
    st.builds(Slice, SIMPLE, SIMPLE, SIMPLE),
    SIMPLE.map(lambda value: Table({"a": value})),
    SIMPLE.map(Starred),
)
KEYWORDS = st.dictionaries(
    st.sampled_from(["axis", "keepdims", "shape", "padding", "strides", "p", "a", "x", "n", "num"]),
    VALUES,
    max_size=2,
)
OPERATORS = [*sorted(ON_LITERALS), "@"]


def _is_sound(value: Value | None) -> bool:
    if isinstance(value, Array):
        shape = value.shape
        dims = [*shape.dims, shape.axis(-1), shape.axis(1), shape.size_from(0), shape.size_from(1)]
        return all(dim is None or bool(dim.code()) for dim in dims)
    return value is None or isinstance(value, Value)


@pytest.mark.thorough
@settings(max_examples=1000, deadline=None)
@given(
    name=st.sampled_from(known_names()), arguments=st.lists(VALUES, max_size=5), keywords=KEYWORDS
)
def test_a_function_takes_anything(
    name: str, arguments: list[Value], keywords: dict[str, Value]
) -> None:
    assert _is_sound(function_result(name, arguments, keywords))


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(sorted(METHODS)), shape=SHAPES, arguments=st.lists(VALUES, max_size=3))
def test_a_method_takes_anything(name: str, shape: Shape, arguments: list[Value]) -> None:
    assert _is_sound(method_result(Array(shape), name, arguments, {}))


@settings(max_examples=300, deadline=None)
@given(operator=st.sampled_from(OPERATORS), left=VALUES, right=VALUES)
def test_an_operator_takes_anything(operator: str, left: Value, right: Value) -> None:
    assert _is_sound(binary(operator, left, right))
    assert _is_sound(unary("-", left))
    assert _is_sound(unary("not", right))


@settings(max_examples=300, deadline=None)
@given(value=VALUES, index=VALUES, count=st.integers(1, 4))
def test_a_subscript_takes_anything(value: Value, index: Value, count: int) -> None:
    assert _is_sound(subscript(value, index))
    assert _is_sound(attribute(value, "shape"))
    unpacked = unpack(value, count, None)
    assert unpacked is None or len(unpacked) == count


@settings(max_examples=100, deadline=None)
@given(sizes=st.lists(DIMS, min_size=1, max_size=2), options=st.tuples(*[VALUES] * 5))
def test_a_convolution_takes_anything(sizes: list, options: tuple) -> None:
    assert len(conv_output(sizes, *options)) == len(sizes)


def test_a_function_that_has_no_rule_is_not_known() -> None:
    assert function_result("jax.lax.scan", [], {}) is None
    assert function_result("numpyro.sample", [], {}) is None
    assert method_result(Array(), "frobnicate", [], {}) is None
