"""Random keys that are split over an axis which they have already."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, without_none
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.axes import ZERO
from typed_nnx_codegen.migrate.patterns.held_state import holds_keys
from typed_nnx_codegen.migrate.patterns.transform_calls import TransformCall, TransformCalls


def split_of_stacked_keys(
    file: File, calls: TransformCalls, function: cst.FunctionDef
) -> cst.Call | None:
    """Return the ``@nnx.split_rngs(...)`` over Modules whose keys have the mapped axis; or None.

    Layers shared the Rngs that they were made with up to flax 0.10; they keep keys of their own now,
    which are stacked as the rest of a Module is that was made under `nnx.vmap`.

    Args:
        file: The file.
        calls: The transforms that map.
        function: The function that they decorate.
    """
    splits = [
        one.decorator
        for one in function.decorators
        if isinstance(one.decorator, cst.Call) and file.name(one.decorator.func) == "nnx.split_rngs"
    ]
    if not splits:
        return None
    for transform in calls.decorator_of(function):
        if _maps_stacked_keys(file, transform):
            return splits[0]
    return None


def _maps_stacked_keys(file: File, transform: TransformCall) -> bool:
    """Whether a Module with random keys has one axis for all that it holds."""
    names = transform.parameters
    scope = file.analysis.scopes.get(transform.function) if transform.function else None
    if names is None or scope is None:
        return False
    given = transform.keyword("in_axes")
    axes: list[cst.BaseExpression] = [given.value if given is not None else ZERO] * len(names)
    if given is not None and isinstance(given.value, (cst.Tuple, cst.List)):
        axes = [element.value for element in given.value.elements]
    values = [without_none(scope.seen.get(name, UNKNOWN)) for name in names]
    return any(
        isinstance(axis, cst.Integer)
        and derives(value, "Module") is True
        and derives(value, "Rngs", "RngStream") is False
        and holds_keys(value) is True
        for value, axis in zip(values, axes, strict=False)
    )
