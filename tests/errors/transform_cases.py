"""Errors that several transforms have in common, and those of `split_rngs` and `fork_rngs`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.errors.case import Bag, Case, assign
from typed_nnx import errors

WRONG: Any = "many"


def bag() -> Bag:
    """Return a model with a weight, deeper."""
    return Bag(layer=Bag(w=nnx.Param(jnp.ones(3))))


def grow(m: Any) -> None:
    m.layer.new = nnx.Param(jnp.zeros(1))


class Guest(flax_nnx.Module):
    """A Module of the other library."""


def grow_guest(guest: Any) -> None:
    guest.new = flax_nnx.Param(jnp.zeros(1))


def scaled(m: Any, x: Any) -> Any:
    return m.layer.w * x


def layer_of(m: Any) -> Any:
    return {"kept": m.layer}


def donated_twice() -> object:
    model = bag()
    return nnx.jit(scaled, donate_argnums=0)(model, model.layer.w[...])


def donated_before() -> object:
    """Donate a Param of which another Module holds the array."""
    one, other = bag(), bag()
    other.layer.w.set_value(one.layer.w[...])
    nnx.jit(scaled, donate_argnums=0)(other, 1.0)
    return nnx.jit(scaled)(one, 1.0)


CASES = [
    Case(
        "a new attribute without graph_updates",
        errors.StructureChangedError,
        lambda: nnx.jit(grow, graph_updates=False)(bag()),
        ("jit of grow at ", "transform_cases.py:", "m.layer.new was added (a Param)"),
        "allow it with graph_updates=True",
    ),
    Case(
        "a change of a Module of flax.nnx",
        errors.ForeignModuleError,
        lambda: nnx.jit(grow_guest)(Guest()),
        (
            "jit of grow_guest at ",
            "transform_cases.py:",
            "guest has a Guest of flax.nnx",
            "changed",
        ),
        "build Guest with `import typed_nnx as nnx`",
    ),
    Case(
        "another static value without graph_updates",
        errors.StructureChangedError,
        lambda: nnx.jit(lambda m: assign(m.layer, "mode", "eval"), graph_updates=False)(bag()),
        ("jit of ", "m.layer.mode was added (the static value 'eval')"),
        "change the structure outside",
    ),
    Case(
        "an argument returned without graph_updates",
        errors.ReturnedInputError,
        lambda: nnx.jit(layer_of, graph_updates=False)(bag()),
        (
            "jit of layer_of at ",
            "Duplicate Param found at paths:",
            "m.layer.w",
            "result.kept.w",
        ),
        "return nnx.clone(...) of it, or nothing, since changes are seen outside",
    ),
    Case(
        "a captured object returned from a tree transform",
        errors.ReturnedInputError,
        lambda: (lambda m: nnx.vmap(lambda x: m.layer, graph=False)(jnp.ones(2)))(bag()),
        ("vmap of ", "Duplicate Param found at paths:", "captured Bag.layer.w", "result.w"),
        "transform with graph=True and graph_updates=True",
    ),
    Case(
        "a donated array that is used twice",
        errors.DonatedAliasError,
        donated_twice,
        ("jit of scaled at ", "m.layer.w", "    x"),
        "copy it with jnp.copy(...)",
    ),
    Case(
        "an array that was donated before",
        errors.DeletedArrayError,
        donated_before,
        ("jit of scaled at ", "the array at m.layer.w has been deleted or donated"),
        "use what that call returned",
        RuntimeError,
    ),
    Case(
        "a static argument with no hash, by name",
        errors.UnhashableArgumentError,
        lambda: nnx.jit(scaled, static_argnames="x")(bag(), x=[1]),
        ("jit of scaled at ", "the static argument 'x' has no hash", "list [1]"),
        "a tuple for a list",
        TypeError,
    ),
    Case(
        "a static argument that is a Module",
        errors.StaticModuleError,
        lambda: nnx.jit(scaled, static_argnums=0)(bag(), 1.0),
        ("jit of scaled at ", "the static argument 0 (", "is or holds a Module or Variable (Bag)"),
        "leave it out of static_argnums and static_argnames",
        ValueError,
    ),
    Case(
        "a static argument that is a Module, by name",
        errors.StaticModuleError,
        lambda: nnx.jit(scaled, static_argnames="x")(bag(), x=(bag(),)),
        ("jit of scaled at ", "the static argument 'x'", "(tuple)"),
        "leave it out of static_argnums and static_argnames",
        ValueError,
    ),
    Case(
        "a static argument that there is not",
        errors.ArgumentOutOfRangeError,
        lambda: nnx.jit(scaled, static_argnums=2),
        ("static_argnums: scaled at ", "has no argument 2; it takes 2 positional arguments"),
        "positions count from 0",
    ),
    Case(
        "a donated argument by a wrong name",
        errors.ArgumentOutOfRangeError,
        lambda: nnx.jit(grow, donate_argnames="model"),
        ("donate_argnames: grow at ", "has no argument 'model'; it takes 1 positional argument."),
        "name an argument that the function has",
    ),
    Case(
        "a text as the number of splits",
        errors.InvalidSplitsError,
        lambda: nnx.split_rngs(nnx.Rngs(0), splits=WRONG),
        ("split_rngs: ", "`splits` is 'many' (str)", "an int of 0 or more"),
        "split_rngs(..., splits=4)",
        TypeError,
    ),
    Case(
        "fewer than no splits",
        errors.InvalidSplitsError,
        lambda: nnx.fork_rngs(nnx.Rngs(0), split=-1),
        ("fork_rngs: ", "`split` is -1 (int)", "an int of 0 or more"),
        "fork_rngs(..., split=4)",
        TypeError,
    ),
    Case(
        "a wrong number of splits of one stream",
        errors.InvalidSplitsError,
        lambda: nnx.fork_rngs(nnx.Rngs(0), split={"default": WRONG}),
        ("fork_rngs: ", "`split['default']` is 'many' (str)"),
        "fork_rngs(..., split={'default': 4})",
        TypeError,
    ),
    Case(
        "an axis of several splits to squeeze",
        errors.SqueezeError,
        lambda: nnx.split_rngs(nnx.Rngs(0), splits=2, squeeze=True),
        ("split_rngs: ", "squeeze=True", "splits=2"),
        "split_rngs(..., splits=1, squeeze=True)",
    ),
]
