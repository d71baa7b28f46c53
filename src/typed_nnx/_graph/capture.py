"""`capture`: what a call sows, returned instead of left in the model."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from typed_nnx._core.fields import data
from typed_nnx._core.module import CAPTURES, Module, iter_modules
from typed_nnx._core.nested import flat_items, grouped, nested_of
from typed_nnx._core.paths import Key, Path
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.gather import entries_of
from typed_nnx._graph.method_outputs import Outputs, recording
from typed_nnx.errors import UnknownPathError

VariableType = type[Variable[Any]]


def capture(
    fn: Any,
    *var_types: VariableType,
    init: Mapping[Any, Any] | None = None,
    method_outputs: VariableType | None = None,
) -> Any:
    """Wrap a callable so that it returns what its Module recorded during the call.

    Args:
        fn: A Module, a bound method of one, or a function whose first argument is one. A Variable
            type instead makes a decorator.
        *var_types: The types of what is captured, one State each, first match first
            (of these types exactly; a subclass is named by itself).
        init: A State of what is there before the call, such as perturbations.
        method_outputs: Record the output of every method call of every Module, under the name of
            the method, in a Variable of this type.

    Returns:
        A function that returns ``(result, *states)``; only the result without `var_types`. The
        Module is left as it was; what it records in Variables of other types is dropped.
    """
    if isinstance(fn, type) and issubclass(fn, Variable):
        kinds = (fn, *var_types)
        return lambda f: capture(f, *kinds, init=init, method_outputs=method_outputs)
    owner = _owner_of(fn)

    @functools.wraps(_function_of(fn))
    def captured(*args: Any, **kwargs: Any) -> Any:
        module = owner if isinstance(owner, Module) else args[0]
        recorder: contextlib.AbstractContextManager[Outputs] = (
            contextlib.nullcontext({}) if method_outputs is None else recording(module)
        )
        with _capturing(module, var_types, init):
            with recorder as outputs:
                result = fn(*args, **kwargs)
            if not var_types:
                return result
            found = _captured(module, var_types)
            if method_outputs is not None:
                found += _as_variables(module, outputs, method_outputs)
        groups, _ = grouped(found, var_types)
        return (result, *[State._of(nested_of(group)) for group in groups])

    return captured


@contextlib.contextmanager
def _capturing(
    module: Module, var_types: tuple[VariableType, ...], init: Mapping[Any, Any] | None
) -> Iterator[None]:
    """Give each Module a place for what it records, for the time of a call.

    The places are Variables that are there from the start, so that transforms which keep structures
    as they are bring out what is recorded inside of them.
    """
    modules = dict(iter_modules(module))
    values: dict[Path, dict[VariableType, dict[Key, Any]]] = {
        path: {kind: {} for kind in var_types} for path in modules
    }
    for path, leaf in flat_items(entries_of(init) or {} if init is not None else {}):
        if path[:-1] not in modules:
            raise UnknownPathError([path], type(module).__name__)
        values[path[:-1]].setdefault(type(leaf), {})[path[-1]] = leaf.get_value()
    before = {path: vars(inner).get(CAPTURES) for path, inner in modules.items()}
    try:
        for path, inner in modules.items():
            places = tuple([kind(recorded) for kind, recorded in values[path].items()])
            setattr(inner, CAPTURES, data(places))
        yield
    finally:
        for path, inner in {**dict(iter_modules(module)), **modules}.items():
            if before.get(path) is not None:
                setattr(inner, CAPTURES, data(before[path]))
            elif CAPTURES in vars(inner):
                delattr(inner, CAPTURES)


def _captured(
    module: Module, var_types: tuple[VariableType, ...]
) -> list[tuple[Path, Variable[Any]]]:
    """Return what was recorded in Variables of these types, each in one of its own."""
    return [
        ((*path, name), type(place)(value))
        for path, inner in iter_modules(module)
        for place in vars(inner).get(CAPTURES, ())
        if type(place) in var_types
        for name, value in place.get_value().items()
    ]


def _as_variables(
    module: Module, outputs: Outputs, kind: VariableType
) -> list[tuple[Path, Variable[Any]]]:
    paths = {id(inner): path for path, inner in iter_modules(module)}
    return [
        ((*paths[owner], name), kind(values))
        for (owner, name), values in outputs.items()
        if owner in paths
    ]


def _owner_of(fn: Any) -> Any:
    return fn if isinstance(fn, Module) else getattr(fn, "__self__", None)


def _function_of(fn: Any) -> Any:
    cls: Any = type(fn)
    return cls.__call__ if isinstance(fn, Module) else fn
