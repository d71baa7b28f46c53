"""Random object graphs, and random mutations of them."""

from __future__ import annotations

import random
import typing as tp

import jax.numpy as jnp
import numpy as np

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

NAMES = ("a", "b", "c", "w", "x2", "x10")


class Mod(nnx.Module):
    """An ordinary Module."""

    deterministic = True


class Sub(Mod):
    """Another class with the same attributes."""


class Renaming(nnx.Module):
    """A Module whose attributes are stored by its own `__setattr__`."""

    def __setattr__(self, name: str, value: tp.Any) -> None:
        super().__setattr__("x2" if name == "w" else name, value)


class Tree(nnx.Pytree):
    """A Pytree that is no Module."""


CLASSES = (Mod, Mod, Mod, Sub, Renaming, Tree, nnx.List, nnx.Dict)
VARIABLES = (nnx.Param, nnx.Param, nnx.BatchStat, nnx.Cache, nnx.Variable, nnx.Intermediate)


class World:
    """Nodes, Variables and arrays that refer to each other, and what is done to them.

    Args:
        seed: What everything is drawn from.
        skip: Numbers of steps to leave out: attributes set at first, then mutations.

    Attributes:
        log: One line of Python for each thing that was done.
    """

    def __init__(self, seed: int | str, skip: tp.Container[int] = ()) -> None:
        self.seed, self.skip = seed, skip
        self.step = 0
        self.random = random.Random(f"graph {seed}")
        self.log: list[str] = []
        self.arrays = [jnp.arange(3.0), jnp.ones(()), np.arange(2), jnp.zeros((2, 1))]
        self.variables = [self.new_variable() for _ in range(self.random.randrange(1, 5))]
        self.nodes: list[tp.Any] = [Mod()]
        self.nodes += [self.one(CLASSES)() for _ in range(self.random.randrange(0, 4))]
        for n in range(1, len(self.nodes)):  # a spanning tree: every node has a parent
            self.assign(self.nodes[self.random.randrange(n)], f"n{n}", self.nodes[n])
        places = [
            (node, name)
            for node in self.nodes
            for name in self.random.sample(NAMES, self.random.randrange(0, 4))
        ]
        for node, name in places:
            if self.next_step():
                self.assign(node, name, self.value())

    def next_step(self) -> bool:
        """Begin a step, with random numbers of its own; return whether it is to be taken."""
        self.step += 1
        self.random = random.Random(f"graph {self.seed} {self.step}")
        return self.step not in self.skip

    def one(self, choices: tp.Sequence[tp.Any]) -> tp.Any:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def array(self) -> tp.Any:
        if self.chance(0.6):
            return self.one(self.arrays)
        return jnp.full((self.random.randrange(1, 3),), self.random.randrange(9) / 4)

    def new_variable(self) -> tp.Any:
        value = self.array()
        match self.random.randrange(9):
            case 0:
                value = [value, self.array()]
            case 1:
                value = {"k": value, "l": [self.array()]}
            case 2:
                value = (value, {"k": self.array()})
        metadata: dict[str, tp.Any] = {}
        if self.chance(0.3):
            metadata["note"] = self.one((0, "n", (1, 2), None, [1, 2], Config(3)))
        return self.one(VARIABLES)(value, **metadata)

    def variable(self) -> tp.Any:
        if self.chance(0.3):
            self.variables.append(self.new_variable())
        return self.one(self.variables)

    def static(self) -> tp.Any:
        return self.one(
            [
                1,
                True,
                2.5,
                "s",
                None,
                (1, "t"),
                frozenset({2}),
                Config(2),
                [1, 2],
                {"k": 3},
                {4, 5},
                len,
            ]
        )

    def leaf(self) -> tp.Any:
        """Return what may stand in a container."""
        draw = self.one(
            [self.variable] * 3 + [self.array] * 2 + [lambda: self.one(self.nodes), None]
        )
        return self.one((None, 1, "s", 2.5, frozenset({1}))) if draw is None else draw()

    def container(self, depth: int = 0) -> tp.Any:
        """Return a plain container that is data."""
        items = [
            self.container(depth + 1) if depth < 2 and self.chance(0.2) else self.leaf()
            for _ in range(self.random.randrange(0, 4))
        ]
        match self.random.randrange(3):
            case 0:
                return [MARK, *items]
            case 1:
                return (MARK, *items)
            case _:
                return {MARK: 0, **{self.one(("k", "l", "m")): item for item in items}}

    def value(self) -> tp.Any:
        match self.random.randrange(12):
            case 0 | 1 | 2 | 3:
                return self.variable()
            case 4 | 5:
                return self.one(self.nodes)
            case 6 | 7:
                return self.array()
            case 8:
                return self.static()
            case 9:
                return nnx.State({"w": self.variable(), "v": {"k": self.variable()}})
            case _:
                return self.container()

    # Each mutation returns a line that says what it did.

    def assign(self, node: tp.Any, name: str, value: tp.Any) -> None:
        """Set an attribute, an element or an item."""
        marked = nnx.data(value) if is_data(value) else nnx.static(value)
        if isinstance(node, nnx.List):
            if len(node) and name in ("a", "b"):
                node[{"a": 0, "b": -1}[name]] = marked
            else:
                node.append(marked)
        elif isinstance(node, nnx.Dict):
            node[name] = marked
        else:
            setattr(node, name, marked)
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
        if self.next_step():
            self.one(MUTATIONS)(self)

    # -- mutations --------------------------------------------------------------------------------

    def set_attribute(self) -> None:
        self.assign(self.one(self.nodes), self.one(NAMES), self.value())

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
        operation = self.random.randrange(7)
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

    def change_container(self) -> None:
        """Change a plain container in place."""
        every = [x for n in self.nodes for _, x, _ in visits(n)]
        found = [x for x in every if isinstance(x, list | dict) and MARK in x]
        if not found:
            return
        container = self.one(found)
        value = self.container(1) if self.chance(0.2) else self.leaf()
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
        node = self.one([x for x in self.nodes if isinstance(x, nnx.Module)])
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
            node.__class__ = Sub if type(node) is Mod else Mod
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
        self.assign(node, self.one(NAMES), nnx.clone(self.one(self.nodes)))

    def update(self) -> None:
        node = self.one(self.nodes)
        changed = changed_state(node)
        nnx.update(node, changed)
        self.log.append(f"update {self.label(node)}")

    def new_node(self) -> None:
        node = self.one(CLASSES)()
        parent = self.one(self.nodes)
        self.nodes.append(node)
        self.assign(parent, self.one(NAMES), node)
        self.assign(node, "w", self.value())

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
    *(World.set_attribute,) * 5,
    World.delete_attribute,
    World.delete_attribute,
    *(World.change_list,) * 2,
    *(World.change_container,) * 4,
    World.change_static_in_place,
    *(World.write_value,) * 2,
    World.change_value_in_place,
    *(World.set_metadata,) * 2,
    *(World.switch_mode,) * 2,
    World.change_class,
    World.swap_attributes,
    World.replace_by_clone,
    World.update,
    World.new_node,
    World.pop,
)
