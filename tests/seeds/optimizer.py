"""A stand-in for NNX's optimizer, which comes with a later issue: optax with its state in Variables."""

from __future__ import annotations

import typing as tp

import jax
import optax

import typed_nnx as nnx


class OptState(nnx.Variable[jax.Array]):
    """An array of an optimizer."""


class Optimizer(nnx.Module):
    """Updates the Variables of a model that a filter chooses."""

    def __init__(self, model: nnx.Module, tx: optax.GradientTransformation, wrt: tp.Any) -> None:
        """Make the state of `tx` for the Variables of `model` that `wrt` matches."""
        leaves, self.structure = jax.tree.flatten(tx.init(nnx.as_pure(nnx.state(model, wrt))))
        self.leaves = nnx.List([OptState(leaf) for leaf in leaves])
        self.tx = tx
        self.wrt = wrt

    def update(self, model: nnx.Module, grads: tp.Any) -> None:
        """Move the parameters of `model` along `grads`, in place."""
        state = jax.tree.unflatten(self.structure, [leaf[...] for leaf in self.leaves])
        params = nnx.as_pure(nnx.state(model, self.wrt))
        updates, state = self.tx.update(nnx.as_pure(grads), state, params)
        nnx.update(model, tp.cast("nnx.State", optax.apply_updates(params, updates)))
        for leaf, value in zip(self.leaves, jax.tree.leaves(state), strict=True):
            leaf[...] = value
