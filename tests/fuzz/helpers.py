"""What generated programs call: the same few operations for any library that they run with."""

from __future__ import annotations

import functools
import types
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.fuzz import slow_objects
from tests.fuzz.reference import copied
from tests.fuzz.slow_world import Objects

NAMES = ("a", "b", "c", "d")


def fit(x: jax.Array, like: jax.Array) -> jax.Array:
    """Return `x` in the shape of `like`: summed over axes that are missing there, or repeated."""
    while x.ndim > like.ndim:
        x = x.sum(0)
    return x if x.shape == like.shape else jnp.broadcast_to(x, like.shape)


class Helpers:
    """The operations of programs on the objects of one library.

    Attributes:
        nnx: The library, or a `reference.Reference`.
        seen: What a user could see so far: one entry for each call of `see`.
        held: Objects that stay in view after they left the graph.
        roots: The Modules that the program begins with.
    """

    def __init__(self, nnx: tp.Any) -> None:
        self.nnx = nnx
        self.is_reference = isinstance(nnx, Objects)
        self.seen: list[tp.Any] = []
        self.held: list[tp.Any] = []
        self.roots: list[tp.Any] = []
        self.M, self.N = two_classes(nnx) if self.is_reference else module_classes(nnx)

    # -- making and finding ---------------------------------------------------------------------------

    def arr(self, start: float, *shape: int) -> jax.Array:
        """Return an array whose elements all differ."""
        size = int(np.prod(shape))
        return jnp.asarray((start + 0.37 * np.arange(size)).reshape(shape), jnp.float32)

    def data(self, x: tp.Any) -> tp.Any:
        """Mark a plain container as data."""
        return x if self.is_reference else self.nnx.data(x)

    def is_variable(self, x: tp.Any) -> bool:
        return isinstance(x, slow_objects.Variable if self.is_reference else self.nnx.Variable)

    def is_node(self, x: tp.Any) -> bool:
        return isinstance(x, slow_objects.Pytree if self.is_reference else self.nnx.Pytree)

    def children(self, x: tp.Any) -> list[tuple[tp.Any, tp.Any]]:
        """Return the (key, value) pairs of a node or container in canonical order."""
        if self.is_node(x):
            if isinstance(x, self.nnx.List):
                return list(enumerate(x))
            return sorted((k, v) for k, v in vars(x).items() if not k.startswith("_"))
        if isinstance(x, dict):
            return sorted(x.items())
        return list(enumerate(x)) if isinstance(x, list | tuple) else []

    def objects(self, *roots: tp.Any) -> list[tp.Any]:
        """Return the nodes, Variables and plain containers that can be reached, each once."""
        found: list[tp.Any] = []
        seen: set[int] = set()

        def visit(x: tp.Any) -> None:
            if id(x) in seen:
                return
            if self.is_node(x) or self.is_variable(x) or isinstance(x, list | dict):
                seen.add(id(x))
                found.append(x)
            if not self.is_variable(x):
                for _, child in self.children(x):
                    visit(child)

        for root in roots:
            visit(root)
        return found

    def own(self, *roots: tp.Any) -> list[tp.Any]:
        """Return the nodes and Variables that can be reached."""
        return [x for x in self.objects(*roots) if self.is_node(x) or self.is_variable(x)]

    def pick(self, what: tp.Callable[[tp.Any], bool], n: int, roots: tuple[tp.Any, ...]) -> tp.Any:
        found = [x for x in self.objects(*roots) if what(x)]
        return found[n % len(found)] if found else None

    def v(self, n: int, *roots: tp.Any) -> tp.Any:
        """Return the Variable with this number; numbers wrap around."""
        found = self.pick(self.is_variable, n, roots)
        return self.nnx.Param(self.arr(0.5, 2)) if found is None else found

    def m(self, n: int, *roots: tp.Any) -> tp.Any:
        """Return the Module with this number."""
        found = self.pick(lambda x: isinstance(x, self.M), n, roots)
        return self.M() if found is None else found

    def l(self, n: int, *roots: tp.Any) -> tp.Any:  # noqa: E743 - as the others
        """Return the List with this number."""
        found = self.pick(lambda x: isinstance(x, self.nnx.List), n, roots)
        return self.nnx.List([]) if found is None else found

    def p(self, n: int, *roots: tp.Any) -> tp.Any:
        """Return the plain list with this number; one that is an argument belongs to no object."""
        inside = [child for x in self.own(*roots) for _, child in self.children(x)]
        found = self.pick(lambda x: type(x) is list, n, tuple(inside))
        return [] if found is None else found

    def o(self, n: int, *roots: tp.Any) -> tp.Any:
        """Return the Module, List or Variable with this number."""
        found = self.pick(lambda x: self.is_node(x) or self.is_variable(x), n, roots)
        return self.M() if found is None else found

    def pop(self, items: tp.Any, *index: int) -> None:
        """Pop an element if there is one."""
        if len(items):
            items.pop(*index)

    def first(self, items: tp.Any, x: tp.Any) -> None:
        """Replace the first element if there is one."""
        if len(items):
            items[0] = x

    # -- values -----------------------------------------------------------------------------------------

    def read(self, x: jax.Array, value: tp.Any, factor: float) -> jax.Array:
        """Let the register depend on a Variable or an array."""
        value = value[...] if self.is_variable(value) else value
        return jnp.sin(x * factor + fit(value, x))

    def read_all(self, x: jax.Array, *roots: tp.Any) -> jax.Array:
        """Let the register depend on all Variables and on the number of nodes.

        A plain container among arguments is another one inside of a transform, so these do not count.
        """
        for n, found in enumerate(self.own(*roots)):
            if self.is_variable(found):
                x = x + fit(found[...], x) * (0.1 + 0.01 * n)
        return jnp.sin(x)

    def write(self, variable: tp.Any, x: jax.Array, how: int) -> None:
        """Write to a Variable what depends on its value and the register."""
        old = variable[...]
        new = jnp.cos(old * 0.5 + fit(x, old))
        if how == 0:
            variable[...] = new
        elif how == 1:
            variable.set_value(new)
        elif how == 2:
            variable[...] += fit(x, old) * 0.1
        else:
            variable[...] = jnp.full_like(old, 0.25 * how)

    def put(self, module: tp.Any, name: str, x: jax.Array) -> None:
        """Set an array attribute; one that is there keeps its shape."""
        old = vars(module).get(name)
        setattr(module, name, fit(x, old) * 0.9 if isinstance(old, jax.Array) else x)

    def static(self, module: tp.Any) -> float:
        """Return a number for the static attributes."""
        mode = vars(module).get("mode", "none")
        number = sum(not name.startswith("_") for name in vars(module))
        number += 2 * isinstance(module, self.N)
        number += vars(module)["config"].size if "config" in vars(module) else 0
        return {"none": 0.1, "train": 0.2, "eval": 0.3}.get(mode, 0.4) + 0.05 * number

    def config(self, size: int) -> Config:
        """Return a static value without a hash."""
        return Config(size)

    def grow(self, module: tp.Any) -> None:
        """Change a static value in place."""
        if self.is_reference:
            self.nnx.facts.add("grown")
        if "config" in vars(module):
            vars(module)["config"].size += 1

    def delete(self, module: tp.Any, name: str) -> None:
        """Delete an attribute if it is there."""
        if name in vars(module):
            delattr(module, name)

    def drop(self, module: tp.Any, n: int) -> None:
        """Delete one of the attributes that hold a Module or a List."""
        names = [name for name, child in self.children(module) if self.is_node(child)]
        if names:
            delattr(module, names[n % len(names)])

    def swap(self, module: tp.Any, one: str, two: str) -> None:
        """Let two attributes change places, if both are there."""
        if one in vars(module) and two in vars(module):
            first, second = getattr(module, one), getattr(module, two)
            if isinstance(first, list | dict | tuple) or isinstance(second, list | dict | tuple):
                return
            setattr(module, one, second)
            setattr(module, two, first)

    def swap_class(self, module: tp.Any) -> None:
        """Give a Module the other class."""
        module.__class__ = self.N if type(module) is self.M else self.M

    def note(self, variable: tp.Any) -> float:
        """Return a number for the metadata of a Variable."""
        return 0.1 * (1 + int(variable.get_metadata().get("note", 0)))

    def set_note(self, variable: tp.Any, note: int) -> None:
        """Set metadata of a Variable."""
        if self.is_reference and self.nnx.depth:
            self.nnx.facts.add("metadata")
        variable.set_metadata(note=note)

    def use(self, x: jax.Array, tree: tp.Any) -> jax.Array:
        """Add the arrays of a result, such as gradients, to the register."""
        for array in self.arrays(tree):
            x = x + fit(jnp.tanh(array), x)
        return jnp.sin(x)

    def arrays(self, tree: tp.Any) -> list[jax.Array]:
        """Return the arrays of nested tuples and States, ordered by path."""
        if isinstance(tree, jax.Array):
            return [tree]
        if isinstance(tree, dict) and not isinstance(tree, slow_objects.State):
            tree = [value for _, value in sorted(tree.items())]
        if isinstance(tree, tuple | list):
            return [array for part in tree for array in self.arrays(part)]
        if self.is_variable(tree):
            return [tree[...]]
        if self.is_node(tree):
            return []
        return [array for _, value in self.flat(tree) for array in self.arrays(value)]

    def flat(self, state: tp.Any) -> list[tuple[tp.Any, tp.Any]]:
        """Return the (path, leaf) pairs of a State, in order of the paths."""
        if isinstance(state, slow_objects.State):
            return [(p, x) for p, x in sorted(state.items(), key=lambda row: str(row[0]))]
        return sorted(self.nnx.to_flat_state(state), key=lambda row: str(row[0]))

    # -- what the libraries name differently ------------------------------------------------------------

    def tup(self, result: tp.Any) -> tuple[tp.Any, ...]:
        """Return a result as a tuple."""
        return result if isinstance(result, tuple) else (result,)

    def with_options(self, transform: tp.Callable, **options: tp.Any) -> tp.Callable:
        """Return a decorator: the transform with its options."""
        return lambda function: transform(function, **options)

    def index(self, x: jax.Array) -> jax.Array:
        """Return the register as the index of a branch, which may be out of range."""
        return jnp.floor(x.sum() * 2).astype(jnp.int32)

    def zero(self) -> jax.Array:
        """Return the first value of a counter."""
        return jnp.int32(0)

    def clone(self, x: tp.Any) -> tp.Any:
        """Return a copy of an object graph."""
        return copied(x, {}) if self.is_reference else self.nnx.clone(x)

    def update_by_state(self, x: tp.Any, which: tp.Any) -> None:
        """Replace the values of some Variables by their sines, by way of a State."""
        if self.is_reference:
            for _, slot in slow_objects.walk(x):
                if slow_objects.matches(which, slow_objects.leaf_of(slot)):
                    slow_objects.put(slot, jnp.sin(slow_objects.get(slot)))
        else:
            self.nnx.update(x, jax.tree.map(jnp.sin, self.nnx.state(x, which)))

    def custom(self, function: tp.Callable, scale: float) -> tp.Callable:
        """Return the function with a rule of its own: each cotangent is `scale` times the sum of the result's."""
        if self.is_reference:
            return self.reference_custom(function, scale)
        nnx = self.nnx
        made = nnx.custom_vjp(function)

        def fwd(*args: tp.Any) -> tp.Any:
            kept = [a if isinstance(a, jax.Array) else nnx.state(nnx.clone(a)) for a in args]
            return made(*args), kept

        def bwd(kept: tp.Any, cotangents: tp.Any) -> tp.Any:
            total = cotangents[1].sum() * scale
            return tuple(
                jax.tree.map(lambda leaf: jnp.full_like(leaf, 1.0) * total, k) for k in kept
            )

        made.defvjp(fwd, bwd)
        return made

    def reference_custom(self, function: tp.Callable, scale: float) -> tp.Callable:
        """A function with the value of the given one and the derivative of the rule."""

        @self.nnx.guarded
        def call(*args: tp.Any) -> jax.Array:
            inputs = [a for a in args if isinstance(a, jax.Array)]
            seen: set[int] = set()
            for arg in args:
                inputs += [slow_objects.get(slot) for _, slot in slow_objects.walk(arg, (), seen)]
            before = {slow_objects.slot_id(s): slow_objects.get(s) for s in self.nnx.slots()}
            # Later uses of the Variables of an argument go through the rule, changed or not.
            slots = [s for arg in args for _, s in slow_objects.walk(arg)]
            through = {slow_objects.slot_id(s) for s in slots if s[1] is None}
            result = lax.stop_gradient(function(*args))
            for slot in self.nnx.slots():
                changed = slow_objects.get(slot) is not before.get(slow_objects.slot_id(slot))
                if changed or slow_objects.slot_id(slot) in through:
                    slow_objects.put(slot, lax.stop_gradient(slow_objects.get(slot)))
            for x in inputs:
                result = result + scale * (x - lax.stop_gradient(x)).sum()
            return result

        return call

    def fail(self) -> None:
        """Raise the error of the program itself."""
        raise ProgramError

    # -- what a user sees -------------------------------------------------------------------------------

    def see(self, x: jax.Array, *roots: tp.Any) -> None:
        """Note the register and everything that can be reached."""
        known = {id(o) for o in self.held}
        self.held += [o for o in self.own(*roots) if id(o) not in known]
        self.seen.append((self.describe((x, *roots)), self.describe((x, *roots, self.held))))

    def describe(self, root: tp.Any) -> tuple[list[tp.Any], list[np.ndarray]]:
        """Describe structure and identity as plain values; return the arrays beside them."""
        entries: list[tp.Any] = []
        arrays: list[np.ndarray] = []
        seen: dict[int, tp.Any] = {}

        def visit(path: tuple[tp.Any, ...], x: tp.Any) -> None:
            if self.is_node(x) or self.is_variable(x):
                if id(x) in seen:
                    entries.append((path, "is", seen[id(x)]))
                    return
                seen[id(x)] = path
            if self.is_variable(x):
                metadata = x.get_metadata()
                kept = {k: metadata[k] for k in sorted(metadata) if k in ("note", "tag")}
                entries.append((path, type(x).__name__, kept))
                visit((*path, "value"), x.get_value())
            elif isinstance(x, jax.Array | np.ndarray):
                entries.append((path, "array", x.shape, str(x.dtype)))
                arrays.append(np.asarray(x))
            elif self.is_node(x) or isinstance(x, list | dict | tuple):
                entries.append((path, type(x).__name__))
                for key, child in self.children(x):
                    visit((*path, key), child)
            elif hasattr(x, "items"):
                entries.append((path, "State"))
                for key, leaf in self.flat(x):
                    visit((*path, key), leaf[...] if self.is_variable(leaf) else leaf)
            else:
                entries.append((path, type(x).__name__, repr(x)))

        visit((), root)
        return entries, arrays


class ProgramError(Exception):
    """What programs raise."""


def two_classes(nnx: tp.Any) -> tuple[tp.Any, tp.Any]:
    """Make the classes of Modules of programs."""
    base = types.new_class("M", (nnx.Module,))
    return base, types.new_class("N", (base,))


module_classes = functools.cache(two_classes)


class Config:
    """A static value that is compared by content and has no hash."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.size == other.size

    __hash__ = None  # type: ignore[assignment]  # that is the point

    def __repr__(self) -> str:
        return f"Config({self.size})"
