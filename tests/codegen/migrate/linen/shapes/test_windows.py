"""Convolutions leave the sizes that flax's layers leave."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.migrate.linen.shapes.knowledge import array, real_names
from typed_nnx_codegen.migrate.linen.domain.dims import OF_CALL, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import Code, Const, Seq, Size
from typed_nnx_codegen.migrate.linen.shapes import conv_output

PADDINGS: list[Any] = [
    "SAME",
    "VALID",
    "CIRCULAR",
    "same",
    0,
    2,
    (1, 0),
    ((1, 2), (0, 3)),
    [(2, 1), (1, 1)],
]
PER_AXIS = st.one_of(st.none(), st.integers(1, 3), st.tuples(st.integers(1, 3), st.integers(1, 3)))


def _spatial(layer: nn.Module, size: tuple[int, int]) -> tuple[int, ...]:
    made = jax.eval_shape(
        lambda x: layer.init_with_output(jax.random.key(0), x)[0], jnp.ones((2, *size, 3))
    )
    shape: tuple[int, ...] = made.shape
    return shape[1:3]


def _numbers(dims: tuple[Any, ...], size: tuple[int, int]) -> list[int]:
    names = real_names({"x": size}, {})
    return [eval(dim.code(), dict(names)) for dim in dims]


def _known(size: tuple[int, int], kind: str) -> list[Any]:
    return list(array("x", size, kind).shape.dims)


@pytest.mark.parametrize("padding", PADDINGS, ids=str)
@settings(max_examples=25, deadline=None)
@given(
    size=st.tuples(st.integers(7, 12), st.integers(7, 12)),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    strides=PER_AXIS,
    dilation=PER_AXIS,
    kind=st.sampled_from(["rank", "pieces", "numbers"]),
)
def test_a_convolution_leaves_what_flax_leaves(
    padding: Any, size: Any, kernel: Any, strides: Any, dilation: Any, kind: str
) -> None:
    layer = nn.Conv(4, kernel, strides, padding, kernel_dilation=dilation)
    found = conv_output(_known(size, kind), kernel, strides, padding, dilation)
    assert _numbers(found, size) == list(_spatial(layer, size))


@settings(max_examples=25, deadline=None)
@given(
    size=st.tuples(st.integers(5, 9), st.integers(5, 9)),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    strides=PER_AXIS,
    holes=st.integers(1, 3),
    padding=st.sampled_from([0, 1, ((1, 2), (0, 3))]),
)
def test_a_convolution_of_a_dilated_input_leaves_what_flax_leaves(
    size: Any, kernel: Any, strides: Any, holes: int, padding: Any
) -> None:
    layer = nn.Conv(4, kernel, strides, padding, input_dilation=holes)
    real = _spatial(layer, size)
    found = conv_output(_known(size, "numbers"), kernel, strides, padding, None, holes)
    assert [dim and dim.constant for dim in found] == list(real)
    symbolic = conv_output(_known(size, "rank"), kernel, strides, padding, None, holes)
    assert all(
        dim is None or _numbers((dim,), size) == [one]
        for dim, one in zip(symbolic, real, strict=True)
    )


def test_a_causal_convolution_keeps_the_length() -> None:
    layer = nn.Conv(4, (3,), padding="CAUSAL", kernel_dilation=2)
    made = jax.eval_shape(
        lambda x: layer.init_with_output(jax.random.key(0), x)[0], jnp.ones((2, 9, 3))
    )
    (found,) = conv_output([as_dim(9)], (3,), None, "CAUSAL", 2)
    assert found == as_dim(made.shape[1])


def test_options_may_be_fields() -> None:
    field = as_dim(Piece("self.kernel", ("self",)))
    (found,) = conv_output([as_dim(9)], Seq((Size(field),)), None, Const("VALID"))
    assert found == as_dim(10) - field


def test_a_field_that_may_be_a_number_or_a_tuple_says_nothing() -> None:
    assert conv_output([as_dim(9)], (3,), None, Code("self.padding")) == (None,)


def test_strides_that_may_be_a_number_or_a_tuple_say_which_size_is_the_same_where_they_are_1() -> (
    None
):
    (found,) = conv_output([as_dim(9)], (3,), Code("self.strides"), "SAME")
    assert found is not None
    (step,) = found.pieces()
    assert OF_CALL in step.binders  # no size of the constructor has it in it
    assert found.replaced({step: as_dim(1)}) == as_dim(9)


def test_the_kernel_need_not_be_known_where_padding_keeps_the_size() -> None:
    assert conv_output([as_dim(9)], Code("self.kernel"), None, "SAME") == (as_dim(9),)
