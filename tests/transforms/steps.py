"""An updating step with each transform in it, and what it must compute, in plain jax.

A step takes a `Net` and float [4, 3] `x`; it returns an array and leaves the Net changed. Its
expected form takes the kernel, float [3, 3], and gives the result, the new kernel and the new count.
The steps serve every proof that needs "all transforms": lowering for the backends, and a GPU.
"""

from __future__ import annotations

import dataclasses
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tests.transforms.library import nnx

Values = tuple[jax.Array, jax.Array, float]
Run = tp.Callable[[tp.Any, jax.Array], jax.Array]
Expected = tp.Callable[[jax.Array, jax.Array], Values]
RATE = 0.5
SEED = 7


class Count(nnx.Variable):
    """How often the model was called; a float, so that it may have a tangent."""


class Net(nnx.Module):
    """A dense layer that counts its calls."""

    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.sin(jnp.arange(9.0)).reshape(3, 3))
        self.count = Count(jnp.array(0.0))

    def __call__(self, x: jax.Array) -> jax.Array:
        self.count[...] += 1
        return forward(self.kernel[...], x)


class NoisyNet(Net):
    """A Net with a source of random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.rngs = nnx.Rngs(SEED)

    def noise(self) -> jax.Array:
        return jax.random.uniform(self.rngs.params(), (4, 3))


@dataclasses.dataclass(frozen=True)
class Step:
    """A step, its expected form and the kind of model that it takes."""

    run: Run
    expected: Expected
    model: tp.Callable[[], tp.Any] = Net


STEPS: dict[str, Step] = {}


def expecting(expected: Expected, model: tp.Callable[[], tp.Any] = Net) -> tp.Callable[[Run], Run]:
    """Register the decorated step under its name."""

    def register(run: Run) -> Run:
        STEPS[run.__name__.removesuffix("_")] = Step(run, expected, model)
        return run

    return register


def inputs() -> jax.Array:
    return jnp.cos(jnp.arange(12.0)).reshape(4, 3)


def forward(kernel: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ kernel)


def loss(kernel: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.square(forward(kernel, x)).sum()


def call(net: tp.Any, x: jax.Array) -> tp.Any:
    return net(x)


def net_loss(net: tp.Any, x: jax.Array) -> tp.Any:
    return jnp.square(net(x)).sum()


def one_call(kernel: jax.Array, x: jax.Array) -> Values:
    return forward(kernel, x), kernel, 1


def three_calls(kernel: jax.Array, x: jax.Array) -> Values:
    return forward(kernel, forward(kernel, forward(kernel, x))), kernel, 3


def descent(kernel: jax.Array, x: jax.Array) -> Values:
    value, gradient = jax.value_and_grad(loss)(kernel, x)
    return value, kernel - RATE * gradient, 1


def slope_of_outputs(kernel: jax.Array, x: jax.Array) -> Values:
    """Give the gradient of the summed outputs: x' (1 - tanh²)."""
    return x.T @ (1 - jnp.square(forward(kernel, x))), kernel, 1


def slope_along_ones(kernel: jax.Array, x: jax.Array) -> Values:
    """Give the derivative along an x that grows by one in each element."""
    return (1 - jnp.square(forward(kernel, x))) * kernel.sum(0, keepdims=True), kernel, 1


def with_noise(kernel: jax.Array, x: jax.Array) -> Values:
    key = jax.random.fold_in(jax.random.key(SEED), 0)
    return forward(kernel, x + jax.random.uniform(key, (4, 3))), kernel, 1


def with_noise_by_row(kernel: jax.Array, x: jax.Array) -> Values:
    keys = jax.random.split(jax.random.fold_in(jax.random.key(SEED), 0), 4)
    rows = [jax.random.uniform(jax.random.fold_in(key, 0), (3,)) for key in keys]
    return forward(kernel, x + jnp.stack(rows)), kernel, 1


