"""`Dict`: a dict that is a Module, so that what it holds is data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from typed_nnx._core.display import DictDisplay
from typed_nnx._core.fields import Mark
from typed_nnx._core.module import Module
from typed_nnx._core.pytree_checks import decide_status

A = TypeVar("A")


class Dict(DictDisplay, Module, MutableMapping[str, A]):
    """A dict with text keys whose arrays, Variables and Modules are data.

    The entries are attributes too: ``d["a"]`` is ``d.a``.

    Args:
        *args: A mapping or pairs, as for the built-in dict.
        **kwargs: More entries.
    """

    @overload
    def __init__(
        self, mapping: Mapping[str, A] | Iterable[tuple[str, A]], /, **kwargs: A
    ) -> None: ...
    @overload
    def __init__(self, /, **kwargs: A) -> None: ...
    def __init__(self, /, *args: Any, **kwargs: Any) -> None:
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __getitem__(self, key: str) -> A:
        found: A = self.__dict__[key]
        return found

    def __setitem__(self, key: str, value: A) -> None:
        _check_key(key)
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        if key not in self.__dict__:
            raise KeyError(key)
        delattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.__dict__))

    def __len__(self) -> int:
        return len(self.__dict__)

    def __contains__(self, key: object) -> bool:
        return key in self.__dict__

    def __getattr__(self, name: str) -> A:
        # Reached only for what does not exist; it gives type checkers the type of the entries.
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    if not TYPE_CHECKING:  # the inherited signature is the precise one

        def update(self, other=(), /, **kwds):
            """Set entries: all of them, or none if one of them is not allowed."""
            entries = dict(other, **kwds)
            for key, value in entries.items():
                self._check_entry(key, value)
            for key, value in entries.items():
                self[key] = value

    def _check_entry(self, key: str, value: Any) -> None:
        """Raise what assigning an entry would raise."""
        _check_key(key)
        if not self._nnx_is_pytree:
            return
        current = self._nnx_status.get(key)
        if type(value) is Mark:
            decide_status(self, key, value.value, value.is_data, None, current)
        else:
            decide_status(self, key, value, None, self._nnx_declared.get(key), current)

    def _marked(self) -> dict[str, Any]:
        """Return the entries, each with the status that it has."""
        status = self._nnx_status
        return {
            name: Mark(value, status[name]) if name in status else value
            for name, value in self.__dict__.items()
        }

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self.__dict__))

    def copy(self) -> Dict[A]:
        """Return a Dict with the same entries."""
        return type(self)(self._marked())

    def __or__(self, other: Mapping[str, A]) -> Dict[A]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return type(self)({**self._marked(), **_marked_entries(other)})

    def __ror__(self, other: Mapping[str, A]) -> Dict[A]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return type(self)({**other, **self._marked()})

    def __ior__(self, other: Mapping[str, A]) -> Self:
        self.update(other)
        return self

    def __hash__(self) -> int:
        return id(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.__dict__)


def _check_key(key: object) -> None:
    if not isinstance(key, str):
        raise TypeError(
            f"nnx.Dict: the key is {key!r} ({type(key).__name__}); attribute name must be "
            "string.\n  Fix: use an nnx.List for integer keys, or nnx.data({...})"
        )


def _marked_entries(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping._marked() if isinstance(mapping, Dict) else mapping
