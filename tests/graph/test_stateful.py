"""Random mutations between uses of the cached record: flax, which caches nothing, is the model.

Roots are drawn at random (a node, a plain container of nodes), so that records overlap.
"""

from __future__ import annotations

import typing as tp

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.graph.descriptions import Value
from tests.graph.filter_descriptions import FilterSpec, filter_lists, make_filter
from tests.graph.mutation_machine import MutationMachine, any_roots, roots
from tests.graph.oracle import (
    agree,
    is_node,
    is_variable,
    objects_by_path,
    outcome,
    state_view,
    walk,
)
from tests.graph.worlds import World


class CachedRecordMachine(MutationMachine):
    """The steps that look at objects through their cached record."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[tp.Any, tp.Any]] = []

    def check(self, root: Value, look: tp.Callable[[World, tp.Any], tp.Any], fresh: bool) -> None:
        """Compare with flax twice: through the record and, if `fresh`, after dropping it."""
        if self.peer_is_dirty:
            return
        target = self.ours.value(root)
        expected = outcome(lambda: look(self.peer, self.peer.value(root)))
        agree(outcome(lambda: look(self.ours, target)), expected)
        if fresh:
            self.ours.nnx.invalidate(target)
            agree(outcome(lambda: look(self.ours, target)), expected)

    @rule(root=any_roots, specs=filter_lists(max_size=2), fresh=st.booleans())
    def check_split_and_merge(self, root: Value, specs: list[FilterSpec], fresh: bool) -> None:
        def look(world: World, target: tp.Any) -> tp.Any:
            filters = [make_filter(world, spec) for spec in specs]
            graphdef, *states = world.nnx.split(target, *filters)
            merged = world.nnx.merge(graphdef, *states)
            return (
                [state_view(world, s) for s in states],
                walk(merged),
                world.nnx.graphdef(merged) == graphdef,
            )

        self.check(root, look, fresh)

    @rule(root=roots, specs=filter_lists(max_size=2), fresh=st.booleans())
    def check_state(self, root: Value, specs: list[FilterSpec], fresh: bool) -> None:
        def look(world: World, target: tp.Any) -> tp.Any:
            result = world.nnx.state(target, *(make_filter(world, spec) for spec in specs))
            states = result if isinstance(result, tuple) else (result,)
            before = objects_by_path(target)
            own = [before.get(p) is x for s in states for p, x in world.nnx.to_flat_state(s)]
            return [state_view(world, state) for state in states], own

        self.check(root, look, fresh)

    @rule(root=any_roots, fresh=st.booleans())
    def check_clone_and_walks(self, root: Value, fresh: bool) -> None:
        def look(world: World, target: tp.Any) -> tp.Any:
            nnx = world.nnx
            # A plain container that is shared counts once in flax and twice here: leave it out.
            paths = [p for p, x in nnx.iter_graph(target) if is_node(x) or is_variable(x)]
            modules = [p for p, _ in nnx.iter_modules(target)]
            return (
                walk(nnx.clone(target)),
                walk(target),
                nnx.find_duplicates(target),
                paths,
                modules,
            )

        self.check(root, look, fresh)

    @rule(root=any_roots)
    def check_graphdef_against_earlier_ones(self, root: Value) -> None:
        if self.peer_is_dirty:
            return
        pair = tuple(w.nnx.graphdef(w.value(root)) for w in (self.peer, self.ours))
        for peer, ours in self.kept:
            assert (ours == pair[1]) == (peer == pair[0])
        self.kept.append((pair[0], pair[1]))


TestCachedRecord = CachedRecordMachine.TestCase
TestCachedRecord.settings = settings(stateful_step_count=30)
