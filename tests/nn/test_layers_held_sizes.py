"""Layers go by the sizes of the arrays that they hold, not by those that they were made with.

The law: a layer whose parameters were replaced by those of a smaller layer computes what the smaller
layer does. flax runs most of them too; those that it refuses are marked.
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.nn.twins import LIBRARIES, Make
from typed_nnx import errors


class Case(NamedTuple):
    """Arguments of a layer, those of a smaller one, and the shape of inputs of the smaller one."""

    layer: str
    large: tuple[Any, ...]
    small: tuple[Any, ...]
    shape: tuple[int, ...]
    options: dict[str, Any] = {}  # nothing changes it


RUN_BY_FLAX = [
    Case("Linear", (4, 8), (2, 3), (5, 2)),
    Case("LinearGeneral", ((4, 6), (8, 2)), ((2, 3), (4, 2)), (5, 2, 3), {"axis": (-2, -1), "use_bias": False}),
    Case("Einsum", ("bta,ahd->bthd", (4, 6, 2)), ("bta,ahd->bthd", (2, 3, 2)), (1, 5, 2)),
    Case("Conv", (4, 8, (3,)), (2, 3, (3,)), (1, 5, 2)),
    Case("Conv", (4, 8, (3, 3)), (2, 4, (3, 3)), (1, 5, 5, 2), {"feature_group_count": 2}),
    Case("ConvTranspose", (4, 8, (3,)), (2, 3, (3,)), (1, 5, 2)),
    Case("ConvTranspose", (4, 8, (3,)), (2, 3, (3,)), (1, 5, 2), {"transpose_kernel": True}),
    Case("BatchNorm", (4,), (2,), (3, 5, 2)),
    Case("LayerNorm", (4,), (2,), (3, 5, 2)),
    Case("RMSNorm", (4,), (2,), (3, 5, 2)),
    Case("InstanceNorm", (4,), (2,), (3, 5, 2)),
    Case("LoRA", (4, 2, 8), (2, 1, 3), (5, 2)),
    Case("LoRALinear", (4, 8), (2, 3), (5, 2), {"lora_rank": 2}),
]  # fmt: skip


BEYOND_FLAX = [
    Case("LinearGeneral", ((4, 6), (8, 2)), ((2, 3), (4, 2)), (5, 2, 3), {"axis": (-2, -1)}),
    Case("Einsum", ("bta,ahd->bthd", (4, 6, 2), (6, 2)), ("bta,ahd->bthd", (2, 3, 2), (3, 2)), (1, 5, 2)),
    Case("MultiHeadAttention", (4, 8, 8, 8), (2, 8, 4, 8), (3, 5, 8), {"decode": False}),
    Case("MultiHeadAttention", (4, 8, 8, 8), (4, 6, 8, 8), (3, 5, 6), {"decode": False}),
]  # fmt: skip


def named(case: Case) -> str:
    return f"{case.layer}-{'-'.join(case.options)}"


def replaced(lib: Any, case: Case) -> tuple[Any, Any]:
    """Return the large layer with the parameters of the small one, and the small one."""
    large, small = (
        getattr(lib, case.layer)(*args, rngs=lib.Rngs(seed), **case.options)
        for seed, args in ((0, case.large), (1, case.small))
    )
    values = lib.to_flat_state(lib.state(small))
    for (_, variable), (_, value) in zip(lib.to_flat_state(lib.state(large)), values, strict=True):
        variable.set_value(value.get_value())
    return large, small


def assert_computes_what_the_small_layer_does(lib: Any, case: Case) -> None:
    x = jnp.sin(jnp.arange(float(jnp.ones(case.shape).size))).reshape(case.shape)
    for transform in (lambda f: f, lib.jit):
        large, small = replaced(lib, case)
        run = transform(lambda layer, x: layer(x))
        assert jnp.allclose(run(large, x), run(small, x), atol=1e-6)
    large, small = replaced(lib, case)
    slopes, expected = (
        lib.grad(lambda layer, x: jnp.square(layer(x)).sum())(layer, x) for layer in (large, small)
    )
    for mine, wanted in zip(jax.tree.leaves(slopes), jax.tree.leaves(expected), strict=True):
        assert mine.shape == wanted.shape
        assert jnp.allclose(mine, wanted, atol=1e-5)


@pytest.mark.thorough
@both
@pytest.mark.parametrize("case", RUN_BY_FLAX, ids=named)
def test_a_layer_with_the_parameters_of_a_smaller_one_is_the_smaller_one(lib, case):
    assert_computes_what_the_small_layer_does(lib, case)


@pytest.mark.thorough
@pytest.mark.parametrize("case", BEYOND_FLAX, ids=named)
def test_so_is_one_whose_bias_or_inputs_flax_shapes_by_the_sizes_of_the_constructor(case):
    assert_computes_what_the_small_layer_does(nnx, case)


@pytest.mark.thorough
@both
@pytest.mark.parametrize("name", ["LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell"])
def test_a_cell_goes_by_its_kernels(lib, name):
    cell, small = replaced(lib, Case(name, (4, 8), (2, 3), ()))
    carry, x = small.initialize_carry((5, 2), lib.Rngs(0)), jnp.ones((5, 2))
    assert jnp.allclose(cell(carry, x)[1], small(carry, x)[1], atol=1e-6)


@pytest.mark.thorough
@both
def test_a_table_goes_by_its_rows(lib):
    table, small = replaced(lib, Case("Embed", (4, 8), (2, 3), ()))
    numbers = jnp.array([1, 0])
    assert (table(numbers) == small(numbers)).all()
    assert jnp.allclose(table.attend(jnp.ones((1, 3))), small.attend(jnp.ones((1, 3))))


@both
def test_a_slice_of_one_row_knows_the_numbers_of_other_slices(lib):
    """Unlike in a table made with one row, where each number means that row."""
    table, _ = replaced(lib, Case("Embed", (2, 3), (1, 3), ()))
    assert jnp.isnan(table(jnp.array([0, 1]))).all(1).tolist() == [False, True]


@both
def test_a_replacement_of_the_product_may_take_packed_kernels(lib):
    """Two rows in one, as int4 kernels have: what jax would refuse is no matter of the layer."""

    def unpacking(x: Any, kernel: Any, dimensions: Any, **_: Any) -> Any:
        return jax.lax.dot_general(x, jnp.repeat(kernel, 2, axis=0), dimensions)

    for layer in (lib.Linear, lib.LinearGeneral):
        packed = layer(2, 3, dot_general=unpacking, rngs=lib.Rngs(0))
        assert packed(jnp.ones((5, 4))).shape == (5, 3)


REFUSED = [
    (Case("Linear", (4, 8), (2, 3), (5, 4)), "size 2 (as `kernel` has)"),
    (Case("LinearGeneral", (4, 8), (2, 3), (5, 4)), "of sizes (2,)"),
    (Case("Conv", (4, 8, (3,)), (2, 3, (3,)), (1, 5, 4)), "axis 1, 2 (as `kernel` has))"),
    (Case("LayerNorm", (4,), (2,), (3, 4)), "2 (as `scale` has) elements along axis 1"),
    (Case("BatchNorm", (4,), (2,), (3, 4)), "2 (as `mean` has) elements along axis 1"),
    (
        Case("MultiHeadAttention", (4, 8, 8, 8), (4, 6, 8, 8), (3, 5, 8), {"decode": False}),
        "since 6 (as `kernel` has)",
    ),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("case", "said"), REFUSED, ids=[case.layer for case, _ in REFUSED])
def test_errors_name_the_size_that_counts(case, said):
    with pytest.raises(errors.LayerInputError) as caught:
        replaced(nnx, case)[0](jnp.ones(case.shape))
    assert said in str(caught.value)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["LSTMCell", "OptimizedLSTMCell"])
def test_a_memory_that_would_broadcast_is_refused(name):
    """flax computes a memory of the wrong size silently, where it has one element."""
    cell = getattr(nnx, name)(2, 3, rngs=nnx.Rngs(0))
    with pytest.raises(errors.LayerInputError, match="hidden_features=3"):
        cell((jnp.ones((5, 1)), jnp.ones((5, 3))), jnp.ones((5, 2)))


# -- layers called through their class with another `self`


IMAGE, ROWS = jnp.linspace(-1, 1, 2 * 5 * 4).reshape(2, 5, 4), jnp.linspace(-1, 1, 8).reshape(2, 4)


CARRY = (ROWS, ROWS + 1)


LAYERS: dict[str, tuple[Make, tuple[Any, ...]]] = {
    "Linear": (lambda lib, rngs: lib.Linear(4, 3, rngs=rngs), (ROWS,)),
    "LinearGeneral": (lambda lib, rngs: lib.LinearGeneral(4, (2, 3), rngs=rngs), (ROWS,)),
    "Embed": (lambda lib, rngs: lib.Embed(4, 3, rngs=rngs), (jnp.arange(4),)),
    "Conv": (lambda lib, rngs: lib.Conv(4, 3, (3,), rngs=rngs), (IMAGE,)),
    "ConvTranspose": (lambda lib, rngs: lib.ConvTranspose(4, 3, (3,), rngs=rngs), (IMAGE,)),
    "BatchNorm": (lambda lib, rngs: lib.BatchNorm(4, rngs=rngs), (ROWS,)),
    "LayerNorm": (lambda lib, rngs: lib.LayerNorm(4, rngs=rngs), (ROWS,)),
    "RMSNorm": (lambda lib, rngs: lib.RMSNorm(4, rngs=rngs), (ROWS,)),
    "GroupNorm": (lambda lib, rngs: lib.GroupNorm(4, 2, rngs=rngs), (ROWS,)),
    "InstanceNorm": (lambda lib, rngs: lib.InstanceNorm(4, rngs=rngs), (IMAGE,)),
    "Dropout": (lambda lib, rngs: lib.Dropout(0.5, rngs=rngs), (ROWS,)),
    "MultiHeadAttention": (
        lambda lib, rngs: lib.MultiHeadAttention(2, 4, rngs=rngs, decode=False),
        (IMAGE,),
    ),
    "LSTMCell": (lambda lib, rngs: lib.LSTMCell(4, 4, rngs=rngs), (CARRY, ROWS)),
    "GRUCell": (lambda lib, rngs: lib.GRUCell(4, 4, rngs=rngs), (ROWS, ROWS)),
    "SimpleCell": (lambda lib, rngs: lib.SimpleCell(4, 4, rngs=rngs), (ROWS, ROWS)),
    "RNN": (lambda lib, rngs: lib.RNN(lib.LSTMCell(4, 4, rngs=rngs), rngs=rngs), (IMAGE,)),
    "Bidirectional": (
        lambda lib, rngs: lib.Bidirectional(
            lib.RNN(lib.GRUCell(4, 4, rngs=rngs)), lib.RNN(lib.GRUCell(4, 4, rngs=rngs)), rngs=rngs
        ),
        (IMAGE,),
    ),
    "Sequential": (lambda lib, rngs: lib.Sequential(lib.Linear(4, 3, rngs=rngs)), (ROWS,)),
    "LoRA": (lambda lib, rngs: lib.LoRA(4, 2, 3, rngs=rngs), (ROWS,)),
    "PReLU": (lambda lib, rngs: lib.PReLU(), (ROWS,)),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("make", "args"), LAYERS.values(), ids=LAYERS)
def test_the_class_calls_what_has_its_attributes(make: Make, args: Any) -> None:
    results = []
    for lib in LIBRARIES:
        layer = make(lib, lib.Rngs(0))
        other = types.SimpleNamespace(**vars(layer))
        results.append(type(layer).__call__(other, *args))
    jax.tree.map(np.testing.assert_array_equal, *results)
