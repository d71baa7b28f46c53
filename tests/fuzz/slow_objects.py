"""The objects of a slow nnx, and the places of what they hold."""

from __future__ import annotations

import dataclasses
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
