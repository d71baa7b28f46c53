"""How submodules of a `bridge.Module` get their place, their scope and their Variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from typed_nnx._core.nodes import CONTAINER, OBJECT, all_entries, kind_of
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.variable import Variable
from typed_nnx.bridge._context import running
from typed_nnx.bridge._conversion import is_random
from typed_nnx.bridge._fill import fill
from typed_nnx.bridge._module_state import ModuleState
from typed_nnx.bridge._scope import AttrPriority, Scope

# Attributes that are no state of the Module.
OWN = ("scope", "attr_priorities")


def is_linen_like(value: Any) -> bool:
    """Whether a value is a `bridge.Module`."""
    return bool(getattr(type(value), "_nnx_is_linen_like", False))


def bind(module: Any, scope: Scope) -> None:
    """Give a Module and those in its attributes a scope, and run its `setup`."""
    module.scope = scope.copy()
    for name, value in list(vars(module).items()):
        if name not in OWN:
            _bind_inside(value, scope)
    setup = getattr(module, "setup", None)
    if setup is not None:
        with running(module, in_compact=False):
            setup()


def _bind_inside(value: Any, scope: Scope) -> None:
    if is_linen_like(value):
        if value.scope is None:
            bind(value, scope)
    elif kind_of(value) in (OBJECT, CONTAINER) and not isinstance(value, ModuleState):
        for _, inner in all_entries(value):
            _bind_inside(inner, scope)


def adopt(parent: Any, name: str, value: Any) -> None:
    """Prepare a value for an attribute of a bound Module: its Variables, then its scope."""
    waiting = vars(parent).get(name)
    if waiting is value:
        return
    if is_linen_like(waiting) and type(waiting) is type(value):
        # A compact method that runs a second time: the same submodule with the same Variables.
        fill(value, _own_variables(waiting))
    elif isinstance(waiting, ModuleState | Variable):
        _give(value, waiting)
    _bind_inside(value, parent.scope)


def _own_variables(module: Any) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(module).items()
        if name not in OWN and isinstance(value, Variable | Mapping | Pytree)
    }


def _give(value: Any, waiting: Any) -> None:
    """Write what waited into a new value."""
    if isinstance(value, Variable) and isinstance(waiting, Variable):
        value.update_from_state(waiting)
    elif isinstance(waiting, ModuleState) and kind_of(value) in (OBJECT, CONTAINER):
        fill(value, waiting.raw_mapping)


def variables_of(module: Any) -> dict[str, Any]:
    """Return the Variables of a Module as nested dicts, each once, under its best attribute."""
    return _nested(module, set())


def _nested(node: Any, seen: set[int]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in _by_priority(node):
        if isinstance(value, Variable):
            if id(value) not in seen and not is_random(value):
                seen.add(id(value))
                found[key] = value
        elif isinstance(value, ModuleState):
            found[key] = _nested_mapping(value.raw_mapping)
        elif kind_of(value) in (OBJECT, CONTAINER):
            if isinstance(value, Pytree):
                if id(value) in seen:
                    continue
                seen.add(id(value))
            inner = _nested(value, seen)
            if inner:
                found[key] = inner
    return found


def _nested_mapping(mapping: Mapping[Any, Any]) -> dict[Any, Any]:
    return {k: _nested_mapping(v) if isinstance(v, Mapping) else v for k, v in mapping.items()}


def _by_priority(node: Any) -> Iterator[tuple[Any, Any]]:
    if not is_linen_like(node):
        yield from all_entries(node)
        return
    given: Mapping[str, AttrPriority] = node.attr_priorities
    names = sorted(vars(node), key=lambda name: (given.get(name, AttrPriority.DEFAULT), name))
    for name in names:
        if name not in OWN:
            yield name, vars(node)[name]
