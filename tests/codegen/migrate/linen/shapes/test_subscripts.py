"""Subscripts, unpacking and ranks that become known."""

from __future__ import annotations

import numpy as np

from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, LeadingSize, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    Array,
    Code,
    Const,
    Lead,
    OfRank,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Slice,
    Table,
    Unknown,
)
from typed_nnx_codegen.migrate.linen.shapes import (
    Starred,
    function_result,
    method_result,
    subscript,
    unpack,
)

X = Array(Shape((), Lead("x", None)), origin="x")
WHOLE = ShapeOf(X.shape)


def _size(axis: int, argument: str = "x") -> Size:
    return Size(as_dim(ArgumentSize(argument, axis)))


def test_unpacking_a_shape_says_its_rank() -> None:
    assert unpack(WHOLE, 3, None) == [_size(-3), _size(-2), _size(-1)]


def test_unpacking_with_a_star_keeps_the_middle() -> None:
    found = unpack(WHOLE, 3, 1)
    assert found == [_size(0), ShapeOf(Shape((), Lead("x", -1, start=1))), _size(-1)]


def test_a_tuple_of_another_length_does_not_unpack() -> None:
    assert unpack(Seq((Const(1), Const(2))), 3, None) is None
    assert unpack(ShapeOf(Shape((as_dim(1),))), 2, None) is None


def test_a_star_takes_what_is_left_as_a_list() -> None:
    numbers = Seq(tuple(map(Const, range(4))))
    assert unpack(numbers, 2, 0) == [Seq(tuple(map(Const, range(3))), is_list=True), Const(3)]


def test_a_field_unpacks_into_its_items() -> None:
    assert unpack(Code("self.size", ("self",)), 2, None) == [
        Code("self.size[0]", ("self",)),
        Code("self.size[1]", ("self",)),
    ]


def test_a_part_of_an_argument_is_an_argument_of_its_own() -> None:
    assert subscript(X, Const("image")) == Array(
        Shape((), Lead("x['image']", None)), "", "x['image']"
    )
    assert subscript(X, Const(0)) == Array(Shape((), Lead("x[0]", None)), "", "x[0]")


def test_a_mask_leaves_a_shape_that_is_not_known() -> None:
    found = subscript(Array(Shape((as_dim(3), as_dim(4)))), Array(Shape((as_dim(3),)), "bool"))
    assert found == Array()


def test_an_item_of_a_table_is_found_by_its_key() -> None:
    assert subscript(Table({"a": Const(1)}), Const("a")) == Const(1)
    assert isinstance(subscript(Table({"a": Const(1)}), Const("b")), Unknown)


def test_the_item_of_a_tuple_at_a_field_is_the_item_where_all_are_the_same() -> None:
    assert subscript(Seq((X, X)), Code("self.k", ("self",))) == X
    assert subscript(Seq((Const(1), Const(2))), Code("self.k", ("self",))) == Code(
        "(1, 2)[self.k]", ("self",)
    )


def test_the_last_size_behind_a_new_axis_is_right_whatever_the_rank_is() -> None:
    found = subscript(X, Seq((Slice(), NONE)))
    assert isinstance(found, Array)
    last = found.shape.axis(-1)
    assert last is not None
    for shape in ((3,), (3, 4), (3, 4, 5)):
        x = np.zeros(shape)
        assert eval(last.code(), {"x": x}) == x[:, None].shape[-1]
    assert found.shape.with_rank(2) == Shape((as_dim(ArgumentSize("x", 0)), as_dim(1)))


def test_flattening_all_but_the_first_axis_is_one_product() -> None:
    found = method_result(X, "reshape", [Seq((_size(0), Const(-1)))], {})
    product = as_dim(LeadingSize("x", 1, None))
    assert found == Array(Shape((as_dim(ArgumentSize("x", 0)), product)))
    assert product.code() == "math.prod(x.shape[1:])"


def test_heads_are_split_off_without_the_rank() -> None:
    lead = Lead("x", -1)
    shape = Shape((as_dim(Piece("self.heads", ("self",))), as_dim(-1)), lead)
    found = method_result(X, "reshape", [ShapeOf(shape)], {})
    assert isinstance(found, Array)
    last = found.shape.dims[-1]
    assert last is not None
    assert last.code() == "x.shape[-1] // self.heads"
    assert found.shape.lead == lead


def test_a_shape_among_several_sizes_is_unpacked() -> None:
    lead = ShapeOf(Shape((), Lead("x", -1)))
    sizes = [Const(2), Const(-1)]
    expected = Shape((as_dim(2), as_dim(ArgumentSize("x", -1)) // 2), Lead("x", -1))
    assert method_result(X, "reshape", [lead, *sizes], {}) == Array(expected)
    assert method_result(X, "reshape", [Starred(lead), *sizes], {}) == Array(expected)


def test_arguments_of_which_the_number_is_not_known_say_nothing() -> None:
    assert isinstance(method_result(X, "mean", [Starred(Unknown())], {}), Unknown)
    assert isinstance(function_result("jax.numpy.mean", [Starred(Unknown())], {}), Unknown)


def test_the_number_of_dimensions_is_that_of_an_argument_or_not_known() -> None:
    said = function_result("jax.numpy.ndim", [Array(Shape((as_dim(3),), Lead("x", -1)))], {})
    assert isinstance(said, OfRank)
    assert said.argument == "x"
    other = function_result("jax.numpy.ndim", [Array(Shape((as_dim(3),), Lead("", None)))], {})
    assert type(other) is Unknown
