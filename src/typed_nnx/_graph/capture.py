"""`capture`: what a call sows, returned instead of left in the model."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from typed_nnx._core.module import Module, iter_modules
from typed_nnx._core.nested import flat_items
from typed_nnx._core.paths import Path
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.gather import entries_of
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
        *var_types: The types of what is captured, one State each, first match first.
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
        with _set_aside(module, var_types), _recording(module, method_outputs):
            _put_in(module, init)
            result = fn(*args, **kwargs)
            states = pop(module, *var_types) if var_types else ()
        if not var_types:
            return result
        return (result, states) if isinstance(states, State) else (result, *states)

    return captured


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
            if isinstance(value, var_types or ()):
                kept.append((inner, name, value))
                delattr(inner, name)
    try:
        yield
    finally:
        if var_types:
            pop(module, *var_types)
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


@contextlib.contextmanager
def _recording(module: Module, kind: VariableType | None) -> Iterator[None]:
    """Make the methods of a Module and those below it record what they return."""
    if kind is None:
        yield
        return
    changed = [m for _, m in iter_modules(module)]
    classes = {id(m): type(m) for m in changed}
    try:
        for inner in changed:
            inner.__class__ = _recording_class(type(inner), kind)
        yield
    finally:
        for inner in changed:
            inner.__class__ = classes[id(inner)]


def _make_recording_class(cls: type[Module], kind: VariableType) -> type[Module]:
    methods = {
        name: _recorded(name, function, kind)
        for name, function in inspect.getmembers(cls, inspect.isfunction)
        if name not in vars(Module) and not hasattr(Module, name)
        if name == "__call__" or not name.startswith("_")
    }
    metaclass: Any = type(cls)
    made: type[Module] = metaclass(cls.__name__, (cls,), {"__module__": cls.__module__, **methods})
    return made


# With this type mypy does not ask whether the *instances* of the classes have a hash.
_recording_class: Callable[[type, type], type[Module]] = functools.lru_cache(maxsize=256)(
    _make_recording_class
)


def _recorded(name: str, method: Callable[..., Any], kind: VariableType) -> Callable[..., Any]:
    @functools.wraps(method)
    def recorded(self: Module, *args: Any, **kwargs: Any) -> Any:
        output = method(self, *args, **kwargs)
        self.sow(kind, name, output)
        return output

    return recorded
