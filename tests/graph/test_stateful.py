"""Random mutations between uses of the cached record: flax, which caches nothing, is the model.

Every rule applies one step to a flax world and to a typed_nnx world and compares the outcome. The checking
rules then look at a random root (a node, a Variable, a plain container of nodes), so records overlap.
"""

from __future__ import annotations

import typing as tp

import jax.numpy as jnp
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.graph.descriptions import ArraySpec, Graph, Marked, Node, NodeSpec, Seq, Value, VarSpec
from tests.graph.filter_descriptions import FilterSpec, filter_lists, filter_specs, make_filter
from tests.graph.mutations import (
    DICT_OPERATIONS,
    LIST_OPERATIONS,
    WRITES,
    Step,
    change_container,
    delete_child,
    get_child,
    plain_containers,
    set_child,
)
from tests.graph.oracle import both, changed_state, objects_by_path, outcome, pops_from_a_list, state_view, walk
from tests.graph.strategies import NAMES, NODE_CLASSES, array_specs, constants, graphs, values, variable_specs
from tests.graph.worlds import World, make_array

index = st.integers(0, 30)
names = st.sampled_from(NAMES)
roots: st.SearchStrategy[Value] = st.one_of(
    st.builds(Node, index),
    st.builds(Node, index),
    st.builds(lambda i, j: Seq("list", (Node(i), Node(j))), index, index),
)


