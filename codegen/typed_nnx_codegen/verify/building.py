"""A `Build` made on one side: the Linen model, or the NNX model with the widths that it needs."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.migrate.weight_map import ClassMap, Lifted
from typed_nnx_codegen.migrate.weights.class_maps import ClassMaps
from typed_nnx_codegen.migrate.weights.models import is_module, runtime_of
from typed_nnx_codegen.verify.calls import Call, Calls, fields_of
from typed_nnx_codegen.verify.comparable import is_array
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.examples import Build, Ref
from typed_nnx_codegen.verify.library_builds import LINEN, arguments, has_layer, nnx_class, nnx_name
from typed_nnx_codegen.verify.reasons import first_line
from typed_nnx_codegen.verify.sides import Side

# Names that expressions of the map have beside those of arguments.
_NOT_ARGUMENTS: Final = frozenset({"self", "jax", "jnp", "np", "math", "len"})


def linen_model(build: Build, old: Side) -> Any:
    """Return the Linen model of a `Build`.

    Raises:
        BadUse: A name in it is not known.
    """

    def made(given: Build) -> Any:
        cls = old.named(given.class_name)
        args = [mapped(each, made, old.named) for each in given.args]
        fields = {name: mapped(each, made, old.named) for name, each in given.fields.items()}
        return cls(*args, **fields)

    return made(build)


def mapped(value: Any, build: Callable[[Build], Any], named: Callable[[str], Any]) -> Any:
    """Return a value in which what the `Build` and `Ref` in it stand for took their places.

    A layer of Linen itself counts as a `Ref` to it.
    """
    if isinstance(value, Build):
        return build(value)
    if isinstance(value, Ref):
        return named(value.name)
    if _is_linen_layer(value):
        return named(f"{LINEN}.{value.__name__}")
    if isinstance(value, functools.partial):
        args = [mapped(each, build, named) for each in value.args]
        keys = {name: mapped(each, build, named) for name, each in value.keywords.items()}
        return functools.partial(_deferred(value.func, build, named), *args, **keys)
    if isinstance(value, Mapping):
        return type(value)({key: mapped(each, build, named) for key, each in value.items()})  # type: ignore[call-arg]  # every mapping that stands in fields is made of one
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(each, build, named) for each in value))
    if isinstance(value, list | tuple):
        return type(value)(mapped(each, build, named) for each in value)
    return value


def _deferred(function: Any, build: Callable[[Build], Any], named: Callable[[str], Any]) -> Any:
    is_named = isinstance(function, Build | Ref) or _is_linen_layer(function)
    return mapped(function, build, named) if is_named else function


def _is_linen_layer(value: Any) -> bool:
    """Whether a value is a class of flax.linen that a layer of NNX stands for."""
    if not isinstance(value, type):
        return False
    name = value.__name__
    return has_layer(f"{LINEN}.{name}") and vars(nn).get(name) is value


@dataclass(frozen=True)
class StandIn:
    """A size in place of one that the example does not tell.

    Attributes:
        name: The parameter of the constructor.
        value: Its value.
        problem: Why it is not known, and what to do about it.
    """

    name: str
    value: Any
    problem: str

    def __str__(self) -> str:
        return f"the example does not tell {self.name}, {self.value} stands in"


@dataclass(frozen=True)
class NewModels:
    """Builds NNX models.

    Attributes:
        side: The side after the migration.
        maps: The maps that say which constructor parameters were added.
        linen: The Linen module of the root, for classes by position of their arguments.
        calls: The calls that Linen's `init` made.
        root: The `Build` of the root.
        stand_ins: Takes the sizes that no call of the example tells.
    """

    side: Side
    maps: ClassMaps
    linen: nn.Module
    calls: Calls
    root: Build
    stand_ins: list[StandIn] = field(default_factory=list)

    def model(self) -> Any:
        """Return the NNX model.

        Raises:
            BadUse: A name is not known, or a width that is needed is not.
        """
        return self._made(self.root)

    def _made(self, build: Build) -> Any:
        package, _, layer = build.class_name.rpartition(".")
        if package == LINEN and layer == "Sequential":
            layers = build.fields.get("layers", build.args[0] if build.args else ())
            return self._runtime().Sequential(*mapped(layers, self._made, self._named))
        if has_layer(build.class_name):
            return self._layer(build)
        if package == LINEN:
            raise BadUse(
                f"{build.class_name}: its NNX layer is not known to this command.\n"
                "  Fix: a class or function of both files that makes it, Build('make_layer')"
            )
        cls = self._class(build.class_name)
        derived = self._derived(build, cls)
        if derived:
            return self._layer(build, derived, cls)
        args = [mapped(each, self._made, self._named) for each in build.args]
        given = {name: mapped(each, self._made, self._named) for name, each in build.fields.items()}
        given.update(build.lifted)
        if isinstance(_without_partial(cls), type):
            return self._constructed(build, cls, args, given)
        made = cls(*args, **given)
        # The module of a function of the user waits for what the codemod added.
        is_waiting = isinstance(made, functools.partial) and build is self.root
        if is_waiting and isinstance(_without_partial(made), type):
            return self._constructed(build, made, [], {})
        return made

    def _constructed(
        self, build: Build, made: Callable[..., Any], args: list[Any], given: dict[str, Any]
    ) -> Any:
        """Return what a class, or a partial of one, makes with what the codemod added."""
        cls = _without_partial(made)
        known = {**_keywords_of(made), **given}
        added = self._lifted(build, cls, [*_arguments_of(made), *args], known)
        added |= self._rngs(cls, known)
        _check_required(build, cls, {**known, **added})
        return made(*args, **given, **added)

    def _class(self, name: str) -> Any:
        new = self.maps.new_name(name)
        return self.side.named(new)

    def _named(self, name: str) -> Any:
        package, _, layer = name.rpartition(".")
        if package == LINEN and isinstance(getattr(nn, layer, None), type):
            return nnx_class(layer, self._runtime())
        return self._class(name)

    def _runtime(self) -> Any:
        cls = _without_partial(self._class(self.root.class_name))
        return runtime_of(cls) if isinstance(cls, type) else importlib.import_module("typed_nnx")

    def _rngs(self, cls: type, given: Mapping[str, Any]) -> dict[str, Any]:
        if "rngs" in given or "rngs" not in _parameters(cls):
            return {}
        return {"rngs": self._runtime().Rngs(0)}

    # -- what the codemod added --------------------------------------------------------------------

    def _lifted(
        self, build: Build, cls: type, args: list[Any], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        known: list[ClassMap] = self.maps.entries(cls)
        if not known:
            return {}
        positional = list(_parameters(cls))[: len(args)]
        found: dict[str, Any] = {}
        for lifted in known[0].lifted:
            if lifted.name not in given and lifted.name not in positional:
                found[lifted.name] = self._value(lifted, build, list(found.values()))
        return found

    def _value(self, lifted: Lifted, build: Build, others: list[Any]) -> Any:
        """Return what a parameter that the codemod added is in the example.

        Where the example enters another method, its calls may not tell it. Then it belongs to
        something that Linen's `init` does not make either, and any size will do. Where it does
        matter, the comparison finds it.
        """
        calls = self.calls.of(build, self.root)
        tried = []
        for call in calls:
            try:
                return _evaluated(lifted.expression, call, self.side)
            # The expression is of the map and runs on what the user's code passes.
            except Exception as error:  # noqa: BLE001 - the message has the reason
                tried.append(f"{call.method}: {first_line(error)}")
        why = f": {'; '.join(tried)}" if tried else ", as Linen's `init` does not call it"
        problem = (
            f"{build.class_name}: {lifted.name} = {lifted.expression} has no value{why}.\n"
            f"  Fix: Build({build.class_name!r}, ..., lifted={{{lifted.name!r}: ...}})"
        )
        if any(_is_told(lifted.expression, call) for call in calls):
            raise BadUse(problem)
        value = self._stand_in(lifted.expression, others)
        self.stand_ins.append(StandIn(lifted.name, value, problem))
        return value

    def _stand_in(self, expression: str, others: list[Any]) -> Any:
        """Return a size, or a shape, in place of one that the example does not tell."""
        if expression.startswith("None if "):
            return None
        arrays = [one for call in self.calls.entered for one in jax.tree.leaves(call.arguments)]
        shapes = [tuple(one.shape) for one in arrays if is_array(one) and one.shape]
        if expression.endswith(".shape"):
            known = [one for one in others if isinstance(one, tuple)]
            return (*known, *shapes, (1, 1, 1, 1))[0]
        sizes = [one for one in others if isinstance(one, int)]
        return (*sizes, *(shape[-1] for shape in shapes), 1)[0]

    def _derived(self, build: Build, cls: Any) -> str:
        """Return the layer of Linen whose NNX layer a class derives from; empty where none is."""
        for call in self.calls.of(build, self.root):
            for base in type(call.module).__mro__:
                layer = nnx_class(base.__name__, self._runtime())
                if isinstance(layer, type) and _is_linen_layer(base):
                    is_same = isinstance(cls, type) and issubclass(cls, layer)
                    return base.__name__ if is_same else ""
        return ""

    def _layer(self, build: Build, derived: str = "", own: Any = None) -> Any:
        """Return a layer of NNX.

        Args:
            build: What the example says.
            derived: The Linen layer that a class of the user derives from, where it is one.
            own: That class after the migration.
        """
        name = derived or build.class_name.rpartition(".")[2]
        calls = self.calls.of(build, self.root)
        fields = fields_of(build, getattr(nn, name))
        fields = {key: mapped(each, self._made, self._named) for key, each in fields.items()}
        cls = own if derived else nnx_class(name, self._runtime())
        # The constructor of a class that derives may take any arguments, and pass them on.
        own_rngs = {"rngs": self._runtime().Rngs(0)} if derived else {}
        if derived:
            fields = {**_decided(calls[0].module), **fields}
        if build.lifted:
            given = {**own_rngs, **fields, **build.lifted}
            return cls(**given, **self._rngs(cls, given))
        try:
            call = calls[0].arguments if calls else None
            args, given = arguments(name, fields, call, self._runtime())
        except (KeyError, AttributeError, IndexError) as error:
            raise BadUse(
                f"{build.class_name}: its input width is not known: {first_line(error)}.\n"
                f"  Fix: Build({build.class_name!r}, lifted=...) with the arguments of nnx."
                f"{nnx_name(name)}"
            ) from error
        given = {**own_rngs, **given}
        return cls(*args, **given, **self._rngs(cls, given))


def _decided(module: nn.Module) -> dict[str, Any]:
    """Return the settings of a layer that say its widths, which its class may have others of."""
    names = ("features", "num_embeddings", "axis", "qkv_features", "decode")
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


def _without_partial(function: Any) -> Any:
    """Return what a partial calls."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _keywords_of(function: Any) -> dict[str, Any]:
    """Return the keywords that a partial gives."""
    if not isinstance(function, functools.partial):
        return {}
    return {**_keywords_of(function.func), **function.keywords}


