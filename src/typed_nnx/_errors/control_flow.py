"""Errors of `cond`, `switch`, `scan` and the loops."""

from __future__ import annotations

from typed_nnx._errors.public import public


def _lines(lines: list[str]) -> str:
    shown = "".join(f"\n    {line}" for line in lines[:10])
    return shown + (f"\n    ... and {len(lines) - 10} more" if len(lines) > 10 else "")


@public
class CarryStructureError(ValueError, TypeError):
    """What a loop carries has another structure, or other objects, after a step than before.

    Args:
        function: The transform and the function.
        changes: What changed, a line for each place.
        fix: What to do.
    """

    def __init__(self, function: str, changes: list[str], fix: str) -> None:
        super().__init__(function, changes, fix)
        self.function = function
        self.changes = changes
        self.fix = fix

    def __str__(self) -> str:
        return (
            f"{self.function}: the structure of the carry changed in a step:{_lines(self.changes)}"
            f"\n  Fix: {self.fix}"
        )


@public
class CarryTypeError(TypeError):
    """A value that a loop carries has another shape or dtype after a step than before.

    Args:
        function: The transform and the function.
        changes: Place, type before and type after.
    """

    def __init__(self, function: str, changes: list[tuple[str, str, str]]) -> None:
        super().__init__(function, changes)
        self.function = function
        self.changes = changes

    def __str__(self) -> str:
        lines = [f"{path}: {before} before, {after} after" for path, before, after in self.changes]
        return (
            f"{self.function}: carry input and carry output must have equal types; a step changed "
            f"them:{_lines(lines)}\n"
            "  Fix: keep shape and dtype, for instance with .astype(...) or by starting with the type "
            "that a step returns"
        )


@public
class BranchMismatchError(TypeError):
    """The branches of `cond` or `switch` leave different structures, or values of different types.

    Args:
        function: The name of the transform.
        first: The first branch: its name and the function.
        other: The other branch.
        differences: What differs, a line for each place.
    """

    def __init__(self, function: str, first: str, other: str, differences: list[str]) -> None:
        super().__init__(function, first, other, differences)
        self.function = function
        self.first = first
        self.other = other
        self.differences = differences

    def __str__(self) -> str:
        return (
            f"{self.function}: {self.first} and {self.other} must leave the same "
            f"structures and types, but they differ:{_lines(self.differences)}\n"
            "  Fix: make the same structural changes in every branch, or make them outside; for "
            "types, value.astype(...) or .reshape(...) in one of the branches"
        )


@public
class ConditionChangedError(ValueError):
    """The condition of a `while_loop` changed an object; such changes cannot be kept.

    Args:
        condition: The condition.
        paths: What it changed.
    """

    def __init__(self, condition: str, paths: list[str]) -> None:
        super().__init__(condition, paths)
        self.condition = condition
        self.paths = paths

    def __str__(self) -> str:
        return (
            f"while_loop: cond_fun {self.condition} changed objects, which it must not:{_lines(self.paths)}\n"
            "  Fix: make the change in body_fun"
        )


@public
class ScanAxesError(ValueError):
    """``in_axes`` and ``out_axes`` of `scan` do not go together.

    Args:
        problem: What is wrong.
        fix: What to write.
    """

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"scan: {self.problem}\n  Fix: {self.fix}"
