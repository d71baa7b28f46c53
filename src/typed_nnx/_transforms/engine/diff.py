"""The differentiable part of arguments: chosen before, put together as gradients after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import SupportsIndex, TypeAlias

from typed_nnx._core.filters import Filter, to_predicates
from typed_nnx._core.jax_runtime import is_array_ref
from typed_nnx._core.nested import describe_leaf, flat_items, nested_of
from typed_nnx._core.nodes import TreeDef
from typed_nnx._core.paths import Path, attribute_path
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import Param
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.split import is_lasting, nested_builder
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.engine.call import Call, Input, is_object, kind_of_result, raw_values
from typed_nnx._transforms.engine.closures import describe
from typed_nnx._transforms.engine.prefixes import (
    ByFilter,
    DiffState,
    Function,
    Node,
    Prefix,
    Tree,
    Value,
)
from typed_nnx._transforms.engine.signature import (
    Alias,
    Argument,
    Effects,
    Part,
    Signature,
    Structure,
    TraceResult,
    build_part,
    leaf_of,
)
from typed_nnx.errors import ResultError, TangentStructureError


class Differentiable(ByFilter):
    """The Variables to differentiate by; what `DiffState` says, as prefixes."""

    __slots__ = ()

    @classmethod
    def of(cls, chosen: Filter) -> Differentiable:
        """Build it from a filter."""
        return cls([(chosen, True), (..., False)])

    def group_of(self, function: str, path: Path, leaf: Value) -> int:
        """Return 0 for a Variable to differentiate by; one that was given by itself always is."""
        return super().group_of(function, path, leaf) if path else 0


def prefix_of(argnum: SupportsIndex | DiffState, structural: bool) -> Prefix:
    """Return the prefix of an argument; gradients are States (`structural`) or Modules of all Variables."""
    if isinstance(argnum, DiffState):
        return Differentiable.of(argnum.filter)
    return Differentiable.of(Param) if structural else True


def check_pair(transform: str, function: Function, result: object) -> None:
    """Raise if a function with ``has_aux=True`` returned no (value, aux)."""
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise ResultError(
            transform,
            f"with has_aux=True, {describe(function)} should return a tuple (value, aux); it "
            f"returned {kind_of_result(result)}.",
            "return value, aux",
        )


Rest: TypeAlias = tuple[list[Tree], list[Tree]]
"""The values of arguments that are not differentiated by: of those that were chosen, and all others."""


def divide(signature: Signature, numbers: Sequence[int], args: Sequence[Tree]) -> tuple[Tree, Rest]:
    """Return the differentiable values of arguments, in trees that mirror them, and the rest.

    Args:
        signature: What is static about the call.
        numbers: The positions of the arguments that were chosen.
        args: All arguments as plain values.
    """
    pairs = [_divided(signature.arguments[number], args[number]) for number in numbers]
    others = [None if number in numbers else value for number, value in enumerate(args)]
    return [own for own, _ in pairs], ([rest for _, rest in pairs], others)


def unite(signature: Signature, numbers: Sequence[int], chosen: Tree, rest: Rest) -> list[Tree]:
    """Undo `divide`."""
    args = list(rest[1])
    for number, own, others in zip(numbers, chosen, rest[0], strict=True):
        args[number] = _united(signature.arguments[number], own, others)
    return args


def _divided(argument: Argument | None, pure: Tree) -> tuple[Tree, Tree]:
    if argument is None:
        return pure, None
    chosen, others = [], []
    for part, value in argument.pairs(pure):
        own, rest = value if _is_divided(part) else (value, None)
        chosen.append(own)
        others.append(rest)
    return argument.treedef.unflatten(chosen), argument.treedef.unflatten(others)


def _united(argument: Argument | None, chosen: Tree, others: Tree) -> Tree:
    if argument is None:
        return chosen
    rests = argument.treedef.flatten_up_to(others)
    return argument.treedef.unflatten(
        [
            (own, rest) if _is_divided(part) else own
            for (part, own), rest in zip(argument.pairs(chosen), rests, strict=True)
        ]
    )


def _is_divided(part: Part | Alias | None) -> bool:
    return isinstance(part, Part) and part.groups.filters is not None


def are_lasting(inputs: Sequence[Input]) -> bool:
    """Whether the values to differentiate by follow from the structures of objects."""
    filters = [(each.part.groups.filters, each.graph) for each in inputs]
    return all(
        found is None or is_lasting(to_predicates(found.filters), graph) for found, graph in filters
    )


class Tangents:
    """Puts what belongs to the differentiable values of arguments into the form of gradients.

    A Module becomes a State of the Variables that were chosen, or where all are, a Module. It remembers
    how the States of a part are built.
    """

    __slots__ = ("_builders",)

    def __init__(self) -> None:
        self._builders: dict[int, Callable[[Sequence[Value]], Tree]] = {}

    def of(self, pairs: Iterable[tuple[Argument | None, Tree]]) -> list[Tree]:
        """Return the gradients by arguments, each given with its values; what two share is one object."""
        made: dict[int, Node] = {}  # by their number among the items of all parts
        build = partial(self._tangent, made)
        return [own if argument is None else argument.map(build, own) for argument, own in pairs]

    def _tangent(self, made: dict[int, Node], part: Part | Alias, values: Tree) -> Tree:
        if isinstance(part, Alias):
            # A State belongs to the argument that was first; Modules are shared.
            return made.get(part.number, State({}))
        if part.groups.filters is None:
            return build_part(part, list(values), made)[0]
        build = self._builders.get(part.offset)
        if build is None:
            chosen = [group == 0 for group in part.groups.numbers]
            build = self._builders[part.offset] = state_builder(part.graphdef, chosen)
        return build(values)


def state_builder(graphdef: GraphDef, chosen: Sequence[bool]) -> Callable[[Sequence[Value]], Tree]:
    """Return what builds a State of the chosen leaves, or the Variable if it is one by itself."""
    layout = graphdef.layout
    leaves = zip(layout.paths, graphdef.leaf_items, chosen, strict=True)
    found = [(path, item) for path, item, is_chosen in leaves if is_chosen]
    items = [item for _, item in found]
    if type(layout.tree) is int:  # a Variable by itself
        return lambda values: leaf_of(items[0], values[0]) if items else State({})
    numbers = nested_of([(path, number) for number, (path, _) in enumerate(found)])
    build = nested_builder(numbers, len(items))
    return lambda values: State._of(build(list(map(leaf_of, items, values))))


#: Says of a value, by part and leaf, whether it is to be written.
Wanted = Callable[[int, int, Value], bool]


def only_wanted(call: Call, found: TraceResult, is_wanted: Wanted) -> TraceResult:
    """Return the same with the old value, which is not written, in place of what is not wanted."""
    effects = found.effects
    updates = list(found.updates)
    for number, each in enumerate(call.inputs):
        if not each.part.kept:
            continue
        values = found.values_of(number, each.part)
        for entry, (leaf, value) in enumerate(found.changes(number, each.part)):
            if not is_wanted(number, leaf, value):
                values[entry] = each.values[leaf]
        updates[number] = effects.groups_of(number, each.part).divide(values)
    return found._replace(updates=tuple(updates))


class Given:
    """Tangents that the user gave, taken apart into the values that jax expects.

    Values are found by their paths; types and metadata of the Variables around them do not count.
    One for each set of tangents: where two arguments share an object, their tangents do.

    Args:
        function: The name of the transform, for errors.
        zero: Whether None stands for zero.
    """

    __slots__ = ("_count", "_function", "_index", "_zero")

    def __init__(self, function: str, *, zero: bool = False) -> None:
        self._function = function
        self._zero = zero
        self._index: dict[int, int] = {}
        self._count = 0

    def argument(self, argument: Argument | None, given: Tree, place: str) -> Tree:
        """Return what was given for an argument in a tree of values that mirrors the argument.

        Raises:
            TangentStructureError: It has another structure.
        """
        if argument is None or (given is None and self._zero):
            return given
        leaves = self._leaves(argument.treedef, given, place)
        values = [
            self._part(part, leaf, place) for part, leaf in zip(argument.parts, leaves, strict=True)
        ]
        return argument.treedef.unflatten(values)

    def result(self, results: Results, given: Tree, place: str) -> Tree:
        """Return what was given for a result in a tree of values that mirrors the result.

        Raises:
            TangentStructureError: It has another structure.
        """
        if results.treedef is None:
            return given
        leaves = self._leaves(results.treedef, given, place)
        values = [
            leaf if grown is None else self._values(grown.graphdef, None, leaf, place)
            for grown, leaf in zip(results.structures, leaves, strict=True)
        ]
        return results.treedef.unflatten(values)

    def _leaves(self, treedef: TreeDef, given: Tree, place: str) -> list[Value]:
        try:
            return list(treedef.flatten_up_to(given))
        except (ValueError, TypeError):
            raise TangentStructureError(
                self._function, place, str(treedef), _description(given)
            ) from None

    def _part(self, part: Part | Alias | None, given: Tree, place: str) -> Tree:
        if part is None or (given is None and self._zero):
            return given
        if isinstance(part, Alias):  # its values belong to the object that was first
            self._values(_NOTHING, None, given, place)
            return part.empty()
        groups = part.groups
        chosen = None if groups.filters is None else [number == 0 for number in groups.numbers]
        return self._values(part.graphdef, chosen, given, place)

    def _values(
        self, structure: GraphDef, chosen: Sequence[bool] | None, given: Tree, place: str
    ) -> list[Value]:
        paths = structure.layout.paths
        wanted = [path for number, path in enumerate(paths) if chosen is None or chosen[number]]
        found = self._found(given)
        # A Module has more than was chosen, of necessity; a State needs not.
        may_be_more = chosen is not None and not isinstance(given, State)
        if found is None or (not may_be_more and len(found) != len(wanted)):
            raise self._mismatch(structure, wanted, given, place)
        try:
            return [found[path] for path in wanted]
        except KeyError:
            raise self._mismatch(structure, wanted, given, place) from None

    def _found(self, given: Tree) -> dict[Path, Value] | None:
        """Return the values that were given by their paths; None if it is no object."""
        if isinstance(given, State):
            return {path: _raw(leaf) for path, leaf in flat_items(given._mapping)}
        if not is_object(given):
            return None
        traversal: Traversal = Traversal(self._index, self._count).visit(given)
        self._count += len(traversal.items)
        values = [value[...] if is_array_ref(value) else value for value in raw_values(traversal)]
        return dict(zip(traversal.graphdef.layout.paths, values, strict=True))

    def _mismatch(
        self, structure: GraphDef, wanted: Sequence[Path], given: Tree, place: str
    ) -> TangentStructureError:
        root = structure.items[0]
        kind = "nothing more" if isinstance(root, int | str) else root.cls.__name__
        expected = f"{kind} with {_listed(wanted)}"
        return TangentStructureError(self._function, place, expected, _description(given))


_NOTHING: GraphDef = GraphDef((0,))
"""The structure of an object that was met before."""


class Results:
    """The structure of a result, or of a part of one, with which its tangents are built.

    Args:
        effects: What the trace found.
        number: Which entry of the result; None for all of it.

    Attributes:
        treedef: The structure with an object as a leaf; None if it holds none.
        structures: For each leaf its structure, None where it is a plain value.
    """

    __slots__ = ("structures", "treedef")

    def __init__(self, effects: Effects, number: int | None = None) -> None:
        self.treedef = effects.treedef
        self.structures: tuple[Structure | None, ...] = effects.results
        if self.treedef is not None and number is not None:
            entries = self.treedef.children()
            first = sum([entry.num_leaves for entry in entries[:number]])
            self.treedef = entries[number]
            self.structures = effects.results[first : first + self.treedef.num_leaves]

    def as_objects(self, values: Tree) -> Tree:
        """Return values with objects like those of the result around them."""
        made: dict[int, Node] = {}
        return self._built(values, lambda grown, own: _object(grown, own, made))

    def as_states(self, values: Tree) -> Tree:
        """Return values with States in place of the objects of the result."""
        return self._built(values, _state)

    def _built(self, values: Tree, build: Callable[[Structure, Tree], Tree]) -> Tree:
        if self.treedef is None:
            return values
        leaves = self.treedef.flatten_up_to(values)
        pairs = zip(self.structures, leaves, strict=True)
        return self.treedef.unflatten(
            [leaf if grown is None else build(grown, leaf) for grown, leaf in pairs]
        )


def _object(grown: Structure, values: Sequence[Value], made: dict[int, Node]) -> Tree:
    # What is no value of the result, but of an argument, has no tangent here.
    leaves = [values[source] if isinstance(source, int) else None for source in grown.sources]
    return rebuild(grown.graphdef.without_outer(), leaves, made)


def _state(grown: Structure, values: Sequence[Value]) -> Tree:
    chosen = [isinstance(source, int) for source in grown.sources]
    own = [values[source] for source in grown.sources if isinstance(source, int)]
    return state_builder(grown.graphdef, chosen)(own)


def _raw(leaf: Value) -> Tree:
    value = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
    return value[...] if is_array_ref(value) else value


def _description(given: Tree) -> str:
    if isinstance(given, State):
        return f"State with {_listed([path for path, _ in flat_items(given._mapping)])}"
    if is_object(given):
        paths = Traversal().visit(given).graphdef.layout.paths
        return f"{type(given).__name__} with {_listed(paths)}"
    return describe_leaf(given)


def _listed(paths: Sequence[Path]) -> str:
    names = sorted([attribute_path(path) or "its value" for path in paths])
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return (", ".join(names[:20]) or "no values") + more
