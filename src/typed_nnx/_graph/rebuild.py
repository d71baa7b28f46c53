"""Structure and leaves back to objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typed_nnx._core.jax_runtime import context, is_array_ref, new_array_ref
from typed_nnx._core.nested import describe_leaf, flat_items, nested_of
from typed_nnx._core.nodes import Spec, new_node, rebuild_container
from typed_nnx._core.paths import Key, Node, Path, Value
from typed_nnx._core.settings import MISSING
from typed_nnx._core.state import FlatState, State
from typed_nnx._core.variable import AnyVariable, Variable
from typed_nnx._graph.graphdef import REF_ITEM, GraphDef, VariableDef
from typed_nnx.errors import StateMismatchError


def entries_of(state: object) -> Mapping[Key, Value] | None:
    """Return the nested mapping of a State in any of its forms, or None for a single leaf."""
    if isinstance(state, State):
        return state._mapping
    if isinstance(state, FlatState):
        return nested_of(state)
    return state if isinstance(state, Mapping) else None


def leaves_in_order(function: str, graphdef: GraphDef, states: Sequence[object]) -> list[Value]:
    """Return the leaves of `states` in the order of the structure; one list has them in that order.

    Raises:
        StateMismatchError: Leaves are missing, extra or of another Variable type.
    """
    layout = graphdef.layout
    found: list[object] = [MISSING] * graphdef.num_leaves
    extra: list[Path] = []
    if len(states) == 1 and isinstance(states[0], list):
        extra = [(number,) for number in range(len(found), len(states[0]))]
        found[: len(states[0])] = states[0][: len(found)]
        states = ()
    for state in states:
        if isinstance(layout.tree, int):
            if isinstance(state, FlatState):
                found[:] = [leaf for _, leaf in state] or found
            elif not (isinstance(state, State) and not state):  # a filter that took nothing
                found[0] = state
            continue
        entries = entries_of(state)
        if entries is None:
            extra.append(())
        else:
            _collect(layout.tree, entries, (), found, extra)
    missing: list[Path] = []
    wrong: list[tuple[Path, str, str]] = []
    for number, (item, leaf) in enumerate(zip(graphdef.leaf_items, found, strict=True)):
        if leaf is MISSING:
            missing.append(layout.paths[number])
        elif (
            type(item) is VariableDef
            and type(leaf) is not item.cls
            and isinstance(leaf, Variable)
            and not isinstance(leaf, item.cls)
        ):
            wrong.append((layout.paths[number], item.cls.__name__, describe_leaf(leaf)))
    if missing or extra or wrong:
        problem = "the states do not fit the GraphDef."
        if len(missing) != len(extra):
            count = f"{len(missing)} missing, {len(extra)} extra"
            problem += f" Incorrect number of leaves: {count}."
        raise StateMismatchError(function, problem, missing, extra, wrong, home="GraphDef")
    return found


def _collect(
    tree: Mapping[Key, Value],
    mapping: Mapping[Key, Value],
    path: Path,
    found: list[Value],
    extra: list[Path],
) -> None:
    for key, value in mapping.items():
        place = tree.get(key, MISSING)
        if type(place) is int:
            found[place] = value
            continue
        entries = value if type(value) is dict else entries_of(value)
        if place is MISSING or entries is None:
            here = (*path, key)
            extra.extend([here] if entries is None else [p for p, _ in flat_items(entries, here)])
        else:
            _collect(place, entries, (*path, key), found, extra)


def rebuild(
    graphdef: GraphDef,
    leaves: Sequence[Value],
    made: dict[int, Node] | None = None,
    reuse: dict[int, Node] | None = None,
    recreate_variables: bool = True,
    refills: list[tuple[Node, Spec, list[Value]]] | None = None,
) -> Node:
    """Return the object graph with a structure and leaves.

    Args:
        graphdef: The structure.
        leaves: A Variable or value per leaf, in the order of the structure. Variables are used as
            they are; a value where the structure has a Variable becomes a new Variable.
        made: Filled with the objects by position; shared by a sequence of structures.
        reuse: Existing objects by position, which are changed to the new structure and values.
        recreate_variables: If False, a value stays one where the structure has a Variable.
        refills: Where given, objects are not changed: (object, description, children) is added for each.
    """
    items = graphdef.items
    base = graphdef.base
    trace = context.trace
    objects: dict[int, Node] = {} if made is None else made
    existing: dict[int, Node] = {} if reuse is None else reuse
    next_leaf = iter(leaves).__next__
    position = -1

    def build() -> Node:
        nonlocal position
        position += 1
        item = items[position]
        if type(item) is Spec:
            if not item.is_object:
                return rebuild_container(item, [build() for _ in item.names])
            if existing and position + base in existing:
                old = objects[position + base] = existing[position + base]
                children = [build() for _ in item.names]
                if refills is None:
                    old._nnx_refill(item, children)
                else:
                    refills.append((old, item, children))
                return old
            cls: Any = item.cls
            status = item.status.copy() if cls._nnx_is_pytree else {}
            node = objects[position + base] = new_node(cls, item, status, trace)
            attributes = node.__dict__
            attributes.update(item.template)
            for name in item.names:
                attributes[name] = build()
            return node
        if type(item) is int:
            return objects[item]
        leaf = next_leaf()
        if type(item) is VariableDef:
            place = position + base
            if recreate_variables or isinstance(leaf, Variable):
                leaf = _variable(item, leaf, existing.get(place))
            objects[place] = leaf
        elif item == REF_ITEM:
            objects[position + base] = leaf
        return leaf

    try:
        return build()
    finally:
        # It refers to itself; without this the objects would wait for the garbage collector.
        build = None  # type: ignore[assignment]  # it ends here


def _variable(definition: VariableDef, leaf: Value, old: AnyVariable | None) -> Node:
    if not isinstance(leaf, Variable):
        if definition.meta.ref and not is_array_ref(leaf):
            leaf = new_array_ref(leaf)
        leaf = definition.cls._make(leaf, definition.meta)
    if old is not None:
        if old is not leaf:
            old.update_from_state(leaf)
        return old
    return leaf
