"""How to call a jitted function whose first arguments are bound, worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from typed_nnx._core.trace import context
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.record import Record
from typed_nnx._transforms import jit_dispatch
from typed_nnx._transforms.bounded import Bounded
from typed_nnx._transforms.signature import Effects, Signature


class Plan:
    """How to call a jitted function with some bound arguments.

    Attributes:
        signatures: What is static about a call, by the types of the arguments that are not bound.
        may_capture: Whether the function may come to close over a Module.
    """

    __slots__ = (
        "_effects",
        "_records",
        "_targets",
        "_trace",
        "_values",
        "may_capture",
        "signatures",
    )

    def __init__(self, gathered: jit_dispatch.Gathered, may_capture: bool) -> None:
        following = iter(gathered.records)
        self._values = gathered.values
        # The records of the arguments that are objects, with the positions of the latter, and the
        # structures for which the plan is good: a record that is patched has another one.
        self._records: list[tuple[int, Record, GraphDef[Any]]] = [
            (number, record, record.graphdef)
            for number, token in enumerate(gathered.key)
            if token is not None
            for record in [next(following)]
        ]
        self.may_capture = may_capture
        self.signatures: Bounded[tuple[type, ...], Signature] = Bounded()
        # What the last call changed, and in which Variables: it will be the same again.
        self._effects: Effects | None = None
        self._targets: list[jit_dispatch.Target] = []
        self._trace: Any = None

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
        return cls(gathered, not captures.is_nothing)

    def current(self) -> list[Any] | None:
        """Return the bound arguments as jax takes them; None if a structure changed."""
        values = self._values.copy()
        for number, record, structure in self._records:
            cell = record.cell
            if (
                not cell.valid
                or cell.dirty
                or record.graphdef is not structure
                or (record.watch is not None and not record.watch.holds())
            ):
                return None
            values[number] = cell.values or jit_dispatch.read(record)
        return values

    def write(self, effects: Effects, updates: Sequence[list[Any]]) -> bool:
        """Write changed values into the Variables; False if the general way is needed."""
        if effects is not self._effects:
            return effects.is_only_values and self._write_first(effects, updates)
        if context.trace is not self._trace:
            return False
        for target, new in zip(self._targets, updates, strict=True):
            if new:
                target.write(new)
        return True

    def _write_first(self, effects: Effects, updates: Sequence[list[Any]]) -> bool:
        records = [record for _, record, _ in self._records]
        if not jit_dispatch.write(records, effects, updates):
            return False
        self._effects = None  # while the others are being replaced
        self._targets = [
            jit_dispatch.Target(record, changed)
            for record, changed in zip(records, effects.changed, strict=True)
        ]
        self._trace = context.trace
        self._effects = effects
        return True
