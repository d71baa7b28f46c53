"""A small language of steps that read and change the objects that a function is called with.

A step addresses objects by number: numbers count the objects that can be reached, in canonical
order, and wrap around. So one program runs on any object graph, and eagerly and traced it meets the
same objects. A step that finds nothing to act on does nothing and returns False.

All numbers are small integers held as float32, kept below 64 by a remainder: arithmetic is exact,
and results can be compared with ``==``. Steps act on the last axis only, so that a program which is
run on stacked values computes what it computes on each of them.
"""

from __future__ import annotations

import dataclasses
import typing as tp

import jax
import jax.numpy as jnp
from jax import lax

from tests.graph.oracle import children, is_node, is_variable, objects_by_path

NAMES = ("a", "b", "c", "w")
NODE_CLASSES = ("Mod", "SubMod", "Tree", "Obj", "List", "Dict")
LIMIT = 64.0
FRESH = ("array", "param", "cache", "module", "list", "plain list", "rngs", "constant")
WRITES = ("set", "ellipsis", "part", "add", "times", "constant", "copy", "operator")


def small(x: jax.Array) -> jax.Array:
    """Return the remainder by `LIMIT`: exact, and with slope one."""
    return lax.rem(x, jnp.full_like(x, LIMIT))


def is_number(x: tp.Any) -> bool:
    """Tell arrays that programs compute with (keys and counts of random streams are none)."""
    return isinstance(x, jax.Array) and x.dtype == jnp.float32


def fit(x: jax.Array, like: jax.Array) -> jax.Array:
    """Return `x`, float [..., 2], in the shape of `like`: all of it or its first element."""
    return x if like.ndim >= x.ndim else x[..., 0]


class Machine:
    """What a program works on, and how far it came.

    Attributes:
        nnx: the library.
        classes: the test classes of that library.
        roots: the objects that the program can reach; `Make` adds to them.
        acc: the register, float [..., 2].
        returned: objects to return beside the register.
        trail: names of the steps that found something to act on.
        transforms: name -> transform; what `Nested` applies.
    """

    def __init__(
        self, nnx: tp.Any, classes: tp.Any, roots: tp.Sequence[tp.Any], acc: jax.Array
    ) -> None:
        self.nnx = nnx
        self.classes = classes
        self.roots = list(roots)
        self.acc = acc
        self.returned: list[tp.Any] = []
        self.trail: list[str] = []
        self.transforms: tp.Mapping[str, tp.Any] = {}

    def run(self, steps: tp.Iterable[Step]) -> tuple[jax.Array, list[tp.Any]]:
        """Take the steps; return the register and the returned objects."""
        for step in steps:
            if step.take(self):
                self.trail.append(type(step).__name__)
        return self.acc, self.returned

    def objects(self) -> list[tp.Any]:
        """Return the nodes and Variables that programs may change, in canonical order."""
        found = objects_by_path(self.roots).values()
        return [x for x in found if self.may_change(x)]

    def may_change(self, x: tp.Any) -> bool:
        """Tell nodes and Variables apart from random streams and arrays."""
        if is_variable(x):
            return is_number(x.get_value())
        return is_node(x) and type(x).__name__ in NODE_CLASSES

    def variable(self, number: int) -> tp.Any:
        """Return a Variable that holds numbers, or None."""
        return pick([x for x in self.objects() if is_variable(x)], number)

    def node(self, number: int, *classes: str) -> tp.Any:
        """Return a node (of one of `classes`), or None."""
        nodes = [x for x in self.objects() if is_node(x)]
        return pick([x for x in nodes if not classes or type(x).__name__ in classes], number)

    def slot(self, number: int, holds: tp.Callable[[tp.Any], bool] | None = None) -> tp.Any:
        """Return (node, key, child) of a child for which `holds` is true, or None."""
        nodes = [x for x in self.objects() if is_node(x)]
        # What programs branch on must stay a plain value: eagerly an array would do, traced not.
        found = [
            (node, key, child)
            for node in nodes
            for key, child in children(node) or ()
            if key != "training"
        ]
        return pick([x for x in found if holds is None or holds(x[2])], number)

    def rngs(self, number: int) -> tp.Any:
        """Return an `nnx.Rngs`, or None."""
        found = objects_by_path(self.roots).values()
        return pick([x for x in found if type(x).__name__ == "Rngs"], number)

    def plain_list(self, number: int) -> tp.Any:
        """Return a plain list that is an attribute, or None."""
        slot = self.slot(number, lambda child: type(child) is list)
        return None if slot is None else slot[2]

    def fresh(self, kind: str) -> tp.Any:
        """Return a new value made of the register."""
        nnx, value = self.nnx, small(self.acc + 1)
        match kind:
            case "array":
                return value
            case "param":
                return nnx.Param(value)
            case "cache":
                return nnx.Cache(value, note="fresh")
            case "module":
                module = self.classes.Mod()
                module.w = nnx.Param(value)
                return module
            case "list":
                return nnx.List([nnx.Param(value)])
            case "plain list":
                return nnx.data([value, nnx.Param(value)])
            case "rngs":
                return nnx.Rngs(7)
        return "constant"


