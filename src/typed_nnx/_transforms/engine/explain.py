"""Checks of the objects that a transformed function returns."""

from __future__ import annotations

import contextlib
import inspect
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
from typed_nnx._transforms.engine.prefixes import Function, Node, Prefix, Tree, by_filter
from typed_nnx._transforms.engine.signature import Alias, Argument, Part, Signature
from typed_nnx.errors import PrefixConflictError, SharedReferenceError

NO_PREFIX: Any = MISSING
"""Says that results have no prefixes: an argument may be returned, whatever its prefix."""


class ResultCheck:
    """Checks the objects in a result.

    Args:
        function: The name of the transform, for errors.
        signature: What is static about the call.
        objects: The objects that went in, by their number among the items of all parts.
        prefix: The prefix of the result, or NO_PREFIX.
    """

    __slots__ = ("_function", "_known", "_objects", "_signature", "has_prefix", "prefix")

    def __init__(
        self, function: str, signature: Signature, objects: Mapping[int, Node], prefix: Prefix
    ) -> None:
        self._function = function
        self._signature = signature
        self._objects = objects
        self.has_prefix = prefix is not NO_PREFIX
        self.prefix = prefix if self.has_prefix else None
        self._known: dict[int, tuple[str, Prefix]] | None = None

    def trees(self, result: Tree) -> None:
        """Raise if trees are asserted, or a fixed structure, and a Variable is there twice.

        Raises:
            SharedReferenceError: A Variable of an argument was returned, or trees are asserted and
                a new Variable was returned twice.
        """
        if self._signature.modes[1]:
            return
        went_in = self._of_arguments()
        seen: dict[int, Path] = {}
        entries = jax.tree_util.tree_leaves_with_path(result, is_leaf=is_object)
        for keys, node in entries:
            if not is_object(node):
                continue
            traversal: Traversal = Traversal().visit(node)
            paths = traversal.graphdef.layout.paths
            for below, leaf in zip(paths, traversal.leaves, strict=True):
                path = (*map(key_of_entry, keys), *below)
                if id(leaf) in went_in:
                    raise self._returned(leaf, went_in[id(leaf)][0], result_name(path))
                if isinstance(leaf, Variable) and id(leaf) in seen and not self._signature.modes[0]:
                    kind = type(leaf).__name__
                    where = result_name(seen[id(leaf)])
                    raise SharedReferenceError(self._function, kind, [where, result_name(path)])
                seen[id(leaf)] = path

    def _returned(self, leaf: object, argument: str, result: str) -> SharedReferenceError:
        rule = "Cannot return captured Variables"
        if not argument.startswith("captured"):
            transform = self._function.partition(" of ")[0]
            rule = f"{transform} does not support Variable aliasing of arguments and results"
        return SharedReferenceError(
            self._function,
            type(leaf).__name__,
            [argument, result],
            f"{rule} with graph=False or graph_updates=False.",
            "return nnx.clone(...) of it, or nothing, since changes are seen outside; or transform "
            "with graph=True and graph_updates=True",
        )

    def prefixes(self, node: Node, prefix: Prefix) -> None:
        """Raise if a Variable of an object has another prefix elsewhere.

        Raises:
            PrefixConflictError: With both places.
        """
        if not self.has_prefix:
            return
        if self._known is None:
            self._known = self._of_arguments()
        filters = by_filter(prefix)
        traversal: Traversal = Traversal().visit(node)
        for path, leaf in zip(traversal.graphdef.layout.paths, traversal.leaves, strict=True):
            if not isinstance(leaf, Variable):
                continue
            own = prefix
            if filters is not None:
                own = filters.values_in_order[filters.group_of(self._function, path, leaf)]
            where = result_name(path)
            known = self._known.setdefault(id(leaf), (where, own))
            if known[1] != own:
                kind = type(leaf).__name__
                raise PrefixConflictError([known, (where, own)], kind, self._function)

    def _of_arguments(self) -> dict[int, tuple[str, Prefix]]:
        found: dict[int, tuple[str, Prefix]] = {}
        for part in self._signature.parts:
            layout = part.graphdef.layout
            positions = part.leaf_positions()
            for leaf, (path, position) in enumerate(zip(layout.paths, positions, strict=True)):
                variable = self._objects.get(position + part.offset)
                if isinstance(variable, Variable):
                    where = place_name((*part.path, *path))
                    found[id(variable)] = where, part.groups.prefix_of(leaf)
        return found


Named: TypeAlias = tuple[tuple[Tree, ...], dict[str, Tree], tuple[Tree, ...]]
"""Names in the place of values: of the positional arguments, keyword arguments and captured objects."""


