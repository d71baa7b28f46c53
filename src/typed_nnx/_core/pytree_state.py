"""The bookkeeping of a Pytree under the names of flax, as attributes and as rows of a walk."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class TraceState:
    """The jax trace that an object belongs to."""

    jax_trace: Any


@dataclasses.dataclass(frozen=True)
class PytreeState:
    """Which trace a Pytree belongs to, as ``iter_graph`` shows it."""

    trace_state: TraceState


class HashableMapping(dict[str, bool]):
    """The status of each attribute of a Pytree, True for data."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]  # it is not changed after it was made
        return hash(tuple(sorted(self.items())))


class Bookkeeping:
    """Two attributes of a Pytree that flax keeps in it, read from where they are here."""

    __slots__ = ()

    @property
    def _pytree__nodes(self) -> HashableMapping:
        """Whether each attribute is data."""
        found: HashableMapping = own_rows(self)["_pytree__nodes"]
        return found

    @property
    def _pytree__state(self) -> PytreeState:
        """The jax trace of the object."""
        found: PytreeState = own_rows(self)["_pytree__state"]
        return found


def own_rows(node: Any) -> dict[str, Any]:
    """Return the bookkeeping of a Pytree under the names that flax gives them."""
    statuses = {"_pytree__state": True, **node._nnx_status}
    if node._nnx_is_pytree:
        statuses["_pytree__nodes"] = False
    return {
        "_pytree__nodes": HashableMapping(statuses),
        "_pytree__state": PytreeState(TraceState(node._nnx_trace)),
    }
