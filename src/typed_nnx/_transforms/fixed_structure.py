"""Functions of which the first arguments must keep their structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typed_nnx._transforms.lift import Lift, Modes
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import place_name
from typed_nnx._transforms.prefixes import Prefix
from typed_nnx._transforms.result_checks import NO_PREFIX
from typed_nnx._transforms.signature import Part, Signature
from typed_nnx._transforms.structure_changes import changes_of
from typed_nnx.errors import StructureChangedError


class FixedLift(Lift):
    """A user's function that may not change the structure of its first arguments.

    Args:
        name: The name of the transform, for errors.
        function: The user's function.
        modes: Whether trees are asserted, and whether other structures may change.
        count: The number of arguments.
    """

    __slots__ = ("_count",)

    def __init__(self, name: str, function: Any, modes: Modes, count: int) -> None:
        super().__init__(name, function, *modes)
        self._count = count

    def of(self, function: Any) -> FixedLift:
        """Return the same for another function."""
        return FixedLift(self.name, function, self.modes, self._count)

    def run(
        self,
        signature: Signature,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        captured: Sequence[Any],
        out_prefix: Prefix = NO_PREFIX,
    ) -> Flat:
        """Run the user's function.

        Raises:
            StructureChangedError: It changed the structure of one of the first arguments.
        """
        flat = super().run(signature, args, kwargs, captured, out_prefix)
        if flat.static.value.grown:
            for part, grown in zip(signature.parts, flat.static.value.grown, strict=True):
                if grown is not None and part in self._fixed(signature):
                    root = place_name(part.path)
                    changes = changes_of(part.graphdef, grown.graphdef, root)
                    raise StructureChangedError(self.title, changes, _FIX)
        return flat

    def _fixed(self, signature: Signature) -> list[Part]:
        return [
            part
            for argument in signature.arguments[: self._count]
            if argument is not None
            for part in argument.parts
            if isinstance(part, Part)
        ]


_FIX = "change the structure outside, or pass the object to the function that nnx.jit returned"
