"""A train step with adam: its gradients, its Optimizer and the cases that time it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flax import nnx as flax_nnx

from benchmarks.calls import Planned, waiting
from benchmarks.case import Case, of_flat
from benchmarks.subjects import equinox_model_of, model_of, peers, variables_of
from typed_nnx.training import optimizer

ADAM = optax.adam(1e-3)
# How much of a statistic a step keeps.
KEEP = 0.9


def params_of(nnx: Any, model: Any) -> list[Any]:
    """Return the values of the Params of a model, in the order of the graph."""
    return [v[...] for v in variables_of(nnx, model) if isinstance(v, nnx.Param)]


def optimizer_of(api: Any, model: Any) -> Any:
    """Return an adam Optimizer of the library for the Params of a model."""
    library: Any = flax_nnx if api is flax_nnx else optimizer
    return library.Optimizer(model, ADAM, wrt=api.Param)


def nnx_train_step(api: Any, loss: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a step that differentiates a loss and updates model and optimizer in place."""

    def step(model: Any, opt: Any, x: Any) -> Any:
        value, grads = api.value_and_grad(loss)(model, x)
        opt.update(model, grads)
        return value

    return step


def adam_cases(size: int) -> list[Planned]:
    """Return the case for models with a number of Variables; five sixths of them are Params."""
    return [Planned("adam train step", partial(_train, size))]


def _objective(params: list[Any], x: Any) -> Any:
    # One concatenation: XLA takes minutes to compile thousands of small sums.
    return jnp.tanh(jnp.concatenate(params) * x).sum()


def _nnx_loop(api: Any, size: int) -> Callable[[], Any]:
    def loss(model: Any, x: Any) -> Any:
        for variable in variables_of(api, model):
            if isinstance(variable, api.BatchStat):
                variable[...] = KEEP * variable[...] + x
        return _objective(params_of(api, model), x)

    model = model_of(api, size)
    return partial(
        api.jit(nnx_train_step(api, loss)), model, optimizer_of(api, model), jnp.ones(())
    )


def _is_param(path: Any, leaf: Any) -> bool:
    return path[-1].name != "mean"


def _equinox_loop(size: int) -> Callable[[], Any]:
    def loss(params: Any, stats: Any, x: Any) -> Any:
        new = jax.tree.map(lambda stat: KEEP * stat + x, stats)
        return _objective(jax.tree.leaves(params), x), new

    @eqx.filter_jit
    def step(model: Any, state: Any, x: Any) -> Any:
        params, stats = eqx.partition(model, jax.tree_util.tree_map_with_path(_is_param, model))
        (value, stats), grads = eqx.filter_value_and_grad(loss, has_aux=True)(params, stats, x)
        updates, state = ADAM.update(grads, state, params)
        return eqx.combine(eqx.apply_updates(params, updates), stats), state, value

    model, x = equinox_model_of(size), jnp.ones(())
    params = eqx.filter(model, jax.tree_util.tree_map_with_path(_is_param, model))
    state = ADAM.init(params)

    def act() -> Any:
        nonlocal model, state
        model, state, value = step(model, state, x)
        return value

    return act


def _flat_loop(size: int) -> Callable[[], Any]:
    def loss(params: list[Any], stats: list[Any], x: Any) -> Any:
        return _objective(params, x), [KEEP * stat + x for stat in stats]

    @jax.jit
    def step(params: list[Any], stats: list[Any], state: list[Any], x: Any) -> Any:
        (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(params, stats, x)
        updates, new = ADAM.update(grads, treedef.unflatten(state), params)
        return optax.apply_updates(params, updates), stats, jax.tree.leaves(new), value

    # The same numbers of both as in the network of the others.
    leaves = jax.tree_util.tree_leaves_with_path(equinox_model_of(size))
    params = [leaf for path, leaf in leaves if _is_param(path, leaf)]
    stats = [leaf for path, leaf in leaves if not _is_param(path, leaf)]
    treedef: Any
    state, treedef = jax.tree.flatten(ADAM.init(params))
    x = jnp.ones(())

    def act() -> Any:
        nonlocal params, stats, state
        params, stats, state, value = step(params, stats, state, x)
        return value

    return act


def _train(size: int) -> Case:
    acts = {label: _nnx_loop(api, size) for label, api in peers("jit", "value_and_grad")}
    acts["equinox"], acts["flat"] = _equinox_loop(size), _flat_loop(size)
    return Case("adam train step", waiting(acts), of_flat(1.2))
