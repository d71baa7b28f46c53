"""TN115: ``state_axes=`` and ``split_rngs=`` are ``nnx.StateAxes`` and ``@nnx.split_rngs``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis import nnx_classes
from typed_nnx_codegen.migrate.analysis.members import ancestry, derives, nnx_name
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    Collection,
    Instance,
    OneOf,
    ProjectClass,
    Value,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.transform_calls import (
    TransformCall,
    TransformCalls,
    renamed_keyword,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_OLDER: Final = (
    "state_axes",
    "split_rngs",
    "variable_axes",
    "variable_broadcast",
    "variable_carry",
    "in_axes_kwargs",
    "carry_argnum",
    "scan_output",
    "in_args_axes",
    "in_kwargs_axes",
    "broadcast_rngs",
    "scan_metadata",
    "vmap_metadata",
    "is_init",
)
_MESSAGE: Final = (
    "`{keyword}=` is gone: give each Module its axes at its place in `in_axes=`{carry}, "
    "nnx.StateAxes({{filter: axis, ...}}), and put @nnx.split_rngs(splits=n) above where random "
    "keys are to differ"
)
_CARRIED: Final = ", and nnx.Carry at the place of what is carried"
_SPLIT_TWICE: Final = (
    "layers keep random keys of their own since flax 0.11, and those of a Module that was made under "
    "vmap are stacked already: take this @nnx.split_rngs away unless the keys here are single ones"
)


class _NoAxis(Exception):
    """Some results of a scan have no axis, which it does not take any more."""


@register
class StateAxes(Rule):
    """Axes of Modules are given by position, and a decorator splits random keys.

    ``state_axes={...}`` applied to all Modules among the arguments, and keys were split
    automatically. A marker says what to write: a ``nnx.StateAxes`` for each Module in `in_axes`,
    and ``@nnx.split_rngs(splits=n)``. In `scan`, `out_axes` must name the carry too, where flax
    0.9.0 had only the axes of the other results: that is rewritten.
    """

    code = "TN115"
    title = "`state_axes=` and `split_rngs=` are `nnx.StateAxes` and `@nnx.split_rngs`"
    since = (0, 10, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

- @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=1)
+ @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 1))
  def run(carry, x):
      return carry + x, carry * x
"""

    def plan(self) -> None:
        """Look for transforms that map from now on."""
        self._calls = TransformCalls(self.file, "nnx.vmap", "nnx.scan", "nnx.pmap")

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Mark older arguments of a transform, and name in `out_axes` what a scan carries."""
        transform = self._calls.of(original)
        if transform is None:
            return updated
        older = [name for name in _OLDER if transform.keyword(name) is not None]
        if older:
            carry = _CARRIED if transform.name == "nnx.scan" else ""
            self.file.decide(original, _MESSAGE.format(keyword=older[0], carry=carry))
            return updated
        try:
            axes = with_carry(self.file, transform)
        except _NoAxis as reason:
            self.file.decide(transform.node, f"`out_axes=` names what is carried too; {reason}")
            return updated
        return updated if axes is None else renamed_keyword(updated, "out_axes", "out_axes", axes)

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Mark a ``@nnx.split_rngs`` over keys that are stacked already."""
        split = split_of_stacked_keys(self.file, self._calls, original)
        if split is not None:
            self.file.decide(split, _SPLIT_TWICE)
        return updated


# -- what a scan gives ------------------------------------------------------------------------------


_CARRY: Final = "nnx.Carry"


def with_carry(file: File, transform: TransformCall) -> cst.BaseExpression | None:
    """Return ``(nnx.Carry, axes)`` for ``out_axes=axes`` of a scan that carries something.

    Current flax refuses every scan that this is done for.

    Args:
        file: The file.
        transform: The transform.

    Returns:
        The axes; None where they say what is carried already, or nothing is known of them.

    Raises:
        _NoAxis: Some results have no axis, which scan does not take any more.
    """
    given = transform.keyword("out_axes")
    if transform.name != "nnx.scan" or given is None or not _is_carrying(file, transform):
        return None
    axes = given.value
    entries = [one.value for one in axes.elements] if isinstance(axes, cst.Tuple) else [axes]
    if any(isinstance(one, cst.Name) and one.value == "None" for one in entries):
        raise _NoAxis("scan stacks all results: give each an axis, `(nnx.Carry, 0)`")
    if not all(isinstance(one, cst.Integer) for one in entries):
        return None
    return cst.Tuple([cst.Element(file.refer(_CARRY)), cst.Element(axes)])


