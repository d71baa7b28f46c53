"""What errors say of structures and results, and the names that jax gets for values."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeAlias

import jax
from jax.tree_util import keystr

from typed_nnx._core.nodes import Spec, TreeDef
from typed_nnx._core.paths import Path, attribute_path, key_of_entry
from typed_nnx._core.settings import MISSING
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef, Item, VariableDef
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.engine.call import is_object, place_name, result_name
from typed_nnx._transforms.engine.closures import Parameters, code_of, name_of, unwrapped_function
from typed_nnx._transforms.engine.prefixes import Function, Prefix, Tree
from typed_nnx._transforms.engine.signature import Alias, Argument, Part, Pure, Signature
from typed_nnx.errors import SharedReferenceError

NO_PREFIX: Any = MISSING
"""Says that results have no prefixes: an argument may be returned, whatever its prefix."""


def check_sharing(
    function: str, result: Tree, went_in: Mapping[int, tuple[str, Prefix]], allows_graphs: bool
) -> None:
    """Raise if a result of a call with a fixed structure shares a Variable.

    Raises:
        SharedReferenceError: A Variable of an argument was returned, or trees are asserted and
            a new Variable was returned twice.
    """
    seen: dict[int, str] = {}
    for keys, node in jax.tree_util.tree_leaves_with_path(result, is_leaf=is_object):
        if not is_object(node):
            continue
        traversal: Traversal = Traversal().visit(node)
        for below, leaf in zip(traversal.graphdef.layout.paths, traversal.leaves, strict=True):
            where = result_name((*map(key_of_entry, keys), *below))
            if id(leaf) in went_in:
                raise _returned(function, leaf, went_in[id(leaf)][0], where)
            if isinstance(leaf, Variable) and id(leaf) in seen and not allows_graphs:
                raise SharedReferenceError(function, type(leaf).__name__, [seen[id(leaf)], where])
            seen[id(leaf)] = where


def _returned(function: str, leaf: object, argument: str, result: str) -> SharedReferenceError:
    rule = "Cannot return captured Variables"
    if not argument.startswith("captured"):
        transform = function.partition(" of ")[0]
        rule = f"{transform} does not support Variable aliasing of arguments and results"
    return SharedReferenceError(
        function,
        type(leaf).__name__,
        [argument, result],
        f"{rule} with graph=False or graph_updates=False.",
        "return nnx.clone(...) of it, or nothing, since changes are seen outside; or transform "
        "with graph=True and graph_updates=True",
    )


Named: TypeAlias = tuple[tuple[Tree, ...], dict[str, Tree], tuple[Tree, ...]]
"""Names in place of values: of the positional arguments, keyword arguments and captured objects."""


def shown(
    flat: Callable[..., Tree], function: Function, names: Callable[..., Tree] | None = None
) -> Callable[..., Tree]:
    """Return a function of plain values, defined for the purpose, that jax shows as the user's function.

    `names` takes what `flat` takes by position and returns names in trees like it; `ValueError` if
    there are none.
    """
    made: Any = flat if isinstance(flat, FunctionType) else lambda *args, **kw: flat(*args, **kw)
    made.__name__ = made.__qualname__ = name_of(function)
    code = code_of(function)
    made.__wrapped__ = (
        unwrapped_function(function) if code is None else Source(name_of(function), code)
    )
    made.__signature__ = _Inputs(names)
    function_shown: Callable[..., Tree] = made
    return function_shown


class Source:
    """Where a function is written, in the form in which jax looks for it."""

    __slots__ = ("__code__", "__name__")

    def __init__(self, name: str, code: CodeType) -> None:
        self.__name__ = name
        self.__code__ = code


class _Inputs(inspect.Signature):
    """A signature that binds each input to a name."""

    __slots__ = ("_names",)

    def __init__(self, names: Callable[..., Tree] | None) -> None:
        super().__init__(_ANYTHING)
        self._names = names

    def bind(self, *args: Tree, **kwargs: Tree) -> inspect.BoundArguments:
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


class _Named(dict[str, Tree]):
    """What a signature binds, as Python's own; whoever goes through it sees names and values."""

    __slots__ = ("_leaves",)

    def __init__(self, arguments: Mapping[str, Tree], leaves: _Leaves) -> None:
        super().__init__(arguments)
        self._leaves = leaves

    def items(self) -> Tree:
        return [("", self._leaves)]

    def __contains__(self, name: object) -> bool:
        return True  # keyword arguments are shown by their names


class _Leaves(list[tuple[str, Tree]]):
    """Names and values: a pytree whose key paths are the names."""

    __slots__ = ()


jax.tree_util.register_pytree_with_keys(
    _Leaves, lambda leaves: (leaves, None), lambda _, values: _Leaves(values)
)


# -- names of plain values ------------------------------------------------------------------------


def names_of(
    parameters: Parameters | Sequence[int | str], signature: Signature, *pure: *Pure
) -> Named:
    """Return names in place of the plain values of a call.

    Raises:
        ValueError: They are no arguments of such a call.
    """
    args, kwargs, captured = pure
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
    parameters: Parameters,
    signatures: Iterable[Signature],
    args: Sequence[Tree],
    captured: Sequence[Tree],
) -> tuple[Tree, Tree]:
    """Return names in place of plain values of a call with one of several signatures.

    What has another name with another signature that fits has its position for a name.
    """
    found: list[tuple[Tree, Tree]] = []
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


