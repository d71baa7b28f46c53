"""`scan`: a function over the slices of Modules and arrays, with Modules in the carry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple, overload

import jax
import jax.numpy as jnp

from typed_nnx._core.cells import content_key
from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.nodes import TreeDef
from typed_nnx._core.settings import MISSING, Missing
from typed_nnx._transforms.axis_metadata import NO_METADATA, AxisMetadata, named_axis
from typed_nnx._transforms.engine.argnums import by_position, with_defaults
from typed_nnx._transforms.engine.call import Call, kind_of_result
from typed_nnx._transforms.engine.explain import names_of, shown
from typed_nnx._transforms.engine.lift import Lift, Lifted, P, R
from typed_nnx._transforms.engine.prefixes import (
    Carry,
    CarryPrefix,
    Function,
    Prefix,
    Tree,
    Value,
    broadcast,
    by_filter,
    is_prefix_leaf,
    pure_prefix,
)
from typed_nnx._transforms.engine.signature import Signature, Structure, TraceResult
from typed_nnx._transforms.engine.trace import Trace
from typed_nnx._transforms.engine.trace_cache import CachedTrace, StartTrace
from typed_nnx._transforms.loops import check_returned, next_values, stays_in_place, with_objects
from typed_nnx._transforms.mapped import check_sizes
from typed_nnx.errors import PrefixError
from typed_nnx.errors._base_error import counted


class ScanAxes:
    """The axes of `scan`, checked.

    Attributes:
        carry_in: The position of the carry among the arguments; None if there is none.
        carry_out: Its position among the results; None if there is none, or if it is the result.
    """

    __slots__ = ("carry_in", "carry_out", "ins", "outs")

    def __init__(self, ins: Prefix, outs: Prefix) -> None:
        self.ins = ins
        self.outs = outs
        self.carry_in: int | None = _carry_position("in_axes", ins)
        self.carry_out: int | None = _carry_position("out_axes", outs)
        if self.has_carry != (self.carry_out is not None or outs is Carry):
            raise PrefixError(
                "scan",
                "If one of in_axes or out_axes has Carry, the other must also have Carry. Got "
                f"in_axes={_shown(ins)}, out_axes={_shown(outs)}",
                "in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0)",
            )
        for path, given in _broadcast_places(outs):
            raise PrefixError(
                "scan",
                f"Cannot broadcast output state. Got {given} at: {path}",
                "give the axis along which the results of the steps are stacked, such as 0",
            )

    @property
    def has_carry(self) -> bool:
        """Whether an argument is carried."""
        return self.carry_in is not None or self.ins is Carry

    def of_arguments(self, count: int) -> tuple[Prefix, ...]:
        """Return the axis of each argument.

        Raises:
            PrefixError: There is not one for each.
        """
        ins = self.ins
        if ins is Carry:
            if count != 1:
                raise PrefixError(
                    "scan",
                    "When in_axes=Carry, the function must take exactly one argument, got "
                    f"{count} arguments.",
                    "in_axes=(nnx.Carry, 0), an axis for each argument",
                )
            return (Carry,)
        if type(ins) is not tuple and type(ins) is not list:
            return (ins,) * count
        if len(ins) != count:
            raise PrefixError(
                "scan",
                f"in_axes has {counted(len(ins), 'entry', 'entries')}, but the function got "
                f"{counted(count, 'argument')}",
                "give one axis for each argument",
            )
        return tuple(ins)

    def divide_result(self, result: Tree) -> tuple[Tree, Any, Prefix]:
        """Return the carry in a result, the rest, and the axes of the rest.

        Raises:
            PrefixError: The result has another length than out_axes.
        """
        outs = self.outs
        if outs is Carry:
            return result, (), ()
        if self.carry_out is None:
            return None, result, outs
        if not isinstance(result, tuple) or len(result) != len(outs):
            found = kind_of_result(result)
            raise PrefixError(
                "scan",
                f"out_axes={_shown(outs)} asks for a tuple of {len(outs)} results, the function returned "
                f"{found}",
                "return one result for each of out_axes",
            )
        return result[self.carry_out], self._without_carry(result), self.of_rest()

    def of_rest(self) -> Prefix:
        """Return the axes of what is not carried in the result."""
        outs = self.outs
        if outs is Carry:
            return ()
        if self.carry_out is None:
            return outs
        return self._without_carry(outs)

    def _without_carry(self, entries: Sequence[Tree]) -> tuple[Tree, ...]:
        return tuple([own for number, own in enumerate(entries) if number != self.carry_out])

    def whole_result(self, carry: Tree, rest: Tree) -> Tree:
        """Undo `divide_result`."""
        if self.outs is Carry:
            return carry
        if self.carry_out is None:
            return rest
        return (*rest[: self.carry_out], carry, *rest[self.carry_out :])


def _shown(axes: Prefix) -> str:
    return repr(axes).replace(repr(Carry), "Carry")


def _carry_position(name: str, axes: Prefix) -> int | None:
    if axes is Carry or type(axes) not in (tuple, list):
        return None
    found = [number for number, axis in enumerate(axes) if axis is Carry]
    if len(found) > 1:
        raise PrefixError(
            "scan",
            f"Found multiple Carry definitions at {name}[{found[0]}] and {name}[{found[1]}]",
            "carry a tuple of what is carried",
        )
    for axis in axes:
        if axis is not Carry and by_filter(axis) is None:
            leaves = jax.tree.leaves(axis, is_leaf=is_prefix_leaf)
            if any(leaf is Carry for leaf in leaves):
                raise PrefixError(
                    "scan",
                    f"Carry must be at the top-level, it cannot be nested. Found axes={_shown(axis)}",
                    "give nnx.Carry for the whole argument, or in nnx.StateAxes for a Module",
                )
    return found[0] if found else None


def _broadcast_places(axes: Prefix) -> Iterator[tuple[str, str]]:
    for path, leaf in jax.tree_util.tree_leaves_with_path(axes, is_leaf=is_prefix_leaf):
        filters = by_filter(leaf)
        values = (leaf,) if filters is None else filters.values_in_order
        if any(value is None for value in values):
            given = "out_axes=None" if leaf is None else repr(leaf)
            yield f"out_axes{jax.tree_util.keystr(path)}", given


class Found(NamedTuple):
    """What one step found, apart from the carry: for each part the values to be stacked, and the rest."""

    scanned: tuple[list[Value], ...]
    flat: TraceResult


class Steps:
    """The steps over plain values: which of them are scanned over and which are carried.

    jax finds a trace again by the identity of `body`, so there is one for all calls of a kind. It
    knows what is static about them and nothing of any one call: of `lift` it keeps what describes it.
    """

    def __init__(
        self,
        lift: Lift,
        start: StartTrace,
        axes: ScanAxes,
        metadata: AxisMetadata | None,
        signature: Signature,
        treedef: TreeDef,
        prefixes: tuple[Prefix, ...],
    ) -> None:
        self._start = start
        self._title = lift.title
        self._parameters = lift.parameters
        self._axes = axes
        self._metadata = metadata
        self._prefixes = axes.of_arguments(len(prefixes))
        self._carry_number = 0 if axes.ins is Carry else axes.carry_in
        self._signature = signature
        self._treedef = treedef
        self._leaf_axes = broadcast(prefixes, treedef)
        self.body: Function = shown(self.step, lift.function, self._names)

    def _divided(self, args: Tree) -> tuple[list[Value], list[Value]]:
        """Return what is carried and what is scanned over, each with None in place of the other."""
        pairs = list(zip(jax.tree.leaves(args), self._leaf_axes, strict=True))
        return (
            [None if type(axis) is int else leaf for leaf, axis in pairs],
            [leaf if type(axis) is int else None for leaf, axis in pairs],
        )

    def inputs(self, call: Call) -> tuple[Tree, list[Value]]:
        """Return the first carry of a call, and what is scanned over, along its first axes."""
        carried, slices = self._divided(call.args)
        return (carried, call.captured), list(map(_moved, slices, self._leaf_axes, repeat(0)))

    def _is_scanned(self, part: int, leaf: int) -> bool:
        return type(self._signature.parts[part].groups.prefix_of(leaf)) is int

    def _names(self, carry: Tree, slices: Tree) -> Tree:
        """Return names in trees like what a step takes."""
        carried, captured = carry
        args, closed = self._names_of(self._arguments(carried, slices), captured)
        names, others = self._divided(args)
        return (names, closed), others

    def _names_of(self, pure: Sequence[Value], captured: Sequence[Value]) -> tuple[Tree, Tree]:
        """Return names in place of the arguments, and of what the function closes over."""
        args, _, closed = names_of(self._parameters, self._signature, pure, {}, captured)
        return args, closed

    def check_sizes(self, call: Call, length: int | None) -> None:
        """Raise a better error than that of jax if slices are taken along axes of different sizes."""
        names = jax.tree.leaves(self._names_of(call.args, call.captured)[0])
        inputs = zip(names, self._leaf_axes, jax.tree.leaves(call.args), strict=True)
        check_sizes(self._title, inputs, "length", length)

    # -- one step ---------------------------------------------------------------------------------

    def step(self, carry: Tree, slices: Tree) -> tuple[Tree, Found]:
        """Run the user's function on one slice."""
        signature, number = self._signature, self._carry_number
        carried, captured = carry
        pure = list(self._arguments(carried, slices))
        trace = self._start(signature, pure, {}, captured)
        carry_given = None if number is None else trace.args[number]
        result = self._run(trace)
        value, rest, rest_axes = self._axes.divide_result(result)
        if number is not None:
            check_returned(self._title, carry_given, value)
            pure[number] = value
        flat = trace.finish(rest, rest_axes)
        values = next_values(self._title, trace, flat, self._may_grow, self._is_scanned)
        args, closed = signature.with_values(pure, values)
        return (self._divided(args)[0], closed), self._found(flat)

    def _run(self, trace: Trace) -> Tree:
        if self._metadata is None:
            return trace.run()
        known = self._metadata.enter(trace.args, self._prefixes)
        result = trace.run()
        _, rest, rest_axes = self._axes.divide_result(result)
        self._metadata.leave(known, trace.args, self._prefixes, rest, rest_axes)
        return result

    def _arguments(self, carried: Sequence[Value], slices: Sequence[Value]) -> tuple[Tree, ...]:
        """Return the arguments of one step as plain values."""
        pairs = zip(carried, slices, self._leaf_axes, strict=True)
        leaves = [own if type(axis) is int else before for before, own, axis in pairs]
        args: tuple[Tree, ...] = self._treedef.unflatten(leaves)
        return args

    def _found(self, flat: TraceResult) -> Found:
        """Return what is stacked of a step: of the parts what is scanned over, with None for the rest."""
        scanned = []
        for number, part in enumerate(self._signature.parts):
            values, groups = flat.values_of(number, part), flat.effects.groups_of(number, part)
            axes = map(groups.prefix_of, range(len(values)))
            scanned.append(
                [v if type(axis) is int else None for v, axis in zip(values, axes, strict=True)]
            )
        return Found(tuple(scanned), flat._replace(updates=()))

    def _may_grow(self, number: int, grown: Structure) -> bool:
        """Whether a part may have another structure after a step: what is carried must stay."""
        part = self._signature.parts[number]
        leaves = range(len(part.graphdef.layout.paths))
        carried = [leaf for leaf in leaves if not self._is_scanned(number, leaf)]
        if not carried and (leaves or type(part.groups.prefix) is int):
            return True
        if any(type(grown.groups.prefix_of(new)) is not int for new in range(grown.count)):
            return False  # it would have to be carried from the first step on
        # Static values may change: the next step begins with the structure that the first one had.
        return stays_in_place(number, part, carried, grown)

    # -- after the last step ----------------------------------------------------------------------

    def finish(
        self, lift: Lift, call: Call, args: Sequence[Value], carry: Tree, found: Found
    ) -> Tree:
        """Write the last values into the objects of a call and return the whole result.

        `args` are the arguments with objects; `found` is what the steps found, stacked.
        """
        signature, effects, number = self._signature, found.flat.effects, self._carry_number
        carried, captured = carry
        pure = self._treedef.unflatten(carried)  # None for each slice
        final = signature.values_in(pure, captured)
        updates = []
        for place, (part, stacked) in enumerate(zip(signature.parts, found.scanned, strict=True)):
            groups, last = effects.groups_of(place, part), part.groups.join(final[place])
            changed = effects.changed[place]
            values = []
            for entry, value in enumerate(stacked):
                axis = groups.prefix_of(entry)
                is_scanned = type(axis) is int
                values.append(_moved(value, 0, axis) if is_scanned else last[changed[entry]])
            updates.append(groups.divide(values))
        rest = self._stacked(found.flat.result)
        built = lift.finish(call, TraceResult(tuple(updates), rest, effects))
        last_carry = None
        if number is not None:
            last_carry = with_objects(signature.arguments[number], pure[number], args[number])
        return self._axes.whole_result(last_carry, built)

    def _stacked(self, result: Tree) -> Tree:
        """Return the stacked results with the new axis where ``out_axes`` wants it."""
        treedef: TreeDef
        leaves, treedef = jax.tree.flatten(result)
        axes = broadcast(pure_prefix(self._axes.of_rest()), treedef)
        return treedef.unflatten(map(_moved, leaves, repeat(0), axes))


