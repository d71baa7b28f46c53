"""Which kinds of prefixes the options of transforms take, in each mode: as in NNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx
from jax.sharding import PartitionSpec

from tests.transforms.jit_models import in_each_mode
from tests.transforms.library import nnx

MESH = jax.make_mesh((1,), ("data",))


KINDS: dict[str, Callable[[Any], Any]] = {
    "a Module": lambda lib: lib.Dict(a=0),
    "a Variable": lambda lib: lib.Param(0),
    "StateAxes": lambda lib: lib.StateAxes({...: 0}),
    "StateSharding": lambda lib: lib.StateSharding({...: PartitionSpec()}),
    "DiffState": lambda lib: lib.DiffState(0, ...),
}

OPTIONS: dict[str, Callable[..., Any]] = {
    "vmap in_axes": lambda lib, kind, **modes: lib.vmap(id, in_axes=(kind,), **modes),
    "vmap out_axes": lambda lib, kind, **modes: lib.vmap(id, out_axes=kind, **modes),
    "pmap in_axes": lambda lib, kind, **modes: lib.pmap(id, in_axes=(kind,), **modes),
    "jit in_shardings": lambda lib, kind, **modes: lib.jit(id, in_shardings=kind, **modes),
    "jit out_shardings": lambda lib, kind, **modes: lib.jit(id, out_shardings=[kind], **modes),
    "shard_map in_specs": lambda lib, kind, **modes: lib.shard_map(
        id, mesh=MESH, in_specs=(kind,), out_specs=PartitionSpec(), **modes
    ),
    "scan in_axes": lambda lib, kind, **modes: lib.scan(
        id, in_axes=(lib.Carry, kind), out_axes=(lib.Carry, 0), **modes
    ),
    "scan out_axes": lambda lib, kind, **modes: lib.scan(
        id, in_axes=(lib.Carry, 0), out_axes=(lib.Carry, {"x": kind}), **modes
    ),
    "grad argnums": lambda lib, kind, **modes: lib.grad(id, argnums=kind, **modes),
}


def refusal(option: str, kind: str, lib: Any, modes: dict[str, Any]) -> bool:
    """Whether a library refuses a prefix for its kind."""
    try:
        OPTIONS[option](lib, KINDS[kind](lib), **modes)
    except ValueError:
        return True
    except TypeError:  # what jax says of a prefix of the wrong option
        return False
    return False


# Axes and shardings are no positions for us in any mode; flax takes some and fails at the call.
CASES = [
    (option, kind)
    for option in OPTIONS
    for kind in KINDS
    if kind != "a Module"
    if option != "grad argnums" or kind not in ("StateAxes", "StateSharding")
]


@in_each_mode
def test_objects_as_prefixes_are_refused_where_structures_may_change(modes):
    # With graph_updates=False alone `nnx.prefix` of flax returns no Module but a form of its own.
    for option in OPTIONS:
        refused = modes != {"graph": False} and modes != {"graph_updates": False}
        assert refusal(option, "a Module", nnx, modes) == (refused or option == "grad argnums")


@in_each_mode
@pytest.mark.parametrize(("option", "kind"), CASES)
def test_the_same_kinds_of_prefixes_are_refused_as_in_flax(option, kind, modes):
    assert refusal(option, kind, nnx, modes) == refusal(option, kind, flax_nnx, modes)


@pytest.mark.parametrize("modes", [{"graph": False}, {"graph_updates": False}])
def test_a_tree_of_prefixes_says_the_axis_of_each_variable_where_structures_stay(modes):
    one = nnx.Dict(a=nnx.Param(jnp.arange(3.0)), b=nnx.BatchStat(jnp.ones(2)))
    axes = nnx.prefix(one, {nnx.Param: 0, ...: None})

    @nnx.vmap(in_axes=(axes,), **modes)
    def total(one):
        return one.a[...] + one.b[...].sum()

    assert total(one).tolist() == [2.0, 3.0, 4.0]