def _named(argument: Argument | None, root: str, pure: Tree) -> Tree:
    """Return names in place of the values of an argument."""
    if argument is None:
        return _spread(root, pure)
    treedef = argument.treedef
    keys = jax.tree_util.tree_leaves_with_path(treedef.unflatten(range(treedef.num_leaves)))
    made = [
        _in_part(part, root + attribute_path(tuple(map(key_of_entry, path))), value)
        for (path, _), (part, value) in zip(keys, argument.pairs(pure), strict=True)
    ]
    return treedef.unflatten(made)


def _in_part(part: Part | Alias | None, place: str, value: Tree) -> Tree:
    if part is None:
        return _spread(place, value)
    names: Tree = part.empty() if isinstance(part, Alias) else None
    if isinstance(part, Part):
        names = part.groups.divide([place + name for name in part.graphdef.layout.names])
    own: TreeDef = jax.tree.structure(names)
    if own == jax.tree.structure(value):
        return names
    return jax.tree.map(_spread, names, value)  # the value of a Variable may be a tree


def _spread(name: str, tree: Tree) -> Tree:
    return jax.tree_util.tree_map_with_path(lambda keys, _: name + keystr(keys), tree)


def _different(
    before: GraphDef, after: GraphDef, root: str
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield where two structures differ, and what is there in each; None for nothing."""
    old, new = dict(places(before)), dict(places(after))
    for path in {**old, **new}:
        if path not in old or path not in new or not _alike(old[path], new[path]):
            where = f"{root}{attribute_path(path)}" or "the object itself"
            one, other = [_describe(all_[path]) if path in all_ else None for all_ in (old, new)]
            yield where, one, other


def differences(before: GraphDef, after: GraphDef, root: str = "") -> list[str]:
    """Return what differs between an earlier and a later structure, a line for each place."""
    return [
        f"{where} was removed ({old})"
        if new is None
        else f"{where} was added ({new})"
        if old is None
        else f"{where} was {old}, is {new}"
        for where, old, new in _different(before, after, root)
    ]


def _replacements(after: GraphDef, root: str) -> list[str]:
    """Return where another object of the same structure is, a line for each place."""
    numbers = after.outer or ()
    first = next((number for number in numbers if number is not None), 0)
    return [
        (f"{root}{attribute_path(path)}" or "the object itself")
        + f" was replaced by another {item.cls.__name__}"
        for number, position, (path, item) in zip(
            numbers, itertools.count(first), places(after, with_statics=False), strict=False
        )
        if number != position
        and (item.is_object if isinstance(item, Spec) else isinstance(item, VariableDef))
    ]


def between(left: GraphDef, right: GraphDef, root: str, one: str, other: str) -> list[str]:
    """Return what differs between two structures that exist side by side, and are called `one` and `other`."""
    lines = [
        f"{where} ({old}) is there after {one} only"
        if new is None
        else f"{where} ({new}) is there after {other} only"
        if old is None
        else f"{where} is {old} after {one}, {new} after {other}"
        for where, old, new in _different(left, right, root)
    ]
    if lines:
        return lines
    changed = _replacements(right, root) or _replacements(left, root)
    return [f"{line} in one branch only" for line in changed] or [
        f"{root} holds other objects in one branch than in the other"
    ]


def changes_of(before: GraphDef, after: GraphDef, root: str = "") -> list[str]:
    """Return what changed in an object, a line for each place."""
    return (
        differences(before, after, root)
        or _replacements(after, root)
        or [f"{root or 'an object'} holds other objects than before"]
    )


def kind_of_root(graphdef: GraphDef) -> str:
    """Return the class of the root of a structure in words."""
    cls = getattr(graphdef.items[0], "cls", None)  # none if it is there before
    return "an object" if cls is None else f"a {cls.__name__}"


class StaticValue(NamedTuple):
    """A static value that is an attribute."""

    value: object


class Same(NamedTuple):
    """Stands for an object that is on another path too."""

    path: Path


def places(graphdef: GraphDef, *, with_statics: bool = True) -> Iterator[tuple[Path, Any]]:
    """Yield the path and description of everything, static values included."""
    items = enumerate(graphdef.items)
    paths: dict[int, Path] = {}

    def below(path: Path) -> Iterator[tuple[Path, Any]]:
        position, item = next(items)
        if type(item) is int:
            same = paths.get(item - graphdef.base)
            yield path, item if same is None else Same(same)
            return
        paths[position] = path
        yield path, item
        if isinstance(item, Spec):
            for name, value in item.statics if with_statics else ():
                yield (*path, name), StaticValue(value)
            for key in item.keys:
                yield from below((*path, key))

    yield from below(())


def _alike(left: object, right: object) -> bool:
    if isinstance(left, Spec) and isinstance(right, Spec):
        return left.cls is right.cls
    try:
        return type(left) is type(right) and bool(left == right)
    except Exception:  # noqa: BLE001 -- values of users compare as they like
        return False


def _describe(item: Item | Same | StaticValue) -> str:
    if isinstance(item, Spec):
        return f"a {item.cls.__name__}"
    if isinstance(item, VariableDef):
        metadata = {name: value for name, value in item.meta.items() if name not in _DEFAULTS}
        return f"a {item.cls.__name__}" + (f" with {metadata!r}" if metadata else "")
    if isinstance(item, str):
        return "an array"
    if isinstance(item, int):
        return "a shared object"
    if isinstance(item, StaticValue):
        return f"the static value {item.value!r}"
    return f"the same object as {attribute_path(item.path) or 'the whole'}"


_DEFAULTS = ("hijax", "ref", "eager_sharding")