class MutationMachine(RuleBasedStateMachine):
    """The steps that change objects."""

    def __init__(self) -> None:
        super().__init__()
        self.peer_is_dirty = False

    @initialize(graph=graphs(max_nodes=3), variable=variable_specs(1))
    def build(self, graph: Graph, variable: VarSpec) -> None:
        self.peer, self.ours = both(graph)
        self.both_do(lambda world: world.variables.append(world.make_variable(variable)))

    def both_do(self, step: Step) -> tuple[str, tp.Any]:
        """Apply `step` to both worlds: equal outcomes, and an error must not change our objects."""
        if self.peer_is_dirty:
            return "error", None
        before = [walk(node) for node in self.ours.nodes]
        expected = outcome(lambda: step(self.peer))
        actual = outcome(lambda: step(self.ours))
        assert actual == expected
        if actual[0] == "error":
            assert [walk(node) for node in self.ours.nodes] == before, "a failure must change nothing"
            # flax may have stopped half-way; from then on it is no model.
            self.peer_is_dirty = [walk(node) for node in self.peer.nodes] != before
        return actual

    @rule(spec=array_specs)
    def add_array(self, spec: ArraySpec) -> None:
        self.both_do(lambda world: world.arrays.append(make_array(spec)))

    @rule(spec=variable_specs(1))
    def add_variable(self, spec: VarSpec) -> None:
        self.both_do(lambda world: world.variables.append(world.make_variable(spec)))

    @rule(cls=st.sampled_from(NODE_CLASSES))
    def add_node(self, cls: str) -> None:
        self.both_do(lambda world: world.nodes.append(world.make_node(NodeSpec(cls))))

    @rule(node=index, name=names, value=values())
    def set_attribute(self, node: int, name: str, value: Value) -> None:
        self.both_do(lambda world: set_child(world, node, name, world.value(value)))

    @rule(node=index, name=names, value=values(), status=st.sampled_from(["data", "static"]))
    def override_status(self, node: int, name: str, value: Value, status: str) -> None:
        marked = Marked(status, value.value if isinstance(value, Marked) else value)
        self.both_do(lambda world: set_child(world, node, name, world.value(marked)))

    @rule(node=index, name=names, fill=index)
    def put_an_array_over_what_is_there(self, node: int, name: str, fill: int) -> None:
        self.both_do(lambda world: set_child(world, node, name, jnp.full((2,), fill, jnp.float32)))

    @rule(node=index, name=names)
    def delete_attribute(self, node: int, name: str) -> None:
        self.both_do(lambda world: delete_child(world, node, name))

    @rule(source=index, source_name=names, node=index, name=names, move=st.booleans())
    def share_or_move_a_child(
        self, source: int, source_name: str, node: int, name: str, move: bool
    ) -> None:
        if outcome(lambda: get_child(self.peer, source, source_name))[0] == "error":
            return

        def share(world: World) -> None:
            set_child(world, node, name, get_child(world, source, source_name))

        if self.both_do(share)[0] == "ok" and move:
            self.both_do(lambda world: delete_child(world, source, source_name))

    @rule(variable=index, how=st.sampled_from(sorted(WRITES)), number=index)
    def write_a_variable(self, variable: int, how: str, number: int) -> None:
        def step(world: World) -> None:
            target = world.variables[variable % len(world.variables)]
            WRITES[how](world, target, number)

        self.both_do(step)

    @rule(node=index, how=st.sampled_from(sorted(LIST_OPERATIONS)), value=values())
    def change_a_list(self, node: int, how: str, value: Value) -> None:
        if type(self.peer.node(node)).__name__ == "List":
            self.both_do(lambda world: LIST_OPERATIONS[how](world.node(node), world.value(value)))

    @rule(node=index, how=st.sampled_from(sorted(DICT_OPERATIONS)), value=values())
    def change_a_dict(self, node: int, how: str, value: Value) -> None:
        if type(self.peer.node(node)).__name__ == "Dict":
            self.both_do(lambda world: DICT_OPERATIONS[how](world.node(node), world.value(value)))

    @rule(node=index, which=index, operation=index, value=values(), constant=constants)
    def change_a_plain_container_in_place(
        self, node: int, which: int, operation: int, value: Value, constant: Value
    ) -> None:
        containers = plain_containers(self.peer, node)
        if not containers:
            return
        name, _ = containers[which % len(containers)]
        status = getattr(self.peer.node(node), "_pytree__nodes", {})
        unmarked = value.value if isinstance(value, Marked) else value
        new = unmarked if status.get(name, True) else constant

        def step(world: World) -> None:
            _, container = plain_containers(world, node)[which % len(containers)]
            change_container(container, operation, world.value(new))

        self.both_do(step)

    @rule(node=index, train=st.booleans())
    def switch_train_and_eval(self, node: int, train: bool) -> None:
        if hasattr(self.peer.node(node), "train"):
            self.both_do(lambda w: w.node(node).train() if train else w.node(node).eval())

    @rule(node=index, spec=filter_specs, constant=constants)
    def set_attributes_below(self, node: int, spec: FilterSpec, constant: Value) -> None:
        def step(world: World) -> None:
            world.node(node).set_attributes(make_filter(world, spec), training=world.value(constant))

        if hasattr(self.peer.node(node), "set_attributes"):
            self.both_do(step)

    @rule(node=index, name=names, kind=st.sampled_from(["Intermediate", "Cache"]), number=index)
    def sow(self, node: int, name: str, kind: str, number: int) -> None:
        def step(world: World) -> None:
            world.node(node).sow(world.type_named(kind), name, jnp.full((1,), number, jnp.float32))

        if hasattr(self.peer.node(node), "sow"):
            self.both_do(step)

    @rule(root=roots, spec=filter_specs)
    def pop(self, root: Value, spec: FilterSpec) -> None:
        def step(world: World) -> tp.Any:
            target, filter_ = world.value(root), make_filter(world, spec)
            if pops_from_a_list(world, target, [filter_]):
                return None
            return state_view(world, world.nnx.pop(target, filter_))

        self.both_do(step)

    @rule(root=roots, every=st.integers(1, 3), start=st.integers(0, 3), note=st.booleans())
    def update(self, root: Value, every: int, start: int, note: bool) -> None:
        def step(world: World) -> None:
            target = world.value(root)
            world.nnx.update(target, changed_state(world, target, every, start, note))

        self.both_do(step)


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
        assert outcome(lambda: look(self.ours, target)) == expected
        if fresh:
            self.ours.nnx.invalidate(target)
            assert outcome(lambda: look(self.ours, target)) == expected

    @rule(root=roots, specs=filter_lists(max_size=2), fresh=st.booleans())
    def check_split_and_merge(self, root: Value, specs: list[FilterSpec], fresh: bool) -> None:
        def look(world: World, target: tp.Any) -> tp.Any:
            filters = [make_filter(world, spec) for spec in specs]
            graphdef, *states = world.nnx.split(target, *filters)
            merged = world.nnx.merge(graphdef, *states)
            return [state_view(world, s) for s in states], walk(merged), world.nnx.graphdef(merged) == graphdef

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

    @rule(root=roots, fresh=st.booleans())
    def check_clone_and_walks(self, root: Value, fresh: bool) -> None:
        def look(world: World, target: tp.Any) -> tp.Any:
            nnx = world.nnx
            paths = [p for p, _ in nnx.iter_graph(target) if not (p and str(p[-1]).startswith("_"))]
            modules = [p for p, _ in nnx.iter_modules(target)]
            return walk(nnx.clone(target)), walk(target), nnx.find_duplicates(target), paths, modules

        self.check(root, look, fresh)

    @rule(root=roots)
    def check_graphdef_against_earlier_ones(self, root: Value) -> None:
        if self.peer_is_dirty:
            return
        pair = tuple(w.nnx.graphdef(w.value(root)) for w in (self.peer, self.ours))
        for peer, ours in self.kept:
            assert (ours == pair[1]) == (peer == pair[0])
        self.kept.append((pair[0], pair[1]))

    @rule()
    def check_every_node(self) -> None:
        for position in range(len(self.ours.nodes)):
            self.check(Node(position), lambda w, x: state_view(w, w.nnx.split(x)[1]), fresh=False)


TestCachedRecord = CachedRecordMachine.TestCase
TestCachedRecord.settings = settings(stateful_step_count=30)
