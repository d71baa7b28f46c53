"""Signatures of calls, each kept once, so that what was made for one is found again by identity."""

from __future__ import annotations

from typing import Any

from typed_nnx._transforms.bounded import Bounded
from typed_nnx._transforms.signature import Signature


class Interned:
    """The signatures with which one function was called."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: Bounded[Any, Signature] = Bounded()

    def of(self, signature: Signature) -> Signature:
        """Return the one signature that is equal to the given one.

        Raises:
            UnhashableStaticError: A static value in it has no hash.
        """
        key = signature.key
        known = self._known.get(key)
        return self._known.add(key, signature) if known is None else known

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()
