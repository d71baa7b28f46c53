"""Signatures of calls, each kept once, so that what was made for one is found again by identity."""

from __future__ import annotations

from typing import Any

from typed_nnx._transforms.signature import Signature

_MANY = 4096


class Interned:
    """The signatures with which one function was called."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Any, Signature] = {}

    def of(self, signature: Signature) -> Signature:
        """Return the one signature that is equal to the given one.

        Raises:
            UnhashableStaticError: A static value in it has no hash.
        """
        key = signature.key
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MANY:
                self._known.clear()
            known = self._known.setdefault(key, signature)
        return known

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()
