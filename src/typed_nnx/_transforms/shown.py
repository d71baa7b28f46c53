"""What jax shows of the functions that it gets from us: the user's function, its place and parameters.

jax transforms functions of plain values. Its errors, jaxprs, compiled programs and profiles name the
place of such a function by ``__wrapped__`` and its inputs by binding them to its signature, both as
Python's `inspect` does; so these lead to the user's function, and to paths such as
``model.layers[0].kernel``. Names are made when jax asks for them, which is while it traces.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType
from typing import Any, TypeAlias

import jax
from jax.tree_util import keystr

from typed_nnx._core.paths import attribute_path, key_of_entry
from typed_nnx._transforms.callables import Parameters, code_of, name_of, unwrapped_function
from typed_nnx._transforms.places import place_name
from typed_nnx._transforms.signature import Argument, Part, Repeated, Signature, in_groups

Named: TypeAlias = tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...]]
"""Names in the place of values: of the positional arguments, keyword arguments and captured objects."""


def shown(
    flat: Callable[..., Any], function: Any, names: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """Return a function of plain values that jax shows as the user's function.

    Args:
        flat: The function of plain values.
        function: The user's function.
        names: Takes what `flat` takes by position and returns names in trees like it; `ValueError` if
            there are none.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        return flat(*args, **kwargs)

    made: Any = call
    made.__name__ = made.__qualname__ = name_of(function)
    code = code_of(function)
    made.__wrapped__ = (
        unwrapped_function(function) if code is None else Source(name_of(function), code)
    )
    made.__signature__ = _Inputs(names)
    return call


class Source:
    """Where a function is written, in the form in which jax looks for it."""

    __slots__ = ("__code__", "__name__")

    def __init__(self, name: str, code: CodeType) -> None:
        self.__name__ = name
        self.__code__ = code


class _Inputs(inspect.Signature):
    """A signature that binds each input to a name."""

    __slots__ = ("_names",)

    def __init__(self, names: Callable[..., Any] | None) -> None:
        super().__init__(_ANYTHING)
        self._names = names

    def bind(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """Bind everything, and name what is given by position."""
        bound = super().bind(*args, **kwargs)
        if self._names is not None:
            with contextlib.suppress(TypeError, ValueError):  # then jax makes names of its own
                names, values = jax.tree.leaves(self._names(*args)), jax.tree.leaves(args)
                pairs = zip(names, values, strict=True)
                bound.arguments = _Named(bound.arguments, _Leaves(list(pairs)))
        return bound

    def __eq__(self, other: object) -> bool:
        return self is other  # that of names depends on what is bound

    def __hash__(self) -> int:
        return id(self)


_ANYTHING = [
    inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
    inspect.Parameter("_keywords", inspect.Parameter.VAR_KEYWORD),
]


class _Named(dict[str, Any]):
    """What a signature binds, as Python's own; whoever goes through it sees names and values."""

    __slots__ = ("_leaves",)

    def __init__(self, arguments: Mapping[str, Any], leaves: _Leaves) -> None:
        super().__init__(arguments)
        self._leaves = leaves

    def items(self) -> Any:
        return [("", self._leaves)]

    def __contains__(self, name: object) -> bool:
        return True  # keyword arguments are shown by their names


class _Leaves(list[tuple[str, Any]]):
    """Names and values: a pytree whose key paths are the names."""

    __slots__ = ()


jax.tree_util.register_pytree_with_keys(
    _Leaves, lambda leaves: (leaves, None), lambda _, values: _Leaves(values)
)


# -- names of plain values ------------------------------------------------------------------------


def names_of(
    parameters: Parameters | Sequence[Any],
    signature: Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    captured: Sequence[Any],
) -> Named:
    """Return names in the place of the plain values of a call.

    Args:
        parameters: The names of the function's parameters, by position.
        signature: What is static about the call.
        args: The positional arguments.
        kwargs: The keyword arguments.
        captured: What the function closes over.

    Raises:
        ValueError: They are no arguments of such a call.
    """
    positional = [
        _named(argument, place_name((parameters[number],)), value)
        for number, (argument, value) in enumerate(zip(signature.arguments, args, strict=True))
    ]
    keywords = {
        name: _named(signature.keywords.get(name), name, value) for name, value in kwargs.items()
    }
    closed = [
        _named(argument, _root_of(argument), value)
        for argument, value in zip(signature.captured, captured, strict=True)
    ]
    return tuple(positional), keywords, tuple(closed)


def names_of_one(
    parameters: Parameters, signatures: Iterable[Signature], args: Sequence[Any], captured: Any
) -> tuple[Any, Any]:
    """Return names in the place of plain values of a call with one of several signatures.

    What has another name with another signature that fits has its position for a name.

    Args:
        parameters: The names of the function's parameters.
        signatures: What may be static about the call.
        args: The positional arguments.
        captured: What the function closes over.
    """
    found: list[tuple[Any, Any]] = []
    for signature in signatures:
        with contextlib.suppress(ValueError):
            every, _, closed = names_of(parameters, signature, args, {}, captured)
            if (every, closed) not in found:
                found.append((every, closed))
    if len(found) == 1:
        return found[0]
    roots = [place_name((parameters[number],)) for number in range(len(args))]
    return tuple(map(_spread, roots, args)), _spread("captured", captured)


def _root_of(argument: Argument) -> str:
    part = argument.parts[0]
    return place_name(part.path) if isinstance(part, Part) else "captured"


def _named(argument: Argument | None, root: str, pure: Any) -> Any:
    """Return names in the place of the values of an argument."""
    if argument is None:
        return _spread(root, pure)
    treedef = argument.treedef
    keys = jax.tree_util.tree_leaves_with_path(treedef.unflatten(range(treedef.num_leaves)))
    made = [
        _in_part(part, root + attribute_path(tuple(map(key_of_entry, path))), value)
        for (path, _), (part, value) in zip(keys, argument.pairs(pure), strict=True)
    ]
    return treedef.unflatten(made)


def _in_part(part: Part | Repeated | None, place: str, value: Any) -> Any:
    if part is None:
        return _spread(place, value)
    names: Any = []
    groups: Sequence[int] = ()
    if isinstance(part, Part):
        names = [place + name for name in part.graphdef.layout.names]
        groups = part.groups or ()
    names = in_groups(part.filters, groups, names)
    own: Any = jax.tree.structure(names)
    if own == jax.tree.structure(value):
        return names
    return jax.tree.map(_spread, names, value)  # the value of a Variable may be a tree


def _spread(name: str, tree: Any) -> Any:
    return jax.tree_util.tree_map_with_path(lambda keys, _: name + keystr(keys), tree)
