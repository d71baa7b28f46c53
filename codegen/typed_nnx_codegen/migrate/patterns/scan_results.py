"""The axes of what a scan gives: older programs left out what is carried."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.axes import CannotTell
from typed_nnx_codegen.migrate.patterns.transform_calls import TransformCall

_CARRY: Final = "nnx.Carry"


def with_carry(file: File, transform: TransformCall) -> cst.BaseExpression | None:
    """Return ``(nnx.Carry, axes)`` for ``out_axes=axes`` of a scan that carries something.

    Current flax refuses every scan that this is done for.

    Args:
        file: The file.
        transform: The transform.

    Returns:
        The axes; None where they say what is carried already, or nothing is known of them.

    Raises:
        CannotTell: Some results have no axis, which scan does not take any more.
    """
    given = transform.keyword("out_axes")
    if transform.name != "nnx.scan" or given is None or not _is_carrying(file, transform):
        return None
    axes = given.value
    entries = [one.value for one in axes.elements] if isinstance(axes, cst.Tuple) else [axes]
    if any(isinstance(one, cst.Name) and one.value == "None" for one in entries):
        raise CannotTell("scan stacks all results: give each an axis, `(nnx.Carry, 0)`")
    if not all(isinstance(one, cst.Integer) for one in entries):
        return None
    return cst.Tuple([cst.Element(file.refer(_CARRY)), cst.Element(axes)])


def _is_carrying(file: File, transform: TransformCall) -> bool:
    """Whether the arguments of a scan have one that is carried, said or by default."""
    if transform.has_star:
        return False
    given = transform.keyword("in_axes")
    if given is None:
        return True
    axes = given.value
    # What a State carries by `nnx.StateAxes({...: nnx.Carry})` is no result.
    entries = (
        [one.value for one in axes.elements] if isinstance(axes, (cst.Tuple, cst.List)) else [axes]
    )
    return any(file.name(entry) == _CARRY for entry in entries)
