"""Errors of filters."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class InvalidFilterError(TypeError, ValueError):
    """Something that is no filter was given as one.

    Args:
        got: What was given.
    """

    def __init__(self, got: object) -> None:
        super().__init__(got)
        self.got = got

    def __str__(self) -> str:
        return (
            f"filter: got {self.got!r} ({type(self.got).__name__}); expected a type, a string tag, "
            "`...`, a bool, None, a tuple or list of filters, or a function (path, value) -> bool.\n"
            "  Fix: nnx.split(model, nnx.Param, ...)"
        )


@public
class FilterOrderError(ValueError):
    """`...` or `True` stands before other filters, which could never match.

    Args:
        index: Its position.
        got: The filter.
    """

    def __init__(self, index: int, got: object) -> None:
        super().__init__(index, got)
        self.index = index
        self.got = got

    def __str__(self) -> str:
        text = "..." if self.got is Ellipsis else repr(self.got)
        return (
            f"`...` or `True` can only be used as the last filters, got `{text}` at index "
            f"{self.index}: it takes every remaining leaf.\n"
            "  Fix: move it to the end of the filters"
        )


@public
class NoFilterMatchedError(ValueError):
    """Leaves of a model matched none of the filters.

    Args:
        function: The function that was called.
        leaves: Path and description of each leaf.
    """

    def __init__(self, function: str, leaves: list[tuple[tuple[object, ...], str]]) -> None:
        super().__init__(function, leaves)
        self.function = function
        self.leaves = leaves

    def __str__(self) -> str:
        path, text = self.leaves[0]
        more = len(self.leaves) - 1
        also = f" (and {more} more)" if more else ""
        return (
            f"{self.function}: No filter matched the leaf at path {path!r} ({text}){also}. "
            "Non-exhaustive filters, got a non-empty remainder.\n"
            '  Fix: add a filter that matches it, or `...` as the last filter for "everything else".'
        )


@public
class MissingFilterError(ValueError):
    """A function that needs at least one filter got none.

    Args:
        function: The function.
    """

    def __init__(self, function: str) -> None:
        super().__init__(function)
        self.function = function

    def __str__(self) -> str:
        return (
            f"{self.function}: Expected at least one filter.\n"
            f"  Fix: nnx.{self.function}(model, nnx.Intermediate)"
        )
