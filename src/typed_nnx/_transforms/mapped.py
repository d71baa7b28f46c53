"""What `vmap`, `pmap` and `shard_map` have in common: functions over mapped axes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeVar

import jax

from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.trace import context
from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._graph.traversal import Leaf, Slot
from typed_nnx._transforms.argnums import spread, with_defaults
from typed_nnx._transforms.axis_metadata import AxisMetadata
from typed_nnx._transforms.gather import Call, Place
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.mapped_values import check_sizes
from typed_nnx._transforms.outcomes import Flat, Outcome, mirrored
from typed_nnx._transforms.prefixes import Prefix, broadcast, pure_prefix
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx._transforms.signature import Signature

P = ParamSpec("P")
R = TypeVar("R")


class Axes(NamedTuple):
    """How values go in and come out.

    Attributes:
        ins: The prefixes of the positional arguments.
        outs: The prefix of the result.
        keywords: The prefix of keyword arguments.
        captured: The prefix of what the function closes over.
        metadata: What is done with the metadata of Variables.
    """

    ins: Prefix
    outs: Prefix
    keywords: Prefix = 0
    captured: Prefix = None
    metadata: AxisMetadata | None = None


class Mapped(Lifted[P, R]):
    """A function over mapped axes.

    Args:
        function: The user's function.
        axes: How values go in and come out.
        graph: The mode of the graph.
        graph_updates: The mode of its updates.
        options: Those of the transform of jax.
    """

    #: The name of the option for the prefixes of arguments.
    _ins_name = "in_axes"
    #: That for the prefix of the result.
    _outs_name = "out_axes"
    #: Whether arguments given by name have prefixes too where structures stay as they are.
    _always_by_position = False
    #: Whether jax maps over axes of one size.
    _has_one_size = False
    #: Whether jax names inputs in what it says about the function.
    _shows_inputs = True

    def __init__(
        self,
        function: Callable[P, R],
        axes: Axes,
        graph: bool | None,
        graph_updates: bool | None,
        options: Any = None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._check_prefixes(**{self._ins_name: axes.ins, self._outs_name: axes.outs})
        self._axes = axes
        self._options = options
        self._prepare()

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function over the mapped axes."""
        call = self._gather(args, kwargs)
        try:
            outcome = self._map(call)(call.args, call.kwargs, call.captured)
        except ValueError:
            if self._has_one_size:
                self._check_sizes(call)
            raise
        return self._lift.finish(call, outcome)  # type: ignore[no-any-return]  # what the function returned

    def _map(self, call: Call) -> Callable[..., Outcome]:
        """Return the function of plain values that jax maps."""
        raise NotImplementedError

    def _gather(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], **options: Any) -> Call:
        args, kwargs = self._by_position(args, kwargs)
        axes = self._axes
        return self._lift.gather(
            args,
            kwargs,
            self._spread(len(args)),
            keyword_prefix=axes.keywords,
            capture_prefix=axes.captured,
            **options,
        )

    def _check_sizes(self, call: Call) -> None:
        """Raise a better error than that of jax if values are mapped over axes of different sizes."""
        values = (call.args, call.kwargs, call.captured)
        names = names_of(self._lift.parameters, call.signature, *values)
        axes = broadcast(self._prefixes(call)[0], jax.tree.structure(values))
        inputs = zip(jax.tree.leaves(names), axes, jax.tree.leaves(values), strict=True)
        check_sizes(self._lift.title, inputs, "axis_size", self._axis_size())

    def _axis_size(self) -> int | None:
        """Return the size of the mapped axis that an option gives."""
        return None

    def _spread(self, count: int) -> tuple[Prefix, ...]:
        """Return the prefix of each positional argument."""
        return spread(f"{self._lift.title}: {self._ins_name}", self._axes.ins, count)

    def _by_position(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Return arguments given by name, and defaults, in their positions, where ``in_axes`` counts them."""
        function = self._lift.function
        if kwargs and (self._lift.modes[1] or self._always_by_position):
            try:
                bound = inspect.signature(function).bind(*args, **kwargs)
            except (TypeError, ValueError):
                return args, kwargs  # the function says it better
            args, kwargs = bound.args, bound.kwargs
        return with_defaults(function, args, kwargs, self._axes.ins), kwargs

    def _prefixes(self, call: Call) -> tuple[tuple[Any, ...], Outcome]:
        """Return the prefixes of what goes in and of what comes out, as jax takes them."""
        axes = self._axes
        outs: Any = Outcome
        changed = [
            None if argument is None else prefix  # a plain value does not come back
            for argument, prefix in zip(call.signature.arguments, call.prefixes, strict=True)
        ]
        return (call.prefixes, axes.keywords, axes.captured), outs(
            tuple(changed), axes.keywords, axes.captured, pure_prefix(axes.outs), axes.captured
        )

    def _flat(
        self, signature: Signature, check: Callable[[Flat], None] | None = None
    ) -> Callable[..., Outcome]:
        """Return the function of plain values.

        It may be kept longer than the call lasts, so it knows the signature only.

        Args:
            signature: That of the call.
            check: Is given what the function found.
        """
        lift, axes = self._lift, self._axes

        def flat(args: Any, kwargs: Any, captured: Any) -> Outcome:
            inside = lift.enter(signature, args, kwargs, captured)
            if axes.metadata is None:
                result = inside.result()
            else:
                given = (*inside.args, *inside.kwargs.values())
                prefixes = (
                    *self._spread(len(inside.args)),
                    *[axes.keywords] * len(inside.kwargs),
                )
                known = axes.metadata.enter(given, prefixes)
                result = inside.result()
                axes.metadata.leave(known, given, prefixes, result, axes.outs)
            found = inside.leave(result, axes.outs)
            if check is not None:
                check(found)
            return mirrored(signature, found)

        names = partial(names_of, lift.parameters, signature) if self._shows_inputs else None
        return shown(flat, lift.function, names)


def keep_placed(call: Call) -> None:
    """Have all values of the objects of a call returned, those too that do not change.

    They lie where the call needs them then, and need not be moved for each call. What belongs to
    another trace cannot be written and is left out.
    """
    trace = context.trace
    for part, place in zip(call.signature.parts, call.places, strict=True):
        part.kept = part.kept or all(_trace_of(place, leaf) is trace for leaf in place.leaves)


def _trace_of(place: Place, leaf: Leaf) -> Any:
    if type(leaf) is not Slot:
        return leaf._nnx_trace  # type: ignore[union-attr]  # not a Slot
    owner = place.root if leaf.owner <= 0 else place.graph.objects[leaf.owner]
    return owner._nnx_trace if isinstance(owner, GraphNode) else context.trace