def _is_carrying(file: File, transform: TransformCall) -> bool:
    """Whether the arguments of a scan have one that is carried, said or by default."""
    if transform.has_star:
        return False
    given = transform.keyword("in_axes")
    if given is None:
        return True
    axes = given.value
    # What a State carries by `nnx.StateAxes({...: nnx.Carry})` is no result.
    entries = (
        [one.value for one in axes.elements] if isinstance(axes, (cst.Tuple, cst.List)) else [axes]
    )
    return any(file.name(entry) == _CARRY for entry in entries)


# -- keys that are stacked already ------------------------------------------------------------------


def split_of_stacked_keys(
    file: File, calls: TransformCalls, function: cst.FunctionDef
) -> cst.Call | None:
    """Return the ``@nnx.split_rngs(...)`` over Modules whose keys have the mapped axis; or None.

    Layers shared the Rngs that they were made with up to flax 0.10; they keep keys of their own now,
    which are stacked as the rest of a Module is that was made under `nnx.vmap`.

    Args:
        file: The file.
        calls: The transforms that map.
        function: The function that they decorate.
    """
    splits = [
        one.decorator
        for one in function.decorators
        if isinstance(one.decorator, cst.Call) and file.name(one.decorator.func) == "nnx.split_rngs"
    ]
    if not splits:
        return None
    for transform in calls.decorator_of(function):
        if _maps_stacked_keys(file, transform):
            return splits[0]
    return None


def _maps_stacked_keys(file: File, transform: TransformCall) -> bool:
    """Whether a Module with random keys has one axis for all that it holds."""
    names = transform.parameters
    scope = file.analysis.scopes.get(transform.function) if transform.function else None
    if names is None or scope is None:
        return False
    given = transform.keyword("in_axes")
    axes: list[cst.BaseExpression] = [given.value if given is not None else cst.Integer("0")] * len(
        names
    )
    if given is not None and isinstance(given.value, (cst.Tuple, cst.List)):
        axes = [element.value for element in given.value.elements]
    values = [without_none(scope.seen.get(name, UNKNOWN)) for name in names]
    return any(
        isinstance(axis, cst.Integer)
        and derives(value, "Module") is True
        and derives(value, "Rngs", "RngStream") is False
        and _holds_keys(value)
        for value, axis in zip(values, axes, strict=False)
    )


# Classes that say nothing of what their objects hold, and those that hold other objects.
_ANYTHING: Final = frozenset({"Module", "Object", "Pytree"})
_CONTAINERS: Final = frozenset({"Dict", "List", "Sequential"})
_KEYS: Final = "Rng"
_MOST_STEPS: Final = 4


def _holds_keys(value: Value, depth: int = _MOST_STEPS) -> bool:
    """Whether an object surely holds Rngs or a stream of keys."""
    match value:
        case OneOf():
            return any(_holds_keys(option, depth) for option in value.options)
        case Collection():
            items = value.items if value.items is not None else (value.element,)
            return any(_holds_keys(item, depth) for item in items)
        case Instance(cls=ProjectClass() as cls) if depth:
            return any(
                any(
                    _holds_keys(one, depth - 1)
                    for one in {**base.annotated, **base.attributes}.values()
                )
                if isinstance(base, ProjectClass)
                else _nnx_holds_keys(base, value, depth - 1)
                for base in ancestry(cls)[0]
            )
        case Instance(cls=str() as name):
            return _nnx_holds_keys(nnx_name(name), value, depth)
        case _:
            return False


def _nnx_holds_keys(name: str, value: Instance, depth: int) -> bool:
    above = [one for one in nnx_classes.mro(name) if one in nnx_classes.CLASSES]
    if name in _ANYTHING:
        return False
    if _CONTAINERS.intersection(above):
        return _holds_keys(value.of, depth)
    attributes = (text for one in above for text in nnx_classes.CLASSES[one].attributes.values())
    return name.startswith(_KEYS) or any(_KEYS in text for text in attributes)
