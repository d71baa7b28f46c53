"""What constructs a migrated model later, and the sizes that its constructor needs then.

A size is that of an argument after which its parameter is named. Others are found by constructing the
model on shapes alone, with two values for a size. What differs between the two depends on it: the shapes
of variables, which tell the size where variables are given, and the inputs of layers, which tell it when
a call reaches them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

import jax
import jax.numpy as jnp

import typed_nnx as nnx


def constructs(layer: Any, kind: type) -> bool:
    """Whether a class, or a partial of one, constructs objects of a class."""
    made = getattr(layer, "func", layer)
    return isinstance(made, type) and issubclass(made, kind)


def is_other(model: Any) -> bool:
    """Whether something is no model of NNX, nor what constructs one."""
    is_model = isinstance(model, nnx.Module) or constructs(model, nnx.Module)
    return not (is_model or inspect.isfunction(getattr(model, "func", model)))


def construct_later(construct: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call something, but a class of modules: it waits for the sizes of inputs, as a partial."""
    later = constructs(construct, nnx.Module)
    return Later(construct, *args, **kwargs) if later else construct(*args, **kwargs)


class Later(partial[Any]):
    """What constructs a model when its sizes are known, and the models in its fields that wait."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Construct the model; `encoder.in_features` is a size of the model in the field `encoder`."""
        given = {**self.keywords, **keywords}
        names = [*signature_of(self.func).parameters]

        def made(name: str, value: Any) -> Any:
            sizes = {key: given.get(f"{name}.{key}") for key in wanted_sizes(value)}
            found = {key: size for key, size in sizes.items() if size is not None}
            return value(rngs=given.get("rngs"), **found)

        filled = [
            with_waiting(name, value, made)
            for name, value in zip(names, (*self.args, *args), strict=False)
        ]
        others = {k: with_waiting(k, v, made) for k, v in given.items() if "." not in k}
        return self.func(*filled, **others)


