"""`pmap`: functions of Modules over an axis that lies on several devices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar, overload

import jax

from typed_nnx._core.bounded import Bounded
from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.argnums import ArgNums, resolve
from typed_nnx._transforms.axis_metadata import named_axis
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.jit_explanations import check_hashable, check_static_objects
from typed_nnx._transforms.mapped import Axes, Mapped, keep_placed
from typed_nnx._transforms.outcomes import Outcome
from typed_nnx._transforms.prefix_types import AxisPrefix
from typed_nnx._transforms.shown import shown
from typed_nnx._transforms.signature import Signature
from typed_nnx._transforms.vmap import NO_METADATA

P = ParamSpec("P")
R = TypeVar("R")

Device: TypeAlias = Any
"""A ``jax.Device``, which is a variable without a type for pyright."""

# What is captured and what is given by name come first.
_BEFORE = 2


class PmapOptions(NamedTuple):
    """The options of `jax.pmap`, with positions counted as in the user's function."""

    statics: tuple[int, ...]
    donated: tuple[int, ...]
    rest: Mapping[str, Any]


class Pmapped(Mapped[P, R]):
    """A function over devices; what `pmap` returns."""

    transform = "pmap"
    _options: PmapOptions

    def _prepare(self) -> None:
        # jax compiles once for each function that it gets.
        self._compiled: Bounded[Any, Callable[..., Outcome]] = Bounded(64)

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function on the devices."""
        call = self._gather(args, kwargs)
        try:
            outcome = self._map(call)(call.captured, call.kwargs, *call.args)
        except ValueError:
            self._check_sizes(call)
            raise
        return self._lift.finish(call, outcome)  # type: ignore[no-any-return]  # what the function returned

    def _gather(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], **options: Any) -> Call:
        args, kwargs = self._by_position(args, kwargs)
        statics, donated, _ = self._options
        fixed = [(n, args[n]) for n in statics if n < len(args)]
        check_static_objects(self._lift, fixed)
        check_hashable(self._lift, fixed)
        kept = [number in donated for number in range(len(args))]
        call = super()._gather(args, kwargs, kept=kept, statics=statics, **options)
        if self._lift.modes[1]:
            keep_placed(call)
        return call

    def _axis_size(self) -> int | None:
        size: int | None = self._options.rest.get("axis_size")
        return size

    def _map(self, call: Call) -> Callable[..., Outcome]:
        key = call.signature.key
        known = self._compiled[key]
        if known is None:
            known = self._compiled.add(key, self._compile(call))
        return known

    def _compile(self, call: Call) -> Callable[..., Outcome]:
        (ins, keywords, captured), outs = self._prefixes(call)
        # A tuple for what is captured: with single axes only jax 0.10 takes a shortcut that is wrong
        # where some argument has no leaf and another has two.
        captured = (captured,) * len(call.captured)
        return jax.pmap(  # type: ignore[no-any-return]  # untyped in jax
            self._by_argument(call.signature),
            in_axes=(captured, keywords, *ins),
            out_axes=outs,
            static_broadcasted_argnums=[n + _BEFORE for n in self._options.statics],
            donate_argnums=[n + _BEFORE for n in self._options.donated],
            **self._options.rest,
        )

    def _by_argument(self, signature: Signature) -> Callable[..., Outcome]:
        flat = self._flat(signature)
        return shown(
            lambda captured, kwargs, *args: flat(args, kwargs, captured), self._lift.function
        )


@overload
def pmap(
    f: Callable[P, R],
    *,
    axis_name: Hashable | None = ...,
    in_axes: AxisPrefix = ...,
    out_axes: AxisPrefix = ...,
    static_broadcasted_argnums: int | Iterable[int] = ...,
    devices: Sequence[Device] | None = ...,
    backend: str | None = ...,
    axis_size: int | None = ...,
    donate_argnums: int | Iterable[int] = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[P, R]: ...
@overload
def pmap(
    *,
    axis_name: Hashable | None = ...,
    in_axes: AxisPrefix = ...,
    out_axes: AxisPrefix = ...,
    static_broadcasted_argnums: int | Iterable[int] = ...,
    devices: Sequence[Device] | None = ...,
    backend: str | None = ...,
    axis_size: int | None = ...,
    donate_argnums: int | Iterable[int] = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@hides_frames
def pmap(
    f: Any = UNSET,
    *,
    axis_name: Hashable | None = None,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
    transform_metadata: Mapping[str, Any] = NO_METADATA,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Run a function of Modules and arrays on several devices, as `jax.pmap` does for arrays.

    The mapped axis of each value lies on the devices, an index on each. The axes are given as in
    `vmap`. What has no axis is on every device; where it is given values that differ from device to
    device, that of the first is taken, as in jax. Afterwards all Variables of the arguments lie on
    the devices (with ``graph_updates=False`` those that changed).

    >>> import jax.numpy as jnp
    >>> total = BatchStat(jnp.zeros((1, 2)))
    >>> @pmap
    ... def add(total, x):
    ...     total[...] += x
    >>> add(total, jnp.ones((1, 2)))
    >>> total[...].tolist()
    [[1.0, 1.0]]

    Args:
        f: Any callable. Without it a decorator is returned.
        axis_name: The name of the axis for collectives.
        in_axes: An axis for all positional arguments, or one for each: an int, None, a tree of
            them, or `StateAxes` for a Module.
        out_axes: The same for the result.
        static_broadcasted_argnums: Positions of arguments that are static: hashable, and compared
            by value.
        devices: The devices; by default the first of the local ones.
        backend: The backend to run on.
        axis_size: The size of the axis.
        donate_argnums: Positions of arguments whose buffers XLA may reuse.
        transform_metadata: With the key ``nnx.PARTITION_NAME`` the name of the axis in the sharding
            metadata of Variables.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        UnhashableArgumentError: A static argument has no hash.
        ArgumentOutOfRangeError: There is no such argument.
        PrefixLengthError: There is not one axis for each argument.
        PrefixConflictError: A Variable is reached on two paths with different axes.
        NoFilterMatchedError: No filter of a `StateAxes` matches a Variable.
    """
    axes = Axes(in_axes, out_axes, metadata=named_axis("pmap", transform_metadata))
    rest = {
        "axis_name": axis_name, "axis_size": axis_size, "backend": backend, "devices": devices,
    }  # fmt: skip

    def wrap(function: Any) -> Pmapped[..., Any]:
        statics, _ = resolve(
            "static_broadcasted", function, _sequence(static_broadcasted_argnums), None
        )
        donated, _ = resolve("donate", function, _sequence(donate_argnums), None)
        options = PmapOptions(statics, donated, rest)
        return Pmapped(function, axes, graph, graph_updates, options)

    return wrap if f is UNSET else wrap(f)


def _sequence(argnums: int | Iterable[int]) -> ArgNums:
    return argnums if isinstance(argnums, int) else tuple(argnums)
