"""Types of `vmap`, `pmap`, `scan`, `remat`, `shard_map` and `transform_metadata`.

What is called has the parameters of the function.
"""

from __future__ import annotations

import functools
from typing import assert_type

import jax
from jax.sharding import Mesh, PartitionSpec

import typed_nnx as nnx
from tests.assert_type.models import MLP, Block

Pair = tuple[jax.Array, jax.Array]


def apply(model: Block, x: jax.Array, *, scale: float = 1.0) -> jax.Array:
    """Return outputs."""
    return model(x) * scale


def cumulate(total: jax.Array, x: jax.Array) -> Pair:
    """Return the next carry and a result."""
    return total + x, x


def same(block: Block) -> Block:
    """Return the next carry."""
    return block


class Stack(nnx.Module):
    """Has transformed methods in every form."""

    def __init__(self, block: Block) -> None:
        self.block = block

    @nnx.remat
    def again(self, x: jax.Array, scale: float = 1.0) -> jax.Array:
        """One without options."""
        return self.block(x) * scale

    @nnx.scan(in_axes=(None, nnx.Carry, 0), out_axes=(nnx.Carry, 0))
    def forward(self, carry: jax.Array, x: jax.Array) -> Pair:
        """One with options."""
        return carry, self.block(x)

    @nnx.vmap(in_axes=(None, 0))
    def each(self, x: jax.Array) -> jax.Array:
        """A mapped one."""
        return self.block(x)

    @functools.partial(nnx.remat, prevent_cse=False)
    def plain(self, x: jax.Array) -> jax.Array:
        """One by `functools.partial`."""
        return self.block(x)


def vmap(blocks: Block, xs: jax.Array, rngs: nnx.Rngs, keys: jax.Array) -> None:
    """Over a new axis."""
    assert_type(nnx.vmap(apply)(blocks, xs), jax.Array)
    assert_type(nnx.vmap(apply, in_axes=(0, None))(blocks, x=xs, scale=2.0), jax.Array)
    assert_type(nnx.vmap(in_axes=(nnx.StateAxes({...: 0}), 0))(apply)(blocks, xs), jax.Array)
    assert_type(nnx.vmap(apply, in_axes=None, axis_size=3)(blocks, xs), jax.Array)
    assert_type(nnx.vmap(apply, in_axes=[0, {"a": 0}], out_axes=1)(blocks, xs), jax.Array)
    assert_type(nnx.vmap(apply, in_axes=nnx.StateAxes({...: 0}))(blocks, xs), jax.Array)
    assert_type(nnx.vmap(apply, in_axes=nnx.state(blocks))(blocks, xs), jax.Array)
    assert_type(nnx.vmap(Block)(3, rngs=rngs), Block)
    assert_type(nnx.vmap(Block)(3, bias=False, rngs=rngs), Block)
    assert_type(nnx.vmap(blocks)(xs), jax.Array)
    assert_type(nnx.vmap(lambda key: Block(3, rngs=nnx.Rngs(key)))(keys), Block)
    nnx.vmap(apply)(blocks)  # E: [call-arg|reportCallIssue]
    nnx.vmap(apply)(blocks, 3)  # E: [arg-type|reportArgumentType]
    nnx.vmap(apply)(blocks, xs, sale=2.0)  # E: [call-arg|reportCallIssue]
    nnx.vmap(in_axes=0)(apply)(xs, blocks)  # E: [arg-type|reportArgumentType]
    nnx.vmap(Block)(3, rng=rngs)  # E: [call-arg|reportCallIssue]
    nnx.vmap(apply, in_axes="x")  # E
    nnx.vmap(apply, out_axes=0.5)  # E
    nnx.vmap(apply, axis_size="3")  # E
    nnx.vmap(apply, axes=0)  # E
    nnx.vmap(3)  # E


def pmap(blocks: Block, xs: jax.Array) -> None:
    """Over devices."""
    assert_type(nnx.pmap(apply)(blocks, xs), jax.Array)
    assert_type(nnx.pmap(axis_name="batch", in_axes=(None, 0))(apply)(blocks, xs), jax.Array)
    nnx.pmap(apply)(blocks, xs, xs)  # E
    nnx.pmap(apply, static_broadcasted_argnums="x")  # E
    nnx.pmap(apply, in_axes="x")  # E