def _moved(value: Value, source: int, target: int) -> Tree:
    if source == target:
        return value
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, source, target), value)


class Scanned(Lifted[P, R]):
    """A function over slices; what `scan` returns."""

    transform = "scan"
    _options: tuple[ScanAxes, AxisMetadata | None, Mapping[str, Any]]

    def _check_options(self) -> None:
        self._axes, self._metadata, self._rest = self._options
        axes = self._axes
        self._check_prefixes(in_axes=axes.ins, out_axes=axes.outs)
        self._key = content_key(axes.ins), content_key(axes.outs), self._metadata

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function on each slice."""
        lift, axes = self._lift, self._axes
        given = self._by_position(args, kwargs)
        # What the function closes over changes from step to step like a carry.
        call = lift.gather(given, None, axes.of_arguments(len(given)), capture_prefix=Carry)
        treedef: TreeDef = jax.tree.structure(call.args)

        def make(start: StartTrace) -> Steps:
            metadata, prefixes = self._metadata, call.prefixes
            return Steps(lift, start, axes, metadata, call.signature, treedef, prefixes)

        with CachedTrace(lift, call.signature, (self._key, treedef), make) as steps:
            try:
                first, slices = steps.inputs(call)
                carry, found = jax.lax.scan(steps.body, first, slices, **self._rest)
            except ValueError:
                steps.check_sizes(call, self._rest["length"])
                raise
        result: R = steps.finish(lift, call, given, carry, found)
        return result

    def _by_position(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> tuple[Tree, ...]:
        if not kwargs:
            return with_defaults(self._lift.function, args, kwargs, self._axes.ins)
        args, kwargs = by_position(self._lift.function, args, kwargs)
        if kwargs:
            raise PrefixError(
                "scan",
                f"there is no axis for the keyword arguments {sorted(kwargs)}",
                "pass them by position",
            )
        return with_defaults(self._lift.function, args, {}, self._axes.ins)


@overload
def scan(
    f: Callable[P, R],
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    in_axes: CarryPrefix = ...,
    out_axes: CarryPrefix = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def scan(
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    in_axes: CarryPrefix = ...,
    out_axes: CarryPrefix = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@hides_frames
def scan(
    f: Function | Missing = MISSING,
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    in_axes: CarryPrefix = (Carry, 0),
    out_axes: CarryPrefix = (Carry, 0),
    transform_metadata: Mapping[str, Any] = NO_METADATA,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Run a function on each slice of its arguments, one after the other, as `jax.lax.scan`.

    ``in_axes`` says of each argument whether it is carried from step to step (`Carry`), scanned
    over (an axis) or shared by all steps (None); `StateAxes` says so for the Variables of a Module,
    by filter. What a step assigns to Variables that are carried, shared or closed over is seen by
    the next step; those that are scanned over are stacked.

    >>> import jax.numpy as jnp
    >>> total = Variable(jnp.array(0.0))
    >>> @scan(in_axes=(Carry, 0), out_axes=(Carry, 0))
    ... def cumulate(total, x):
    ...     total[...] += x
    ...     return total, total[...]
    >>> cumulate(total, jnp.arange(4.0))[1].tolist(), float(total[...])
    ([0.0, 1.0, 3.0, 6.0], 6.0)

    Args:
        f: The function. Without it a decorator is returned.
        length: The number of steps, where no argument says it.
        reverse: Start with the last slice.
        unroll: How many steps to unroll, or whether to unroll all.
        _split_transpose: As in `jax.lax.scan`.
        in_axes: One of Carry, an axis, None, a tree of axes or `StateAxes` for all positional
            arguments, or one for each.
        out_axes: The same for the results; no None, since each step has a result.
        transform_metadata: With the key ``nnx.PARTITION_NAME`` the name of the axis in the sharding
            metadata of Variables that are scanned over.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        PrefixError: in_axes and out_axes do not go together or with the arguments.
        CarryTypeError: A step changed the structure of what is carried, or a step changed the shape
            or dtype of what is carried.
        PrefixConflictError: A Variable is reached on two paths with different axes.
    """
    options: dict[str, Any] = {
        "length": length,
        "reverse": reverse,
        "unroll": unroll,
        "_split_transpose": _split_transpose,
    }
    axes = ScanAxes(in_axes, out_axes)
    metadata = named_axis("scan", transform_metadata)
    return Scanned.of(f, graph, graph_updates, (axes, metadata, options))
