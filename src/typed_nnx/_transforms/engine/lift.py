"""The one path that every transform goes through.

Outside, `gather` takes the arguments and what the function closes over apart: structure, which is
static, and plain values, which jax sees. Trace, the user's function runs on objects of its own made
of jax's tracers; what it changed is found by comparing them with what went in. Outside again, the
changes are written into the objects. An exception anywhere leaves the objects as they were.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import jax
import jax.numpy as jnp

from typed_nnx._core.cells import Bounded, graph_lock
from typed_nnx._core.settings import MISSING, Missing
from typed_nnx._graph.mode import check_tree, resolve_modes
from typed_nnx._transforms.engine.argnums import NO_STATICS, Statics
from typed_nnx._transforms.engine.call import Call, Gatherer, place_name
from typed_nnx._transforms.engine.closures import Captures, Parameters, describe, unwrapped_function
from typed_nnx._transforms.engine.explain import NO_PREFIX, names_of, shown
from typed_nnx._transforms.engine.prefixes import (
    Function,
    Prefix,
    Tree,
    Value,
    check_kinds,
    check_prefix,
)
from typed_nnx._transforms.engine.signature import Pure, Signature, TraceResult
from typed_nnx._transforms.engine.trace import Trace
from typed_nnx._transforms.engine.write import write_back
from typed_nnx.errors import ArgumentTypeError

Modes = tuple[bool, bool]

_CONTAINERS = (tuple, list, dict)


class Lift:
    """A user's function and how to run it under a transform of jax.

    Attributes:
        modes: The modes that were current when the function was transformed.
        known_captures: What the function closed over when it was last looked at.
    """

    __slots__ = ("_parameters", "_title", "function", "known_captures", "modes", "name")

    def __init__(
        self, name: str, function: Function, graph: bool | None, graph_updates: bool | None
    ) -> None:
        self.name: str = name
        self.function: Function = function
        self._title: str | None = None
        self._parameters: Parameters | None = None
        self.modes: Modes = resolve_modes(graph, graph_updates)
        self.known_captures: Captures | None = None

    @property
    def title(self) -> str:
        """The transform, the function and where that is defined: how errors begin."""
        if self._title is None:
            self._title = f"{self.name} of {describe(self.function)}"
        return self._title

    @property
    def parameters(self) -> Parameters:
        """The names of the function's positional parameters."""
        if self._parameters is None:
            self._parameters = Parameters(self.function)
        return self._parameters

    def captures(self) -> Captures:
        """Return what the function closes over now."""
        found = self.known_captures
        if found is None or not found.is_current():
            found = self.known_captures = Captures(self.function)
        return found

    def of(self, function: Function) -> Lift:
        """Return the same for another function."""
        made = object.__new__(Lift)
        made.name, made.function, made.modes = self.name, function, self.modes
        made.known_captures = made._title = made._parameters = None
        return made

    def gather(
        self,
        args: Sequence[Tree],
        kwargs: Mapping[str, Tree] | None = None,
        prefixes: Sequence[Prefix] | None = None,
        *,
        capture_prefix: Prefix = None,
        keyword_prefix: Prefix = None,
        kept: Sequence[bool] | None = None,
        kept_names: Collection[str] = (),
        keep_captured: bool = False,
        roots: Sequence[Any] | Parameters | None = None,
        statics: Statics = NO_STATICS,
    ) -> Call:
        """Take one call apart.

        Of what is `kept` all values are to be returned; `statics` are left as they are. `roots` is what
        the paths in each positional argument begin with, its name by default.
        """
        with graph_lock:  # what another thread writes together is read together
            modes = self.modes
            gatherer = Gatherer(self.title)
            if roots is None:
                roots = self.parameters
            own = [None] * len(args) if prefixes is None else prefixes
            made, full, specs = [], [], []
            for number, (value, prefix) in enumerate(zip(args, own, strict=True)):
                if number in statics.args:
                    pure, pure_prefix, spec = value, None, None
                else:
                    root = roots[number]
                    if type(prefix) in _CONTAINERS:
                        check_prefix(self.title, "in", place_name((root,)), prefix, value)
                    pure, pure_prefix, spec = gatherer.argument(
                        value, prefix, (root,), kept=kept is not None and kept[number]
                    )
                made.append(pure)
                full.append(pure_prefix)
                specs.append(spec)
            named: dict[str, Tree] = {}
            keywords = {}
            for name, value in (kwargs or {}).items():
                if name in statics.kwargs:
                    named[name] = value
                    continue
                named[name], _, spec = gatherer.argument(
                    value, keyword_prefix, (name,), kept=name in kept_names
                )
                if spec is not None:
                    keywords[name] = spec
            if not modes[0] and not gatherer.are_trees():
                named_args = {roots[number]: value for number, value in enumerate(args)}
                check_tree(self.title, {**named_args, **(kwargs or {})}, place_name)
            captured, found = [], []
            for value in self.captures().objects:
                pure, spec = gatherer.captured(value, capture_prefix, kept=keep_captured)
                captured.append(pure)
                found.append(spec)
            signature = Signature(tuple(specs), keywords, tuple(found), modes)
            return Call(
                signature, tuple(made), named, tuple(captured), tuple(full), gatherer.inputs
            )

    def trace(self, signature: Signature, *pure: *Pure) -> Trace:
        """Make the objects of one call of plain values, inside a transform of jax."""
        return Trace(self.title, self.function, self.captures(), signature, *pure)

    def run(
        self, signature: Signature, *pure: *Pure, out_prefix: Prefix = NO_PREFIX
    ) -> TraceResult:
        """Run the user's function on plain values; see `trace`."""
        trace = self.trace(signature, *pure)
        return trace.finish(trace.run(), out_prefix)

    def flat(self, signature: Signature) -> Callable[[Tree, Tree, Tree], TraceResult]:
        """Return `run` for one kind of call, as jax shows it: as the user's function."""

        def flat(args: Tree, kwargs: Tree, captured: Tree) -> TraceResult:
            return self.run(signature, args, kwargs, captured)

        return shown(flat, self.function, functools.partial(names_of, self.parameters, signature))

    def finish(self, call: Call, traced: TraceResult) -> Tree:
        """Write the changes of a call into its objects and return the result."""
        return write_back(call.inputs, traced)


