"""`scan`: a function over the slices of Modules and arrays, with Modules in the carry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, overload

import jax

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.argnums import with_defaults
from typed_nnx._transforms.axis_metadata import AxisMetadata, named_axis
from typed_nnx._transforms.interned import Kept
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.prefix_types import CarryPrefix
from typed_nnx._transforms.prefixes import Carry
from typed_nnx._transforms.scan_axes import ScanAxes
from typed_nnx._transforms.scan_steps import Steps
from typed_nnx._transforms.signature import Signature
from typed_nnx._transforms.vmap import NO_METADATA
from typed_nnx.errors import ScanAxesError

P = ParamSpec("P")
R = TypeVar("R")


class Scanned(Lifted[P, R]):
    """A function over slices; what `scan` returns."""

    transform = "scan"

    def __init__(
        self,
        function: Callable[P, R],
        axes: ScanAxes,
        metadata: AxisMetadata | None,
        graph: bool | None,
        graph_updates: bool | None,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._check_prefixes(in_axes=axes.ins, out_axes=axes.outs)
        self._axes = axes
        self._metadata = metadata
        self._options = options
        self._prepare()

    def _prepare(self) -> None:
        self._steps: Kept[Steps] = Kept(self._lift)

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function on each slice."""
        lift, axes = self._lift, self._axes
        given = self._by_position(args, kwargs)
        # What the function closes over changes from step to step like a carry.
        call = lift.gather(given, None, axes.of_arguments(len(given)), capture_prefix=Carry)
        treedefs = tuple([jax.tree.structure(arg) for arg in call.args])

        def make(signature: Signature) -> Steps:
            return Steps(lift, axes, self._metadata, signature, treedefs, call.prefixes)

        steps = self._steps.of(call.signature, treedefs, make)
        try:
            first, slices = steps.inputs(call)
            carry, found = jax.lax.scan(steps.body, first, slices, **self._options)
        except ValueError:
            steps.check_sizes(call, self._options["length"])
            raise
        self._steps.accept_changes()
        return steps.finish(call, given, carry, found)  # type: ignore[no-any-return]  # what the function returned

    def _by_position(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        if not kwargs:
            return with_defaults(self._lift.function, args, kwargs, self._axes.ins)
        bound = inspect.signature(self._lift.function).bind(*args, **kwargs)
        if bound.kwargs:
            raise ScanAxesError(
                f"there is no axis for the keyword arguments {sorted(bound.kwargs)}",
                "pass them by position",
            )
        return with_defaults(self._lift.function, bound.args, {}, self._axes.ins)


@overload
def scan(
    f: Callable[P, R],
    *,
    length: int | None = ...,
    reverse: bool = ...,
    unroll: int | bool = ...,
    _split_transpose: bool = ...,
    in_axes: CarryPrefix = ...,
    out_axes: CarryPrefix = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[P, R]: ...
@overload
def scan(
    *,
    length: int | None = ...,
    reverse: bool = ...,
    unroll: int | bool = ...,
    _split_transpose: bool = ...,
    in_axes: CarryPrefix = ...,
    out_axes: CarryPrefix = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@hides_frames
def scan(
    f: Any = UNSET,
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
) -> Any:
    """Run a function on each slice of its arguments, one after the other, as `jax.lax.scan`.

    Of each argument ``in_axes`` says whether it is carried from step to step (`Carry`), scanned over
    (an axis) or the same in each step (None); `StateAxes` says so for the Variables of a Module by
    filter. Variables that are carried, that are the same in each step or that the function closes
    over keep what a step assigns to them for the next one; those scanned over are stacked.

    >>> import jax.numpy as jnp
    >>> total = Variable(jnp.array(0.0))
    >>> @scan(in_axes=(Carry, 0), out_axes=(Carry, 0))
    ... def cumulate(total, x):
    ...     total[...] += x
    ...     return total, total[...]
    >>> cumulate(total, jnp.arange(4.0))[1].tolist(), float(total[...])
    ([0.0, 1.0, 3.0, 6.0], 6.0)

    Args:
        f: Any callable. Without it a decorator is returned.
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
        ScanAxesError: in_axes and out_axes do not go together or with the arguments.
        CarryStructureError: A step changed the structure of what is carried.
        CarryTypeError: A step changed the shape or dtype of what is carried.
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

    def wrap(function: Any) -> Scanned[..., Any]:
        return Scanned(function, axes, metadata, graph, graph_updates, options)

    return wrap if f is UNSET else wrap(f)
