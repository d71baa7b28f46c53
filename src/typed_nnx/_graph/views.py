"""`with_attributes`, `view` and `view_info`: the same Variables under other static attributes."""

from __future__ import annotations

import contextlib
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeAlias, TypeVar, overload

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.fields import data
from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.modules import CAPTURES, Module, iter_modules
from typed_nnx._core.nested import flat_items, grouped, nested_of
from typed_nnx._core.paths import Key, Path, Value
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.settings import MISSING
from typed_nnx._core.state import State
from typed_nnx._core.variable import AnyVariable, Variable
from typed_nnx._graph.rebuild import entries_of
from typed_nnx._graph.split import clone
from typed_nnx.errors import AttributesNotFoundError, UnknownPathError

# The outputs by the id of the Module and the name of the method, in the order of the calls.
Outputs: TypeAlias = dict[tuple[int, str], tuple[Any, ...]]


Method: TypeAlias = Callable[..., Any]

Listener: TypeAlias = Callable[[str, Value, Method, tuple[Value, ...], dict[str, Value]], Value]
"""Gets the name of a method, its object, the bound method and its arguments; calls it and returns the result."""

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("typed_nnx_listeners", default=())

# How many blocks ask for a class, and what its own attributes were before.
_instrumented: dict[type, tuple[int, dict[str, Value]]] = {}


@contextlib.contextmanager
def instrumented(classes: Iterable[type], listener: Listener) -> Iterator[None]:
    """Let the public methods of classes report to a listener, in this context and for a block.

    Others may use the classes meanwhile; their calls go straight to the methods. Objects of
    subclasses do not report.
    """
    chosen = set(classes)
    token = _listeners.set((*_listeners.get(), listener))
    try:
        with graph_lock:
            for cls in chosen:
                count, replaced = _instrumented.get(cls, (0, {}))
                for name, method in () if count else public_methods(cls):
                    replaced[name] = vars(cls).get(name, MISSING)
                    setattr(cls, name, _reporting(cls, name, method))
                _instrumented[cls] = count + 1, replaced
        yield
    finally:
        with graph_lock:
            for cls in chosen:
                _restore(cls)
        _listeners.reset(token)


def _restore(cls: type) -> None:
    count, replaced = _instrumented.pop(cls)
    if count > 1:
        _instrumented[cls] = count - 1, replaced
        return
    for name, before in replaced.items():
        if before is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, before)


def public_methods(cls: type) -> list[tuple[str, Value]]:
    """Return the methods of a class that a model is called by: its own, those of Modules, no more."""
    # What every Pytree has is our machinery.
    names = [n for n in dir(cls) if n == "__call__" or (not n.startswith("_") and n not in _OURS)]
    found = [(name, in_class(cls, name)) for name in names]
    return [(name, method) for name, method in found if _is_method(method)]


def in_class(cls: type, name: str) -> Value:
    """Return what a class or a base of it has under a name, as it stands there; None if nothing."""
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return getattr(found, "_nnx_method", found)


_OURS = frozenset(dir(Pytree))


def _is_method(found: object) -> bool:
    if isinstance(found, staticmethod | classmethod | type) or hasattr(type(found), "__set__"):
        return False
    return callable(found) and hasattr(type(found), "__get__")


def _reporting(cls: type, name: str, method: Value) -> Method:
    @functools.wraps(method)
    def report(self: object, *args: Value, **kwargs: Value) -> Value:
        call: Method = method.__get__(self, type(self))
        # What a subclass calls by `super()` is a part of its own method.
        for listener in _listeners.get() if type(self) is cls else ():
            call = _heard(listener, name, self, call)
        return call(*args, **kwargs)

    report.__dict__["_nnx_method"] = method
    return report


def _heard(listener: Listener, name: str, node: object, method: Method) -> Method:
    return lambda *args, **kwargs: listener(name, node, method, args, kwargs)


