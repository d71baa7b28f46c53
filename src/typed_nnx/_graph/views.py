"""`with_attributes`, `view` and `view_info`: the same Variables under other static attributes."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.module import Module, iter_modules
from typed_nnx._graph.split_merge import clone
from typed_nnx.errors import AttributesNotFoundError

A = TypeVar("A")


def _selected(node: Any, only: Filter) -> list[Module]:
    predicate = to_predicate(only)
    return [module for path, module in iter_modules(node) if predicate(path, module)]


def with_attributes(
    node: A,
    /,
    *,
    only: Filter = ...,
    raise_if_not_found: bool = True,
    graph: bool | None = None,
    **attributes: Any,
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
    """Return the object graph as its Modules' `set_view` methods change it; Variables are shared.

    A Module takes part by a method ``set_view(self, ...)``, which gets the arguments that it has
    parameters for; with ``**kwargs`` it gets all, and returns those that it does not use.

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


def _taken(set_view: Callable[..., Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that a ``set_view`` has parameters for."""
    parameters = inspect.signature(set_view).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return dict(kwargs)
    return {name: value for name, value in kwargs.items() if name in parameters}


def view_info(node: Any, /, *, only: Filter = ..., graph: bool | None = None) -> str:
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
