"""Random object graphs, each built with one library, flax.nnx or typed_nnx, or with both the same way."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import random
import types
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import optax
from hypothesis import strategies as st

NAMES = ("a", "b", "c", "w", "layers", "x2", "x10", "training")
VARIABLE_TYPES = (
    *("Variable", "Param", "BatchStat", "Cache", "Intermediate", "Perturbation", "LoRAParam"),
    *("OptState", "OptVariable", "RngKey", "RngCount", "UserParam", "UserVar"),
)
PYTREE_CLASSES = ("Mod", "SubMod", "Tree", "List", "Dict")
# Statics avoid pairs that Python calls equal across types (1 and True, 2 and 2.0): flax calls their graphdefs
# equal, typed_nnx does not by design.
CONSTANTS = ("s", "", 2, -3, True, False, 0.5, 2.5, None, (2, "t"), ("u", (0.5,)))

Pair = collections.namedtuple("Pair", ["first", "second"])


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Record:
    """A dataclass registered with jax, with one static field."""

    first: tp.Any
    second: tp.Any
    label: str = dataclasses.field(default="record", metadata={"static": True})


@jax.tree_util.register_pytree_node_class
class Keyless:
    """A registered pytree that gives jax no key paths."""

    def __init__(self, first: tp.Any, second: tp.Any) -> None:
        self.first = first
        self.second = second

    def __eq__(self, other: object) -> bool:  # it may be a static value
        if not isinstance(other, Keyless):
            return NotImplemented
        return (self.first, self.second) == (other.first, other.second)

    def __hash__(self) -> int:
        return hash((self.first, self.second))

    def tree_flatten(self) -> tuple[tuple[tp.Any, tp.Any], None]:
        return (self.first, self.second), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: tuple[tp.Any, tp.Any]) -> Keyless:
        return cls(*children)


@functools.cache
def classes_of(nnx: tp.Any) -> types.SimpleNamespace:
    """Return the test classes, defined once on top of library `nnx` (name -> class)."""

    class Mod(nnx.Module):
        deterministic = True

        def __init__(self) -> None:
            self.training = True

    class SubMod(Mod):
        pass

    class Renaming(nnx.Module):
        def __setattr__(self, name: str, value: tp.Any) -> None:
            super().__setattr__("x2" if name == "w" else name, value)

    class Tree(nnx.Pytree):
        pass

    class Plain(nnx.Pytree, pytree=False):  # type: ignore[call-arg]  # the base is Any here
        pass

    class Obj(nnx.Object):
        pass

    class UserParam(nnx.Param):
        pass

    class UserVar(nnx.Variable):
        pass

    every = (Mod, SubMod, Renaming, Tree, Plain, Obj, UserParam, UserVar)
    local = {c.__name__: c for c in every}
    for cls in local.values():
        cls.__qualname__ = cls.__name__
    return types.SimpleNamespace(**local)


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a World is drawn from.

    Attributes:
        seed: Says all that follows from no other attribute.
        classes: Names of the classes of nodes.
        nodes: The largest number of nodes.
        cycles: Whether a node may refer to itself or to an ancestor.
        sharing: Whether a Variable or node may be met on two paths.
        text: Whether a str may be marked as data.
        root: "node", "variable", "array", or "any" for a node or a plain container of nodes.
        order: Says in which order attributes are set.
        changed: Numbers of steps (an array, a Variable, a node, an attribute) that are drawn anew.
        skip: Numbers of steps to leave out: attributes, then what a subclass does.
    """

    seed: int | str
    classes: tuple[str, ...] = (*PYTREE_CLASSES, "Plain", "Obj")
    nodes: int = 4
    cycles: bool = True
    sharing: bool = True
    text: bool = True
    root: str = "any"
    order: int = 0
    changed: frozenset[int] = frozenset()
    skip: frozenset[int] = frozenset()


JAX_TREES = {"classes": PYTREE_CLASSES, "cycles": False, "root": "node"}
STRICT_TREES = {**JAX_TREES, "sharing": False}


def graphs(**options: tp.Any) -> st.SearchStrategy[Recipe]:
    """Return Recipes that have these attributes."""
    return st.integers(0, 2**32).map(lambda seed: Recipe(seed, **options))


def near_duplicates(**options: tp.Any) -> st.SearchStrategy[list[Recipe]]:
    """Return Recipes for two equal graphs, for another one, and for three that differ in one place or in none."""
    step = st.integers(1, 16).map(lambda step: {"changed": frozenset({step})})
    differences = st.lists(st.one_of(step, step, st.just({"order": 1})), min_size=3, max_size=3)
    return st.tuples(graphs(nodes=3, **options), graphs(nodes=2, **options), differences).map(
        lambda drawn: [
            *(drawn[0], drawn[0], drawn[1]),
            *(dataclasses.replace(drawn[0], **each) for each in drawn[2]),
        ]
    )


