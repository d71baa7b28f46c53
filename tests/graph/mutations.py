"""Single mutations of a `World`, written once and applied to both libraries."""

from __future__ import annotations

import dataclasses
import functools
import typing as tp

import flax.nnx
import jax
import jax.numpy as jnp

from tests.graph.oracle import children, is_node, is_variable
from tests.graph.strategies import NAMES
from tests.graph.worlds import World

Step = tp.Callable[[World], tp.Any]


def _delete(items: tp.Any, value: tp.Any, position: int) -> None:
    del items[position]


LIST_OPERATIONS: dict[str, tp.Callable[[tp.Any, tp.Any], tp.Any]] = {
    "append": lambda items, value: items.append(value),
    "insert": lambda items, value: items.insert(0, value),
    "insert late": lambda items, value: items.insert(-1, value),
    "extend": lambda items, value: items.extend([value, value]),
    "put slice": lambda items, value: items.__setitem__(slice(0, 1), [value, 3]),
    "put": lambda items, value: items.__setitem__(0, value),
    "put last": lambda items, value: items.__setitem__(-1, value),
    "pop": lambda items, value: (items.pop(), None)[1],
    "pop first": lambda items, value: (items.pop(0), None)[1],
    "delete slice": lambda items, value: items.__delitem__(slice(0, 2)),
    **{f"delete {i}": functools.partial(_delete, position=i) for i in range(len(NAMES))},
    "reverse": lambda items, value: items.reverse(),
    "clear": lambda items, value: items.clear(),
}

DICT_OPERATIONS: dict[str, tp.Callable[[tp.Any, tp.Any], tp.Any]] = {
    "put": lambda items, value: items.__setitem__("k", value),
    "update": lambda items, value: items.update(k=value, k1=value),
    "setdefault": lambda items, value: (items.setdefault("a", value), None)[1],
    "delete": lambda items, value: items.__delitem__("k"),
    "pop": lambda items, value: type(items.pop("a")).__name__,
    "clear": lambda items, value: items.clear(),
}

WRITES: dict[str, tp.Callable[[World, tp.Any, int], tp.Any]] = {
    "set_value": lambda world, variable, n: variable.set_value(jnp.full((2,), n, jnp.float32)),
    "ellipsis": lambda world, variable, n: (
        # flax cannot set a number or a tuple in this way.
        isinstance(variable.get_value(), jax.Array) and variable.__setitem__(..., n)
    ),
    "add": lambda world, variable, n: variable.set_value(variable.get_value() + n),
    "python number": lambda world, variable, n: variable.set_value(n),
    "tuple": lambda world, variable, n: variable.set_value((jnp.ones(()), jnp.zeros((1,)))),
    "copy_from": lambda world, variable, n: variable.copy_from(
        type(variable)(jnp.full((1,), n, jnp.float32), note="copied")
    ),
    "update_from_state": lambda world, variable, n: variable.update_from_state(
        variable.replace(jnp.full((1,), n, jnp.float32), note="updated")
    ),
    "metadata": lambda world, variable, n: variable.set_metadata("note", n % 3),
    "metadata attribute": lambda world, variable, n: setattr(variable, "rate", n % 2),
    "delete metadata": lambda world, variable, n: (
        variable.has_metadata("note") and variable.del_metadata("note")
    ),
}


@dataclasses.dataclass
class Element:
    """One element of an `nnx.List` with its status."""

    value: tp.Any
    is_data: bool


def change_list(world: World, node: int, how: str, value: tp.Any) -> None:
    """Apply one of the list operations to an `nnx.List`.

    Oracle bug: flax keeps data or static per index instead of per element and leaves the old last
    element behind, so everything that moves elements fails or leaves rubbish. There the operation is
    applied to a plain list of elements, which are then appended to the emptied List.
    """
    items, change = world.node(node), LIST_OPERATIONS[how]
    if world.nnx is not flax.nnx or how in ("put", "put last"):
        change(items, value)
        return
    elements = [Element(x, items._pytree__nodes[str(i)]) for i, x in enumerate(items)]
    new = object()
    change(elements, new)
    for position, element in enumerate(elements):
        if not isinstance(element, Element):
            elements[position] = fresh_element(world, value if element is new else element)
    while len(items):
        items.pop()
    for element in elements:
        mark = world.nnx.data if element.is_data else world.nnx.static
        items.append(mark(element.value))


def fresh_element(world: World, value: tp.Any) -> Element:
    """Return `value` with the status that a List gives it."""
    scratch = world.nnx.List([value])
    return Element(scratch[0], scratch._pytree__nodes["0"])


def get_child(world: World, node: int, name: str) -> tp.Any:
    """Return the attribute, element or item of node `node` that `name` stands for."""
    parent = world.node(node)
    match type(parent).__name__:
        case "List":
            return parent[NAMES.index(name)]
        case "Dict":
            return parent[name]
        case _:
            return getattr(parent, name)


def set_child(world: World, node: int, name: str, child: tp.Any) -> None:
    """Set the attribute, element or item of node `node` that `name` stands for."""
    parent = world.node(node)
    match type(parent).__name__:
        case "List" if NAMES.index(name) < len(parent):
            parent[NAMES.index(name)] = child
        case "List":
            parent.append(child)
        case "Dict":
            parent[name] = child
        case _:
            setattr(parent, name, child)


def delete_child(world: World, node: int, name: str) -> None:
    """Delete the attribute, element or item of node `node` that `name` stands for."""
    parent = world.node(node)
    match type(parent).__name__:
        case "List":
            position = NAMES.index(name)
            if position >= len(parent):
                raise IndexError(position)
            change_list(world, node, f"delete {position}", None)
        case "Dict":
            del parent[name]
        case _:
            delattr(parent, name)


def plain_containers(world: World, node: int) -> list[tuple[str, tp.Any]]:
    """Return (attribute, container) of every list or dict at most two levels below node `node`."""
    found: list[tuple[str, tp.Any]] = []

    def visit(name: str, x: tp.Any, depth: int) -> None:
        if is_node(x) or is_variable(x) or depth > 2:
            return
        if isinstance(x, list | dict):
            found.append((name, x))
        for _, child in children(x) or ():
            visit(name, child, depth + 1)

    for key, child in children(world.node(node)) or ():
        visit(str(key), child, 0)
    return found


def change_container(container: tp.Any, operation: int, value: tp.Any) -> tp.Any:
    """Apply one of the list or dict operations to a plain container."""
    if isinstance(container, list):
        return list(LIST_OPERATIONS.values())[operation % len(LIST_OPERATIONS)](container, value)
    if container and isinstance(next(iter(container)), int):
        return container.__setitem__(next(iter(container)), value)
    return list(DICT_OPERATIONS.values())[operation % len(DICT_OPERATIONS)](container, value)
