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


@register
class StateAxes(Rule):
    """Axes of Modules are given by position, and a decorator splits random keys.

    ``state_axes={...}`` applied to all Modules among the arguments, and keys were split
    automatically. A marker says what to write: a ``nnx.StateAxes`` for each Module in `in_axes`,
    and ``@nnx.split_rngs(splits=n)``. A ``@nnx.split_rngs`` over keys that are stacked already gets a marker, too.
    """

    code = "TN115"
    title = "`state_axes=` and `split_rngs=` are `nnx.StateAxes` and `@nnx.split_rngs`"
    since = (0, 10, 0)
    example = f"""\
- from flax import nnx
+ import typed_nnx as nnx

+ # TODO[typed-nnx] TN115: {_MESSAGE.format(keyword="state_axes", carry="")}
  @nnx.vmap(state_axes={{nnx.Param: 0}})
  def run(model, x):
      return model(x)
"""

    def plan(self) -> None:
        """Look for transforms that map from now on."""
        self._calls = TransformCalls(self.file, "nnx.vmap", "nnx.scan", "nnx.pmap")

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Mark older arguments of a transform."""
        transform = self._calls.of(original)
        older = [name for name in _OLDER if transform is not None and transform.keyword(name)]
        if transform is not None and older:
            carry = _CARRIED if transform.name == "nnx.scan" else ""
            self.file.decide(original, _MESSAGE.format(keyword=older[0], carry=carry))
        return updated

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Mark a ``@nnx.split_rngs`` over keys that are stacked already."""
        split = split_of_stacked_keys(self.file, self._calls, original)
        if split is not None:
            self.file.decide(split, _SPLIT_TWICE)
        return updated


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
