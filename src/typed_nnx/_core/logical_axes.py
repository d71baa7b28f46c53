"""Logical axes: names that stand for mesh axes, by rules in force and rules of a Variable."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, TypeAlias

from jax.sharding import PartitionSpec

from typed_nnx.errors import InconsistentAxisRulesError, InvalidAxisRulesError

MeshAxes: TypeAlias = str | tuple[str, ...] | None
"""What a logical axis stands for: a mesh axis, several, or none."""

LogicalRules: TypeAlias = Sequence[tuple[str, MeshAxes]]
"""Pairs of a logical axis and what it stands for; of two pairs for one name the last counts."""

Sharding: TypeAlias = tuple[MeshAxes, ...]
"""A name for each axis of an array."""

_EMPTY: Mapping[str, MeshAxes] = {}

_in_force: ContextVar[Mapping[str, MeshAxes]] = ContextVar("typed_nnx_axis_rules", default=_EMPTY)

# jax gives it no types.
_partition_spec: Any = PartitionSpec


class LogicalAxisRules(contextlib.ContextDecorator):
    """What `logical_axis_rules(...)` returns; a context manager, and a decorator of functions."""

    __slots__ = ("_rules", "_tokens")

    def __init__(self, rules: Mapping[str, MeshAxes]) -> None:
        self._rules = rules
        self._tokens: list[Token[Mapping[str, MeshAxes]]] = []

    def _recreate_cm(self) -> LogicalAxisRules:
        return LogicalAxisRules(self._rules)  # a decorated function may call itself

    def __enter__(self) -> None:
        self._tokens.append(_in_force.set(self._rules))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _in_force.reset(self._tokens.pop())


def logical_axis_rules(rules: LogicalRules | Mapping[str, MeshAxes] | None) -> LogicalAxisRules:
    """Say for a block of code which mesh axes the names in ``out_sharding`` stand for.

    The rules count where Variables are placed, in `get_partition_spec` and `get_named_sharding`.
    Inner rules replace outer ones. A name without a rule stands for itself.

    >>> with logical_axis_rules([("embed", "model"), ("batch", ("replica", "data"))]):
    ...     partition_spec_of(("batch", "embed", None))
    P(('replica', 'data'), 'model', None)

    Args:
        rules: Pairs of a logical axis and a mesh axis, a tuple of mesh axes or None; None or ``()``
            for no rules.

    Raises:
        InvalidAxisRulesError: `rules` is something else.
    """
    return LogicalAxisRules(_as_mapping("logical_axis_rules", rules))


def get_logical_axis_rules() -> LogicalRules:
    """Return the rules in force, as pairs."""
    return tuple(_in_force.get().items())


def partitions_of(spec: PartitionSpec) -> tuple[Any, ...]:
    """Return what a partition says of each axis, without what it says of reductions."""
    # jax has `partitions` from 0.10.2 on, and then no `tuple` of a spec with reductions.
    return tuple(spec.partitions if hasattr(spec, "partitions") else spec)


def partition_spec_of(names: Iterable[Any], rules: Any = None) -> PartitionSpec:
    """Return the partition that names stand for.

    Args:
        names: A name for each axis of an array: a logical or a mesh axis, a tuple of mesh axes, or
            None; may be a partition itself.
        rules: The rules of the Variable; those in force count too.

    Raises:
        InvalidAxisRulesError: `rules` are no rules.
        InconsistentAxisRulesError: They contradict those in force.
    """
    given: Any = names
    is_spec = isinstance(names, PartitionSpec)
    parts = partitions_of(given) if is_spec else tuple(given)
    options = {"unreduced": given.unreduced, "reduced": given.reduced} if is_spec else {}
    if parts:
        combined = _combined(_in_force.get(), rules)
        parts = tuple([combined.get(n, n) if isinstance(n, str) else n for n in parts])
    made: PartitionSpec = _partition_spec(*parts, **options)
    return made


def _combined(in_force: Mapping[str, MeshAxes], rules: Any) -> Mapping[str, MeshAxes]:
    if not rules:
        return in_force
    own = _as_mapping("sharding_rules", rules)
    for name, axes in own.items():
        if in_force.get(name, axes) != axes:
            raise InconsistentAxisRulesError(name, in_force[name], axes)
    return {**in_force, **own}


def _as_mapping(function: str, rules: Any) -> Mapping[str, MeshAxes]:
    if rules is None:
        return _EMPTY
    try:
        pairs = list(rules.items()) if isinstance(rules, Mapping) else [tuple(r) for r in rules]
    except TypeError:
        raise InvalidAxisRulesError(function, rules) from None
    found: dict[str, MeshAxes] = {}
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], str) or not _are_axes(pair[1]):
            raise InvalidAxisRulesError(function, rules)
        found[pair[0]] = tuple(pair[1]) if isinstance(pair[1], list) else pair[1]
    return found


def _are_axes(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(isinstance(axis, str) for axis in value)
    return value is None or isinstance(value, str)