@expecting(one_call)
def jit(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.jit(call)(net, x)


@expecting(one_call)
def jit_partial(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.jit_partial(call, net, graph_updates=False)(x)


@expecting(one_call)
def cached_partial(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.cached_partial(nnx.jit(call), net)(x)


@expecting(one_call)
def remat(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.remat(call)(net, x)


@expecting(lambda kernel, x: (loss(kernel, x), descent(kernel, x)[1], 2))
def grad(net: tp.Any, x: jax.Array) -> tp.Any:
    gradient = nnx.grad(net_loss)(net, x)
    value = net_loss(net, x)
    net.kernel[...] -= RATE * gradient["kernel"][...]
    return value


@expecting(descent)
def value_and_grad(net: tp.Any, x: jax.Array) -> tp.Any:
    value, gradient = nnx.value_and_grad(net_loss)(net, x)
    net.kernel[...] -= RATE * gradient["kernel"][...]
    return value


@expecting(descent)
def value_and_grad_of_remat_in_jit(net: tp.Any, x: jax.Array) -> tp.Any:
    value, gradient = nnx.jit(nnx.value_and_grad(nnx.remat(net_loss)))(net, x)
    net.kernel[...] -= RATE * gradient["kernel"][...]
    return value


@expecting(slope_of_outputs)
def vjp(net: tp.Any, x: jax.Array) -> tp.Any:
    y, pull = nnx.vjp(call, net, x, graph_updates=False)
    gradient, _ = pull(jnp.ones_like(y))
    return gradient.kernel[...]


@expecting(slope_along_ones)
def jvp(net: tp.Any, x: jax.Array) -> tp.Any:
    still = jax.tree.map(jnp.zeros_like, net)
    tangents = (still, jnp.ones_like(x))
    return nnx.jvp(call, (net, x), tangents, graph_updates=False)[1]


@expecting(lambda kernel, x: (2 * slope_of_outputs(kernel, x)[0], kernel, 1))
def custom_vjp(net: tp.Any, x: jax.Array) -> tp.Any:
    """Double the gradient on the way back."""

    @nnx.custom_vjp(graph_updates=False)
    def summed(net: tp.Any, x: jax.Array) -> tp.Any:
        return net(x).sum()

    def ahead(net: tp.Any, x: jax.Array) -> tp.Any:
        return summed(net, x), (net, x)

    def back(kept: tp.Any, slope: jax.Array) -> tp.Any:
        net, x = kept
        gradient = nnx.clone(net)
        gradient.kernel[...] = 2 * slope * (x.T @ (1 - jnp.square(forward(net.kernel[...], x))))
        gradient.count[...] = jnp.zeros_like(net.count[...])
        return gradient, jnp.zeros_like(x)

    summed.defvjp(ahead, back)
    return nnx.grad(summed, graph_updates=False)(net, x).kernel[...]


@expecting(one_call)
def vmap(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.vmap(call, in_axes=(None, 0))(net, x)


@expecting(lambda kernel, x: (forward(kernel, x).sum(0), kernel, 2))
def vmap_of_stacked_models(net: tp.Any, x: jax.Array) -> tp.Any:
    """Stack four copies, call each with its row, and add the counts of two of them."""
    graphdef, state = nnx.split(net)
    copies = nnx.merge(graphdef, jax.tree.map(lambda a: jnp.stack([a] * 4), state))
    y = nnx.vmap(lambda net, x: jax.lax.psum(net(x), "row"), axis_name="row", out_axes=None)(
        copies, x
    )
    net.count[...] += copies.count[0] + copies.count[3]
    return y


@expecting(three_calls)
def scan(net: tp.Any, x: jax.Array) -> tp.Any:
    axes = nnx.StateAxes({nnx.Param: None, ...: nnx.Carry})
    return nnx.scan(call, in_axes=(axes, nnx.Carry), out_axes=nnx.Carry, length=3)(net, x)


@expecting(lambda kernel, x: (three_calls(kernel, x)[0], kernel, 1))
def scan_over_layers(net: tp.Any, x: jax.Array) -> tp.Any:
    graphdef, state = nnx.split(net)
    layers = nnx.merge(graphdef, jax.tree.map(lambda a: jnp.stack([a] * 3), state))
    y = nnx.scan(call, in_axes=(0, nnx.Carry), out_axes=nnx.Carry)(layers, x)
    net.count[...] += layers.count[2]
    return y


@expecting(one_call)
def cond(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.cond(x[0, 0] > 0, call, lambda net, x: x, net, x)


@expecting(lambda kernel, x: (x, kernel + 1, 0))
def switch(net: tp.Any, x: jax.Array) -> tp.Any:
    def grow(net: tp.Any, x: jax.Array) -> tp.Any:
        net.kernel[...] += 1
        return x

    index = jnp.asarray(x[0, 0] * 2, jnp.int32)
    return nnx.switch(index, [call, call, grow, call], net, x)


@expecting(three_calls)
def while_loop(net: tp.Any, x: jax.Array) -> tp.Any:
    def more(carry: tp.Any) -> tp.Any:
        return carry[0].count[...] < 3

    return nnx.while_loop(more, lambda c: (c[0], c[0](c[1])), (net, x))[1]


@expecting(three_calls)
def fori_loop(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.fori_loop(0, 3, lambda i, c: (c[0], c[0](c[1])), (net, x))[1]


@expecting(one_call)
def checkify_(net: tp.Any, x: jax.Array) -> tp.Any:
    def checked(net: tp.Any, x: jax.Array) -> tp.Any:
        checkify.check(jnp.all(x < 2), "x is too large")
        return net(x)

    _, y = nnx.checkify(checked)(net, x)
    return y


@expecting(one_call)
def shard_map(net: tp.Any, x: jax.Array) -> tp.Any:
    mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
    return nnx.shard_map(
        call, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data")
    )(net, x)  # fmt: skip


@expecting(one_call)
def eval_shape(net: tp.Any, x: jax.Array) -> tp.Any:
    shape = nnx.eval_shape(call, net, x).shape
    return net(x).reshape(shape)


@expecting(with_noise, NoisyNet)
def rngs_in_jit(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.jit(lambda net, x: net(x + net.noise()))(net, x)


@expecting(with_noise_by_row, NoisyNet)
def rngs_split_for_vmap(net: tp.Any, x: jax.Array) -> tp.Any:
    axes = nnx.StateAxes({nnx.RngState: 0, ...: None})

    @nnx.split_rngs(splits=4)
    @nnx.vmap(in_axes=(axes, 0))
    def by_row(net: tp.Any, x: jax.Array) -> tp.Any:
        return net(x + jax.random.uniform(net.rngs.params(), (3,)))

    return by_row(net, x)


@expecting(one_call)
def pmap(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.pmap(call, in_axes=(None, 0), axis_size=1)(net, x[None])[0]


@expecting(with_noise_by_row, NoisyNet)
def rngs_forked_for_vmap(net: tp.Any, x: jax.Array) -> tp.Any:
    axes = nnx.StateAxes({nnx.RngState: 0, ...: None})

    @nnx.fork_rngs(split=4)
    @nnx.vmap(in_axes=(axes, 0))
    def by_row(net: tp.Any, x: jax.Array) -> tp.Any:
        return net(x + jax.random.uniform(net.rngs.params(), (3,)))

    return by_row(net, x)


@expecting(one_call)
def make_jaxpr(net: tp.Any, x: jax.Array) -> tp.Any:
    assert "tanh" in str(nnx.make_jaxpr(call, graph_updates=False)(net, x))
    return net(x)
