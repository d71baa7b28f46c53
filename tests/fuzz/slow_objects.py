"""The objects of a slow nnx, and all that were made as a whole: snapshots, places, structure."""

from __future__ import annotations

import dataclasses
import functools
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Path = tuple[tp.Any, ...]
Slot = tuple[tp.Any, tp.Any]


class RuleError(ValueError):
    """What the rules of the transforms forbid."""


class UnclearError(Exception):
    """The reference does not say what this means."""


class Pytree:
    """What can be shared: Modules, Lists, Dicts."""


class Variable:
    """A value with metadata."""

    def __init__(self, value: tp.Any, **metadata: tp.Any) -> None:
        self.raw = value
        self.metadata = dict(metadata)

    def __getitem__(self, key: tp.Any) -> tp.Any:
        return self.raw if key is ... else self.raw[key]

    def __setitem__(self, key: tp.Any, value: tp.Any) -> None:
        self.raw = value if key is ... else self.raw.at[key].set(value)

    def get_value(self) -> tp.Any:
        return self.raw

    def set_value(self, value: tp.Any) -> None:
        self.raw = value

    def get_metadata(self) -> dict[str, tp.Any]:
        return self.metadata

    def set_metadata(self, **metadata: tp.Any) -> None:
        self.metadata.update(metadata)


class Param(Variable):
    pass


class BatchStat(Variable):
    pass


class Cache(Variable):
    pass


class Carry:
    """Marks the carry of `scan`."""


class Not:
    def __init__(self, inner: tp.Any) -> None:
        self.inner = inner


class StateAxes(dict[tp.Any, tp.Any]):
    """Filter -> axis."""


@dataclasses.dataclass
class DiffState:
    argnum: int
    filter: tp.Any


class State(dict[Path, tp.Any]):
    """Gradients: path -> array."""


def matches(chosen: tp.Any, variable: tp.Any) -> bool:
    """Tell whether a filter takes a leaf; bare arrays have no type."""
    if chosen is ... or chosen is True:
        return True
    if isinstance(chosen, Not):
        return not matches(chosen.inner, variable)
    if isinstance(chosen, tuple):
        return any(matches(part, variable) for part in chosen)
    return isinstance(variable, chosen)


def is_array(x: tp.Any) -> bool:
    return isinstance(x, jax.Array | np.ndarray)


def items(x: tp.Any) -> list[tuple[tp.Any, tp.Any]]:
    """Return the (key, value) pairs of a node or container, sorted as the library sorts them."""
    if isinstance(x, Sequence):
        return list(enumerate(x.elements))
    if isinstance(x, Pytree):
        return sorted((k, v) for k, v in vars(x).items() if k not in vars(x).get("_static", ()))
    if isinstance(x, dict):
        return sorted(x.items())
    if isinstance(x, list | tuple):
        return list(enumerate(x))
    return []


class Sequence(Pytree):
    """A List."""

    def __init__(self, elements: tp.Iterable[tp.Any] = ()) -> None:
        self.elements = list(elements)

    def append(self, x: tp.Any) -> None:
        self.elements.append(x)

    def pop(self, index: int = -1) -> tp.Any:
        return self.elements.pop(index)

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> tp.Iterator[tp.Any]:
        return iter(self.elements)

    def __getitem__(self, index: int) -> tp.Any:
        return self.elements[index]

    def __setitem__(self, index: int, x: tp.Any) -> None:
        self.elements[index] = x


def walk(
    root: tp.Any, path: Path = (), seen: set[int] | None = None
) -> tp.Iterator[tuple[Path, Slot]]:
    """Yield (path, slot) of each Variable and array below a value, each once; see `get` and `put`."""
    seen = set() if seen is None else seen
    if isinstance(root, Variable):
        if id(root) not in seen:
            seen.add(id(root))
            yield path, (root, None)
        return
    if isinstance(root, Pytree):
        if id(root) in seen:
            return
        seen.add(id(root))
    for key, value in items(root):
        if is_array(value):
            if not isinstance(root, tuple):
                yield (*path, key), (root, key)
        else:
            yield from walk(value, (*path, key), seen)


