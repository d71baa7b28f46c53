"""Errors of object graphs: places, sharing, cycles, records, update contexts."""

from __future__ import annotations

from collections.abc import Sequence

from typed_nnx._errors.paths import listed
from typed_nnx._errors.public import public


@public
class ImmutableNodeError(ValueError):
    """A child of a tuple or another immutable node was to be replaced or removed.

    Args:
        function: The function that was called.
        path: The path of the child.
        node: The name of the type of the node.
    """

    def __init__(self, function: str, path: tuple[object, ...], node: str) -> None:
        super().__init__(function, path, node)
        self.function = function
        self.path = path
        self.node = node

    def __str__(self) -> str:
        return (
            f"{self.function}: cannot change the child at path {self.path!r} of an immutable node "
            f"of type {self.node}.\n"
            "  Fix: keep it in an nnx.List, an nnx.Dict or an attribute of a Pytree"
        )


@public
class DuplicatePathsError(ValueError):
    """The same object was found at several paths where each may be there once.

    Args:
        what: What was found.
        paths: Its paths.
        fix: What to do.
    """

    def __init__(self, what: str, paths: list[tuple[object, ...]], fix: str) -> None:
        super().__init__(what, paths, fix)
        self.what = what
        self.paths = paths
        self.fix = fix

    def __str__(self) -> str:
        lines = "\n".join("  " + "/".join(map(str, path)) for path in self.paths)
        return f"Found duplicate at paths:\n  ---\n{lines}\n  ---\n({self.what})\n  Fix: {self.fix}"


@public
class ContainerCycleError(ValueError):
    """A plain container holds itself; it has no identity in a graph, so it has no end.

    Args:
        path: The path at which it comes again.
        node: The name of its type.
    """

    def __init__(self, path: tuple[object, ...], node: str) -> None:
        super().__init__(path, node)
        self.path = path
        self.node = node

    def __str__(self) -> str:
        return (
            f"traversal: the {self.node} at path {self.path!r} contains itself.\n"
            "  Fix: make the outer one an nnx.List or nnx.Dict, which may be part of a cycle"
        )


@public
class SharedReferenceError(ValueError):
    """A tree was asserted (``graph=False``) and an object is reached on several paths.

    Args:
        function: The function that was called.
        kind: The name of the object's type.
        paths: Its paths.
    """

    def __init__(self, function: str, kind: str, paths: Sequence[tuple[object, ...] | str]) -> None:
        super().__init__(function, kind, paths)
        self.function = function
        self.kind = kind
        self.paths = paths

    def __str__(self) -> str:
        transform = self.function.partition(" of ")[0]
        return (
            f"{self.function}: Duplicate {self.kind} found at paths:{listed(self.paths)}\n"
            "  Tree mode (graph=False) does not support shared references.\n"
            f"  Fix: give each path an object of its own, or nnx.{transform}(..., graph=True)"
        )


@public
class UnregisteredPytreeError(ValueError):
    """A tree was asserted (``graph=False``) and an object in it is no pytree of jax.

    Args:
        function: The function that was called.
        kind: The name of the object's type.
        path: Its path.
    """

    def __init__(self, function: str, kind: str, path: tuple[object, ...] | str) -> None:
        super().__init__(function, kind, path)
        self.function = function
        self.kind = kind
        self.path = path

    def __str__(self) -> str:
        transform = self.function.partition(" of ")[0]
        return (
            f"{self.function}: tree mode (graph=False) takes pytrees of jax, which {self.kind} is not: "
            f"it is declared with pytree=False. Found at path: {self.path}\n"
            f"  Fix: declare {self.kind} without pytree=False, or nnx.{transform}(..., graph=True)"
        )


@public
class PrefixConflictError(ValueError):
    """One object is reached on several paths that have different prefixes.

    Args:
        paths: Path and prefix of each.
        kind: The name of the object's type.
        function: The transform and the function; empty outside transforms.
    """

    def __init__(self, paths: list[tuple[str, object]], kind: str, function: str = "") -> None:
        super().__init__(paths, kind, function)
        self.paths = paths
        self.kind = kind
        self.function = function

    def __str__(self) -> str:
        lines = "".join(f"\n    {path}: {prefix}" for path, prefix in self.paths)
        return (
            (f"{self.function}: " if self.function else "")
            + "Inconsistent aliasing detected. The following nodes have different prefixes and are "
            f"one object (Duplicate {self.kind}):{lines}\n"
            "  Fix: give all paths to the object the same prefix"
        )


@public
class StaleRecordError(RuntimeError):
    """The verifying debug mode found that a cached record is not what a fresh traversal gives.

    Args:
        root: The name of the type of the root.
        difference: What differs.
    """

    def __init__(self, root: str, difference: str) -> None:
        super().__init__(root, difference)
        self.root = root
        self.difference = difference

    def __str__(self) -> str:
        return (
            f"record of {self.root}: {self.difference}; an object was changed without "
            "`__setattr__` (through `vars(obj)` or `obj.__dict__`).\n"
            "  Fix: call nnx.invalidate(model) after such a change"
        )


@public
class UpdateContextError(ValueError):
    """An update context was used in a way or an order that does not work.

    Args:
        problem: What is wrong.
        tag: The tag of the context.
    """

    def __init__(self, problem: str, tag: object) -> None:
        super().__init__(problem, tag)
        self.problem = problem
        self.tag = tag

    def __str__(self) -> str:
        return (
            f"{self.problem} (update_context {self.tag!r}).\n"
            "  Fix: with nnx.update_context(tag): split outside, merge inside, split inside, "
            "merge outside"
        )