def with_waiting(name: str, value: Any, made: Callable[[str, Any], Any]) -> Any:
    """Return what a field gets, with something else for each model that waits in it.

    Args:
        name: The field.
        value: What is given for it.
        made: Returns what stands for a model, of its name and what constructs it.
    """
    if isinstance(value, Later):
        return made(name, value)
    if type(value) is dict:
        return {key: with_waiting(f"{name}.{key}", one, made) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(
            with_waiting(f"{name}.{number}", one, made) for number, one in enumerate(value)
        )
    return value


def with_keywords(construct: Any, **keywords: Any) -> Any:
    """Return what constructs a model, with more keywords."""
    kind = Later if constructs(construct, nnx.Module) else partial
    given = {**getattr(construct, "keywords", {}), **keywords}
    return kind(getattr(construct, "func", construct), *getattr(construct, "args", ()), **given)


def signature_of(construct: Any) -> inspect.Signature:
    """Return the parameters of a function, or of the constructor of a class without the object."""
    function: Any = construct
    if not isinstance(construct, type):
        return inspect.signature(function)
    found = inspect.signature(function.__init__)
    return found.replace(parameters=list(found.parameters.values())[1:])


def wanted_sizes(construct: Any) -> dict[str, Any]:
    """Return the keywords that the constructor of a model still needs, with their defaults."""
    given = getattr(construct, "keywords", {})
    parameters = signature_of(getattr(construct, "func", construct)).parameters
    found = {
        name: parameter.default
        for name, parameter in parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        and (parameter.default is inspect.Parameter.empty or parameter.default is None)
        and name not in given
        and name != "rngs"
    }

    def add(name: str, inner: Any) -> None:
        more = {f"{name}.{key}": default for key, default in wanted_sizes(inner).items()}
        found.update({key: default for key, default in more.items() if key not in given})

    positional = zip(parameters, getattr(construct, "args", ()), strict=False)
    for name, value in (*positional, *given.items()):
        with_waiting(name, value, add)
    return found


class KnownSizes:
    """The sizes that `init_with` constructed models with: other methods may not tell them."""

    found: ClassVar[dict[Any, dict[str, Any]]] = {}

    @staticmethod
    def key(construct: Any, variables: Mapping[str, Any]) -> Any:
        """Return what is constructed, and the shapes of its parameters."""
        leaves = jax.tree_util.tree_leaves_with_path(variables.get("params", {}))
        shapes = tuple((jax.tree_util.keystr(path), jnp.shape(leaf)) for path, leaf in leaves)
        return getattr(construct, "func", construct), shapes

    @classmethod
    def of(cls, construct: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the sizes for the constructor of a model with such variables; none if unknown."""
        return cls.found.get(cls.key(construct, variables), {})


def with_input_sizes(construct: Any, method: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what constructs a model, with the sizes that it takes of the arguments of a call.

    Names of parameters tell which: ``in_features`` is the last dimension of the first argument that
    is no setting, ``x_features`` that of the argument ``x``; ``in_shape`` and ``x_shape`` are whole
    shapes. For a list of arrays it is a tuple. ``x_0_features`` is of the first array in ``x``.
    Other sizes are those of the inputs of layers that the call reaches.

    Raises:
        TypeError: A size is not one of an argument.
    """
    made: Any = getattr(construct, "func", construct)
    wanted = wanted_sizes(construct)
    if not wanted:
        return with_keywords(construct)
    called = getattr(method, "__func__", method) or "__call__"
    if isinstance(made, type) or not isinstance(called, str):
        function = getattr(made, called) if isinstance(called, str) else called
        bound = inspect.signature(function).bind_partial(None, *args, **kwargs)
        bound.apply_defaults()
        values = dict(list(bound.arguments.items())[1:])
    else:  # a function, which has the names of the sizes alone
        values = {**{str(number): value for number, value in enumerate(args)}, **kwargs}
    settings = (bool, int, float, str)
    first = [v for v in values.values() if not isinstance(v, settings) and not callable(v)]
    for path, leaf in jax.tree_util.tree_leaves_with_path(values):
        keys = [getattr(key, "key", getattr(key, "idx", getattr(key, "name", ""))) for key in path]
        values.setdefault("_".join(map(str, keys)), leaf)
    sizes: dict[str, Any] = {}
    missing = []
    for name, default in wanted.items():
        argument, _, kind = name.rpartition("_")
        value: Any = first[0] if argument == "in" and first else values.get(argument)
        if kind == "shape" and hasattr(value, "shape"):
            sizes[name] = tuple(value.shape)
        elif kind == "features" and hasattr(value, "shape"):
            sizes[name] = value.shape[-1]
        elif kind == "features" and isinstance(value, list | tuple):
            sizes[name] = tuple(one.shape[-1] for one in value)
        elif default is inspect.Parameter.empty:
            missing.append(name)
    sizes |= sizes_of_call(with_keywords(construct, **sizes), missing, called, args, kwargs)
    for name in missing:
        if name not in sizes:
            message = f"the call does not determine `{name}` of {made.__name__}\n  Fix: pass it to {made.__name__}(...)"
            raise TypeError(message)  # as Python does for an argument that is missing
    return with_keywords(construct, **sizes)


def with_sizes_in(
    variables: Mapping[str, Any], construct: Any, variables_of: Callable[[Any], Any]
) -> Any:
    """Return what constructs a model, with the sizes that its variables tell."""
    wanted = wanted_sizes(construct)
    missing = [
        name
        for name, default in wanted.items()
        if default is inspect.Parameter.empty and not name.endswith("shape")
    ]
    if not missing:
        return construct
    known = KnownSizes.of(construct, variables)
    # With a whole shape, only a call tells sizes.
    has_shape = any(name.endswith("shape") for name in wanted.keys() - known.keys())
    if not has_shape and not known.keys() >= {*missing}:
        known = {**sizes_of_variables(variables_of, construct, missing, variables), **known}
        KnownSizes.found[KnownSizes.key(construct, variables)] = known
    return with_keywords(construct, **{name: known[name] for name in missing if name in known})


# Divisible by numbers of heads and groups.
_FIRST: Final = 5040
_SIZES: Final = ("in_features", "num_features")
# What depends on a size: the parameter for it, and what tells it, given the number that is seen.
_Depending = dict[Any, tuple[str, Callable[[int], int | None]]]


def sizes_of_variables(
    variables_of: Callable[[Any], Any],
    construct: Callable[..., Any],
    names: Sequence[str],
    variables: Mapping[str, Any],
) -> dict[str, int]:
    """Return the sizes that variables tell.

    Args:
        variables_of: Returns the variables of a model, by the names that are given.
        construct: Constructs the model.
        names: The parameters for sizes that are not known.
        variables: The variables.
    """

    def numbers(sizes: Mapping[str, int]) -> dict[Any, int]:
        constructed = with_keywords(construct, **sizes)
        return _axes(jax.eval_shape(lambda: variables_of(constructed(rngs=nnx.Rngs(0)))))

    given = _axes(variables)
    found: dict[str, int] = {}
    for key, (name, size_for) in _depending(numbers, names).items():
        size = size_for(given[key]) if key in given else None
        if size is not None:
            found.setdefault(name, size)
    return found


def _axes(tree: Any) -> dict[Any, int]:
    """Return the dimensions of the arrays in a tree, by path and axis."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    shapes = ((jax.tree_util.keystr(path), jnp.shape(leaf)) for path, leaf in leaves)
    return {(path, axis): size for path, shape in shapes for axis, size in enumerate(shape)}


def sizes_of_call(
    construct: Any,
    names: Sequence[str],
    method: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the sizes that a call of a model tells.

    Args:
        construct: Constructs the model.
        names: The parameters for sizes that are not known.
        method: The method that is called, or its name.
        args: Its arguments.
        kwargs: Its keywords.
    """
    leaves, structure = jax.tree.flatten((args, kwargs))
    arrays = {place: leaf for place, leaf in enumerate(leaves) if _is_array(leaf)}

    def run(constructed: Any, depending: _Depending, given: Mapping[int, Any]) -> None:
        filled = [given.get(place, leaf) for place, leaf in enumerate(leaves)]
        args, kwargs = jax.tree.unflatten(structure, filled)
        _call(constructed, depending, method, args, kwargs)

    found: dict[str, Any] = {}
    while not found.keys() >= {*names}:
        missing = [name for name in names if name not in found]
        waiting = _with_stand_ins(with_keywords(construct, **found), missing)
        own = [name for name in missing if "." not in name]

        def numbers(sizes: Mapping[str, int], waiting: Any = waiting) -> dict[Any, int]:
            constructed = with_keywords(waiting, **sizes)
            return dict(_inputs(nnx.eval_shape(lambda: constructed(rngs=nnx.Rngs(0)))))

        depending: _Depending = {}
        try:
            depending = _depending(numbers, own)
            guessed = with_keywords(waiting, **dict.fromkeys(own, _FIRST))
            jax.eval_shape(partial(run, guessed, depending), arrays)
        except _Asked as asked:
            more = _answered(asked, depending)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            break  # what is left is told by nothing
        else:
            break
        if not more:
            break
        found |= more
    return {name: found[name] for name in names if name in found}


def _answered(asked: _Asked, depending: _Depending) -> dict[str, Any]:
    """Return the sizes that what stands for a layer, or for a model in a field, was called with."""
    if asked.construct is None:
        name, size_for = depending[asked.place]
        size = size_for(jnp.shape(asked.args[0])[-1])
        return {} if size is None else {name: size}
    sized = with_input_sizes(asked.construct, asked.method, *asked.args, **asked.kwargs)
    given = getattr(asked.construct, "keywords", {})
    more = {key: value for key, value in sized.keywords.items() if key not in given}
    return {f"{asked.place}.{key}": value for key, value in more.items()}


def _call(
    construct: Any,
    depending: Mapping[Any, Any],
    method: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    """Call a model; its layers that depend on a size ask for it."""
    model = construct(rngs=nnx.Rngs(0))
    model.set_attributes(use_running_average=True, raise_if_not_found=False)
    for path in depending:
        above = model
        for key in path[:-1]:
            above = _child(above, key)
        asking = _Layer(_child(above, path[-1]), path)
        if isinstance(above, nnx.List | nnx.Dict):
            above[path[-1]] = asking
        else:
            setattr(above, str(path[-1]), asking)
    function = getattr(model, method) if isinstance(method, str) else partial(method, model)
    function(*args, **kwargs)


def _child(holder: Any, key: Any) -> Any:
    return holder[key] if isinstance(holder, nnx.List | nnx.Dict) else getattr(holder, str(key))


def _depending(
    numbers: Callable[[Mapping[str, int]], Mapping[Any, int]], names: Sequence[str]
) -> _Depending:
    """Return what depends on one size alone.

    Args:
        numbers: Constructs the model with sizes, and returns numbers in it.
        names: The parameters for the sizes.
    """
    if not names:
        return {}
    base = dict.fromkeys(names, _FIRST)
    first = numbers(base)
    found: _Depending = {}
    several: set[Any] = set()
    for name in names:
        other = numbers({**base, name: 2 * _FIRST})
        for key in first.keys() & other.keys():
            if first[key] != other[key]:
                several |= {key} if key in found else set()
                found[key] = name, partial(_solved, first[key], other[key])
    return {key: one for key, one in found.items() if key not in several}


def _solved(first: int, second: int, seen: int) -> int | None:
    """Return the size for a number that grows with it, from the numbers for two sizes."""
    size, rest = divmod((seen - first) * _FIRST, second - first)
    return None if rest or size + _FIRST <= 0 else size + _FIRST


def _inputs(model: nnx.Module) -> Iterator[tuple[Any, int]]:
    for path, module in nnx.iter_modules(model):
        if type(module).__module__.startswith("typed_nnx.") and not isinstance(module, _Model):
            sizes = [getattr(module, name, None) for name in _SIZES]
            if isinstance(module, nnx.GroupNorm):
                sizes = [module.num_groups * module.group_size]
            yield from ((path, size) for size in sizes if isinstance(size, int))


class _Asked(Exception):
    """Something was called that needs a size.

    Attributes:
        place: The path of a layer, or the name of the field that has a model.
        construct: What constructs the model; None for a layer.
        method: The method that was called.
        args: Its arguments.
        kwargs: Its keywords.
    """

    def __init__(self, place: Any, construct: Any, method: str, args: Any, kwargs: Any) -> None:
        super().__init__(place)
        self.place = place
        self.construct = construct
        self.method = method
        self.args, self.kwargs = jax.tree.map(_shape, (args, kwargs))


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _shape(value: Any) -> Any:
    return jax.eval_shape(lambda: value) if _is_array(value) else value


class _Layer(nnx.Module):
    """Stands for a layer, and asks for the size of its input instead of computing."""

    def __init__(self, module: nnx.Module, path: Any) -> None:
        self.module = module
        self.path = path

    def __call__(self, *args: Any, **_: Any) -> Any:
        is_cell = isinstance(self.module, nnx.RNNCellBase)
        raise _Asked(self.path, None, "__call__", args[is_cell:], {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(object.__getattribute__(self, "module"), name)


class _Model(nnx.Module):
    """Stands for a model in a field, and asks for its sizes instead of computing."""

    def __init__(self, name: str, construct: Any) -> None:
        self.name = name
        self.construct = construct

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise _Asked(self.name, self.construct, "__call__", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        construct = object.__getattribute__(self, "construct")

        def method(*args: Any, **kwargs: Any) -> Any:
            raise _Asked(object.__getattribute__(self, "name"), construct, name, args, kwargs)

        if inspect.isfunction(inspect.getattr_static(construct.func, name, None)):
            return method
        try:
            return field_of(construct, name)
        except AttributeError:  # the constructor computes it, mostly of fields
            guesses = {
                key: (_FIRST,) * 4 if key.endswith("shape") else _FIRST
                for key in wanted_sizes(construct)
            }
            made = with_keywords(construct, **guesses)
            return getattr(nnx.eval_shape(lambda: made(rngs=nnx.Rngs(0))), name)


def _with_stand_ins(construct: Any, missing: Sequence[str]) -> Any:
    """Return what constructs a model, with something else for models in fields that need a size."""

    def made(name: str, inner: Any) -> Any:
        needs_sizes = any(one.startswith(f"{name}.") for one in missing)
        return _Model(name, inner) if needs_sizes else inner

    names = [*signature_of(getattr(construct, "func", construct)).parameters]
    args = [
        with_waiting(name, value, made)
        for name, value in zip(names, getattr(construct, "args", ()), strict=False)
    ]
    keywords = getattr(construct, "keywords", {})
    given = {name: with_waiting(name, value, made) for name, value in keywords.items()}
    kind = type(construct) if isinstance(construct, partial) else partial
    return kind(getattr(construct, "func", construct), *args, **given)


def field_of(model: Any, name: str) -> Any:
    """Return a field or a method of a model, or of what constructs it; an attribute of anything else.

    A method of what constructs a model sees the fields, as that of a Linen module without variables does.
    """
    if isinstance(model, nnx.Module) or is_other(model):
        return getattr(model, name)
    waiting = model if isinstance(model, partial) else partial(model)
    function = waiting.func
    bound = signature_of(function).bind_partial(*waiting.args, **waiting.keywords)
    bound.apply_defaults()
    if name in bound.arguments:
        return bound.arguments[name]
    if not hasattr(function, name):
        message = f"{getattr(function, '__name__', function)} has no field or method {name!r}"
        raise AttributeError(message)  # as Python does, so that `hasattr` says no
    return inspect.getattr_static(function, name).__get__(Unbound(waiting), function)


class Unbound(partial[Any]):
    """What constructs a model, with the fields and methods of the model."""

    def __getattr__(self, name: str) -> Any:
        """Return a field or a method."""
        return field_of(self, name)