def shown(
    flat: Callable[..., Tree], function: Function, names: Callable[..., Tree] | None = None
) -> Callable[..., Tree]:
    """Return a function of plain values that jax shows as the user's function.

    Args:
        flat: The function of plain values; one that was defined for the purpose.
        function: The user's function.
        names: Takes what `flat` takes by position and returns names in trees like it; `ValueError` if
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
    parameters: Parameters | Sequence[int | str],
    signature: Signature,
    args: Sequence[Tree],
    kwargs: Mapping[str, Tree],
    captured: Sequence[Tree],
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
    parameters: Parameters,
    signatures: Iterable[Signature],
    args: Sequence[Tree],
    captured: Sequence[Tree],
) -> tuple[Tree, Tree]:
    """Return names in the place of plain values of a call with one of several signatures.

    What has another name with another signature that fits has its position for a name.

    Args:
        parameters: The names of the function's parameters.
        signatures: What may be static about the call.
        args: The positional arguments.
        captured: What the function closes over.
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


def differences(before: GraphDef, after: GraphDef, root: str = "") -> list[str]:
    """Return what differs between two structures, a line for each place.

    Args:
        before: The one structure.
        after: The other; its ``outer`` numbers tell which objects were there before.
        root: What the paths begin with.
    """
    old, new = dict(places(before)), dict(places(after))
    lines = []
    for path in {**old, **new}:
        where = f"{root}{attribute_path(path)}" or "the object itself"
        if path not in new:
            lines.append(f"{where} was removed ({_describe(old[path])})")
        elif path not in old:
            lines.append(f"{where} was added ({_describe(new[path])})")
        elif not _alike(old[path], new[path]):
            lines.append(f"{where} was {_describe(old[path])}, is {_describe(new[path])}")
    return lines


def replacements(before: GraphDef, after: GraphDef, root: str = "") -> list[str]:
    """Return where another object of the same structure is, a line for each place.

    Args:
        before: The structure, of which `after` has all the places.
        after: The same structure with the ``outer`` numbers of its objects.
        root: What the paths begin with.
    """
    numbers = after.outer or ()
    first = next((number for number in numbers if number is not None), 0)
    lines = []
    for position, (path, item) in enumerate(places(after, with_statics=False)):
        if position >= len(numbers) or not isinstance(item, Spec | VariableDef):
            continue
        if isinstance(item, Spec) and not item.is_object:
            continue
        if numbers[position] != first + position:
            where = f"{root}{attribute_path(path)}" or "the object itself"
            lines.append(f"{where} was replaced by another {item.cls.__name__}")
    del before
    return lines


def between(left: GraphDef, right: GraphDef, root: str, one: str, other: str) -> list[str]:
    """Return what differs between two structures that exist side by side.

    Args:
        left: The one structure.
        right: The other.
        root: What the paths begin with.
        one: What to call the one.
        other: What to call the other.
    """
    lefts, rights = dict(places(left)), dict(places(right))
    lines = []
    for path in {**lefts, **rights}:
        where = f"{root}{attribute_path(path)}"
        if path not in rights:
            lines.append(f"{where} ({_describe(lefts[path])}) is there after {one} only")
        elif path not in lefts:
            lines.append(f"{where} ({_describe(rights[path])}) is there after {other} only")
        elif not _alike(lefts[path], rights[path]):
            lines.append(
                f"{where} is {_describe(lefts[path])} after {one}, {_describe(rights[path])} after "
                f"{other}"
            )
    if lines:
        return lines
    changed = replacements(left, right, root) or replacements(right, left, root)
    return [f"{line} in one branch only" for line in changed] or [
        f"{root} holds other objects in one branch than in the other"
    ]


def changes_of(before: GraphDef, after: GraphDef, root: str = "") -> list[str]:
    """Return what changed in an object, a line for each place."""
    return (
        differences(before, after, root)
        or replacements(before, after, root)
        or [f"{root or 'an object'} holds other objects than before"]
    )


class StaticValue(NamedTuple):
    """A static value that is an attribute."""

    value: object


class Same(NamedTuple):
    """Stands for an object that is on another path too."""

    path: Path


def places(graphdef: GraphDef, *, with_statics: bool = True) -> Iterator[tuple[Path, Any]]:
    """Yield the path and description of everything, static values included."""
    items = iter(graphdef.items)
    paths: dict[int, Path] = {}

    def below(path: Path) -> Iterator[tuple[Path, Any]]:
        position = len(paths) + repeated[0]
        item = next(items)
        if type(item) is int:
            repeated[0] += 1
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

    repeated = [0]
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
