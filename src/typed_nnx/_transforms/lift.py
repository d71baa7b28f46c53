"""The one path that every transform goes through.

Outside, `gather` takes the arguments and what the function closes over apart: structure, which is
static, and plain values, which jax sees. Inside, the user's function runs on objects of its own made
of jax's tracers; what it changed is found by comparing them with what went in. Outside again, the
changes are written into the objects. An exception anywhere leaves the objects as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from typed_nnx._core.cells import graph_lock
from typed_nnx._graph.duplicates import check_tree
from typed_nnx._graph.mode import resolve_modes
from typed_nnx._transforms.callables import Parameters, describe
from typed_nnx._transforms.captures import Captures
from typed_nnx._transforms.gather import Call, Gatherer
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.outcomes import Flat, Outcome, flattened
from typed_nnx._transforms.places import place_name
from typed_nnx._transforms.prefix_structure import check_prefix
from typed_nnx._transforms.prefixes import Prefix
from typed_nnx._transforms.result_checks import NO_PREFIX
from typed_nnx._transforms.signature import Signature
from typed_nnx._transforms.write_back import write_back

Modes = tuple[bool, bool]

_CONTAINERS = (tuple, list, dict)


class Lift:
    """A user's function and how to run it under a transform of jax.

    Args:
        name: The name of the transform.
        function: The user's function: any callable.
        graph: False asserts that arguments are trees.
        graph_updates: False asserts that structures do not change.

    Attributes:
        modes: The modes that were in force when the function was transformed.
        known_captures: What the function closed over when it was last looked at.
    """

    __slots__ = ("_parameters", "_title", "function", "known_captures", "modes", "name")

    def __init__(
        self, name: str, function: Any, graph: bool | None, graph_updates: bool | None
    ) -> None:
        self.name: str = name
        self.function: Any = function
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

    def of(self, function: Any) -> Lift:
        """Return the same for another function."""
        made = object.__new__(Lift)
        made.name, made.function, made.modes = self.name, function, self.modes
        made.known_captures = made._title = made._parameters = None
        return made

    def gather(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        prefixes: Sequence[Prefix] | None = None,
        *,
        capture_prefix: Prefix = None,
        keyword_prefix: Prefix = None,
        kept: Sequence[bool] | None = None,
        kept_names: Collection[str] = (),
        keep_captured: bool = False,
        roots: Sequence[Any] | Parameters | None = None,
        statics: Collection[int] = (),
        static_names: Collection[str] = (),
    ) -> Call:
        """Take one call apart.

        Args:
            args: The positional arguments.
            kwargs: The keyword arguments.
            prefixes: The prefix of each positional argument.
            capture_prefix: The prefix of every captured object.
            keyword_prefix: The prefix of every keyword argument.
            kept: Whether all values of each positional argument are to be returned.
            kept_names: The same for keyword arguments.
            keep_captured: The same for what is captured.
            roots: What the paths in each positional argument begin with; its name by default.
            statics: Positions of arguments that are left as they are.
            static_names: The same for keyword arguments.
        """
        with graph_lock:  # what another thread writes together is read together
            modes = self.modes
            gatherer = Gatherer(self.title)
            if roots is None:
                roots = self.parameters
            own = [None] * len(args) if prefixes is None else prefixes
            made, full, specs = [], [], []
            for number, (value, prefix) in enumerate(zip(args, own, strict=True)):
                if number in statics:
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
            named: dict[str, Any] = {}
            keywords = {}
            for name, value in (kwargs or {}).items():
                if name in static_names:
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
                signature, tuple(made), named, tuple(captured), tuple(full), gatherer.places
            )

    def enter(
        self, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], captured: Any
    ) -> Inside:
        """Make the objects of one call, inside a transform of jax.

        Args:
            signature: What is static about the call.
            args: The plain values of the positional arguments.
            kwargs: Those of the keyword arguments.
            captured: Those of what the function closes over.
        """
        return Inside(self.title, self.function, self.captures(), signature).enter(
            args, kwargs, captured
        )

    def run(
        self,
        signature: Signature,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        captured: Sequence[Any],
        out_prefix: Prefix = NO_PREFIX,
    ) -> Flat:
        """Run the user's function on plain values; see `enter`."""
        inside = self.enter(signature, args, kwargs, captured)
        return inside.leave(inside.result(), out_prefix)

    def finish(self, call: Call, outcome: Outcome | Flat) -> Any:
        """Write the changes of a call into its objects and return the result."""
        signature = call.signature
        flat = flattened(signature, outcome) if isinstance(outcome, Outcome) else outcome
        return write_back(signature.parts, call.places, flat)