def differ(one: tp.Iterable[tp.Any], two: tp.Iterable[tp.Any]) -> bool:
    """Whether two lists of (key, value) have other keys or other objects as values."""
    return [(key, id(value)) for key, value in one] != [(key, id(value)) for key, value in two]


def get(slot: Slot) -> tp.Any:
    holder, key = slot
    if key is None:
        return holder.raw
    if isinstance(holder, Sequence):
        return holder.elements[key]
    return getattr(holder, key) if isinstance(holder, Pytree) else holder[key]


def put(slot: Slot, value: tp.Any) -> None:
    holder, key = slot
    if key is None:
        holder.raw = value
    elif isinstance(holder, Sequence):
        holder.elements[key] = value
    elif isinstance(holder, Pytree):
        vars(holder)[key] = value
    else:
        holder[key] = value


def slot_id(slot: Slot) -> tuple[int, tp.Any]:
    return id(slot[0]), slot[1]


def leaf_of(slot: Slot) -> tp.Any:
    """Return what a filter is asked about."""
    return slot[0] if slot[1] is None else get(slot)


def same(a: tp.Any, b: tp.Any) -> bool:
    """Compare two values, which may be tracers of a gradient, by their numbers."""
    if a is b:
        return True
    if a.shape != b.shape:
        return False
    return bool(jnp.all(jnp.abs(lax.stop_gradient(a) - lax.stop_gradient(b)) < 1e-7))


def arrays_of(result: tp.Any) -> list[tp.Any]:
    """Return the arrays of nested tuples, lists and dicts, not those in objects."""
    if is_array(result):
        return [result]
    if isinstance(result, list | tuple):
        return [x for part in result for x in arrays_of(part)]
    if isinstance(result, dict):
        return [x for _, part in sorted(result.items()) for x in arrays_of(part)]
    return []


def with_arrays(result: tp.Any, arrays: tp.Iterator[tp.Any]) -> tp.Any:
    """Return a result with other arrays, in the order of `arrays_of`."""
    if is_array(result):
        return next(arrays)
    if isinstance(result, list | tuple):
        return type(result)([with_arrays(part, arrays) for part in result])
    if isinstance(result, dict):
        return type(result)((k, with_arrays(v, arrays)) for k, v in sorted(result.items()))
    return result


