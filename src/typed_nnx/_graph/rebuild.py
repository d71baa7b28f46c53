"""Structure and leaves back to objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typed_nnx._core.nodes import Spec, new_node, rebuild_container
from typed_nnx._core.references import is_array_ref, new_array_ref
from typed_nnx._core.trace import context
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import REF_ITEM, GraphDef, VariableDef


def rebuild(
    graphdef: GraphDef[Any],
    leaves: Sequence[Any],
    made: dict[int, Any] | None = None,
    reuse: dict[int, Any] | None = None,
    recreate_variables: bool = True,
    refills: list[tuple[Any, Spec, list[Any]]] | None = None,
) -> Any:
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
    objects: dict[int, Any] = {} if made is None else made
    existing: dict[int, Any] = {} if reuse is None else reuse
    next_leaf = iter(leaves).__next__
    position = -1

    def build() -> Any:
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
        build = None  # type: ignore[assignment]


def _variable(definition: VariableDef, leaf: Any, old: Any) -> Any:
    if not isinstance(leaf, Variable):
        if definition.meta.ref and not is_array_ref(leaf):
            leaf = new_array_ref(leaf)
        leaf = definition.cls._make(leaf, definition.meta)
    if old is not None:
        if old is not leaf:
            old.update_from_state(leaf)
        return old
    return leaf
