"""Errors of compiled functions and of functions with bound arguments."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class CompiledCallError(TypeError):
    """A compiled function was called with other arguments than it was compiled for.

    Args:
        function: The function.
        changes: What differs, a line for each place.
    """

    def __init__(self, function: str, changes: list[str]) -> None:
        super().__init__(function, changes)
        self.function = function
        self.changes = changes

    def __str__(self) -> str:
        lines = "".join(f"\n    {change}" for change in self.changes[:10])
        more = len(self.changes) - 10
        return (
            f"Function compiled with other arguments than it was called with: {self.function}{lines}"
            + (f"\n    ... and {more} more" if more > 0 else "")
            + "\n  Fix: call it with arguments of the same structure, shapes and dtypes as those given "
            "to lower(...), or call the function that nnx.jit returned, which compiles anew"
        )


@public
class NotJittedError(ValueError):
    """A function that should have been made by `jit` was not.

    Args:
        transform: Which transform needs it.
        function: What was given.
    """

    def __init__(self, transform: str, function: str) -> None:
        super().__init__(transform, function)
        self.transform = transform
        self.function = function

    def __str__(self) -> str:
        return (
            f"{self.transform}: expected a function made by nnx.jit, got {self.function}.\n"
            f"  Fix: nnx.{self.transform}(nnx.jit(function), ...)"
        )
