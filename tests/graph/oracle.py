"""Turn the objects of either library into plain values that can be compared with `==`."""

from __future__ import annotations

import typing as tp
import warnings

import flax.nnx
import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx
from tests.fuzz.slow_walk import is_node, is_variable
from tests.fuzz.slow_walk import objects_by_path as objects_by_path
from tests.fuzz.slow_walk import value_view as value_view
from tests.fuzz.slow_walk import walk as walk
from tests.graph.worlds import Recipe, World, family


def outcome(operation: tp.Callable[[], tp.Any]) -> tuple[str, tp.Any]:
    """Run `operation`; return ("ok", result) or ("error", family of the exception)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # flax announces its own changes
            return "ok", operation()
    except Exception as error:  # noqa: BLE001 - any failure is compared, whatever its class
        return "error", family(error)


def state_view(world: World, state: tp.Any) -> tp.Any:
    """Describe a State as its ordered (path, leaf) items; a bare leaf (root is no container) as itself."""
    if is_variable(state) or not hasattr(state, "items"):
        return value_view(state)
    return [(path, value_view(leaf)) for path, leaf in world.nnx.to_flat_state(state)]


def nested_view(x: tp.Any) -> tp.Any:
    """Describe nested mappings (State, pure dicts) in their own iteration order."""
    if hasattr(x, "items") and not is_variable(x):
        return [(key, nested_view(value)) for key, value in x.items()]
    return value_view(x)


def agree(ours: tp.Any, peer: tp.Any) -> None:
    """Assert equality; the message shows both sides in full."""
    assert ours == peer, f"\nflax:      {peer!r}\ntyped_nnx: {ours!r}"


def both(graph: Recipe) -> tuple[World, World]:
    """Build `graph` with flax and with typed_nnx; both must refuse the same assignments."""
    peer, ours = World(flax.nnx, graph), World(typed_nnx, graph)
    agree(ours.refused, peer.refused)
    return peer, ours


def assert_same(
    graph: Recipe, operation: tp.Callable[[World], tp.Any], *, peer_may_refuse: bool = False
) -> None:
    """Assert that `operation` gives equal results, or errors of one family, in both libraries.

    Args:
        graph: What to build.
        operation: What to do with each world; returns plain values.
        peer_may_refuse: Where flax cannot do something that typed_nnx can, accept its refusal.
    """
    peer, ours = both(graph)
    expected, actual = outcome(lambda: operation(peer)), outcome(lambda: operation(ours))
    if not (peer_may_refuse and expected[0] == "error"):
        agree(actual, expected)


def changed_leaf(leaf: tp.Any, note: bool = False) -> tp.Any:
    """Return a leaf with other numbers (and, if `note`, other metadata); random keys stay as they are."""
    if is_variable(leaf):
        value = changed_leaf(leaf.get_raw_value())
        return leaf.replace(value, note="changed") if note else leaf.replace(value)
    if isinstance(leaf, tuple):
        return tuple(changed_leaf(item) for item in leaf)
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return leaf
    if isinstance(leaf, np.ndarray):
        return np.asarray(leaf + 1)  # a number of numpy is no leaf
    is_number = isinstance(leaf, int | float | jax.Array)
    return leaf + 1 if is_number else leaf


def changed_state(world: World, root: tp.Any, every: int, start: int, note: bool) -> tp.Any:
    """Return a State with changed leaves at some of the paths of `root`."""
    flat = list(world.nnx.to_flat_state(world.nnx.state(root)))
    return world.nnx.from_flat_state([(p, changed_leaf(x, note)) for p, x in flat[start::every]])


def visits(world: World, root: tp.Any) -> list[tuple[tuple[tp.Any, ...], str]]:
    """Return (path, type name) of what `iter_graph` visits, without the bookkeeping of flax.

    Oracle bug: flax takes the None (or the empty tuple) met again elsewhere for a repeated node and
    leaves it out.
    """
    return [
        (path, type(x).__name__)
        for path, x in world.nnx.iter_graph(root)
        if x is not None
        and not (type(x) is tuple and not x)
        and not (path and str(path[-1]).startswith("_"))
    ]


def pop_is_broken(world: World, root: tp.Any, filters: list[tp.Any]) -> bool:
    """Tell whether flax cannot be the model for this `pop`.

    Oracle bugs: a popped element of an `nnx.List` leaves a List of the old length with a hole in it,
    which cannot be iterated; an array that is held in two places is popped from one of them.
    """
    lists = [x for x in objects_by_path(root).values() if type(x).__name__ == "List"]
    leaves = list(world.nnx.to_flat_state(world.nnx.state(root, tuple(filters))))
    arrays = [id(leaf) for _, leaf in leaves if not is_variable(leaf)]
    has_leaf_in_list = any(not is_node(element) for items in lists for element in items)
    return has_leaf_in_list or len(set(arrays)) < len(arrays)