def _arguments_of(function: Any) -> list[Any]:
    """Return the positional arguments that a partial gives."""
    if not isinstance(function, functools.partial):
        return []
    return [*_arguments_of(function.func), *function.args]


def _parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    # Not of the class: a metaclass with a `__call__` of its own, as flax has, hides what is taken.
    try:
        taken = dict(inspect.signature(cls.__init__).parameters)  # type: ignore[misc]  # the class is exact
    except (TypeError, ValueError):
        return {}
    taken.pop(next(iter(taken), ""), None)
    return taken


def _check_required(build: Build, cls: type, given: Mapping[str, Any]) -> None:
    """Raise if a keyword without a default is missing: a size that neither map nor example tells."""
    missing = [
        name
        for name, one in _parameters(cls).items()
        if one.kind is one.KEYWORD_ONLY and one.default is one.empty and name not in given
    ]
    if missing:
        raise BadUse(
            f"{build.class_name}: neither the map nor the example tells {', '.join(missing)}.\n"
            f"  Fix: Build({build.class_name!r}, ..., lifted={{{missing[0]!r}: ...}})"
        )


def _evaluated(expression: str, call: Call, side: Side) -> Any:
    known = {**vars(side.module), "jax": jax, "jnp": jnp, "np": np, "self": call.module}
    # The map is a file of the user's own project, like the modules that were imported.
    value = eval(expression, {**known, **call.arguments})
    if is_module(value):
        return value
    return jax.tree.map(_plain_number, value)


def _is_told(expression: str, call: Call) -> bool:
    """Whether a call has all arguments that an expression is of."""
    names = {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}
    given = [call.arguments.get(name) for name in names - _NOT_ARGUMENTS]
    return all(one is not None for one in given)


def _plain_number(value: Any) -> Any:
    is_number = hasattr(value, "dtype") and getattr(value, "shape", None) == ()
    return value.item() if is_number else value