class World:
    """Arrays, Variables and nodes of one library that refer to each other.

    Attributes:
        root: Where to begin.
        refused: What the library refused to hold: number of the node, name, family of the exception.
        random: Of the present step.
        fresh: How often a Variable or array is a new one.
        kinds: What may be an attribute.
        items: What may stand in a container.
        containers: Kinds of plain containers, registered pytrees and optax states.
        first: What each container begins with.
        constants: Values of attributes; `plain` are those in containers.
        metadata: That of Variables.
    """

    fresh = 0.0
    kinds: tuple[str, ...] = (
        *(("variable",) * 6 + ("array",) * 3 + ("constant",) * 3),
        *("rngs", "node", "node", "node", "container", "container", "container"),
    )
    items = kinds
    containers: tuple[str, ...] = (
        *("list", "tuple", "dict", "int dict", "namedtuple", "dataclass", "keyless"),
        *("adam", "momentum"),
    )
    first: tuple[str, ...] = ()
    constants: tuple[tp.Any, ...] = CONSTANTS
    plain: tuple[tp.Any, ...] = CONSTANTS
    variable_types: tuple[str, ...] = VARIABLE_TYPES
    metadata: tuple[tuple[str, tp.Any], ...] = (
        *(("tag", "dropout"), ("tag", "params"), ("note", "n"), ("rate", 0.5), ("size", (2, 3))),
    )

    def __init__(self, nnx: tp.Any, recipe: Recipe) -> None:
        self.nnx, self.recipe = nnx, recipe
        self.classes = classes_of(nnx)
        self.step = 0
        self.refused: list[tuple[int, str, str]] = []
        whole = random.Random(f"graph {recipe.seed}")
        sizes = whole.randrange(1, 4), whole.randrange(1, 5), whole.randrange(1, recipe.nodes + 1)
        self.arrays: list[tp.Any] = []
        for n in range(sizes[0]):
            self.begin(f"array {n}")
            self.arrays.append(self.new_array())
        self.variables: list[tp.Any] = []
        for n in range(sizes[1]):
            self.begin(f"variable {n}")
            self.variables.append(self.new_variable())
        self.nodes: list[tp.Any] = []
        for n in range(sizes[2]):
            self.begin(f"node {n}")
            self.nodes.append(self.type_named(self.one(recipe.classes))())
        places = [(whole.randrange(n), f"n{n}", n) for n in range(1, sizes[2])]  # a spanning tree
        for n in range(sizes[2]):
            places += [(n, name, 0) for name in whole.sample(NAMES, whole.randrange(5))]
        random.Random(f"order {recipe.seed} {recipe.order}").shuffle(places)
        for n, name, child in places:
            if self.begin(f"{n} {name}"):
                self.assign(n, name, self.nodes[child] if child else self.new_value(n))
        self.begin("root")
        self.root = self.new_root()

    def begin(self, place: object) -> bool:
        """Begin a step, with random numbers of its own; return whether it is to be taken."""
        self.step += 1
        drawn = self.recipe.seed, place, self.step in self.recipe.changed
        self.random = random.Random(f"graph {drawn}")
        return self.step not in self.recipe.skip

    def one(self, choices: tp.Sequence[tp.Any]) -> tp.Any:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def type_named(self, name: str) -> tp.Any:
        """Return the class `name` of this world: a test class or a class of the library."""
        return getattr(self.classes, name, None) or getattr(self.nnx, name)

    def new_root(self) -> tp.Any:
        """Return what the recipe says that the root is."""
        match self.recipe.root:
            case "variable":
                return self.type_named("Param")(self.arrays[0])
            case "array":
                return self.arrays[0]
            case "any" if self.chance(0.2):
                leaf = self.held(self.one(("variable", "array", "constant", "rngs")), [], 1)
                return [self.nodes[0], leaf, {"k": self.nodes[-1]}]
        return self.nodes[0]

    def new_array(self) -> tp.Any:
        """Return consecutive numbers, in some shape and dtype."""
        shape = self.one([(), (1,), (2,), (2, 3), (0,)])
        numbers = np.arange(int(np.prod(shape))) + self.random.randrange(10)
        numbers = numbers.reshape(shape).astype(self.one(["float32", "int32"]))
        return self.one([jnp.asarray, jnp.asarray, np.asarray])(numbers)

    def new_variable(self) -> tp.Any:
        chosen = self.random.sample(self.metadata, self.random.randrange(3))
        cls = self.type_named(self.one(self.variable_types))
        return cls(self.new_variable_value(), **copy.deepcopy(dict(chosen)))

    def new_variable_value(self) -> tp.Any:
        """Return an array, a number or a pair of arrays."""
        array, other = self.one(self.arrays), self.one(self.arrays)
        return self.one([array, array, array, self.one((3, 0.25)), (array, other)])

    def take(self, known: list[tp.Any], new: tp.Callable[[], tp.Any]) -> tp.Any:
        """Return one of those that are known (without sharing it is used up) or a new one; None if there is none."""
        if self.chance(self.fresh):
            known.append(new())
            return known[-1]
        if not known:
            return None
        return (
            self.one(known) if self.recipe.sharing else known.pop(self.random.randrange(len(known)))
        )

    def new_value(self, node: int) -> tp.Any:
        """Return what an attribute of a node may be, marked as data or static or not at all."""
        below = self.nodes[0 if self.recipe.cycles else node + 1 :] if self.recipe.sharing else []
        value = self.held(self.one(self.kinds), below)
        return value if type(self.nodes[node]).__name__ in ("List", "Dict") else self.marked(value)

    def marked(self, value: tp.Any) -> tp.Any:
        """Mark most containers as data (their default is static) and, now and then, other values."""
        if isinstance(value, list | tuple | dict | Record | Keyless):
            return self.nnx.data(value) if self.chance(0.75) else value
        is_text = isinstance(value, str) and not self.recipe.text
        marks = (self.nnx.static,) if is_text else (self.nnx.static, self.nnx.data)
        return self.one(marks)(value) if self.chance(0.1) else value

    def held(self, kind: str, below: list[tp.Any], depth: int = 0) -> tp.Any:
        """Return a value of a kind, with nodes from `below`; containers are at most two deep."""
        match kind:
            case "variable":
                return self.take(self.variables, self.new_variable)
            case "array":
                return self.take(self.arrays, self.new_array)
            case "node" if below:
                return self.one(below)
            case "rngs":
                seed = self.random.randrange(4)
                return self.nnx.Rngs(seed, **{self.one(("params", "dropout")): seed + 1})
            case "state":
                variables = [self.take(self.variables, self.new_variable) for _ in range(2)]
                return self.nnx.State({"w": variables[0], "v": {"k": variables[1]}})
            case "container" if depth < 2:
                return self.new_container(below, depth + 1)
        return copy.deepcopy(self.one(self.plain if depth else self.constants))

    def new_container(self, below: list[tp.Any], depth: int = 0) -> tp.Any:
        """Return a plain container, a registered pytree or the state of an optax transformation."""
        kind = self.one(self.containers)
        if kind in ("adam", "momentum"):
            array = self.take(self.arrays, self.new_array)
            return None if array is None else make_struct(kind, array, None)
        count = 2 if kind in ("namedtuple", "dataclass", "keyless") else self.random.randrange(3)
        items = [self.held(self.one(self.items), below, depth) for _ in range(count)]
        if kind in ("list", "tuple"):
            return [*self.first, *items] if kind == "list" else (*self.first, *items)
        if kind in ("dict", "int dict"):
            keys = ("k1", "k0") if kind == "dict" else (10, 9)
            return {**dict.fromkeys(self.first, 0), **dict(zip(keys, items, strict=False))}
        return make_struct(kind, *items)

    def assign(self, node: int, name: str, value: tp.Any) -> None:
        """Set attribute, key or element, unless the library refuses it."""
        try:
            self.put(self.nodes[node], name, value)
        except Exception as error:  # noqa: BLE001 - any refusal is compared by its family
            self.refused.append((node, name, family(error)))

    def put(self, node: tp.Any, name: str, value: tp.Any) -> None:
        """Set attribute, key or element."""
        match type(node).__name__:
            case "List":
                node.append(value)
            case "Dict":
                node[name] = value
            case _:
                setattr(node, name, value)


def make_struct(kind: str, first: tp.Any, second: tp.Any) -> tp.Any:
    """Return a registered pytree with the given children (optax states are initialised from `first`)."""
    if kind == "namedtuple":
        return Pair(first, second)
    if kind == "dataclass":
        return Record(first, second)
    if kind == "keyless":
        return Keyless(first, second)
    parameters = {"w": first}
    if kind == "adam":
        return optax.adam(1e-3).init(parameters)
    return optax.chain(optax.clip(1.0), optax.sgd(0.1, momentum=0.9)).init(parameters)


def family(error: BaseException) -> str:
    """Return the name of the nearest builtin exception class: what `except` in user code can rely on."""
    for cls in type(error).__mro__:
        if cls.__module__ == "builtins":
            return cls.__name__
    raise AssertionError("every exception derives from a builtin one")