@contextlib.contextmanager
def recording(module: Module) -> Iterator[Outputs]:
    """Record the outputs of the methods of a Module and those below it, in this context."""
    modules = {id(inner): type(inner) for _, inner in iter_modules(module)}
    outputs: Outputs = {}
    names = {
        (cls, name)
        for cls in set(modules.values())
        for name, method in public_methods(cls)
        if inspect.isfunction(method) and in_class(Module, name) is None
    }

    def record(
        name: str, node: Module, method: Method, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value:
        output = method(*args, **kwargs)
        key = (id(node), name)
        if id(node) in modules and (type(node), name) in names:
            outputs[key] = (*outputs.get(key, ()), output)
        return output

    with instrumented(modules.values(), record):
        yield outputs


VariableType = type[AnyVariable]
P = ParamSpec("P")
R = TypeVar("R")


@overload
def capture(
    fn: VariableType,
    *var_types: VariableType,
    init: Mapping[Key, Value] | None = None,
    method_outputs: VariableType | None = None,
) -> Any: ...  # a decorator; also where the type of `fn` is not known
@overload
def capture(
    fn: Callable[P, R],
    *,
    init: Mapping[Key, Value] | None = None,
    method_outputs: VariableType | None = None,
) -> Callable[P, R]: ...
@overload
def capture(
    fn: Callable[P, Any],
    first: VariableType,
    second: VariableType,
    /,
    *more: VariableType,
    init: Mapping[Key, Value] | None = None,
    method_outputs: VariableType | None = None,
) -> Callable[P, tuple[Any, ...]]: ...
@overload
def capture(
    fn: Callable[P, R],
    var_type: VariableType,
    /,
    *,
    init: Mapping[Key, Value] | None = None,
    method_outputs: VariableType | None = None,
) -> Callable[P, tuple[R, State[Any, Any]]]: ...
def capture(
    fn: Any,
    *var_types: VariableType,
    init: Mapping[Key, Value] | None = None,
    method_outputs: VariableType | None = None,
) -> Any:
    """Wrap a callable so that it also returns what its Module recorded during the call.

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
    is_module = isinstance(fn, Module)
    owner = fn if is_module else getattr(fn, "__self__", None)

    @functools.wraps(type(fn).__call__ if is_module else fn)
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
    module: Module, var_types: tuple[VariableType, ...], init: Mapping[Key, Value] | None
) -> Iterator[None]:
    """Give each Module a place for what it records, for the time of a call.

    The places are Variables that are there from the start, so that transforms which keep structures
    as they are bring out what is recorded inside of them.
    """
    modules = dict(iter_modules(module))
    values: dict[Path, dict[VariableType, dict[Key, Value]]] = {
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
) -> list[tuple[Path, AnyVariable]]:
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
) -> list[tuple[Path, AnyVariable]]:
    paths = {id(inner): path for path, inner in iter_modules(module)}
    return [
        ((*paths[owner], name), kind(values))
        for (owner, name), values in outputs.items()
        if owner in paths
    ]


A = TypeVar("A")


def _selected(node: object, only: Filter) -> list[Module]:
    predicate = to_predicate(only)
    return [module for path, module in iter_modules(node) if predicate(path, module)]


def with_attributes(
    node: A,
    /,
    *,
    only: Filter = ...,
    raise_if_not_found: bool = True,
    graph: bool | None = None,
    **attributes: object,
) -> A:
    """Return the object graph with other attributes; Variables are shared with the original.

    Args:
        node: An object, or a container of objects.
        only: Change only the Modules that this filter matches.
        raise_if_not_found: Raise when no selected Module has one of the attributes.
        graph: False asserts that the graph is a tree.
        **attributes: The new values, set on each selected Module that has the attribute.

    Raises:
        AttributesNotFoundError: See `raise_if_not_found`.
    """
    made = clone(node, variables=False, graph=graph)
    modules = _selected(made, only)
    missing = [name for name in attributes if not any(hasattr(m, name) for m in modules)]
    if missing and raise_if_not_found:
        raise AttributesNotFoundError("with_attributes", missing, type(node).__name__)
    for module in modules:
        for name, value in attributes.items():
            if hasattr(module, name):
                setattr(module, name, value)
    return made


def view(
    node: A,
    /,
    *,
    only: Filter = ...,
    raise_if_not_found: bool = True,
    graph: bool | None = None,
    **kwargs: Any,
) -> A:
    """Return a view of an object graph: a copy with the same Variables and other settings.

    A Module may define ``set_view(self, ...)``, which gets the arguments that it has parameters
    for; with ``**kwargs`` it gets all, and returns those that it does not use.

    Args:
        node: An object, or a container of objects.
        only: Change only the Modules that this filter matches.
        raise_if_not_found: Raise when no Module uses one of the arguments.
        graph: False asserts that the graph is a tree.
        **kwargs: Arguments for ``set_view``.

    Raises:
        AttributesNotFoundError: See `raise_if_not_found`.
    """
    made = clone(node, variables=False, graph=graph)
    unused = set(kwargs)
    for module in _selected(made, only):
        set_view: Any = getattr(module, "set_view", None)
        if set_view is not None:
            taken = _taken(set_view, kwargs)
            unused -= set(taken) - set(set_view(**taken) or {})
    if unused and raise_if_not_found:
        raise AttributesNotFoundError("view", sorted(unused), type(node).__name__)
    return made


def _taken(set_view: Callable[..., Any], kwargs: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments that a ``set_view`` has parameters for."""
    parameters = inspect.signature(set_view).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return dict(kwargs)
    return {name: value for name, value in kwargs.items() if name in parameters}


def view_info(node: object, /, *, only: Filter = ..., graph: bool | None = None) -> str:
    """Return a text about the arguments that `view` takes for an object graph.

    Args:
        node: An object, or a container of objects.
        only: Describe only the Modules that this filter matches.
        graph: Accepted for compatibility.
    """
    del graph
    classes = {type(m) for m in _selected(node, only) if hasattr(type(m), "set_view")}
    ordered = sorted(classes, key=lambda cls: cls.__qualname__)
    return "\n".join(line for cls in ordered for line in _description(cls))


def _description(cls: Any) -> Iterator[str]:
    yield f"{cls.__qualname__}:"
    texts = _argument_texts(inspect.getdoc(cls.set_view) or "")
    for name, parameter in inspect.signature(cls.set_view).parameters.items():
        if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        yield f"  {parameter}"
        if name in texts:
            yield textwrap.indent(texts[name], "    ")


def _argument_texts(doc: str) -> dict[str, str]:
    """Return the text of each argument in the ``Args:`` part of a docstring."""
    _, _, section = doc.partition("Args:\n")
    found: dict[str, str] = {}
    name, indent = "", ""
    for line in section.splitlines():
        if not line.strip() or not line.startswith(" "):
            break
        if not indent:
            indent = line[: len(line) - len(line.lstrip())]
        rest = line[len(indent) :]
        if not rest.startswith(" ") and ":" in rest:
            name, _, text = rest.partition(":")
            found[name] = text.strip()
        elif name:
            found[name] = f"{found[name]}\n{rest.strip()}"
    return found
