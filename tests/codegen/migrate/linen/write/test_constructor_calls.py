"""The shapes that constructors of submodules are given."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import Lead, Shape
from typed_nnx_codegen.migrate.linen.write.constructor_calls import with_whole_lead

WIDTH = as_dim(8)


def test_sizes_that_go_on_with_those_before_them_stand_in_one_part() -> None:
    found = with_whole_lead(
        Shape((as_dim(ArgumentSize("x", -3)), as_dim(ArgumentSize("x", -2)), WIDTH), Lead("x", -3))
    )

    assert found == Shape((WIDTH,), Lead("x", -1))


def test_other_sizes_stay_where_they_are() -> None:
    other = Shape((as_dim(ArgumentSize("y", -2)), WIDTH), Lead("x", -2))
    known = Shape((as_dim(ArgumentSize("x", -1)), WIDTH))

    assert (with_whole_lead(other), with_whole_lead(known)) == (other, known)
