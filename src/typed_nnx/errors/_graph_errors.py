"""Errors of Variables, Pytrees, Modules, random streams, filters, States and object graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from typed_nnx.errors._base_error import Error, Path, Problem, listed


class ArgumentError(Problem, ValueError, TypeError):
    """A function or class got a value that it cannot work with."""


class ArgumentTypeError(Problem, TypeError, ValueError):
    """A function or class got an argument of another type than it takes, or none."""


# -- Variables ---------------------------------------------------------------------------------


class TraceLevelError(Error):
    """A Pytree or Variable was changed under another jax trace than the one it belongs to.

    Attributes:
        kind: "Pytree" or "Variable".
        owner: The name of its type.
        attribute: The attribute that was assigned, if it was one.
        path: Where the object is, if that is known.
    """

    kind: str
    owner: str
    attribute: str | None
    path: str | None

    def message(self) -> str:
        """Return the text."""
        place = "" if self.path is None else f" at {self.path}"
        what = "the value" if self.attribute is None else f"attribute {self.attribute!r}"
        owner = f"'{self.owner}' from" if self.kind == "Pytree" else f"{self.owner} from a"
        return (
            f"Cannot mutate {owner} different trace level: {what} of the "
            f"{self.owner}{place} was changed inside a jax transform that does not track it. "
            "Transforms of nnx track arguments and what a function closes over, not globals; "
            "those of jax track no objects.\n"
            "  Fix: pass the object as an argument, nnx.jit(function)(model), or define the function "
            "where the model is a local variable; use nnx.jit instead of jax.jit"
        )


class VariableError(Problem, ValueError):
    """A Variable has another type, name or storage than an operation needs."""


class VariableAttributeError(Error, AttributeError, KeyError):
    """Metadata of a Variable was read, set or deleted in a way that does not exist.

    Attributes:
        action: What was tried.
        variable: The name of the Variable's type.
        attribute: The name.
        known: The names of the metadata that exists.
    """

    action: Literal["read", "set", "delete", "delete attribute"]
    variable: str
    attribute: str
    known: tuple[str, ...] = ()

    def message(self) -> str:
        """Return the text."""
        what = f"{self.variable}: cannot {self.action} {self.attribute!r}"
        if self.action == "set":
            return (
                f"{what}: metadata is not set by attribute.\n"
                f"  Fix: variable.set_metadata({self.attribute}=value)"
            )
        if self.action == "delete attribute":
            return (
                f"{what}: metadata is not deleted by attribute.\n"
                f"  Fix: variable.del_metadata({self.attribute!r})"
            )
        return (
            f"{what}: there is no such metadata; there is {', '.join(self.known)}.\n"
            f"  Fix: variable.get_metadata({self.attribute!r}, default), or set it first with "
            f"variable.set_metadata({self.attribute}=value)"
        )


# -- Pytrees and Modules -----------------------------------------------------------------------


class PytreeAttributeError(Error, ValueError):
    """An attribute of a Pytree cannot hold a value: data where it is static, or a misplaced mark.

    Attributes:
        holder: The type of the Pytree.
        attribute: The name of the attribute.
        value: The value.
        problem: What is wrong: data was "marked" with `nnx.static`, "assigned" to a static
            attribute, is what an assigned container "contains" or what the value of an attribute
            "declared" static holds; or `nnx.data` or `nnx.static` is "nested" in a container.
        found: The types of the data, or the names of the nested marks.
    """

    holder: type
    attribute: str
    value: object
    problem: Literal["marked", "assigned", "contains", "declared", "nested"]
    found: Sequence[str] = ()

    def message(self) -> str:
        """Return the text."""
        kind = f"type '{type(self.value)}'"
        place = f"'{self.attribute}' of Pytree type '{self.holder}'"
        as_data = f"_.{self.attribute} = nnx.data(...)"
        if self.problem == "marked":
            return (
                f"Found data in value of {kind} annotated with nnx.static(...) when setting "
                f"attribute {place}.\n  Fix: {as_data}"
            )
        if self.problem == "assigned":
            return (
                f"Cannot assign data value of {kind} to static attribute {place}. To override the "
                f"status explicitly wrap the value with nnx.data on assignment:\n\n  {as_data}\n"
            )
        if self.problem == "contains":
            return (
                f"Found data on value of {kind} assigned to static attribute {place}. Static "
                "attributes should not contain data values. "
                + self._remedies(f"remove the data values of type(s): {', '.join(self.found)}")
            )
        if self.problem == "declared":
            return (
                f"Found unexpected data on value of type {type(self.value)} in static attribute "
                f"{place}.\n"
                + self._remedies("either remove the data value or wrap it in a static container.")
            )
        tags = ", ".join(map(repr, self.found))
        return (
            f"Found unexpected tags {{{tags}}} on attribute '{self.holder.__name__}."
            f"{self.attribute}'. Values from nnx.data(...) and\n"
            "nnx.static(...) should be assigned to nnx.Pytree attributes directly, they should not "
            f"be inside other structures. Got value of {kind} on Pytree of type '{self.holder}'.\n"
            f"  Fix: annotate the whole attribute: {as_data}"
        )

    def _remedies(self, first: str) -> str:
        holder = self.holder.__name__
        base = self.holder.__base__.__name__ if self.holder.__base__ else "Pytree"
        return (
            "Consider one of the following options:\n\n"
            f"1. If the attribute is meant to be static, {first}\n\n"
            "2. Wrap the value with nnx.data on assignment:\n\n"
            f"  _.{self.attribute} = nnx.data(...)\n\n"
            "3. Annotate the class attribute with nnx.Data:\n\n"
            f"  class {holder}({base}):\n"
            f"    {self.attribute}: nnx.Data[{type(self.value).__name__}]\n\n"
            "4. If the container is a list or dict, try using nnx.List(...) or nnx.Dict(...) "
            "instead.\n\n"
            "5. Disable pytree for this class:\n\n"
            f"  class {holder}(Pytree, pytree=False):\n"
        )


class ForeignModuleError(Problem, TypeError, ValueError):
    """A Module or Variable of flax.nnx is where typed_nnx would lose its changes."""


class UnhashableError(Problem, TypeError, ValueError):
    """A hash is needed of a value that has none: of metadata, of a static attribute or argument."""


class AttributesNotFoundError(Error, ValueError):
    """`set_attributes`, `with_attributes` or `view` got names that no selected Module has.

    Attributes:
        function: The function that was called.
        missing: The names.
        root: The name of the type of the root.
    """

    function: str
    missing: list[str]
    root: str

    def message(self) -> str:
        """Return the text."""
        if self.function == "view":
            return (
                f"Unused keys found in nnx.view: {self.missing} (no `set_view` of a selected Module "
                f"in {self.root} takes them).\n"
                "  Fix: correct the names, or pass raise_if_not_found=False"
            )
        return (
            f"{self.function}: Could not find at least one instance of the following attributes: "
            f"{self.missing} (in the selected Modules of {self.root}).\n"
            "  Fix: correct the names or the filters, or pass raise_if_not_found=False"
        )


# -- random numbers ----------------------------------------------------------------------------


class StreamNotFoundError(Error, AttributeError, KeyError):
    """`Rngs` has neither the stream that was asked for nor a stream ``default``.

    Attributes:
        stream: The name that was asked for.
        streams: The names that exist.
    """

    stream: str
    streams: tuple[str, ...]

    def message(self) -> str:
        """Return the text."""
        has = ", ".join(map(repr, self.streams)) or "no streams"
        return (
            f"Rngs: No RngStream named {self.stream!r} and no stream 'default' to take its place; "
            f"this Rngs has {has}.\n"
            f"  Fix: give it a seed, `nnx.Rngs(..., {self.stream}=1)`, or a seed for every other "
            "stream, `nnx.Rngs(0, ...)`."
        )


class KeyShapeError(Error, ValueError):
    """A key was drawn from a stream that holds an array of keys.

    Attributes:
        stream: The name of the stream.
        shape: The shape of its keys.
    """

    stream: str
    shape: tuple[int, ...]
    template = (
        "RngStream {stream!r}: it holds keys of shape {shape}, so it cannot draw one key; expected "
        "a single key of shape ().\n"
        "  Fix: draw inside `nnx.vmap` over the streams, which gives each call one of the keys; "
        "`nnx.split_rngs(splits=n)` above it makes the keys for the call."
    )


# -- filters -----------------------------------------------------------------------------------


class InvalidFilterError(Problem, TypeError, ValueError):
    """Something is no filter."""


class NoFilterMatchedError(Error, ValueError):
    """Leaves of a model matched none of the filters.

    Attributes:
        function: The function that was called.
        leaves: Path and description of each leaf.
    """

    function: str
    leaves: list[tuple[Path, str]]

    def message(self) -> str:
        """Return the text."""
        path, text = self.leaves[0]
        more = len(self.leaves) - 1
        also = f" (and {more} more)" if more else ""
        return (
            f"{self.function}: No filter matched the leaf at path {path!r} ({text}){also}. "
            "Non-exhaustive filters, got a non-empty remainder.\n"
            '  Fix: add a filter that matches it, or `...` as the last filter for "everything else".'
        )


# -- States ------------------------------------------------------------------------------------


class StateKeyError(Error, KeyError, AttributeError):
    """A State has no such key.

    Attributes:
        key: The key.
        known: The keys that it has.
    """

    key: object
    known: list[object]

    def message(self) -> str:
        """Return the text."""
        shown = ", ".join(map(repr, self.known[:12])) or "none, it is empty"
        return (
            f"No attribute {self.key!r} in State; its keys are: {shown}.\n"
            f"  Fix: use one of them, or assign it first: state[{self.key!r}] = variable"
        )


class StateMismatchError(Error, ValueError):
    """Values are not where they belong: leaves are missing, extra, or of another type or shape.

    Attributes:
        function: The function that was called.
        problem: What does not fit.
        missing: Paths at which a value is expected and there is none.
        extra: Paths with a value that has no place.
        wrong: Path, expected type and type found.
        fix: What to do.
        home: Where extra values have no place; empty for nowhere in particular.
    """

    function: str
    problem: str
    missing: Sequence[Path] = ()
    extra: Sequence[Path] = ()
    wrong: Sequence[tuple[Path, str, str]] = ()
    fix: str = "pass every State that `split` returned, from a model of the same structure"
    home: str = ""

    def message(self) -> str:
        """Return the text."""
        parts = [f"{self.function}: {self.problem}"]
        if self.missing:
            parts.append(f"  missing, expected at:{listed(self.missing)}")
        if self.extra:
            title = f"not in the {self.home}" if self.home else "with no place"
            parts.append(f"  extra, {title}:{listed(self.extra)}")
        parts.extend(
            f"  wrong type at {path!r}: expected {expected}, got {got}"
            for path, expected, got in self.wrong[:10]
        )
        return "\n".join([*parts, f"  Fix: {self.fix}"])


class UnknownPathError(Error, ValueError):
    """`update` got leaves for which the object has no place.

    Attributes:
        paths: The paths.
        root: The name of the type of the object.
    """

    paths: list[Path]
    root: str
    template = (
        "update: {root} has nothing at the path(s):{paths!l}\n"
        "  Fix: update with a State of a model of the same structure; assign new attributes "
        "directly (model.name = variable)"
    )


# -- object graphs -----------------------------------------------------------------------------


class GraphError(Problem, ValueError):
    """An operation is not possible with an object graph, or not at this moment."""

    @classmethod
    def contains_itself(cls, path: Path, node: object) -> Self:
        """Return the error of a plain container in itself: without identity, it has no end."""
        return cls(
            "traversal",
            f"the {type(node).__name__} at path {path!r} contains itself.",
            "make the outer one an nnx.List or nnx.Dict, which may be part of a cycle",
        )

    @classmethod
    def is_immutable(cls, function: str, path: Path, node: object) -> Self:
        """Return the error of a change to a child of a tuple or another immutable node."""
        return cls(
            function,
            f"cannot change the child at path {path!r} of an immutable node of type "
            f"{type(node).__name__}.",
            "keep it in an nnx.List, an nnx.Dict or an attribute of a Pytree",
        )

    @classmethod
    def is_no_pytree(cls, function: str, path: Path | str, node: object) -> Self:
        """Return the error of an object that is no pytree of jax where ``graph=False`` asks for it."""
        kind, called = type(node).__name__, function.partition(" of ")[0]
        return cls(
            function,
            f"tree mode (graph=False) takes pytrees of jax, which {kind} is not: it is declared "
            f"with pytree=False. Found at path: {path}",
            f"declare {kind} without pytree=False, or nnx.{called}(..., graph=True)",
        )


class SharedReferenceError(Error, ValueError):
    """An object is reached on several paths where a tree is asserted (``graph=False``).

    Attributes:
        function: The function that was called.
        kind: The name of the object's type.
        paths: Its paths.
        rule: Why that is an error.
        fix: What to do.
    """

    function: str
    kind: str
    paths: Sequence[Path | str]
    rule: str = "Tree mode (graph=False) does not support shared references."
    fix: str = ""

    def message(self) -> str:
        """Return the text."""
        called = self.function.partition(" of ")[0]
        fix = self.fix or f"give each path an object of its own, or nnx.{called}(..., graph=True)"
        return (
            f"{self.function}: Duplicate {self.kind} found at paths:{listed(self.paths)}\n"
            f"  {self.rule}\n"
            f"  Fix: {fix}"
        )


class PrefixConflictError(Error, ValueError):
    """One object is reached on several paths that have different prefixes.

    Attributes:
        paths: Path and prefix of each.
        kind: The name of the object's type.
        function: The transform and the function; empty outside transforms.
    """

    paths: list[tuple[str, object]]
    kind: str
    function: str = ""

    def message(self) -> str:
        """Return the text."""
        return (
            (f"{self.function}: " if self.function else "")
            + "Inconsistent aliasing detected. The following nodes have different prefixes and are "
            f"one object (Duplicate {self.kind}):"
            + listed([f"{path}: {prefix}" for path, prefix in self.paths])
            + "\n  Fix: give all paths to the object the same prefix"
        )


class StaleRecordError(Error, RuntimeError):
    """The verifying debug mode found that a cached record differs from a fresh traversal.

    Attributes:
        root: The name of the type of the root.
        difference: What differs.
    """

    root: str
    difference: str
    template = (
        "record of {root}: {difference}; an object was changed without `__setattr__` (through "
        "`vars(obj)` or `obj.__dict__`).\n"
        "  Fix: call nnx.invalidate(model) after such a change"
    )
