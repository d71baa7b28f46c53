"""Errors of `split_rngs` and `fork_rngs`."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class InvalidSplitsError(TypeError, ValueError):
    """The number of keys per random stream is neither an int nor a shape.

    Args:
        function: The function that was called.
        argument: Its argument, down to the filter where it is a mapping.
        got: What was given.
    """

    def __init__(self, function: str, argument: str, got: object) -> None:
        super().__init__(function, argument, got)
        self.function = function
        self.argument = argument
        self.got = got

    def __str__(self) -> str:
        return (
            f"{self.function}: argument `{self.argument}` is {self.got!r} "
            f"({type(self.got).__name__}); expected how many keys each stream gets: an int of 0 or "
            "more, or a tuple of them.\n"
            f"  Fix: {self.function}(..., {self._fix()})"
        )

    def _fix(self) -> str:
        option, _, filter_ = self.argument.partition("[")
        return f"{option}={{{filter_[:-1]}: 4}}" if filter_ else f"{option}=4"


@public
class SqueezeError(ValueError):
    """`split_rngs` was to squeeze the axis of its splits, but it asks for other than one split.

    Args:
        splits: The number of splits that was given.
    """

    def __init__(self, splits: object) -> None:
        super().__init__(splits)
        self.splits = splits

    def __str__(self) -> str:
        return (
            f"split_rngs: squeeze=True is only supported for splits=1, got splits={self.splits!r}; "
            "only an axis of one split can go away.\n"
            "  Fix: split_rngs(..., splits=1, squeeze=True), or leave out `squeeze`"
        )
