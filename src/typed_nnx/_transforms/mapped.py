"""What `vmap`, `pmap` and `shard_map` have in common: functions over mapped axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from typed_nnx._core.jax_runtime import context, hides_frames
from typed_nnx._core.nested import describe_leaf
from typed_nnx._core.nodes import GraphNode
from typed_nnx._graph.traversal import Leaf, Slot
from typed_nnx._transforms.axis_metadata import AxisMetadata
from typed_nnx._transforms.engine.argnums import Statics, by_position, spread, with_defaults
from typed_nnx._transforms.engine.call import Call, Input, result_name
from typed_nnx._transforms.engine.explain import names_of, shown
from typed_nnx._transforms.engine.lift import Lifted, P, R
from typed_nnx._transforms.engine.prefixes import Prefix, Tree, Value, broadcast
from typed_nnx._transforms.engine.signature import Signature, TraceResult, result_prefix
from typed_nnx.errors import AxisSizeError, BroadcastChangedError

Named: TypeAlias = tuple[Callable[[], str], Prefix, Tree]
"""How to name a value, its prefix, and the value."""


def check_broadcast(function: str, call: Call, outs: Prefix, found: TraceResult) -> None:
    """Raise if what is not mapped got a value that differs along the mapped axis.

    Raises:
        BroadcastChangedError: With the paths of such Variables and results.
    """
    paths = [
        name()
        for name, axis, value in _written(call, outs, found)
        if axis is None and any(map(_is_mapped, jax.tree.leaves(value)))
    ]
    if paths:
        raise BroadcastChangedError(
            function,
            "values that are not mapped (axis None) were given a value that differs along the "
            "mapped axis",
            paths,
            "map them too, with nnx.StateAxes({<filter>: 0, ...: None}) in in_axes or out_axes, or "
            "reduce the value over the axis before it is assigned or returned",
        )


def check_replicated(function: str, call: Call, outs: Prefix, found: TraceResult) -> None:
    """Raise if something got a value that differs along a mesh axis which its spec does not name.

    Raises:
        BroadcastChangedError: With the paths of such Variables and results.
    """
    places = []
    for name, spec, value in _written(call, outs, found):
        known = _axes_in(spec)
        axes = {axis for each in jax.tree.leaves(value) for axis in _varying(each)} - known
        if axes:
            along = ", ".join(map(repr, sorted(axes, key=str)))
            places.append(f"{name()}: spec {spec}, the value differs along {along}")
    if places:
        raise BroadcastChangedError(
            function,
            "values were given that differ along mesh axes which their specs do not name, so that "
            "devices cannot share them (replication)",
            places,
            "reduce the value over the axis before it is assigned, jax.lax.pmean(value, <axis>); "
            "or name the axis in in_specs or out_specs; or pass check_vma=False to take one "
            "device's value",
        )


def check_sizes(
    function: str, inputs: Iterable[tuple[str, Prefix, Tree]], option: str, size: int | None
) -> None:
    """Raise if values are mapped over axes of different sizes.

    `inputs` are name, axis and value of each value that goes in; `option` gives the size, too.

    Raises:
        AxisSizeError: It names the values.
    """
    found: dict[int | None, list[str]] = {}
    for name, axis, value in inputs:
        if isinstance(axis, int):
            shape = jnp.shape(value)
            own = shape[axis] if -len(shape) <= axis < len(shape) else None
            text = f"axis {axis} of {name}, {describe_leaf(value)}"
            found.setdefault(own, []).append(text)
    if size is not None:
        found.setdefault(size, []).append(option)
    if len(found) > 1 or None in found:
        raise AxisSizeError(function, found) from None


def _varying(value: Value) -> frozenset[Any]:
    """Return the mesh axes along which a value differs; none if jax does not tell."""
    kind = getattr(jax.typeof(value), "manual_axis_type", None)
    return frozenset() if kind is None else frozenset(kind.varying)


def _axes_in(spec: Prefix) -> set[Any]:
    """Return the mesh axes that a spec names."""
    entries = [each if isinstance(each, tuple) else (each,) for each in spec or ()]
    return {axis for each in entries for axis in each}


def _written(call: Call, outs: Prefix, found: TraceResult) -> Iterator[Named]:
    """Yield the name, prefix and value of each value that changed, and of each in the result."""
    for number, each in enumerate(call.inputs):
        for leaf, value in found.changes(number, each.part):
            yield partial(each.name_of, leaf), each.part.groups.prefix_of(leaf), value
    prefixes = broadcast(outs, found.treedef)
    for own, (path, structure, pure) in zip(prefixes, found.entries(), strict=True):
        if structure is None:
            yield partial(result_name, path), own, pure
            continue
        groups, values = structure.groups, structure.groups.join(pure)
        for below, number in structure.new_leaves():
            name = partial(result_name, (*path, *below))
            yield name, groups.prefix_of(number), values[number]


def _is_mapped(value: Value) -> bool:
    # The tracers of a mapping transform are its mapped values; all others are constants to it. Of its
    # own those have no batch axis that `jax.custom_vjp` made from constants.
    ours = getattr(value, "_trace", None) is context.trace
    return ours and getattr(value, "batch_dim", 0) is not None


class Axes(NamedTuple):
    """The prefixes of what goes in and comes out, what is done with metadata, and options for jax."""

    ins: Prefix
    outs: Prefix
    keywords: Prefix = 0
    captured: Prefix = None
    metadata: AxisMetadata | None = None
    rest: Mapping[str, Any] = {}


class Mapped(Lifted[P, R]):
    """A function over mapped axes."""

    _options: Axes

    #: The name of the option for the prefixes of arguments.
    _ins_name = "in_axes"
    #: That for the prefix of the result.
    _outs_name = "out_axes"
    #: Whether arguments given by name have prefixes too where structures stay as they are.
    _always_by_position = False
    #: Whether jax maps over axes of one size.
    _has_one_size = False
    #: Whether arguments lie afterwards where the call needs them.
    _is_placed = False
    #: The positions of static and of donated arguments.
    _statics: tuple[int, ...] = ()
    _donated: tuple[int, ...] = ()
    #: Whether jax names inputs in what it says about the function.
    _shows_inputs = True

    def _check_options(self) -> None:
        axes = self._options
        self._check_prefixes(**{self._ins_name: axes.ins, self._outs_name: axes.outs})

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function over the mapped axes."""
        call = self._gather(args, kwargs)
        try:
            traced = self._run(call)
        except ValueError:
            if self._has_one_size:
                self._check_sizes(call)
            raise
        result: R = self._lift.finish(call, traced)
        return result

    def _run(self, call: Call) -> TraceResult:
        """Have jax map the function over plain values."""
        raise NotImplementedError

    def _gather(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        args, kwargs = self._by_position(args, kwargs)
        axes, statics = self._options, Statics.of(self._statics, (), args, {})
        statics.check_values(self._lift.title, self._lift.parameters)
        statics.check_hashable(self._lift.title, self._lift.parameters)
        call = self._lift.gather(
            args,
            kwargs,
            self._spread(len(args)),
            keyword_prefix=axes.keywords,
            capture_prefix=axes.captured,
            kept=[number in self._donated for number in range(len(args))],
            statics=statics,
        )
        if self._is_placed and self._lift.modes[1]:
            keep_placed(call)
        return call

    def _check_sizes(self, call: Call) -> None:
        """Raise a better error than that of jax if values are mapped over axes of different sizes."""
        values = (call.args, call.kwargs, call.captured)
        names = names_of(self._lift.parameters, call.signature, *values)
        axes = broadcast(self._prefixes(call)[0], jax.tree.structure(values))
        inputs = zip(jax.tree.leaves(names), axes, jax.tree.leaves(values), strict=True)
        check_sizes(self._lift.title, inputs, "axis_size", self._options.rest.get("axis_size"))

    def _spread(self, count: int) -> tuple[Prefix, ...]:
        """Return the prefix of each positional argument."""
        return spread(f"{self._lift.title}: {self._ins_name}", self._options.ins, count)

    def _by_position(
        self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]
    ) -> tuple[tuple[Tree, ...], Mapping[str, Tree]]:
        """Return arguments given by name, and defaults, in their positions, where ``in_axes`` counts them."""
        function = self._lift.function
        if kwargs and (self._lift.modes[1] or self._always_by_position):
            try:
                args, kwargs = by_position(function, args, kwargs)
            except TypeError:
                return args, kwargs  # the function says it better
        return with_defaults(function, args, kwargs, self._options.ins), kwargs

    def _prefixes(self, call: Call) -> tuple[tuple[Tree, ...], TraceResult]:
        """Return the prefixes of what goes in and of what comes out, as jax takes them."""
        axes = self._options
        outs = result_prefix(call.signature.parts, axes.outs)
        return (call.prefixes, axes.keywords, axes.captured), outs

    def _flat(
        self, signature: Signature, check: Callable[[TraceResult], None] | None = None
    ) -> Callable[..., TraceResult]:
        """Return the function of plain values, which has `check` look at what the user's function did.

        It may be kept longer than the call lasts, so it knows the signature only.
        """
        lift, axes = self._lift, self._options

        def flat(args: Tree, kwargs: Tree, captured: Tree) -> TraceResult:
            trace = lift.trace(signature, args, kwargs, captured)
            if axes.metadata is None:
                result = trace.run()
            else:
                given = (*trace.args, *trace.kwargs.values())
                prefixes = (*self._spread(len(trace.args)), *[axes.keywords] * len(trace.kwargs))
                known = axes.metadata.enter(given, prefixes)
                result = trace.run()
                axes.metadata.leave(known, given, prefixes, result, axes.outs)
            found = trace.finish(result, axes.outs)
            if check is not None:
                check(found)
            return found

        names = partial(names_of, lift.parameters, signature) if self._shows_inputs else None
        return shown(flat, lift.function, names)


def keep_placed(call: Call) -> None:
    """Have all values of the objects of a call returned, those too that do not change.

    They lie where the call needs them then, and need not be moved for each call. What belongs to
    another trace cannot be written and is left out.
    """
    trace = context.trace
    for each in call.inputs:
        part = each.part
        part.kept = part.kept or all(_trace_of(each, leaf) is trace for leaf in each.graph.leaves)


def _trace_of(source: Input, leaf: Leaf) -> Tree:
    if not isinstance(leaf, Slot):
        return leaf._nnx_trace
    owner = source.object_at(max(leaf.owner, 0))
    return owner._nnx_trace if isinstance(owner, GraphNode) else context.trace
