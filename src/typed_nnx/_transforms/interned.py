"""Signatures of calls, each kept once, so that what was made for one is found again by identity."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from typed_nnx._core.bounded import Bounded
from typed_nnx._core.var_defaults import current_defaults
from typed_nnx._graph.mode import resolve_modes
from typed_nnx._transforms.captures import EMPTY, Captures
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.signature import Signature

T = TypeVar("T")


class Interned:
    """The signatures with which one function was called."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: Bounded[Any, Signature] = Bounded()

    def of(self, signature: Signature) -> Signature:
        """Return the one signature that is equal to the given one."""
        key = signature.key
        known = self._known[key]
        return self._known.add(key, signature) if known is None else known

    def __iter__(self) -> Iterator[Signature]:
        return iter(list(self._known.values()))

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()


class Kept(Generic[T]):
    """What was made for each kind of call of one function, as long as the function sees the same.

    A trace has read more than its arguments: what the function closes over and the globals that it
    names, settings, context variables. After a change of these everything is made anew. Nothing is
    kept where a change would not be seen: of a Module that is a global, of an attribute of an object
    that jax does not know.

    Args:
        lift: The function.
    """

    __slots__ = ("_lift", "_made", "_signatures", "_surroundings")

    def __init__(self, lift: Lift) -> None:
        self._lift = lift
        self._signatures = Interned()
        self._made: Bounded[Any, T] = Bounded(64)
        self._surroundings: _Surroundings | None = None

    def of(self, signature: Signature, key: Hashable, make: Callable[[Signature], T]) -> T:
        """Return what is made for one kind of call; the same for the same kind.

        Args:
            signature: What is static about the objects of the call.
            key: What else it depends on.
            make: Makes it; it must not hold anything else of the call.
        """
        captures = self._lift.captures()
        found = self._surroundings
        if found is None or not found.are_current(captures):
            self._made.clear()
            found = self._surroundings = _Surroundings(captures)
        if not found.can_be_watched:
            return make(signature)
        try:
            signature = self._signatures.of(signature)
            known = self._made[signature, key]
        except TypeError:  # something in an argument has no hash
            return make(signature)
        return self._made.add((signature, key), make(signature)) if known is None else known

    def accept_changes(self) -> None:
        """Have what the function itself did while it was traced, such as to count, not matter."""
        before, captures = self._surroundings, self._lift.captures()
        if before is None or before.are_current(captures):
            return
        if list(map(id, before.captures.objects)) == list(map(id, captures.objects)):
            self._surroundings = _Surroundings(captures)


class _Surroundings:
    """What a trace may have read besides its arguments.

    Attributes:
        captures: What the function closes over.
        can_be_watched: Whether all changes of these are seen.
    """

    __slots__ = ("_context", "_globals", "_settings", "can_be_watched", "captures")

    def __init__(self, captures: Captures) -> None:
        self.captures = captures
        self._globals = [(*found, Captures(found[2])) for found in captures.globals()]
        self._settings = _settings()
        self._context = copy_context()
        self.can_be_watched: bool = captures.can_be_watched() and all(
            own.can_be_watched() and not own.objects for *_, own in self._globals
        )

    def are_current(self, captures: Captures) -> bool:
        """Whether they are as they were."""
        context = copy_context()
        return (
            self.captures is captures
            and self._settings == _settings()
            and len(self._context) == len(context)
            and all(context.get(key, EMPTY) is value for key, value in self._context.items())
            and all(
                holder.get(name, EMPTY) is value and own.is_current()
                for holder, name, value, own in self._globals
            )
        )


def _settings() -> Any:
    defaults = current_defaults()
    return (*resolve_modes(None, None), defaults.hijax, defaults.ref, defaults.eager_sharding)
