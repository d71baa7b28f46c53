from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.lora = nnx.LoRA(2, 2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)


class Twin(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.lora = nnx.LoRA(2, 2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)


class Other(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(2, 3, rngs=rngs)


class Tunable(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.project = nnx.Linear(2, 3, rngs=rngs)


class Plain(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.ones(3))


def loss(model: Model) -> jax.Array:
    return jnp.sum(model.norm(model.linear(jnp.ones((4, 2))) + model.lora(jnp.ones((4, 2)))))


def other_loss(model: Other) -> jax.Array:
    return jnp.sum(model.dense(jnp.ones((4, 2))))


model, other = Model(nnx.Rngs(0)), Other(nnx.Rngs(0))
tx = optax.adam(1e-3)

class Tuned(nnx.Module):
    """A transformation that is a Module."""

    def update(self, gradients: nnx.State, state: object, params: object = None) -> object:
        return gradients


# -- reports
nnx.Optimizer(tx, model, wrt=nnx.Param)  # E: Optimizer: `tx` is a Model; expected a transformation of optax. Fix: nnx.Optimizer(model, tx, wrt=...)  [nnx-optimizer-wrt]
nnx.ModelAndOptimizer(tx=model, model=tx)  # E: ModelAndOptimizer: `tx` is a Model  [nnx-optimizer-wrt]
optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
lora_gradients = nnx.grad(loss, argnums=nnx.DiffState(0, nnx.LoRAParam))(model)
optimizer.update(model, lora_gradients)  # E: Optimizer.update: the gradients are of the filter `LoRAParam`, without `linear.kernel`  [nnx-optimizer-wrt]
optimizer.update(model, nnx.grad(other_loss)(other))  # E: the gradients are of Other, with `dense.kernel` too many  [nnx-optimizer-wrt]
optimizer.update(other, nnx.grad(other_loss)(other))  # E: the optimizer was made for Model; got Other, with `dense.kernel` too many  [nnx-optimizer-wrt]


def nothing_is_trained() -> None:
    plain = Plain()
    nnx.Optimizer(plain, tx, wrt=nnx.BatchStat)  # E: Optimizer: `wrt` chooses nothing of Plain: none of its Variables is of the filter `BatchStat`  [nnx-optimizer-wrt]


def step(model: Model) -> None:
    everything = nnx.Optimizer(model, tx, wrt=nnx.Variable)
    _, gradients = nnx.value_and_grad(loss)(model)
    everything.update(model, gradients)  # E: expected those of `wrt`, `Variable`. Fix: nnx.grad(loss, argnums=nnx.DiffState(0, Variable))  [nnx-optimizer-wrt]


def step_of_both(model: Model) -> None:
    both = nnx.ModelAndOptimizer(model, tx)
    both.update(nnx.grad(loss, argnums=nnx.DiffState(0, nnx.LoRAParam))(model))  # E: expected those of `wrt`, `Param`  [nnx-optimizer-wrt]


def of_other_paths(model: Model) -> None:
    gradients = nnx.grad(loss, argnums=nnx.DiffState(0, nnx.PathContains("norm")))(model)
    optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
    optimizer.update(model, gradients)  # E: without `linear.kernel`  [nnx-optimizer-wrt]


class Trainer:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.optimizer = nnx.Optimizer(model, tx, wrt=nnx.Any(nnx.Param, nnx.BatchStat))

    def step(self) -> None:
        gradients = nnx.grad(loss)(self.model)
        self.optimizer.update(self.model, gradients)  # E: without `norm.mean`, `norm.var`  [nnx-optimizer-wrt]


# -- correct
optimizer.update(model, nnx.grad(loss)(model))
optimizer.update(model, nnx.grad(loss, argnums=nnx.DiffState(0, (nnx.Param, nnx.BatchStat)))(model))
nnx.Optimizer(model, tx, wrt=nnx.LoRAParam).update(model, nnx.grad(loss)(model))
nnx.ModelAndOptimizer(model, tx).update(nnx.grad(loss)(model))
nnx.ModelAndOptimizer(model, tx, wrt=nnx.LoRAParam).update(lora_gradients)


def scaled(model: Model) -> None:
    optimizer = nnx.Optimizer(model, tx, wrt=nnx.LoRAParam)
    gradients = nnx.grad(loss, argnums=nnx.DiffState(0, nnx.LoRAParam))(model)
    halves = jax.tree.map(lambda x: x / 2, gradients)
    optimizer.update(model, halves)


def of_paths(model: Model) -> None:
    wrt = nnx.All(nnx.Param, nnx.PathContains("linear"))
    optimizer = nnx.Optimizer(model, tx, wrt=wrt)
    optimizer.update(model, nnx.grad(loss, argnums=nnx.DiffState(0, wrt))(model))


def one_of_two(model: Model, is_lora: bool) -> None:
    if is_lora:
        one = nnx.Optimizer(model, tx, wrt=nnx.LoRAParam)
    else:
        one = nnx.Optimizer(model, tx, wrt=nnx.Param)
    if is_lora:
        one.update(model, nnx.grad(loss, argnums=nnx.DiffState(0, nnx.LoRAParam))(model))
    else:
        one.update(model, nnx.grad(loss)(model))


class Switching:
    def __init__(self, model: Model) -> None:
        self.current = nnx.Optimizer(model, tx, wrt=nnx.Param)

    def only_lora(self, model: Model) -> None:
        self.current = nnx.Optimizer(model, tx, wrt=nnx.LoRAParam)
        self.current.update(model, nnx.grad(loss, argnums=nnx.DiffState(0, nnx.LoRAParam))(model))

    def again(self, model: Model) -> None:
        self.current.update(model, nnx.grad(loss, argnums=nnx.DiffState(0, nnx.LoRAParam))(model))


replaced = nnx.Optimizer(model, tx, wrt=nnx.Param)
replaced = nnx.Optimizer(model, tx, wrt=nnx.LoRAParam)


def with_the_second(model: Model) -> None:
    replaced.update(model, nnx.grad(loss, argnums=nnx.DiffState(0, nnx.LoRAParam))(model))


def must_fail(model: Model) -> None:
    try:
        optimizer.update(model, lora_gradients)
    except ValueError:
        print("as expected")


# -- unsure
def with_lora(model: Tunable) -> None:
    setattr(model, "project", nnx.LoRA(2, 1, 3, base_module=model.project, rngs=nnx.Rngs(0)))


def adapted() -> None:
    plain, other = Tunable(nnx.Rngs(0)), Tunable(nnx.Rngs(0))
    with_lora(plain)
    nnx.Optimizer(plain, tx, wrt=nnx.LoRAParam)
    setattr(other, "project", nnx.LoRA(2, 1, 3, base_module=other.project, rngs=nnx.Rngs(0)))
    nnx.Optimizer(other, tx, wrt=nnx.LoRAParam)
    print(nnx.state(other).project.base_module, nnx.state(other, nnx.LoRAParam).project.lora_a)


def made_of(module: nnx.Module | Tuned, tuned: Tuned, anything: Any) -> None:
    nnx.Optimizer(model, module, wrt=nnx.Param)
    nnx.Optimizer(model, tuned, wrt=nnx.Param)
    nnx.Optimizer(model, anything, wrt=nnx.Param)


def given(optimizer: nnx.Optimizer, model: Model, wrt: nnx.filterlib.Filter) -> None:
    optimizer.update(model, lora_gradients)
    nnx.Optimizer(model, tx, wrt=wrt).update(model, lora_gradients)


def of_base(base: nnx.Module, gradients: nnx.State) -> None:
    optimizer = nnx.Optimizer(base, tx, wrt=nnx.Param)
    optimizer.update(model, gradients)
    optimizer.update(base, lora_gradients)


def of_one_of_several(model: Model) -> None:
    several = {
        "lora": nnx.Optimizer(model, tx, wrt=nnx.LoRAParam),
        "all": nnx.Optimizer(model, tx, wrt=nnx.Param),
    }
    several["lora"].update(model, lora_gradients)
    for each in several.values():
        each.update(model, lora_gradients)
