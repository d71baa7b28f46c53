"""Errors of States: a key, or a State that does not fit an object."""

from __future__ import annotations

from typed_nnx._errors.paths import listed
from typed_nnx._errors.public import public


@public
class StateMismatchError(ValueError):
    """States do not fit a GraphDef: leaves are missing, extra or of the wrong type.

    Args:
        function: The function that was called.
        missing: Paths that the GraphDef has and the states have not.
        extra: Paths that the states have and the GraphDef has not.
        wrong: Path, expected type and type found.
    """

    def __init__(
        self,
        function: str,
        missing: list[tuple[object, ...]],
        extra: list[tuple[object, ...]],
        wrong: list[tuple[tuple[object, ...], str, str]],
    ) -> None:
        super().__init__(function, missing, extra, wrong)
        self.function = function
        self.missing = missing
        self.extra = extra
        self.wrong = wrong

    def __str__(self) -> str:
        count = f"{len(self.missing)} missing, {len(self.extra)} extra"
        number = (
            f" Incorrect number of leaves: {count}." if len(self.missing) != len(self.extra) else ""
        )
        parts = [f"{self.function}: the states do not fit the GraphDef.{number}"]
        if self.missing:
            parts.append(f"  missing, expected at:{listed(self.missing)}")
        if self.extra:
            parts.append(f"  extra, not in the GraphDef:{listed(self.extra)}")
        parts.extend(
            f"  wrong type at {path!r}: expected {expected}, got {got}"
            for path, expected, got in self.wrong[:10]
        )
        parts.append(
            "  Fix: pass every State that `split` returned, from a model of the same structure"
        )
        return "\n".join(parts)


@public
class GraphStateError(ValueError):
    """`merge` was given something that does not go with the first `GraphState`.

    Args:
        position: Its position.
        problem: What is wrong.
    """

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(position, problem)
        self.position = position
        self.problem = problem

    def __str__(self) -> str:
        return (
            f"merge: {self.problem} at position {self.position}, after a GraphState.\n"
            "  Fix: pass the GraphStates that one `unpack` returned, or "
            "nnx.merge(graphdef, *states)"
        )


@public
class UnknownPathError(ValueError):
    """`update` was given leaves for which the object has no place.

    Args:
        paths: The paths.
        root: The name of the type of the object.
    """

    def __init__(self, paths: list[tuple[object, ...]], root: str) -> None:
        super().__init__(paths, root)
        self.paths = paths
        self.root = root

    def __str__(self) -> str:
        return (
            f"update: {self.root} has nothing at the path(s):{listed(self.paths)}\n"
            "  Fix: update with a State of a model of the same structure; assign new attributes "
            "directly (model.name = variable)"
        )


@public
class UpdateTypeError(ValueError):
    """`update` was given something that cannot be written to where it belongs.

    Args:
        path: The path.
        expected: What is there.
        got: What was given.
    """

    def __init__(self, path: tuple[object, ...], expected: str, got: str) -> None:
        super().__init__(path, expected, got)
        self.path = path
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return (
            f"update: at path {self.path!r} there is {self.expected}; got {self.got}.\n"
            "  Fix: update with a State of a model of the same structure"
        )


@public
class StateKeyError(KeyError, AttributeError):
    """A State has no such key.

    Args:
        key: The key.
        known: The keys that it has.
    """

    def __init__(self, key: object, known: list[object]) -> None:
        super().__init__(key, known)
        self.key = key
        self.known = known

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.known[:12])) or "none, it is empty"
        return (
            f"No attribute {self.key!r} in State; its keys are: {shown}.\n"
            f"  Fix: use one of them, or assign it first: state[{self.key!r}] = variable"
        )
