# runtime: typed_nnx
from __future__ import annotations

from typing import TypeVar

import jax
import jax.numpy as jnp
import optax

import typed_nnx as nnx

M = TypeVar("M", bound=nnx.Module)


class Base(nnx.Module):
    def __call__(self, x: jax.Array) -> jax.Array:
        return x


class Impl(Base):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.blocks = nnx.List([nnx.Linear(2, 2, rngs=rngs) for _ in range(2)])

    @staticmethod
    @nnx.jit
    def loss(model: Base, x: jax.Array) -> jax.Array:
        return model(x).sum()


class Store(nnx.Module):
    def __init__(self) -> None:
        self.kept = nnx.data({})
        self.rows = nnx.List()
        self.named = nnx.Dict({})
        self.layers = nnx.List()
        for name in ("first", "second"):
            self.rows.append(nnx.Linear(2, 2, rngs=nnx.Rngs(0)))
            self.named[name] = self.rows[-1]
            self.layers.append(nnx.Linear(2, 2, rngs=nnx.Rngs(0)))
        self.rows.append(nnx.Dropout(0.1))
        self.linear = nnx.Linear(2, 2, rngs=nnx.Rngs(0))


@nnx.dataclass
class Batch(nnx.Pytree):
    inputs: jax.Array = nnx.data()


batch = Batch(jnp.ones(2))
impl, x = Impl(nnx.Rngs(0)), jnp.ones(2)


def of_base(model: Base, x: jax.Array) -> jax.Array:
    return model(x).sum()


def pair(model: Base, x: jax.Array) -> tuple[jax.Array, int]:
    return model(x).sum(), 1


def unannotated(model, x):
    return model(x).sum()


def unannotated_pair(model: Base, x: jax.Array):
    return model(x).sum(), x


grads = nnx.grad(of_base)(impl, x)
optimizer = nnx.Optimizer(impl, optax.sgd(0.1), wrt=nnx.Param)

# -- reports
nnx.grad(of_base, argnums=2)(impl, x)  # E: names argument 2  [nnx-argnums]
grads.linaer  # E: did you mean 'linear'?  [nnx-state-key]
nnx.grad(lambda m: m(x).sum())(impl).linaer  # E: did you mean 'linear'?  [nnx-state-key]
nnx.grad(unannotated)(impl, x).linaer  # E: did you mean 'linear'?  [nnx-state-key]
nnx.as_pure(grads).linaer  # E: did you mean 'linear'?  [nnx-state-key]
impl.linear.kernel[...].nothing  # E: has no attribute "nothing"  [attr-defined]


# -- correct
reveal_type(grads.linear.kernel[...])  # R: Array
reveal_type(nnx.grad(of_base)(model=impl, x=x).linear.kernel)  # R: Param[Array]
reveal_type(nnx.value_and_grad(lambda m: m(x).sum())(impl)[1].linear.kernel)  # R: Param[Array]
reveal_type(nnx.grad(pair, has_aux=True)(impl, x)[0].linear.kernel)  # R: Param[Array]
reveal_type(nnx.value_and_grad(pair, has_aux=True)(impl, x)[0][1])  # R: int
both = nnx.grad(of_base, argnums=(1, 0))(impl, x)
reveal_type(both[0])  # R: Array
reveal_type(both[1].linear.kernel)  # R: Param[Array]
reveal_type(nnx.grad(unannotated, argnums=1)(impl, x))  # R: Array
for at in range(2):
    reveal_type(grads.blocks[at].kernel)  # R: Param[Array]
for key in grads.blocks:
    reveal_type(grads.blocks[key].kernel)  # R: Param[Array]
optimizer.update(impl, nnx.grad(of_base, argnums=nnx.DiffState(0, optimizer.wrt))(impl, x))
reveal_type(nnx.as_pure(grads).linear.kernel)  # R: Array
reveal_type(jax.tree.map(jnp.zeros_like, grads).linear.kernel)  # R: Param[Array]
reveal_type(jax.tree.map(lambda g: str(g), grads).linear.kernel)  # R: Param[str]
reveal_type(jax.tree.map(lambda leaf: leaf * 2, batch))  # R: Batch
reveal_type(jax.device_put(batch))  # R: Batch
reveal_type(jax.lax.with_sharding_constraint(grads, None).linear.kernel)  # R: Param[Array]
reveal_type(jax.device_put(1.0))  # R: Any
reveal_type(Store().rows)  # R: List[Any]
reveal_type(Store().layers)  # R: List[Linear]
reveal_type(nnx.state(Store()).layers[0].kernel)  # R: Param[Array]
stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *[nnx.state(each) for each in (impl, impl)])
reveal_type(stacked.linear.kernel)  # R: Param[Array]
reveal_type(nnx.vmap(lambda model, x: model(x), in_axes=(None, 0))(impl, x))  # R: Array
reveal_type(nnx.jit(lambda model, x: (x, model))(impl, x))  # R: tuple[Array, Impl]
by_name = nnx.jit(lambda model, x: model.linear(x))
reveal_type(by_name(impl, x))  # R: Array
reveal_type(by_name(impl, x=x))  # R: Any
reveal_type(jax.tree.map(lambda leaf: leaf.shape, batch))  # R: Any
reveal_type(nnx.value_and_grad(unannotated_pair, has_aux=True)(impl, x)[0][0])  # R: Array
reveal_type(impl.loss(impl, x))  # R: Array
reveal_type(Impl.loss(impl, x))  # R: Array


def step(model: Base, optimizer: nnx.Optimizer[Base]) -> None:
    optimizer.update(model, nnx.grad(of_base)(model, x))


step(impl, optimizer)


class Declared(nnx.Module):
    def __init__(self) -> None:
        self.numbers: list[int] = nnx.data([])
        reveal_type(self.numbers)  # R: list[int]


def merged(model: M) -> M:
    graphdef, state = nnx.split(model)
    return nnx.merge(graphdef, state)


def restored(store: Store) -> None:
    store.kept = nnx.state(impl)


# What is written below, to other models and to elements of arrays, opens nothing above.
def elsewhere(model: Impl, store: Store) -> None:
    model.linear.kernel[...] = x
    model.linear.kernel[0] = x
    optimizer.update(model, grads)


# -- unsure
def from_outside(function, model, wrt: nnx.filterlib.Filter) -> None:
    reveal_type(nnx.grad(function)(model))  # R: Any
    nnx.grad(of_base, argnums=nnx.DiffState(0, wrt))(impl, x).linear.kernel
