"""`shard_map`, `pmap`, `vmap` and `scan` on eight devices; `test_devices.py` runs this file."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from tests.transforms.cut_blocks import (
    RATE,
    Block,
    Count,
    call,
    descent,
    first_down,
    first_up,
    forward,
    inputs,
    lies,
    lies_cut,
    mesh_of,
    model_specs,
    one_axis,
    same,
)
from tests.transforms.library import nnx


@pytest.mark.parametrize("outer", [lambda f: f, nnx.jit], ids=["bare", "in jit"])
def test_shard_map_cuts_a_model_by_its_specs(outer: tp.Any) -> None:
    mesh, block, shapes = mesh_of(), Block(), []

    @outer
    @nnx.shard_map(
        mesh=mesh, in_specs=(nnx.StateSharding(model_specs()), P("data")), out_specs=P("data")
    )
    def step(block: tp.Any, x: jax.Array) -> tp.Any:
        shapes.append((block.up.shape, block.down.shape, x.shape))
        return jax.lax.psum(block(x), "model")

    for number in (1, 2):
        same(step(block, inputs()), forward(first_up(), first_down(), inputs()))
        assert block.count[...] == number
    lies_cut(block, mesh)
    assert set(shapes) == {((4, 2), (2, 4), (4, 4))}
    assert block.up.shape == (4, 8)


def test_shard_map_takes_one_spec_for_a_whole_model_and_averages_gradients() -> None:
    mesh, block = one_axis("data"), Block()

    @nnx.jit
    @nnx.shard_map(mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"), check_vma=False)
    def step(block: tp.Any, x: jax.Array) -> tp.Any:
        loss = nnx.value_and_grad(lambda block, x: jnp.square(block(x)).mean())
        value, slopes = loss(block, x)
        for name in ("up", "down"):
            getattr(block, name)[...] -= RATE * jax.lax.pmean(slopes[name][...], "data")
        return value[None]

    same([step(block, inputs()).mean() for _ in range(3)], descent(3)[0])
    same(block.up[...], descent(3)[1])
    same(block.down[...], descent(3)[2])
    assert block.count[...] == 3


def test_shard_map_cuts_a_variable_that_the_step_writes() -> None:
    mesh = one_axis("data")
    seen = nnx.BatchStat(jnp.zeros(8))

    @nnx.shard_map(mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P())
    def step(seen: tp.Any, x: jax.Array) -> tp.Any:
        seen[...] += x.sum(1) * (1.0 + jax.lax.axis_index("data").astype(jnp.float32))
        return jax.lax.psum(seen[...].sum(), "data")

    wanted = inputs().sum(1) * jnp.arange(1.0, 9.0)
    same(step(seen, inputs()), wanted.sum())
    same(seen[...], wanted)
    lies(seen[...], mesh, "data")


def test_a_model_made_in_shard_map_is_put_together_by_out_specs() -> None:
    mesh = one_axis("model")
    specs = nnx.StateSharding({nnx.PathContains("up"): P(None, "model"), ...: P()})

    @nnx.shard_map(mesh=mesh, in_specs=(P(None, "model"),), out_specs=specs)
    def make(up: jax.Array) -> tp.Any:
        block = Block()
        block.up = nnx.Param(up * 2)
        return block

    block = make(first_up())
    same(block.up[...], 2 * first_up())
    lies(block.up[...], mesh, None, "model")
    same(block.down[...], first_down())


# -- pmap ------------------------------------------------------------------------------------------
def copies(number: int = 8) -> tp.Any:
    """Stack equal models along a new first axis."""
    graphdef, state = nnx.split(Block())
    return nnx.merge(graphdef, jax.tree.map(lambda a: jnp.stack([a] * number), state))


def devices_of(array: jax.Array) -> int:
    return len(array.sharding.device_set)


def test_pmap_of_stacked_models_averages_gradients_over_its_axis() -> None:
    block = copies()

    @nnx.pmap(axis_name="copy")
    def step(block: tp.Any, x: jax.Array) -> tp.Any:
        of_loss = nnx.value_and_grad(lambda block, x: jnp.square(block(x)).mean())
        value, slopes = of_loss(block, x)
        for name in ("up", "down"):
            getattr(block, name)[...] -= RATE * jax.lax.pmean(slopes[name][...], "copy")
        return jax.lax.pmean(value, "copy")

    rows = inputs().reshape(8, 1, 4)
    losses, up, down = descent(3)
    for wanted in losses:
        value = step(block, rows)
        same(value, [wanted] * 8)
        assert devices_of(value) == devices_of(block.up[...]) == 8
    same(block.up[...], jnp.stack([up] * 8))
    same(block.down[...], jnp.stack([down] * 8))
    same(block.count[...], [3] * 8)


def test_pmap_leaves_a_model_without_an_axis_whole() -> None:
    block = Block()

    @nnx.pmap(in_axes=(None, 0), out_axes=0, axis_name="row")
    def step(block: tp.Any, x: jax.Array) -> tp.Any:
        return block(x) + jax.lax.axis_index("row").astype(jnp.float32)

    wanted = forward(first_up(), first_down(), inputs()) + jnp.arange(8.0)[:, None]
    same(step(block, inputs().reshape(8, 1, 4)).reshape(8, 4), wanted)
    assert block.up.shape == (4, 8)
    assert block.count[...] == 1


def test_pmap_maps_the_parts_of_a_model_that_state_axes_name() -> None:
    block = Block()
    block.count.set_value(jnp.arange(8))
    axes = nnx.StateAxes({Count: 0, ...: None})
    step = nnx.pmap(call, in_axes=(axes, 0))
    y = step(block, inputs().reshape(8, 1, 4))
    same(y.reshape(8, 4), forward(first_up(), first_down(), inputs()))
    same(block.count[...], jnp.arange(1, 9))
    assert block.up.shape == (4, 8)


class Sliced(nnx.Module):
    """Layers of which `shard_map` gives each device a slice: heads, columns and rows, features."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.embed = nnx.Embed(8, 16, rngs=rngs)
        self.query = nnx.LinearGeneral(16, (8, 2), rngs=rngs)
        self.out = nnx.LinearGeneral((8, 2), 16, axis=(-2, -1), use_bias=False, rngs=rngs)
        self.up = nnx.Linear(16, 32, rngs=rngs)
        self.norm = nnx.LayerNorm(32, reduction_axes=0, rngs=rngs)
        self.conv = nnx.Conv(32, 16, (3,), use_bias=False, rngs=rngs)
        self.down = nnx.Einsum("td,de->te", (16, 8), rngs=rngs)

    def __call__(self, tokens: jax.Array, axis: str | None = None) -> tp.Any:
        """Return [tokens, 8] for int [tokens]; `axis` is the one that the layers are cut along."""
        total = (lambda x: x) if axis is None else (lambda x: jax.lax.psum(x, axis))
        rows = self.embed.embedding.shape[0]
        first = 0 if axis is None else jax.lax.axis_index(axis) * rows
        local = (tokens >= first) & (tokens < first + rows)
        found = self.embed(jnp.where(local, tokens - first, 0))
        x = total(jnp.where(local[:, None], found, 0))
        x = x + total(self.out(jnp.tanh(self.query(x))))
        return self.down(total(self.conv(self.norm(jnp.tanh(self.up(x))))))


