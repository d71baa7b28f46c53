"""How many keys each random stream gets: one shape for all, or a shape by filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx.errors import InvalidRngSplitError

KeyShape: TypeAlias = int | tuple[int, ...]
"""How many keys: a count or a shape."""

KeyShapes: TypeAlias = Mapping[Filter, KeyShape | None] | KeyShape
"""A shape for every stream, or by filter; None leaves the matching streams as they are."""


class ShapeRules:
    """Find the shape of a stream: the first filter that matches it holds.

    Args:
        method: The public function that got `shapes`, for errors.
        argument: The name of its argument, for errors.
        shapes: The shapes; None for no rule at all.

    Raises:
        InvalidRngSplitError: `shapes` is none of these.
    """

    def __init__(self, method: str, argument: str, shapes: KeyShapes | None) -> None:
        if shapes is None:
            shapes = {}
        elif isinstance(shapes, int | tuple):
            shapes = {...: shapes}
        elif not isinstance(shapes, Mapping):
            raise InvalidRngSplitError(method, argument, shapes)
        self._rules = [(filter_, to_predicate(filter_), shape) for filter_, shape in shapes.items()]

    def shape_of(self, stream: object, path: tuple[object, ...] = ()) -> KeyShape | None:
        """Return the shape for `stream`; None where no filter matches or the shape is None."""
        return self.rule_of(stream, path)[1]

    def rule_of(self, stream: object, path: tuple[object, ...]) -> tuple[Filter, KeyShape | None]:
        """Return the filter that takes `stream` and the shape; None, None where there is none."""
        found = ((given, shape) for given, matches, shape in self._rules if matches(path, stream))
        return next(found, (None, None))
