"""Single mutations of a `World`, written once and applied to both libraries."""

from __future__ import annotations

import typing as tp

import jax.numpy as jnp

from tests.graph.oracle import children, is_node, is_variable
from tests.graph.strategies import NAMES
from tests.graph.worlds import World

Step = tp.Callable[[World], tp.Any]

LIST_OPERATIONS: dict[str, tp.Callable[[tp.Any, tp.Any], tp.Any]] = {
    "append": lambda items, value: items.append(value),
    "insert": lambda items, value: items.insert(0, value),
    "insert late": lambda items, value: items.insert(-1, value),
    "extend": lambda items, value: items.extend([value, value]),
    "put slice": lambda items, value: items.__setitem__(slice(0, 1), [value, 3]),
    "put": lambda items, value: items.__setitem__(0, value),
    "put last": lambda items, value: items.__setitem__(-1, value),
    "pop": lambda items, value: type(items.pop()).__name__,
    "pop first": lambda items, value: type(items.pop(0)).__name__,
    "delete slice": lambda items, value: items.__delitem__(slice(0, 2)),
    "reverse": lambda items, value: items.reverse(),
    "clear": lambda items, value: items.clear(),
}

DICT_OPERATIONS: dict[str, tp.Callable[[tp.Any, tp.Any], tp.Any]] = {
    "put": lambda items, value: items.__setitem__("k", value),
    "update": lambda items, value: items.update(k=value, k1=value),
    "setdefault": lambda items, value: type(items.setdefault("a", value)).__name__,
    "delete": lambda items, value: items.__delitem__("k"),
    "pop": lambda items, value: type(items.pop("a")).__name__,
    "clear": lambda items, value: items.clear(),
}

WRITES: dict[str, tp.Callable[[World, tp.Any, int], tp.Any]] = {
    "set_value": lambda world, variable, n: variable.set_value(jnp.full((2,), n, jnp.float32)),
    "ellipsis": lambda world, variable, n: variable.__setitem__(..., jnp.full((3,), n, jnp.int32)),
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
    "delete metadata": lambda world, variable, n: variable.del_metadata("note"),
}


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
            del parent[NAMES.index(name)]
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
