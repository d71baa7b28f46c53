"""Build a described object graph with one library, flax.nnx or typed_nnx."""

from __future__ import annotations

import collections
import dataclasses
import functools
import types
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tests.graph.descriptions import (
    Arr,
    ArraySpec,
    Const,
    Graph,
    MakeRngs,
    Map,
    Marked,
    Node,
    NodeSpec,
    Seq,
    Struct,
    Value,
    Var,
    VarSpec,
)

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
        def __init__(self) -> None:
            self.training = True

    class SubMod(Mod):
        pass

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

    local = {c.__name__: c for c in (Mod, SubMod, Tree, Plain, Obj, UserParam, UserVar)}
    for cls in local.values():
        cls.__qualname__ = cls.__name__
    return types.SimpleNamespace(**local)


class World:
    """One library's objects for a `Graph`; arrays, Variables and nodes keep the indices of the description."""

    def __init__(self, nnx: tp.Any, graph: Graph) -> None:
        self.nnx = nnx
        self.classes = classes_of(nnx)
        self.arrays = [make_array(spec) for spec in graph.arrays]
        self.variables: list[tp.Any] = []
        self.nodes = [self.make_node(spec) for spec in graph.nodes]
        for spec in graph.variables:
            self.variables.append(self.make_variable(spec))
        self.log: list[tuple[int, str, str]] = []
        for index, node in enumerate(graph.nodes):
            for name, value in node.attributes:
                self.assign(index, node.cls, name, value)
        self.root = self.value(graph.root)

    def type_named(self, name: str) -> tp.Any:
        """Return the class `name` of this world: a test class or a class of the library."""
        return getattr(self.classes, name, None) or getattr(self.nnx, name)

    def make_node(self, spec: NodeSpec) -> tp.Any:
        return self.type_named(spec.cls)()

    def make_variable(self, spec: VarSpec) -> tp.Any:
        return self.type_named(spec.type)(self.value(spec.value), **dict(spec.metadata))

    def assign(self, index: int, cls: str, name: str, value: Value) -> None:
        """Set attribute, key or element; log the family of the exception where the library refuses."""
        node = self.nodes[index]
        try:
            if cls == "List":
                node.append(self.value(value))
            elif cls == "Dict":
                node[name] = self.value(value)
            else:
                setattr(node, name, self.value(value))
        except Exception as error:  # noqa: BLE001 - any refusal is compared by its family
            self.log.append((index, name, family(error)))

    def value(self, value: Value) -> tp.Any:
        """Build the object that `value` describes; indices wrap around."""
        match value:
            case Const(constant):
                return constant
            case Arr(index):
                return self.arrays[index % len(self.arrays)]
            case Var(index):
                return self.variables[index % len(self.variables)]
            case Node(index):
                return self.nodes[index % len(self.nodes)]
            case Seq(kind, items):
                built = [self.value(item) for item in items]
                return built if kind == "list" else tuple(built)
            case Map(items):
                return {key: self.value(item) for key, item in items}
            case Marked(status, inner):
                return getattr(self.nnx, status)(self.value(inner))
            case MakeRngs(seed, stream):
                return self.nnx.Rngs(seed, **{stream: seed + 1})
            case Struct():
                return make_struct(value.kind, self.value(value.first), self.value(value.second))


def make_array(spec: ArraySpec) -> tp.Any:
    """Return a fresh array: consecutive numbers from `fill`, in the given shape and dtype."""
    size = int(np.prod(spec.shape))
    numbers = (np.arange(size) + spec.fill).reshape(spec.shape).astype(spec.dtype)
    return jnp.asarray(numbers) if spec.library == "jax" else numbers


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
