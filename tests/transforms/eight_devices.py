"""`jit` on eight devices; `test_devices.py` runs this file where the host pretends to have them.

By hand: ``XLA_FLAGS=--xla_force_host_platform_device_count=8 pytest tests/transforms/eight_devices.py``.
Each result is compared with plain jax on one device, and each array must lie where it was asked to.
"""

from __future__ import annotations

import typing as tp

import jax
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.transforms.cut_blocks import (
    Block,
    call,
    descend,
    descent,
    first_down,
    first_up,
    forward,
    inputs,
    lies,
    lies_cut,
    mesh_of,
    model_shardings,
    model_specs,
    same,
)
from tests.transforms.library import nnx


@pytest.fixture(params=[AxisType.Auto, AxisType.Explicit], ids=["auto", "explicit"])
def mesh(request: pytest.FixtureRequest) -> Mesh:
    return mesh_of(request.param)


def test_there_are_eight_devices() -> None:
    assert len(jax.devices()) == 8


def test_jit_puts_a_model_where_in_shardings_say_and_leaves_it_there() -> None:
    mesh = mesh_of()
    block, by_row = Block(), NamedSharding(mesh, P("data"))
    model = nnx.StateSharding(model_shardings(mesh))
    step = nnx.jit(call, in_shardings=(model, by_row), out_shardings=by_row)
    for number in (1, 2):
        y = step(block, inputs())
        same(y, forward(first_up(), first_down(), inputs()))
        lies(y, mesh, "data")
        lies_cut(block, mesh)
        assert block.count[...] == number
    # Nothing but the option says where this one takes its input.
    total = nnx.jit(lambda block, x: x.sum(), in_shardings=(model, by_row))
    _, given = total.lower(Block(), inputs()).compile().input_shardings[0]
    assert given.is_equivalent_to(by_row, inputs().ndim)


def test_jit_takes_one_sharding_for_a_whole_model(mesh: Mesh) -> None:
    block, everywhere = Block(), NamedSharding(mesh, P())
    step = nnx.jit(call, in_shardings=(everywhere, None))
    same(step(block, inputs()), forward(first_up(), first_down(), inputs()))
    for variable in (block.up, block.down, block.count):
        lies(variable[...], mesh)


def test_jit_takes_shardings_laid_out_like_the_state(mesh: Mesh) -> None:
    block = Block()
    names = {"up": P(None, "model"), "down": P("model", None), "count": P()}
    where = nnx.State({name: NamedSharding(mesh, spec) for name, spec in names.items()})
    step = nnx.jit(call, in_shardings=(nnx.StateSharding(where), None))
    same(step(block, inputs()), forward(first_up(), first_down(), inputs()))
    lies_cut(block, mesh)


def test_a_model_made_in_jit_lies_where_out_shardings_say(mesh: Mesh) -> None:
    block = nnx.jit(Block, out_shardings=nnx.StateSharding(model_shardings(mesh)))()
    assert isinstance(block, Block)
    lies_cut(block, mesh)
    same(block.up[...], first_up())


def test_a_model_returned_beside_an_array_lies_where_out_shardings_say(mesh: Mesh) -> None:
    model, by_row = nnx.StateSharding(model_shardings(mesh)), NamedSharding(mesh, P("data"))

    @nnx.jit(out_shardings=(by_row, {"model": model}))
    def make(x: jax.Array) -> tp.Any:
        block = Block()
        return block(x), {"model": block}

    y, made = make(inputs())
    lies(y, mesh, "data")
    lies_cut(made["model"], mesh)
    same(y, forward(first_up(), first_down(), inputs()))


def test_shardings_are_given_to_jit_as_specs_of_the_mesh_in_use(mesh: Mesh) -> None:
    block = Block()
    with jax.set_mesh(mesh):
        step = nnx.jit(call, in_shardings=(nnx.StateSharding(model_specs()), P("data")))
        y = step(block, jax.device_put(inputs(), P("data")))
    same(y, forward(first_up(), first_down(), inputs()))
    lies_cut(block, mesh)


def placed(mesh: Mesh) -> tp.Any:
    """Make a model whose arrays are cut before any transform sees it."""
    block = Block()
    for name, spec in {"up": P(None, "model"), "down": P("model", None), "count": P()}.items():
        variable = getattr(block, name)
        variable.set_value(jax.device_put(variable[...], NamedSharding(mesh, spec)))
    return block


@pytest.mark.parametrize("donate", [(), 0], ids=["kept", "donated"])
def test_a_cut_model_stays_cut_through_updates(donate: tp.Any) -> None:
    mesh = mesh_of()
    block = placed(mesh)
    x = jax.device_put(inputs(), NamedSharding(mesh, P("data")))
    step, before = nnx.jit(descend, donate_argnums=donate), block.up[...]
    losses = [float(step(block, x)) for _ in range(3)]
    wanted, up, down = descent(3)
    same(losses, wanted)
    same(block.up[...], up)
    same(block.down[...], down)
    lies_cut(block, mesh)
    assert block.count[...] == 3
    assert before.is_deleted() == (donate == 0)


def test_shardings_and_donation_go_together() -> None:
    mesh = mesh_of()
    block, model = placed(mesh), nnx.StateSharding(model_shardings(mesh))
    step, before = nnx.jit(descend, in_shardings=(model, None), donate_argnums=0), block.up[...]
    same(step(block, inputs()), descent(1)[0][0])
    same(block.up[...], descent(1)[1])
    lies_cut(block, mesh)
    assert before.is_deleted()


def test_a_model_is_computed_where_it_was_moved_to() -> None:
    block, step = Block(), nnx.jit(descend)
    losses = []
    for number in (3, 5, 5):
        device = jax.devices()[number]
        for variable in (block.up, block.down, block.count):
            variable.set_value(jax.device_put(variable[...], device))
        losses.append(float(step(block, jax.device_put(inputs(), device))))
        assert {a.device for a in jax.tree.leaves(nnx.state(block))} == {device}
    same(losses, descent(3)[0])


def test_a_shared_variable_cannot_lie_in_two_ways(mesh: Mesh) -> None:
    block, cut = Block(), nnx.StateSharding(model_shardings(mesh))
    step = nnx.jit(lambda a, b: a(inputs()), in_shardings=(cut, NamedSharding(mesh, P())))
    with pytest.raises(ValueError, match=r"(?i)alias"):
        step(block, block)
    assert block.count[...] == 0


def test_a_shared_variable_may_be_asked_for_twice_in_one_way(mesh: Mesh) -> None:
    block, cut = Block(), nnx.StateSharding(model_shardings(mesh))
    step = nnx.jit(lambda a, b: a(inputs()) + b(inputs()), in_shardings=(cut, cut))
    same(step(block, block), 2 * forward(first_up(), first_down(), inputs()))
    lies_cut(block, mesh)
    assert block.count[...] == 2


def test_code_in_jit_sees_the_cut_in_the_types_of_an_explicit_mesh() -> None:
    mesh, seen = mesh_of(AxisType.Explicit), []
    block = placed(mesh)

    @nnx.jit
    def double(block: tp.Any) -> None:
        seen.append(
            (jax.typeof(block.up[...]).sharding.spec, jax.typeof(block.down[...]).sharding.spec)
        )
        block.up[...] *= 2

    for _ in range(2):
        double(block)
    same(block.up[...], 4 * first_up())
    lies_cut(block, mesh)
    assert seen == [(P(None, "model"), P("model", None))]
