"""`capture`: what a call sows, returned instead of left in the model."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from typed_nnx._core.module import Module, iter_modules
from typed_nnx._core.nested import flat_items, grouped, nested_of
from typed_nnx._core.paths import Path
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.gather import entries_of
from typed_nnx._graph.method_outputs import Outputs, recording
from typed_nnx._graph.pop import pop
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
        init: A State to put into the Module before the call, such as perturbations.
        method_outputs: Record the output of every method call of every Module, under the name of
            the method, in a Variable of this type.

    Returns:
        A function that returns ``(result, *states)``; only the result without `var_types`. The
        Module is left without what was captured.
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
        with _set_aside(module, var_types):
            _put_in(module, init)
            with recorder as outputs:
                result = fn(*args, **kwargs)
            if not var_types:
                return result
            found = _taken_out(module, var_types)
            if method_outputs is not None:
                found += _as_variables(module, outputs, method_outputs)
        groups, _ = grouped(found, var_types)
        return (result, *[State._of(nested_of(group)) for group in groups])

    return captured


def _taken_out(
    module: Module, var_types: tuple[VariableType, ...]
) -> list[tuple[Path, Variable[Any]]]:
    """Take the Variables of exactly these types out of a Module."""
    popped: State[Any, Any, Any, Any] = pop(module, lambda _, leaf: type(leaf) in var_types)
    return list(flat_items(popped))


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


@contextlib.contextmanager
def _set_aside(module: Module, var_types: tuple[VariableType, ...]) -> Iterator[None]:
    """Take what the Module recorded earlier out of it for the time of a call."""
    kept: list[tuple[Any, str, Variable[Any]]] = []
    for _, inner in iter_modules(module):
        for name, value in list(vars(inner).items()):
            if type(value) in var_types:
                kept.append((inner, name, value))
                delattr(inner, name)
    try:
        yield
    finally:
        if var_types:
            _taken_out(module, var_types)
        for inner, name, value in kept:
            setattr(inner, name, value)


def _put_in(module: Module, init: Mapping[Any, Any] | None) -> None:
    entries = entries_of(init) if init is not None else None
    if not entries:
        return
    modules: dict[Path, Module] = dict(iter_modules(module))
    for path, leaf in flat_items(entries):
        if path[:-1] not in modules:
            raise UnknownPathError([path], type(module).__name__)
        fresh = leaf.copy() if isinstance(leaf, Variable) else leaf
        setattr(modules[path[:-1]], str(path[-1]), fresh)