def pick(found: tp.Sequence[tp.Any], number: int) -> tp.Any:
    """Return element `number`, wrapping around, or None if there is nothing."""
    return found[number % len(found)] if found else None


def may_put(node: tp.Any, key: tp.Any, child: tp.Any) -> bool:
    """Tell whether a trace can return the node afterwards: no string where data was."""
    old = dict(children(node) or ()).get(key)
    return not isinstance(child, str) or old is None or isinstance(old, str | bool | int)


def put(node: tp.Any, key: tp.Any, child: tp.Any) -> None:
    """Set an attribute, an item or an element."""
    match type(node).__name__:
        case "List" if isinstance(key, int):
            node[key] = child
        case "List":
            node.append(child)
        case "Dict":
            node[key] = child
        case _:
            setattr(node, key, child)


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a program."""

    def take(self, m: Machine) -> bool:
        """Do it; tell whether there was something to do."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Write(Step):
    """Change the value of a Variable in one of the ways that NNX has."""

    variable: int
    how: str
    number: int

    def take(self, m: Machine) -> bool:
        """Write the register, a number, or both into the Variable."""
        v = m.variable(self.variable)
        if v is None:
            return False
        old = v.get_value()
        match self.how:
            case "set":
                v.set_value(fit(m.acc, old))
            case "ellipsis":
                v[...] = small(fit(m.acc, old) + self.number)
            case "part":
                v[..., 0] = m.acc[..., 1]
            case "add":
                v[...] += self.number
            case "times":
                v[...] = small(old * fit(m.acc, old))
            case "constant":
                v.set_value(jnp.full_like(old, self.number))
            case "copy":
                v.copy_from(v.replace(small(old + self.number)))
            case "operator":
                v += self.number
        return True


@dataclasses.dataclass(frozen=True)
class Read(Step):
    """Combine the register with the value of a Variable."""

    variable: int
    weight: int

    def take(self, m: Machine) -> bool:
        """Add a multiple of the value, or (weight 0) multiply by it."""
        v = m.variable(self.variable)
        if v is None:
            return False
        value = fit_back(v[...], m.acc)
        m.acc = small(m.acc * value if self.weight == 0 else m.acc + self.weight * value)
        return True


def fit_back(value: jax.Array, acc: jax.Array) -> jax.Array:
    """Return a value in a shape that the register can be combined with."""
    return value if value.ndim >= acc.ndim else value[..., None]


@dataclasses.dataclass(frozen=True)
class ReadArray(Step):
    """Combine the register with an array that is an attribute."""

    slot: int

    def take(self, m: Machine) -> bool:
        """Add the array."""
        found = m.slot(self.slot, is_number)
        if found is None:
            return False
        m.acc = small(m.acc + fit_back(found[2], m.acc))
        return True


@dataclasses.dataclass(frozen=True)
class WriteArray(Step):
    """Replace an array that is an attribute by another one."""

    slot: int

    def take(self, m: Machine) -> bool:
        """Assign the array plus the register."""
        found = m.slot(self.slot, is_number)
        if found is None:
            return False
        node, key, child = found
        put(node, key, small(child + fit(m.acc, child)))
        return True


@dataclasses.dataclass(frozen=True)
class Draw(Step):
    """Draw a key from an `nnx.Rngs` and add a random number made of it to the register."""

    rngs: int
    named: bool

    def take(self, m: Machine) -> bool:
        """Draw from the stream ``params`` or from the default stream."""
        rngs = m.rngs(self.rngs)
        if rngs is None:
            return False
        key = rngs.params() if self.named else rngs()
        m.acc = small(m.acc + jax.random.randint(key, (2,), 0, 8).astype(jnp.float32))
        return True