def slices() -> tp.Any:
    return nnx.StateSharding(
        {
            nnx.PathContains("embed"): P("x"),
            nnx.All(nnx.PathContains("query"), nnx.PathContains("kernel")): P(None, "x"),
            nnx.Any(nnx.PathContains("query"), nnx.PathContains("out")): P("x"),
            nnx.All(nnx.PathContains("up"), nnx.PathContains("kernel")): P(None, "x"),
            nnx.Any(nnx.PathContains("up"), nnx.PathContains("norm")): P("x"),
            nnx.PathContains("conv"): P(None, "x"),
            ...: P(),
        }
    )


@pytest.mark.parametrize("outer", [lambda f: f, nnx.jit], ids=["bare", "in jit"])
def test_layers_work_with_their_slices_in_a_tensor_parallel_shard_map(outer: tp.Any) -> None:
    mesh, model, tokens = one_axis("x"), Sliced(), jnp.arange(8)
    expected = model(tokens)
    run = nnx.shard_map(
        lambda model, tokens: model(tokens, "x"), mesh=mesh, in_specs=(slices(), P()), out_specs=P()
    )
    same(outer(run)(model, tokens), expected)

    def loss(model: tp.Any, function: tp.Any) -> tp.Any:
        return jnp.square(function(model, tokens)).sum()

    expected_slopes = nnx.grad(loss)(Sliced(), lambda model, tokens: model(tokens))
    slopes = nnx.grad(loss)(model, outer(run))
    for mine, wanted in zip(jax.tree.leaves(slopes), jax.tree.leaves(expected_slopes), strict=True):
        assert jnp.allclose(mine, wanted, rtol=1e-4, atol=1e-4)


def test_a_model_made_in_pmap_has_a_copy_on_each_device() -> None:
    @nnx.pmap
    def make(scale: jax.Array) -> tp.Any:
        block = Block()
        block.up[...] *= scale
        return block

    block = make(jnp.arange(8.0))
    assert isinstance(block, Block)
    same(block.up[...], jnp.arange(8.0)[:, None, None] * first_up()[None])
    assert devices_of(block.up[...]) == 8


# -- vmap and scan over arrays that are cut ----------------------------------------------------------
@pytest.mark.parametrize("axis", ["data", None])
def test_vmap_gives_its_axis_to_constraints_inside(axis: str | None) -> None:
    """A constraint inside names the axes of one model; `spmd_axis_name` says where the models lie."""
    mesh, blocks = mesh_of(), copies(2)

    @nnx.jit
    @nnx.vmap(spmd_axis_name=axis)
    def step(block: tp.Any, x: jax.Array) -> tp.Any:
        wanted = NamedSharding(mesh, P(None, "model"))
        block.up[...] = jax.lax.with_sharding_constraint(block.up[...] * 2, wanted)
        return block(x)

    y = step(blocks, inputs().reshape(2, 4, 4))
    same(y.reshape(8, 4), forward(2 * first_up(), first_down(), inputs()))
    lies(blocks.up[...], mesh, axis, None, "model")
    same(blocks.count[...], [1, 1])


def test_scan_over_stacked_layers_leaves_them_cut() -> None:
    mesh, blocks = mesh_of(), copies(2)
    specs = {"up": P(None, None, "model"), "down": P(None, "model"), "count": P()}
    for name, spec in specs.items():
        variable = getattr(blocks, name)
        variable.set_value(jax.device_put(variable[...], NamedSharding(mesh, spec)))

    @nnx.jit
    def step(blocks: tp.Any, x: jax.Array) -> tp.Any:
        def layer(x: jax.Array, block: tp.Any) -> tp.Any:
            block.up[...] *= 2
            return block(x)

        return nnx.scan(layer, in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x, blocks)

    y = step(blocks, jax.device_put(inputs(), NamedSharding(mesh, P("data"))))
    once = forward(2 * first_up(), first_down(), inputs())
    same(y, forward(2 * first_up(), first_down(), once))
    for name, spec in specs.items():
        lies(getattr(blocks, name)[...], mesh, *spec)
    same(blocks.count[...], [1, 1])
