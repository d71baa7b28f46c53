"""Random object graphs, and random mutations of them."""

from __future__ import annotations

import typing as tp

import jax.numpy as jnp

import typed_nnx as nnx
from tests.fuzz.helpers import Config
from tests.fuzz.slow_walk import (
    MARK,
    changed_state,
    children,
    ids,
    in_graph,
    is_array,
    is_data,
    is_node,
    is_variable,
    leaves,
    same,
    visits,
)
from tests.graph.worlds import NAMES, Recipe, World, classes_of

CLASSES = classes_of(tp.cast("tp.Any", nnx))  # as a key: Hashable
Mod, SubMod, Tree = CLASSES.Mod, CLASSES.SubMod, CLASSES.Tree


class MutableWorld(World):
    """Objects of typed_nnx, and what is done to them.

    Args:
        seed: What everything is drawn from.
        skip: Numbers of steps to leave out.

    Attributes:
        log: One line of Python for each thing that was done.
    """

    fresh = 0.3
    items = (*("variable",) * 3, "array", "array", "node", "constant", "container")
    kinds = (*("variable",) * 4, *("node", "array", "container") * 2, "constant", "state")
    containers = ("list", "tuple", "dict")
    first = (MARK,)
    constants = (
        *(1, True, 2.5, "s", None, (1, "t"), frozenset({2}), Config(2), [1, 2], {"k": 3}, {4, 5}),
        len,
    )
    plain = (None, 1, "s", 2.5, frozenset({1}))
    variable_types = ("Param", "Param", "BatchStat", "Cache", "Variable", "Intermediate")
    metadata = tuple(("note", each) for each in (0, "n", (1, 2), None, [1, 2], Config(3)))

    def __init__(self, seed: int | str, skip: frozenset[int] = frozenset()) -> None:
        self.log: list[str] = []
        classes = ("Mod", "Mod", "Mod", "SubMod", "Renaming", "Tree", "List", "Dict")
        super().__init__(nnx, Recipe(seed, classes=classes, root="node", skip=skip))

    def new_variable_value(self) -> tp.Any:
        value, other = self.array(), self.array()
        containers = [[value, other], {"k": value, "l": [other]}, (value, {"k": other})]
        return self.one([*[value] * 6, *containers])

    def marked(self, value: tp.Any) -> tp.Any:
        return value  # until it is put

    def array(self) -> tp.Any:
        return self.held("array", [])

    def leaf(self) -> tp.Any:
        """Return what may stand in a container."""
        return self.held(self.one(self.items), self.nodes, 2)

    def assign(self, node: int, name: str, value: tp.Any) -> None:
        self.put(self.nodes[node], name, value)

    def put(self, node: tp.Any, name: str, value: tp.Any) -> None:
        super().put(node, name, nnx.data(value) if is_data(value) else nnx.static(value))
        self.log.append(f"{self.label(node)}[{name!r}] = {self.label(value)}")

    def label(self, x: tp.Any) -> str:
        """Return a short name for a value."""
        for prefix, items in (("n", self.nodes), ("v", self.variables)):
            for number, item in enumerate(items):
                if item is x:
                    return f"{prefix}{number}:{type(x).__name__}"
        if isinstance(x, list | tuple | dict):
            inside = ", ".join(f"{k}: {self.label(v)}" for k, v in children(x) or ())
            return f"{type(x).__name__}({inside})"
        return type(x).__name__ if is_array(x) or is_variable(x) or is_node(x) else repr(x)[:40]

    def mutate(self) -> None:
        """Do one thing to the graph."""
        if self.begin("mutation"):
            self.one(MUTATIONS)(self)

    # -- mutations --------------------------------------------------------------------------------

    def set_attribute(self) -> None:
        number = self.random.randrange(len(self.nodes))
        self.put(self.nodes[number], self.one(NAMES), self.new_value(number))

    def delete_attribute(self) -> None:
        node = self.one(self.nodes)
        names = [name for name, _ in children(node) or () if isinstance(name, str)]
        if not names:  # or it is a List
            return
        name = self.one(names)
        if isinstance(node, nnx.Dict):
            del node[name]
        else:
            delattr(node, name)
        self.log.append(f"del {self.label(node)}[{name!r}]")

    def change_list(self) -> None:
        lists = [x for x in self.nodes if isinstance(x, nnx.List)]
        if not lists:
            return
        items = self.one(lists)
        operation = self.random.randrange(8)
        self.log.append(f"list operation {operation} on {self.label(items)}")
        match operation:
            case 0:
                items.append(self.leaf())
            case 1:
                items.insert(self.random.randrange(3), self.leaf())
            case 2 if len(items):
                items.pop(self.random.randrange(len(items)))
            case 3:
                items[0:1] = [self.leaf(), self.leaf()]
            case 4:
                items.extend([self.leaf()])
            case 5:
                items.reverse()
            case 6 if len(items):
                del items[0]
            case 7 if len(items):
                items[self.one((0, -1))] = self.leaf()

    def change_container(self) -> None:
        """Change a plain container in place."""
        every = [x for n in self.nodes for _, x, _ in visits(n)]
        found = [x for x in every if isinstance(x, list | dict) and MARK in x]
        if not found:
            return
        container = self.one(found)
        value = self.new_container(self.nodes, 1) if self.chance(0.2) else self.leaf()
        self.log.append(f"change {self.label(container)} by {self.label(value)}")
        if isinstance(container, dict):
            if self.chance(0.3) and len(container) > 1:
                container.pop(next(k for k in container if k != MARK))
            else:
                container[self.one(("k", "l", "m"))] = value
            return
        match self.random.randrange(4):
            case 0:
                container.append(value)
            case 1 if len(container) > 1:
                container.pop()
            case 2 if len(container) > 1:
                container[1] = value
            case _:
                container.insert(1, value)

    def change_static_in_place(self) -> None:
        every = [v for n in self.nodes for _, v in children(n) or () if not in_graph(n, v)]
        found = [v for v in every if isinstance(v, list | dict | set | Config)]
        if not found:
            return
        self.log.append(f"change static {(value := self.one(found))!r} in place")
        if isinstance(value, list):
            value.append(7)
        elif isinstance(value, dict):
            value["z"] = 7
        elif isinstance(value, set):
            value.add(7)
        else:
            value.size += 1

    def write_value(self) -> None:
        variable = self.one(self.variables)
        new = self.array()
        match self.random.randrange(4):
            case 0:
                variable.set_value(new)
            case 1 if is_array(variable.get_raw_value()):
                variable[...] = jnp.asarray(variable[...]) + 1
            case 2:
                variable.set_value([new, {"k": self.array()}])
            case _:
                variable.set_value((new,))
        self.log.append(f"write {self.label(variable)}")

    def change_value_in_place(self) -> None:
        found = [v for v in self.variables if isinstance(v.get_raw_value(), list | dict)]
        if not found:
            return
        variable = self.one(found)
        value = variable.get_raw_value()
        if isinstance(value, list):
            value.append(self.array())
        else:
            value[self.one(("k", "n"))] = self.array()
        self.log.append(f"change the value of {self.label(variable)} in place")

    def set_metadata(self) -> None:
        variable = self.one(self.variables)
        note = self.one((0, 1, "n", None, [3], (1, [2]), Config(1)))
        if self.chance(0.7):
            variable.set_metadata(note=note)
        elif variable.has_metadata("note"):
            variable.del_metadata("note")
        self.log.append(f"metadata {note!r} of {self.label(variable)}")

    def switch_mode(self) -> None:
        modules = [x for x in self.nodes if isinstance(x, nnx.Module)]
        if not modules:
            return
        node = self.one(modules)
        if self.chance(0.5):
            node.mode = self.one(("train", "eval", 1, True, 1.0))
            self.log.append(f"{self.label(node)}.mode = {node.mode!r}")
            return
        for each in self.nodes:
            if isinstance(each, Mod) and self.chance(0.3):
                each.set_attributes(deterministic=False, raise_if_not_found=False)
        self.log.append(f"train/eval of {self.label(node)}")
        self.one((node.train, node.eval))()

    def change_class(self) -> None:
        found = [x for x in self.nodes if isinstance(x, Mod)]
        if found:
            node = self.one(found)
            node.__class__ = SubMod if type(node) is Mod else Mod
            self.log.append(f"class of {self.label(node)}")

    def swap_attributes(self) -> None:
        node = self.one([x for x in self.nodes if isinstance(x, Mod | Tree)] or [None])
        names = [k for k, v in children(node) or () if is_variable(v) or is_node(v)]
        if len(names) >= 2:
            one, two = self.random.sample(names, 2)
            first, second = getattr(node, one), getattr(node, two)
            setattr(node, one, second)
            setattr(node, two, first)
            self.log.append(f"swap {one}, {two} of {self.label(node)}")

    def replace_by_clone(self) -> None:
        node = self.one(self.nodes)
        self.log.append(f"clone in {self.label(node)}")
        self.put(node, self.one(NAMES), nnx.clone(self.one(self.nodes)))

    def update(self) -> None:
        node = self.one(self.nodes)
        changed = changed_state(node)
        nnx.update(node, changed)
        self.log.append(f"update {self.label(node)}")

    def new_node(self) -> None:
        parent = self.one(self.nodes)
        self.nodes.append(self.type_named(self.one(self.recipe.classes))())
        self.put(parent, self.one(NAMES), self.nodes[-1])
        self.put(self.nodes[-1], "w", self.new_value(len(self.nodes) - 1))

    def pop(self) -> None:
        node = self.one(self.nodes)
        if any(isinstance(x, nnx.List | list | tuple | nnx.State) for _, x, _ in visits(node)):
            return
        # A shared Variable is taken out of the first of its places.
        gone = [(p, x) for p, x in leaves(node) if isinstance(x, nnx.Intermediate)]
        same("pop", ids(nnx.to_flat_state(nnx.pop(node, nnx.Intermediate))), ids(gone))
        left = {(p, id(x)) for p, x, _ in visits(node)}
        assert not any((p, id(x)) in left for p, x in gone), "pop: something is left"
        self.log.append(f"pop from {self.label(node)}")


MUTATIONS = (
    *(MutableWorld.set_attribute,) * 5,
    MutableWorld.delete_attribute,
    MutableWorld.delete_attribute,
    *(MutableWorld.change_list,) * 2,
    *(MutableWorld.change_container,) * 4,
    MutableWorld.change_static_in_place,
    *(MutableWorld.write_value,) * 2,
    MutableWorld.change_value_in_place,
    *(MutableWorld.set_metadata,) * 2,
    *(MutableWorld.switch_mode,) * 2,
    MutableWorld.change_class,
    MutableWorld.swap_attributes,
    MutableWorld.replace_by_clone,
    MutableWorld.update,
    MutableWorld.new_node,
    MutableWorld.pop,
)
