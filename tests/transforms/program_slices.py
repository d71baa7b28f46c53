"""Worlds in which some leaves hold one value per slice: what vmap and scan run on.

The independent model of both is a Python loop: it runs the program on a copy of the objects for
each slice, in which every mapped leaf holds its slice.
"""

from __future__ import annotations

import dataclasses
import functools
import typing as tp

import jax
import jax.numpy as jnp

from tests.graph.descriptions import Graph, MakeRngs
from tests.graph.oracle import walk
from tests.transforms.program_worlds import Play, Scenario, Seen

SLICES = 3


def shifted(graph: Graph, by: int) -> Graph:
    """Return the same graph with other numbers in the arrays and other seeds."""
    arrays = tuple(dataclasses.replace(spec, fill=spec.fill + 3 * by) for spec in graph.arrays)
    nodes = []
    for node in graph.nodes:
        attributes = tuple(
            (
                name,
                MakeRngs(value.seed + by, value.stream) if isinstance(value, MakeRngs) else value,
            )
            for name, value in node.attributes
        )
        nodes.append(dataclasses.replace(node, attributes=attributes))
    return dataclasses.replace(graph, arrays=arrays, nodes=tuple(nodes))


def _stack(*leaves: jax.Array) -> jax.Array:
    return jnp.stack(leaves)


def stacked(nnx: tp.Any, scenario: Scenario, mapped: tp.Any) -> list[tp.Any]:
    """Build the objects with all slices in the leaves that the filter `mapped` chooses."""
    parts = []
    for number in range(SLICES):
        slice_scenario = dataclasses.replace(scenario, graph=shifted(scenario.graph, number))
        parts.append(nnx.split(Play(nnx, slice_scenario, {}).roots, mapped, ...))
    graphdef, _, rest = parts[0]
    return nnx.merge(graphdef, jax.tree.map(_stack, *(part[1] for part in parts)), rest)


def slice_of(nnx: tp.Any, roots: tp.Any, mapped: tp.Any, number: int) -> tp.Any:
    """Copy the objects; the leaves that the filter `mapped` chooses hold slice `number`."""
    graphdef, chosen, rest = nnx.split(roots, mapped, ...)
    return nnx.merge(graphdef, jax.tree.map(lambda leaf: leaf[number], chosen), copied(rest))


def copied(state: tp.Any) -> tp.Any:
    """Return the state with other Variables, so that two merges share none."""
    return jax.tree.map(lambda leaf: leaf, state)


class Mapped:
    """One world whose mapped leaves hold all slices, and copies of it for the Python loop."""

    def __init__(self, nnx: tp.Any, scenario: Scenario, mapped: tp.Any) -> None:
        self.nnx = nnx
        self.mapped = mapped
        self.whole = Play(nnx, scenario, {}, stacked(nnx, scenario, mapped))
        self.slices = [
            Play(nnx, scenario, {}, slice_of(nnx, self.whole.roots, mapped, i))
            for i in range(SLICES)
        ]

    def see_slices(self, result: tp.Any) -> list[Seen]:
        """Describe each slice of all that a user can see; of the result, every leaf is mapped."""
        seen = [self.whole.roots, result, self.whole.held]
        mapped = self.nnx.Any(lambda path, _: path[0] == 1, self.mapped)
        return [("ok", walk(slice_of(self.nnx, seen, mapped, i))) for i in range(SLICES)]

    def unmapped(self, play: Play) -> list[tp.Any]:
        """Return (path, leaf) of the leaves that are one for all slices."""
        rest = self.nnx.split(play.roots, self.mapped, ...)[2]
        return list(self.nnx.to_flat_state(rest))

    def carry_over(self, before: Play, after: Play) -> bool:
        """Give `after` the unmapped leaves of `before`; tell whether it has the same ones."""
        old, new = self.unmapped(before), self.unmapped(after)
        if [_form(*item) for item in old] != [_form(*item) for item in new]:
            return False
        state = self.nnx.from_flat_state(old)
        self.nnx.update(after.roots, copied(state))
        return True


def _form(path: tp.Any, leaf: tp.Any) -> tp.Any:
    """Describe all of a leaf that must stay the same when it is carried."""
    shapes = jax.tree.map(lambda x: (x.shape, str(x.dtype)), leaf)
    values = jax.tree.leaves(shapes, is_leaf=lambda x: isinstance(x, tuple))
    return path, type(leaf), values, jax.tree.structure(leaf)


def raw_ids(play: Play, mapped: Mapped) -> dict[tp.Any, int]:
    """Map the path of each unmapped leaf to the identity of the array that it holds."""
    arrays = {}
    for path, leaf in mapped.unmapped(play):
        for number, array in enumerate(jax.tree.leaves(leaf)):
            arrays[path, number] = id(array)
    return arrays


def loop(mapped: Mapped, run: tp.Callable[[Play, int], tp.Any]) -> list[Seen]:
    """Run the program on each slice in turn; stop at the first exception."""
    seen = []
    for number, play in enumerate(mapped.slices):
        outcome = play.attempt(functools.partial(run, play, number), restores=False)
        if outcome[0] == "error":
            return [outcome]
        seen.append(play.see(outcome[1]))
    return seen
