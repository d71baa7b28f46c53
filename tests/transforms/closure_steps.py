"""The steps whose function closes over the model, which the oracle does not support.

The expected values are those of the steps that take the model as an argument.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp

from tests.transforms.library import nnx
from tests.transforms.steps import (
    Step,
    Values,
    call,
    forward,
    loss,
    net_loss,
    one_call,
    three_calls,
)


def slope_of_loss_in_x(kernel: jax.Array, x: jax.Array) -> Values:
    return jax.grad(loss, argnums=1)(kernel, x), kernel, 1


def two_calls(kernel: jax.Array, x: jax.Array) -> Values:
    return 2 * forward(kernel, x), kernel, 2


def jit(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.jit(lambda x: net(x))(x)


def jit_of_an_argument_too(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.jit(lambda same, x: same(x) + net(x))(net, x)


def remat(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.remat(lambda x: net(x))(x)


def grad(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.grad(lambda x: net_loss(net, x))(x)


def vmap(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.vmap(lambda x: net(x))(x)


def cond(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.cond(x[0, 0] > 0, lambda x: net(x), lambda x: x, x)


def while_loop(net: tp.Any, x: jax.Array) -> tp.Any:
    def more(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        return carry[0] < 3

    return nnx.while_loop(more, lambda c: (c[0] + 1, net(c[1])), (jnp.array(0), x))[1]


def fori_loop(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.fori_loop(0, 3, lambda i, x: net(x), x)


def jit_of_a_default_argument(net: tp.Any, x: jax.Array) -> tp.Any:
    def with_default(x: jax.Array, net: tp.Any = net) -> tp.Any:
        return net(x)

    return nnx.jit(with_default)(x)


def jit_of_a_bound_method(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.jit(net.__call__)(x)


def jit_of_grad_of_remat(net: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.jit(nnx.grad(nnx.remat(lambda x: jnp.square(call(net, x)).sum())))(x)


CLOSURES = {
    "jit": Step(jit, one_call),
    "jit_of_an_argument_too": Step(jit_of_an_argument_too, two_calls),
    "jit_of_a_default_argument": Step(jit_of_a_default_argument, one_call),
    "jit_of_a_bound_method": Step(jit_of_a_bound_method, one_call),
    "remat": Step(remat, one_call),
    "grad": Step(grad, slope_of_loss_in_x),
    "jit_of_grad_of_remat": Step(jit_of_grad_of_remat, slope_of_loss_in_x),
    "vmap": Step(vmap, one_call),
    "cond": Step(cond, one_call),
    "while_loop": Step(while_loop, three_calls),
    "fori_loop": Step(fori_loop, three_calls),
}
