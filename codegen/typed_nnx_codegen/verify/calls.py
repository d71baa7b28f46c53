"""The calls of submodules while Linen's `init` runs, and which `Build` each submodule is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import flax.linen as nn

from typed_nnx_codegen.migrate.linen.trace.recording import bound_arguments, is_method
from typed_nnx_codegen.verify.examples import Build


@dataclass(frozen=True)
class Call:
    """A call of a method of a module.

    Attributes:
        module: The module.
        method: The name of the method.
        arguments: What each parameter was given, defaults included.
    """

    module: nn.Module
    method: str
    arguments: Mapping[str, Any]

    @property
    def path(self) -> tuple[str, ...]:
        """The path of the module from the root on."""
        return tuple(self.module.path)


@dataclass
class Calls:
    """The calls of a run of `init`, in the order in which they began.

    Attributes:
        made: The calls.
        entered: The call from outside, with the arguments that the example gives: transforms
            around a method call it with a part of them.
    """

    made: list[Call] = field(default_factory=list)
    entered: list[Call] = field(default_factory=list)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record for as long as the context lasts."""

        def note(
            call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], context: Any
        ) -> Any:
            if is_method(context.method_name):
                arguments = bound_arguments(context.orig_method, args, kwargs)
                self.made.append(Call(context.module, context.method_name, arguments))
            return call(*args, **kwargs)

        with nn.intercept_methods(note):
            yield

    def enter(self, model: nn.Module, method: str, args: Any, kwargs: dict[str, Any]) -> None:
        """Note the call from outside."""
        arguments = bound_arguments(getattr(model, method, None), args, kwargs)
        self.entered.append(Call(model, method, arguments))

    def of(self, build: Build, root: Build) -> list[Call]:
        """Return the calls of the module that a `Build` inside the root's became."""
        if build is root:
            return [*self.entered, *(each for each in self.made if each.path == ())]
        modules = [
            module
            for holder, module in self._inside([each.module for each in self.made], root)
            if holder is build
        ]
        # By path, not by identity: a transform calls a copy of the module.
        paths = {tuple(module.path) for module in modules if module.scope is not None}
        found = [each for each in self.made if each.path in paths]
        # Modules that share a scope have one path.
        kinds = tuple({type(module) for module in modules})
        return [each for each in found if isinstance(each.module, kinds)] or found

    def _inside(self, modules: list[nn.Module], root: Build) -> Iterator[tuple[Build, nn.Module]]:
        """Yield every `Build` inside the root's with each bound module that it became."""
        waiting = [(root, module) for module in modules if module.path == ()]
        seen: set[tuple[int, int]] = set()
        while waiting:
            build, module = waiting.pop()
            if (id(build), id(module)) in seen:
                continue
            seen.add((id(build), id(module)))
            yield build, module
            for name, given in fields_of(build, type(module)).items():
                waiting += _pairs(given, getattr(module, name, None))


def _pairs(given: Any, value: Any) -> list[tuple[Build, nn.Module]]:
    """Return every `Build` in a field with the module that stands in its place."""
    if isinstance(given, Build):
        return [(given, value)] if isinstance(value, nn.Module) else []
    if isinstance(given, Mapping) and isinstance(value, Mapping):
        return [pair for key in given if key in value for pair in _pairs(given[key], value[key])]
    if isinstance(given, list | tuple) and isinstance(value, list | tuple):
        both = zip(given, value, strict=False)
        return [pair for one, other in both for pair in _pairs(one, other)]
    return []


def fields_of(build: Build, cls: type) -> dict[str, Any]:
    """Return what a `Build` gives each field of a Linen class, positional ones by name."""
    try:
        bound = inspect.signature(cls).bind_partial(*build.args, **build.fields)
    except (TypeError, ValueError):
        return dict(build.fields)
    return dict(bound.arguments)
