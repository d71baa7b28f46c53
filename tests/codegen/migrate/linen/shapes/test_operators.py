"""Operators on sizes, fields, literals and shapes."""

from __future__ import annotations

import pytest

from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    Array,
    Code,
    Const,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes import binary, broadcast, unary

WIDTH = as_dim(Piece("self.width", ("self",)))
LAST = as_dim(ArgumentSize("x", -1))
X = Array(Shape((), Lead("x", None)), origin="x")
FIELD = Code("self.width", ("self",))


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        pytest.param("*", FIELD, Const(2), Size(WIDTH * 2), id="a field times a number"),
        pytest.param("-", FIELD, FIELD, Const(0), id="a field less itself"),
        pytest.param("//", Size(LAST * 2), Const(2), Size(LAST), id="half of twice a size"),
        pytest.param("==", Size(LAST), Size(LAST), Const(True), id="a size equals itself"),
        pytest.param(
            "<", Size(LAST), Size(LAST + 1), Const(True), id="a size is less than one more"
        ),
        pytest.param("%", FIELD, Const(0), Unknown(""), id="a remainder by zero"),
        pytest.param("/", Const(1), Const(0), Unknown(""), id="a literal division by zero"),
        pytest.param("*", Const("a"), Const(10**9), Unknown(""), id="a text too long to make"),
        pytest.param("**", Const(9), Const(10**9), Unknown(""), id="a power too large to make"),
    ],
)
def test_an_operator_makes_what_python_makes(
    operator: str, left: Value, right: Value, expected: Value
) -> None:
    found = binary(operator, left, right)
    if isinstance(expected, Unknown):
        assert isinstance(found, Unknown | Code)
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("operator", "left", "right", "code"),
    [
        ("+", Code("self.a", ("self",)), Code("self.b", ("self",)), "(self.a + self.b)"),
        ("+", Code("self.b", ("self",)), Code("self.a", ("self",)), "(self.b + self.a)"),
        ("==", FIELD, Const("same"), "(self.width == 'same')"),
        (">", FIELD, Const(-3), "(self.width > (-3))"),
        ("+", FIELD, Seq((Const(1),)), "(self.width + (1,))"),
        ("and", FIELD, Code("self.b", ("self",)), "(self.width and self.b)"),
    ],
)
def test_operators_on_fields_are_code_in_the_same_order(
    operator: str, left: Value, right: Value, code: str
) -> None:
    assert binary(operator, left, right) == Code(code, ("self",))


def test_an_expression_is_bound_by_all_that_binds_its_parts() -> None:
    found = binary("==", Code("self.a[i]", (2, "one")), Code("self.b[j]", (3, "one")))
    assert found == Code("(self.a[i] == self.b[j])", (2, 3, "one"))


def test_a_field_used_with_an_array_is_a_number() -> None:
    assert binary("*", X, FIELD) == Array(X.shape)


def test_a_shape_and_a_tuple_make_a_shape() -> None:
    found = binary("+", ShapeOf(Shape((), Lead("x", -1))), Seq((FIELD, Const(-1))))
    assert found == ShapeOf(Shape((WIDTH, as_dim(-1)), Lead("x", -1)))


def test_the_first_size_before_the_rest_of_a_shape_is_the_shape() -> None:
    first = Seq((Size(as_dim(ArgumentSize("x", 0))),))
    rest = ShapeOf(Shape((), Lead("x", None, start=1)))
    assert binary("+", first, rest) == ShapeOf(Shape((), Lead("x", None)))


def test_a_size_of_fields_wins_over_one_of_an_argument() -> None:
    assert broadcast((Shape((LAST,)), Shape((WIDTH,)))) == Shape((WIDTH,))


def test_a_number_wins_over_a_symbol() -> None:
    assert broadcast((Shape((LAST,)), Shape((as_dim(4),)))) == Shape((as_dim(4),))


def test_first_dimensions_that_differ_leave_none_of_an_unknown_number_known() -> None:
    """Of ``a[:, None, :, None] * b[None, :, None, :]`` the last size alone is known."""
    left = Shape((), Lead("", None, front=(as_dim(ArgumentSize("x", 0)), as_dim(1))))
    right = Shape((WIDTH,), Lead("x", -1, start=1, front=(as_dim(1),)))
    assert broadcast((left, right)) == Shape((WIDTH,), Lead("", None))
    assert broadcast((right, left)) == Shape((WIDTH,), Lead("", None))


def test_a_residual_with_something_unknown_keeps_what_is_known() -> None:
    assert binary("+", X, Unknown("a call")) == Array(X.shape)
    assert binary("+", Unknown("a call"), Array(Shape((WIDTH,), Lead("x", -1)))) == Array(
        Shape((WIDTH,), Lead("x", -1))
    )


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("-", FIELD, Size(-WIDTH)),
        ("-", Const(2.5), Const(-2.5)),
        ("not", Const(None), Const(True)),
        ("not", Seq(()), Const(True)),
        ("~", Const(3), Const(-4)),
        ("not", FIELD, Code("(not self.width)", ("self",))),
    ],
)
def test_a_unary_operator_makes_what_python_makes(
    operator: str, value: Value, expected: Value
) -> None:
    assert unary(operator, value) == expected