class Signatures(Bounded[tuple[object, ...], Signature]):
    """The signatures with which one function was called."""

    __slots__ = ()

    def of(self, signature: Signature) -> Signature:
        """Return the one signature that is equal to the given one."""
        key = signature.key
        return self[key] or self.add(key, signature)


A = TypeVar("A")
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")


class Unseen:
    """A type that no argument has: for checkers, a function that takes it takes anything.

    mypy thinks that a function of ``*args: Any`` takes one less when its first argument is bound.
    """


class Lifted(Generic[P, R]):
    """A transformed function.

    It behaves like the function: it has its name and documentation, and as an attribute of a class
    it is a method.
    """

    #: The name of the transform.
    transform: str = "lift"

    # Those of the function.
    __name__: str
    __qualname__: str
    __wrapped__: Callable[P, R]

    #: Those of the transform.
    _options: Any

    def __init__(
        self,
        function: Callable[P, R],
        graph: bool | None,
        graph_updates: bool | None,
        options: Any = None,
    ) -> None:
        if not callable(function):
            raise ArgumentTypeError(
                f"nnx.{self.transform}",
                f"expected a callable, got a {type(function).__name__}.",
                f"nnx.{self.transform}(function)",
            )
        self._lift = Lift(self.transform, function, graph, graph_updates)
        functools.update_wrapper(self, unwrapped_function(function), updated=())
        self.__wrapped__ = function
        self._options = options
        self._check_options()
        self._prepare()

    @classmethod
    def of(
        cls,
        function: Function | Missing,
        graph: bool | None,
        graph_updates: bool | None,
        options: Any = None,
    ) -> Tree:
        """Return the transformed function; without a function a decorator."""

        def wrap(function: Function) -> Tree:
            return cls(function, graph, graph_updates, options)

        return wrap if function is MISSING else wrap(function)

    def nnx_function(self) -> Callable[P, R]:
        """Return the function inside."""
        function: Callable[P, R] = self._lift.function
        return function

    def nnx_with_function(self, function: Callable[P, R]) -> Self:
        """Return the same transform of another function."""
        made = copy.copy(self)
        made._lift = self._lift.of(function)
        made.__wrapped__ = function
        made._prepare()
        return made

    def _check_options(self) -> None:
        """Raise if the options do not fit the function or the modes."""

    def _check_prefixes(self, **prefixes: Prefix) -> None:
        """Raise if an option has prefixes of a kind that the mode does not allow."""
        for option, prefix in prefixes.items():
            check_kinds(self.transform, option, prefix, self._lift.modes[1])

    def _prepare(self) -> None:
        """Make what belongs to one function only."""

    @overload
    def __get__(self, instance: None, owner: object = None) -> Self: ...
    @overload
    def __get__(
        self: Lifted[[Unseen], S], instance: object, owner: object = None
    ) -> Callable[..., S]: ...
    @overload
    def __get__(
        self: Lifted[Concatenate[A, Q], S], instance: A, owner: object = None
    ) -> Callable[Q, S]: ...
    @overload
    def __get__(self, instance: object, owner: object = None) -> Callable[..., R]: ...
    def __get__(self, instance: Any, owner: object = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the transformed function."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<nnx.{self.transform} of {describe(self._lift.function)}>"


def as_arrays(tree: Tree) -> Tree:
    """Return a tree with arrays in place of Python's and numpy's numbers.

    Run outside jit, some transforms of jax return the constants of the traced function as they are
    written down, which are no `jax.Array`.
    """
    return jax.tree.map(_as_array, tree)


def _as_array(value: Value) -> jax.Array:
    return value if isinstance(value, jax.Array) else jnp.asarray(value)
