"""How to call a jitted function whose first arguments are bound, worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.trace import context
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.record import Record
from typed_nnx._transforms import jit_dispatch
from typed_nnx._transforms.gather import Place, read
from typed_nnx._transforms.signature import Effects, Signature


class Plan:
    """How to call a jitted function with some bound arguments.

    Attributes:
        signatures: What is static about a call, by the number of the arguments that are not bound, which
            hold no objects.
        statics: Which of those are static.
        may_capture: Whether the function may come to close over a Module.
    """

    __slots__ = (
        "_containers",
        "_gathered",
        "_last",
        "_records",
        "may_capture",
        "signatures",
        "statics",
    )

    def __init__(
        self, gathered: jit_dispatch.Gathered, statics: frozenset[int], may_capture: bool
    ) -> None:
        following = iter(gathered.records)
        self._gathered = gathered
        # The records of the arguments that are objects, with the positions of the latter, and the
        # structures for which the plan is good: a record that is patched has another one.
        self._records: list[tuple[int, Record, GraphDef[Any]]] = [
            (number, record, record.graphdef)
            for number, token in enumerate(gathered.key)
            if token is not None
            for record in [next(following)]
        ]
        self._containers = [
            value
            for token, value in zip(gathered.key, gathered.values, strict=True)
            if token is None and isinstance(value, list | dict | tuple)
        ]
        self.statics = statics
        self.may_capture = may_capture
        self.signatures: dict[int, Signature] = {}
        # What the last call changed, in which Variables, and under which trace: it will be the same.
        self._last: tuple[Effects | None, list[jit_dispatch.Target], Any] = (None, [], None)

    @classmethod
    def of(cls, jitted: Any, bound: Sequence[Any]) -> Self | None:
        """Return the plan for a jitted function; None if only the general way will do.

        Args:
            jitted: What `jit` returned.
            bound: The first arguments.
        """
        captures = jitted._lift.captures()
        gathered = jit_dispatch.gather(bound, jitted._statics)
        if captures.objects or gathered is None:
            return None
        statics = frozenset([number - len(bound) for number in jitted._statics])
        return cls(gathered, statics, not captures.is_nothing)

    def fits(self, signature: Signature) -> bool:
        """Whether a signature is for the structures of the plan."""
        tokens = [structure.token for _, _, structure in self._records]
        return [part.graphdef.token for part in signature.parts] == tokens

    def places(self, bound: Sequence[Any], values: list[Any], signature: Signature) -> list[Place]:
        """Return where the values of the bound arguments live."""
        return self._gathered._replace(values=values).places(bound, signature)

    def current(self) -> list[Any] | None:
        """Return the bound arguments as jax takes them; None if a structure changed."""
        if not all(map(jit_dispatch.is_plain, self._containers)):
            return None
        values = self._gathered.values.copy()
        with graph_lock:  # as in `jit_dispatch.gather`
            for number, record, structure in self._records:
                if record.graphdef is not structure or not record.is_current():
                    return None
                values[number] = record.cell.values or read(record)
        return values

    def write(self, effects: Effects, updates: Sequence[list[Any]]) -> bool:
        """Write changed values into the Variables; False if the general way is needed."""
        known, targets, trace = self._last
        if effects is not known or context.trace is not trace:
            records = [record for _, record, _ in self._records]
            if not effects.is_only_values or not jit_dispatch.write(records, effects, updates):
                return False
            self._last = (effects, jit_dispatch.targets_of(records, effects), context.trace)
            return True
        jit_dispatch.write_targets(targets, updates)
        return True