class Objects:
    """The classes of the library, and all objects that were made of them.

    Attributes:
        facts: What happened that flax does otherwise, in the words of `compare.EXCUSES`.
    """

    Pytree, Variable, Param, BatchStat, Cache = Pytree, Variable, Param, BatchStat, Cache
    Carry, Not, StateAxes, DiffState, State = Carry, Not, StateAxes, DiffState, State

    def __init__(self) -> None:
        self.facts: set[str] = set()
        self.depth = 0  # of transforms
        self.mapping = 0  # of vmap
        made = self.made = []  # type: list[tp.Any]

        class Registered:
            def __new__(cls, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
                new = object.__new__(cls)
                made.append(new)
                return new

        self.Module = type("Module", (Registered, Pytree), {})
        self.List = type("List", (Registered, Sequence), {})
        for cls in (Variable, Param, BatchStat, Cache):
            setattr(self, cls.__name__, type(cls.__name__, (Registered, cls), {}))

    # -- the world as a whole -----------------------------------------------------------------------

    def slots(self, objects: tp.Sequence[tp.Any] | None = None) -> list[Slot]:
        """Return every place that holds an array, of some or all objects."""
        found: list[Slot] = []
        seen: set[int] = set()

        def inside(holder: tp.Any) -> None:
            if id(holder) in seen:
                return
            seen.add(id(holder))
            for key, value in items(holder):
                if is_array(value) and not isinstance(holder, tuple):
                    found.append((holder, key))
                elif isinstance(value, list | dict | tuple):
                    inside(value)

        for x in self.made if objects is None else objects:
            if isinstance(x, Variable):
                found.append((x, None))
            else:
                inside(x)
        return found

    def snapshot(self) -> tp.Callable[[], None]:
        """Return what brings every object back to how it is now."""
        number = len(self.made)
        kept: list[tuple[tp.Any, tp.Any]] = []

        def keep(x: tp.Any) -> None:
            if isinstance(x, list | dict):
                kept.append((x, x.copy()))
            children = vars(x).items() if isinstance(x, Pytree) else items(x)
            for _, value in children:
                if isinstance(value, list | dict | tuple):
                    keep(value)

        for x in self.made:
            if isinstance(x, Variable):
                kept.append((x, (x.raw, dict(x.metadata))))
            else:
                kept.append((x, (type(x), dict(vars(x)))))
                keep(x)

        def restore() -> None:
            del self.made[number:]
            for x, content in kept:
                if isinstance(x, Variable):
                    x.raw, x.metadata = content[0], dict(content[1])
                elif isinstance(x, list):
                    x[:] = content
                elif isinstance(x, dict):
                    x.clear()
                    x.update(content)
                else:
                    x.__class__ = content[0]
                    vars(x).clear()
                    vars(x).update(content[1])

        return restore

    def reached(self, number: int, result: tp.Any = None) -> list[tp.Any]:
        """Return the first `number` objects, then those that they and a result reach, in order."""
        found: list[tp.Any] = list(self.made[:number])
        seen = {id(x) for x in found}

        def visit(x: tp.Any) -> None:
            if isinstance(x, Variable | Pytree):
                if id(x) in seen:
                    return
                seen.add(id(x))
                found.append(x)
            for _, child in items(x):
                visit(child)

        for x in self.made[:number]:
            for _, child in items(x):
                visit(child)
        visit(result)
        return found

    def structure(
        self,
        number: int,
        result: tp.Any = None,
        deep: bool = True,
        metadata: bool = True,
        statics: bool = True,
    ) -> tp.Any:
        """Describe without values the first `number` objects, and what they and a result reach.

        With `deep=False` only the first ones are described.
        """

        def has_part(x: tp.Any) -> bool:
            return is_array(x) or isinstance(x, Variable | Pytree | list | dict | tuple)

        found = self.reached(number, result)
        index = {id(x): n for n, x in enumerate(found)}

        def view(x: tp.Any) -> tp.Any:
            if id(x) in index:
                return "object", index[id(x)]
            if is_array(x):
                return "array", x.shape
            if isinstance(x, list | dict | tuple):
                return type(x).__name__, [(k, view(v)) for k, v in items(x)]
            return type(x).__name__, repr(x)

        views = [view(result)]
        for x in found if deep else found[:number]:
            if isinstance(x, Variable):
                notes = sorted(x.metadata.items()) if metadata else ()
                views.append((type(x).__name__, x.raw.shape, notes))
            else:
                parts = {k: v for k, v in vars(x).items() if statics or has_part(v)}
                views.append((type(x).__name__, view(parts)))
        return views

    def guarded(self, function: tp.Callable, fixed: bool = False) -> tp.Callable:
        """An error inside leaves all objects as they were; `fixed` forbids to change structure."""

        @functools.wraps(function)
        def call(*args: tp.Any, **kwargs: tp.Any) -> tp.Any:
            restore, number = self.snapshot(), len(self.made)
            structure = self.structure(number, metadata=False) if fixed else None
            given = {slot_id(s): (s, get(s)) for _, s in walk((*args, *kwargs.values()))}
            nodes = [
                (x, list(items(x)))
                for x in self.reached(0, (*args, *kwargs.values()))
                if isinstance(x, Pytree)
            ]
            self.depth += 1
            try:
                result = function(*args, **kwargs)
                if fixed and any(s[1] is not None and get(s) is not x for s, x in given.values()):
                    self.facts.add("array in fixed structure")
                if fixed and self.structure(number, None, False, False) != structure:
                    raise RuleError("the structure changed")
                left = {slot_id(s) for _, s in walk((*args, *kwargs.values(), result))}
                stay = {id(x) for x in self.reached(0, (*args, *kwargs.values(), result))}
                if any(
                    get(s) is not x
                    for name, (s, x) in given.items()
                    if name not in left and s[1] is None
                ) or any(id(x) not in stay and differ(items(x), old) for x, old in nodes):
                    self.facts.add("removed")
                return result
            except Exception:
                restore()
                raise
            finally:
                self.depth -= 1

        return call
