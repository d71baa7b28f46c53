"""The forms of `in_axes` and `out_axes` of `scan`; the laws hold in NNX too."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import model_of
from tests.transforms.modes import all_modes, fixed_modes

XS = jnp.arange(4.0)
SUMS = [0.0, 0.0, 1.0, 3.0]  # the carry before each step


def listed(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), tree)


# -- where the carry is ------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize("carry_in", [0, 1, 2])
@pytest.mark.parametrize("carry_out", [0, 1, 2])
def test_the_carry_may_be_anywhere(lib, mode, carry_in, carry_out):
    def at(position: int, carry: Any, others: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*others[:position], carry, *others[position:])

    def step(*args: Any) -> Any:
        carry = args[carry_in]
        x, y = (arg for index, arg in enumerate(args) if index != carry_in)
        return at(carry_out, carry + x, (carry, y))

    in_axes, out_axes = (at(place, lib.Carry, (0, 0)) for place in (carry_in, carry_out))
    result = lib.scan(step, in_axes=in_axes, out_axes=out_axes, **mode)(
        *at(carry_in, 0.0, (XS, XS * 2))
    )
    assert listed(result) == at(carry_out, 6.0, (SUMS, (XS * 2).tolist()))


@both
@all_modes
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_carry_alone_needs_a_length(lib, mode, wrapped):
    in_axes = (lib.Carry,) if wrapped else lib.Carry
    scanned = lib.scan(lambda c: c * 2, in_axes=in_axes, out_axes=lib.Carry, length=3, **mode)
    assert float(scanned(1.0)) == 8.0
    with pytest.raises(ValueError, match="length"):
        lib.scan(lambda c: c, in_axes=in_axes, out_axes=lib.Carry, **mode)(1.0)


@both
@all_modes
def test_what_comes_out_has_the_form_of_out_axes(lib, mode):
    def forms(out_axes: Any, step: Any) -> Any:
        return listed(lib.scan(step, in_axes=(lib.Carry, 0), out_axes=out_axes, **mode)(0.0, XS))

    assert forms(lib.Carry, lambda c, x: c + x) == 6.0
    assert forms((lib.Carry,), lambda c, x: (c + x,)) == (6.0,)
    assert forms((lib.Carry, 0), lambda c, x: (c + x, None)) == (6.0, None)
    assert forms((lib.Carry, 0), lambda c, x: (c + x, {"c": c})) == (6.0, {"c": SUMS})


@both
@all_modes
def test_a_carry_that_scans_nothing_but_gives_outputs(lib, mode):
    scanned = lib.scan(
        lambda c: (c + 1, c), in_axes=lib.Carry, out_axes=(lib.Carry, 0), length=3, **mode
    )
    assert listed(scanned(0.0)) == (3.0, [0.0, 1.0, 2.0])


@both
@all_modes
@pytest.mark.parametrize(
    ("in_axes", "args"), [(0, (XS, XS)), ((0, 0), (XS, XS)), ((0, None), (XS, 2.0))], ids=str
)
def test_without_a_carry_scan_is_a_map(lib, mode, in_axes, args):
    result = lib.scan(lambda x, y: x * y + 1, in_axes=in_axes, out_axes=0, **mode)(*args)
    factor = XS if args[1] is XS else 2.0
    assert result.tolist() == (XS * factor + 1).tolist()


@both
@all_modes
@pytest.mark.parametrize("in_axes", [None, (None,)], ids=str)
def test_with_a_length_nothing_needs_to_be_scanned(lib, mode, in_axes):
    scanned = lib.scan(lambda y: (y, y * 2), in_axes=in_axes, out_axes=(0, 0), length=3, **mode)
    assert listed(scanned(2.0)) == ([2.0] * 3, [4.0] * 3)
    with pytest.raises(ValueError, match="length"):
        lib.scan(lambda y: y, in_axes=in_axes, out_axes=0, **mode)(2.0)


# -- axes --------------------------------------------------------------------------------------


@both
@all_modes
def test_unroll_reaches_the_compiler(lib, mode):
    def steps(unroll: int) -> int:
        scanned = lib.scan(lambda c, x: (jnp.sin(c) + x, None), unroll=unroll, **mode)
        return str(jax.make_jaxpr(scanned)(0.0, XS)).count("unroll=2")

    assert (steps(1), steps(2)) == (0, 1)


@both
@all_modes
def test_no_steps_at_all(lib, mode):
    carry, ys = lib.scan(lambda c, x: (c + x, x), **mode)(1.5, jnp.zeros((0, 2)).sum(1))
    assert (float(carry), ys.shape) == (1.5, (0,))


# -- StateAxes ---------------------------------------------------------------------------------


@both
def test_parts_of_a_model_can_be_scanned_and_parts_carried(lib):
    model = model_of(lib, weight=lib.Param(XS), total=lib.BatchStat(jnp.zeros(())))
    axes = lib.StateAxes({lib.Param: 0, ...: lib.Carry})

    def step(model: Any, carry: Any) -> Any:
        model.total[...] += model.weight[...]
        model.weight[...] = model.total[...]
        return carry + 1

    scanned = lib.scan(step, in_axes=(axes, lib.Carry), out_axes=lib.Carry)
    assert float(scanned(model, 0.0)) == 4.0
    assert float(model.total[...]) == 6.0
    assert model.weight[...].tolist() == [0.0, 1.0, 3.0, 6.0]


@both
def test_parts_of_a_model_can_be_shared_by_all_steps(lib):
    model = model_of(lib, weight=lib.Param(XS), scale=lib.BatchStat(jnp.full((), 2.0)))
    axes = lib.StateAxes({lib.Param: 0, ...: None})

    def step(model: Any, carry: Any) -> Any:
        return carry + model.weight[...] * model.scale[...]

    scanned = lib.scan(step, in_axes=(axes, lib.Carry), out_axes=lib.Carry)
    assert float(scanned(model, 0.0)) == 12.0
    assert float(model.scale[...]) == 2.0


# -- a model without axis ----------------------------------------------------------------------


@both
@fixed_modes
def test_without_graph_updates_a_model_without_axis_is_carried_when_it_changes(lib, mode):
    model = model_of(lib, count=lib.BatchStat(jnp.zeros(())), rngs=lib.Rngs(params=0))

    def step(model: Any, carry: Any, x: Any) -> Any:
        model.count[...] += x
        return carry, model.rngs.params.normal(())

    scanned = lib.scan(step, in_axes=(None, lib.Carry, 0), out_axes=(lib.Carry, 0), **mode)
    loop = lib.Rngs(params=0)
    expected = [float(loop.params.normal(())) for _ in XS]
    assert scanned(model, 0.0, XS)[1].tolist() == expected
    assert (float(model.count[...]), int(model.rngs.params.count[...])) == (6.0, 4)


# -- errors ------------------------------------------------------------------------------------


@both
@all_modes
def test_lengths_that_disagree_are_an_error(lib, mode):
    with pytest.raises(ValueError, match="length"):
        lib.scan(lambda c, x: (c, x), length=3, **mode)(0.0, XS)
    with pytest.raises(ValueError, match="sizes"):
        lib.scan(lambda c, x, y: (c, x), in_axes=(lib.Carry, 0, 0), **mode)(0.0, XS, XS[:3])


@pytest.mark.thorough
@both
def test_axes_may_have_entries_for_defaults(lib):
    xs = jnp.arange(4.0)

    def step(carry, x, k=2.0):
        return carry + x * k, x

    options = {"out_axes": (lib.Carry, 0)}
    total = lib.scan(step, in_axes=(lib.Carry, 0, None), **options)(jnp.zeros(()), xs)[0]
    assert float(total) == 12.0

    def scaled(x, k=2.0):
        return x * k

    assert jnp.array_equal(lib.vmap(scaled, in_axes=(0, None))(xs), xs * 2)
    if lib is nnx:  # flax wants an entry for each default, and its pmap fails at them
        assert jnp.array_equal(lib.vmap(scaled, in_axes=(0,))(xs), xs * 2)
        assert jnp.array_equal(lib.pmap(scaled, in_axes=(0, None))(xs[:1]), xs[:1] * 2)
