"""What is asked of models, whichever runtime they are of: typed_nnx or flax.nnx."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

# Variables that Linen has no counterpart for, or none that `init` returns.
_NO_COUNTERPART = frozenset({"RngState", "Intermediate", "Perturbation"})

# Bases of every module: that a class has them says nothing about its variables.
_BARE = frozenset({"Module", "Pytree", "Object", "GraphNode"})


class NowhereError(LookupError):
    """An attribute path that leads nowhere; the message says where it ends."""


def runtime_of(cls: type) -> Any:
    """Return the package that a class of models is of, typed_nnx or flax.nnx.

    Raises:
        TypeError: It is of neither.
    """
    for base in cls.__mro__:
        name = base.__module__
        if name.split(".")[0] == "typed_nnx":
            return importlib.import_module("typed_nnx")
        if name.startswith("flax.nnx"):
            return importlib.import_module("flax.nnx")
    raise TypeError(f"{cls.__name__} is not a module of typed_nnx or flax.nnx")


def is_of_library(cls: type) -> bool:
    """Whether a class is of typed_nnx or flax.nnx itself."""
    return cls.__module__.split(".")[0] == "typed_nnx" or cls.__module__.startswith("flax.nnx")


def is_library_layer(cls: type) -> bool:
    """Whether a class is a layer or container of the library, or made of one."""
    return any(
        is_of_library(base) and base.__name__ not in _BARE and _BARE & set(_names(base))
        for base in cls.__mro__
    )


def _names(cls: type) -> list[str]:
    return [base.__name__ for base in cls.__mro__]


def is_module(value: Any) -> bool:
    """Whether a value is a module or another object with state, and no Variable."""
    names = {base.__name__ for base in type(value).__mro__ if is_of_library(base)}
    return bool(names & _BARE) and "Variable" not in names


def is_variable(value: Any) -> bool:
    """Whether a value is a Variable."""
    return any(base.__name__ == "Variable" and is_of_library(base) for base in type(value).__mro__)


def is_array(value: Any) -> bool:
    """Whether a value is an array that an attribute may hold."""
    return isinstance(value, jax.Array | np.ndarray | jax.ShapeDtypeStruct)


def has_counterpart(variable: Any) -> bool:
    """Whether Linen variables can fill a Variable: not those of random numbers and sown values."""
    return not any(base.__name__ in _NO_COUNTERPART for base in type(variable).__mro__)


def value_of(variable: Any) -> Any:
    """Return the value of a Variable."""
    if hasattr(variable, "get_value"):
        return variable.get_value()
    return variable.value


def set_value(variable: Any, value: Any) -> None:
    """Give a Variable a value."""
    if hasattr(variable, "set_value"):
        variable.set_value(value)
    else:
        variable.value = value


def variables_of(model: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the Variables of a model with the names and indices that lead there, each once."""
    for path, value in runtime_of(type(model)).iter_graph(model):
        if is_variable(value):
            yield tuple(path), value


@dataclass(frozen=True)
class Slot:
    """A place in a model.

    Attributes:
        path: The attribute path, for errors.
        holder: What has it as an attribute or item.
        key: The name or index there.
        content: What is there now: a Variable, an array, a module or a container.
        keys: The names and indices that lead there from the model.
        collection: The Linen collection of what goes there, where it is a Variable to be made.
    """

    path: str
    holder: Any
    key: Any
    content: Any
    keys: tuple[Any, ...] = ()
    collection: str = ""

    @property
    def is_unmade(self) -> bool:
        """Whether a Variable belongs there that calls make, and none did so far."""
        return self.content is None and bool(self.collection)

    @property
    def identity(self) -> object:
        """What two places with one value share."""
        if is_variable(self.content):
            return id(self.content)
        return (id(self.holder), self.key)

    @property
    def value(self) -> Any:
        """The value that is there now."""
        return value_of(self.content) if is_variable(self.content) else self.content

    def fill(self, value: Any) -> None:
        """Put a value there."""
        if is_variable(self.content):
            set_value(self.content, value)
        elif self.is_unmade:
            kind = runtime_of(type(self.holder)).variable_type_from_name(
                self.collection, allow_register=True
            )
            setattr(self.holder, self.key, kind(value))
        elif _by_item(self.holder, self.key):
            self.holder[self.key] = value
        else:
            setattr(self.holder, self.key, value)


def resolve(slot: Slot, parts: tuple[str, ...]) -> Slot:
    """Return the place that an attribute path leads to.

    Args:
        slot: What the path begins at.
        parts: The parts of the path.

    Raises:
        NowhereError: There is no such attribute or item.
    """
    while parts:
        slot, parts = _first(slot, parts)
    return slot


def _first(slot: Slot, parts: tuple[str, ...]) -> tuple[Slot, tuple[str, ...]]:
    """Return the place that a path begins with, and the rest of the path.

    Keys of a Dict may have dots, as Linen names do: then several parts are one key.
    """
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        if _key(slot.content, name) is not None:
            return step(slot, name), parts[count:]
    return step(slot, parts[0]), parts[1:]


def step(slot: Slot, part: str) -> Slot:
    """Return the place with a name, or a number, in a place.

    Raises:
        NowhereError: There is no such attribute or item.
    """
    content = slot.content
    path = f"{slot.path}.{part}" if slot.path else part
    if is_variable(content) or is_array(content) or content is None:
        raise NowhereError(f"{slot.path} is a {type(content).__name__} and has no {part!r}")
    key = _key(content, part)
    if key is None:
        raise NowhereError(f"{type(content).__name__}{_at(slot)} has no {part!r}{_size(content)}")
    return Slot(path, content, key, _at_key(content, key), (*slot.keys, key))


def slot_in(model: Any, keys: tuple[Any, ...]) -> Slot:
    """Return the place in a model that names and indices lead to."""
    slot = Slot("", None, None, model)
    for key in keys:
        path = f"{slot.path}.{key}" if slot.path else f"{key}"
        slot = Slot(path, slot.content, key, _at_key(slot.content, key), (*slot.keys, key))
    return slot


def _at_key(content: Any, key: Any) -> Any:
    return content[key] if _by_item(content, key) else getattr(content, key)


def _key(content: Any, part: str) -> Any:
    """Return the item or attribute that a part of a path means, None where there is none."""
    if isinstance(content, Mapping):
        return next((key for key in content if str(key) == part), None)
    # Not `hasattr`: a class attribute is a method or a default, no state.
    if part in getattr(content, "__dict__", {}):
        return part
    if part.isdecimal() and hasattr(content, "__len__") and hasattr(content, "__getitem__"):
        return int(part) if int(part) < len(content) else None
    return None


def _by_item(content: Any, key: Any) -> bool:
    return isinstance(content, Mapping) or isinstance(key, int)


def _at(slot: Slot) -> str:
    return f" at {slot.path}" if slot.path else ""


def _size(content: Any) -> str:
    return f", only {len(content)} items" if isinstance(content, list | tuple) else ""