def scan(xs: jax.Array, total: jax.Array, block: Block) -> None:
    """Over slices."""
    assert_type(nnx.scan(cumulate)(total, xs), Pair)
    assert_type(nnx.scan(cumulate, length=3, reverse=True)(total, x=xs), Pair)
    assert_type(nnx.scan(in_axes=nnx.Carry, out_axes=nnx.Carry)(cumulate)(total, xs), Pair)
    assert_type(nnx.scan(same, in_axes=nnx.Carry, length=2)(block), Block)
    nnx.scan(cumulate)(total)  # E: [call-arg|reportCallIssue]
    nnx.scan(cumulate)(total, "x")  # E: [arg-type|reportArgumentType]
    nnx.scan(cumulate, length="3")  # E
    nnx.scan(cumulate, in_axes="carry")  # E
    nnx.scan(unroll=None)(cumulate)  # E


def remat(block: Block, x: jax.Array) -> None:
    """Computed again."""
    policy = jax.checkpoint_policies.nothing_saveable
    assert_type(nnx.remat(apply)(block, x, scale=2.0), jax.Array)
    assert_type(nnx.remat(policy=policy, static_argnums=(2,))(apply)(block, x), jax.Array)
    assert_type(nnx.remat(block)(x), jax.Array)
    nnx.remat(apply)(block)  # E: [call-arg|reportCallIssue]
    nnx.remat(apply)(block, x, sale=2.0)  # E: [call-arg|reportCallIssue]
    nnx.remat(apply, policy=3)  # E
    nnx.remat(apply, static_argnums="x")  # E


def shard_map(mesh: Mesh, spec: PartitionSpec, block: Block, x: jax.Array) -> None:
    """On each device's block."""
    sharding = nnx.StateSharding({...: spec})
    made = nnx.shard_map(apply, mesh=mesh, in_specs=(sharding, spec), out_specs=spec)
    assert_type(made(block, x), jax.Array)
    assert_type(made(block, x=x, scale=2.0), jax.Array)
    decorator = nnx.shard_map(mesh=mesh, in_specs=spec, out_specs=None)
    assert_type(decorator(apply)(block, x), jax.Array)
    made(block, 3)  # E: [arg-type|reportArgumentType]
    made(block, y=x)  # E
    nnx.shard_map(apply, in_specs=spec, out_specs=spec)  # E
    nnx.shard_map(apply, mesh=mesh, in_specs="data", out_specs=spec)  # E
    nnx.shard_map(apply, mesh="data", in_specs=spec, out_specs=spec)  # E


def metadata(block: Block, x: jax.Array) -> None:
    """Only the metadata changes."""
    assert_type(nnx.transform_metadata(apply, partition="layers")(block, x), jax.Array)
    assert_type(nnx.transform_metadata(partition=None, in_axes=1)(apply)(block, x), jax.Array)
    nnx.transform_metadata(apply)  # E
    nnx.transform_metadata(apply, partition="layers")(x, block)  # E: [arg-type|reportArgumentType]
    nnx.transform_metadata(apply, partition="layers", in_axes="x")  # E


def methods(stack: Stack, x: jax.Array) -> None:
    """Are bound by an object, and not by the class."""
    assert_type(stack.again(x, scale=2.0), jax.Array)
    assert_type(Stack.again(stack, x), jax.Array)
    assert_type(stack.forward(x, x), Pair)
    assert_type(stack.each(x), jax.Array)
    stack.plain(x)
    stack.again()  # E
    stack.again("x")  # E: [arg-type|reportArgumentType]
    stack.forward(x)  # E
    stack.each(stack, x)  # E


def around_each_other(blocks: Block, xs: jax.Array) -> None:
    """Transforms of transforms keep the parameters too."""
    assert_type(nnx.vmap(nnx.remat(apply))(blocks, xs, scale=2.0), jax.Array)
    assert_type(nnx.scan(nnx.jit(cumulate))(xs, xs), Pair)
    nnx.vmap(nnx.remat(apply))(blocks, xs, sale=2.0)  # E: [call-arg|reportCallIssue]


@nnx.split_rngs(splits=3)
def split_inside(rngs: nnx.Rngs, size: int) -> Block:
    """Return a block for each key."""
    return nnx.vmap(lambda rngs: Block(size, rngs=rngs))(rngs)


def random_streams(model: MLP, rngs: nnx.Rngs) -> None:
    """The decorators of random streams keep the function's type."""
    assert_type(split_inside(rngs, size=2), Block)
    assert_type(nnx.fork_rngs(split_inside)(rngs, 2), Block)
    assert_type(nnx.split_rngs(rngs, splits=3), nnx.SplitBackups)
    assert_type(nnx.fork_rngs(model, graph_updates=False), MLP)
    split_inside(rngs)  # E: [call-arg|reportCallIssue]
    nnx.fork_rngs(split_inside)(rngs, "2")  # E: [arg-type|reportArgumentType]
    nnx.split_rngs(rngs)  # E
    nnx.split_rngs(rngs, splits="3")  # E
