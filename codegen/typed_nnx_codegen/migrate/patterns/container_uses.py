"""What the code of a file does with the attributes of Pytrees: what TN110 asks before it decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import parts_of, targets_of
from typed_nnx_codegen.migrate.analysis.values import Array, Collection, Value
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.container_values import is_given_rngs

# What only lists and dicts of Python can do; `nnx.List` and `nnx.Dict` cannot on each runtime.
_PLAIN_METHODS: Final = frozenset({"copy", "fromkeys", "popitem", "sort"})
_MOVING: Final = frozenset({"clear", "insert", "pop", "popitem", "remove", "reverse"})
_ADDING: Final = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
# Functions of other packages that take any sequence or any tree.
_TAKE_ALL: Final = ("builtins.", "jax.numpy.", "jax.tree")
_KINDS: Final = frozenset({"dict", "list", "tuple"})
_NOTED: Final = frozenset(
    {
        *(cst.AnnAssign, cst.Assign, cst.AugAssign, cst.BinaryOperation, cst.Call),
        *(cst.Comparison, cst.Del, cst.Subscript),
    }
)
_LOOPS: Final = frozenset({cst.DictComp, cst.For, cst.GeneratorExp, cst.ListComp, cst.SetComp})

Branches = tuple[tuple[cst.CSTNode, int], ...]


@dataclass(frozen=True)
class Assignment:
    """An assignment of an attribute.

    Attributes:
        owner: The expression of the object; None for a local name.
        value: The expression that is assigned.
        function: The function around it.
        branches: The branches of conditions around it, the outermost first.
        order: Its place in the file.
    """

    owner: cst.BaseExpression | None
    value: cst.BaseExpression
    function: cst.CSTNode | None
    branches: Branches
    order: int

    def excludes(self, other: Assignment) -> bool:
        """Whether only one of two assignments of a function can run."""
        theirs = dict(other.branches)
        return any(theirs.get(node, branch) != branch for node, branch in self.branches)


@dataclass
class AttributeUses:
    """What a file does with the attributes of one name.

    Attributes:
        is_plain: Whether it is used as only a list or dict of Python can be used.
        is_moved: Whether items of it are assigned, removed or moved.
        called: The expressions of the objects whose items are called.
        is_deleted: Whether it is deleted.
        is_promoted: Whether an `nnx.List` or `nnx.Dict` is made of it.
        added: What ``+=``, `append` and assigned items add, as a container, with the expression of the object.
        is_given_rngs: Whether an item is made with ``rngs=``.
        keys: The keys that items are assigned with.
        assignments: Its assignments.
    """

    is_plain: bool = False
    is_moved: bool = False
    called: list[cst.BaseExpression] = field(default_factory=list)
    is_deleted: bool = False
    is_promoted: bool = False
    is_given_rngs: bool = False
    added: list[tuple[cst.BaseExpression, Value]] = field(default_factory=list)
    keys: list[Value] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)


class ContainerUses:
    """Goes through a file and notes what it does with attributes and with local containers.

    Args:
        file: The file.

    Attributes:
        attributes: The uses by the name of the attribute.
        grown: Where local names get more items: the place in the file, by name and function.
        given_rngs: Local names that get items made with ``rngs=``, with the function.
        places: The places of assignments in the file, by the value that is assigned.
    """

    def __init__(self, file: File) -> None:
        self.attributes: dict[str, AttributeUses] = {}
        self.grown: dict[tuple[cst.CSTNode | None, str], int] = {}
        self.given_rngs: set[tuple[cst.CSTNode | None, str]] = set()
        self.places: dict[cst.CSTNode, Assignment] = {}
        self._file = file
        self._order = 0
        self._loops: list[tuple[str, cst.Attribute]] = []
        self._walk(file.analysis.tree, None, ())

    def of(self, name: str) -> AttributeUses:
        """Return what the file does with the attributes of a name."""
        return self.attributes.setdefault(name, AttributeUses())

    # -- the walk -----------------------------------------------------------------------------

    def _walk(self, node: cst.CSTNode, function: cst.CSTNode | None, branches: Branches) -> None:
        self._order += 1
        if type(node) in _NOTED:
            self._note(node, function, branches)
        if type(node) is cst.FunctionDef:
            function, branches = node, ()
        loops = list(_loop_names(node)) if type(node) in _LOOPS else []
        self._loops += loops
        if type(node) is cst.If:
            self._walk(node.test, function, branches)
            self._walk(node.body, function, (*branches, (node, 0)))
            if node.orelse is not None:
                self._walk(node.orelse, function, (*branches, (node, 1)))
        else:
            for child in parts_of(node):
                self._walk(child, function, branches)
        del self._loops[len(self._loops) - len(loops) :]

    def _note(self, node: cst.CSTNode, function: cst.CSTNode | None, branches: Branches) -> None:
        match node:
            case cst.Assign():
                place = Assignment(None, node.value, function, branches, self._order)
                self._assignment(node, place)
            case cst.AnnAssign(value=cst.BaseExpression() as value):
                place = Assignment(None, value, function, branches, self._order)
                self.places[value] = place
                self._target(node.target, place)
            case cst.AugAssign():
                self._grows(node.target, function)
                if isinstance(node.target, cst.Attribute):
                    added = (node.target.value, self._file.value(node.value))
                    self.of(node.target.attr.value).added.append(added)
            case cst.Call():
                self._call(node, function)
            case _:
                self._note_plain(node)

    def _note_plain(self, node: cst.CSTNode) -> None:
        """Note what only a list or dict of Python can do, and what moves its items."""
        match node:
            case cst.BinaryOperation():
                self._plain(node.left, node.right)
            case cst.Comparison():
                for part in node.comparisons:
                    if isinstance(part.operator, (cst.Equal, cst.NotEqual)):
                        self._plain(node.left, part.comparator)
            case cst.Subscript(value=cst.Attribute(attr=cst.Name(value=name))):
                if any(isinstance(self._file.value(key), Array) for key in keys_of(node)):
                    self.of(name).is_plain = True
            case cst.Del():
                for target in targets_of(node.target):
                    self._deleted(target)

    def _deleted(self, target: cst.BaseExpression) -> None:
        match target:
            case cst.Subscript(value=cst.Attribute(attr=cst.Name(value=name))):
                self.of(name).is_moved = True
            case cst.Attribute(attr=cst.Name(value=name)):
                self.of(name).is_deleted = True

    def _assignment(self, node: cst.Assign, place: Assignment) -> None:
        self.places[node.value] = place
        for target in node.targets:
            for single in targets_of(target.target):
                self._target(single, place)
            self._item(target.target, self._file.value(node.value))

    def _item(self, target: cst.BaseExpression, value: Value) -> None:
        """Note what ``self.items[key] = value`` adds."""
        match target:
            case cst.Subscript(value=cst.Attribute(value=owner, attr=cst.Name(value=name))):
                self.of(name).added.append((owner, Collection("list", None, value)))

    def _target(self, target: cst.BaseExpression, place: Assignment) -> None:
        match target:
            case cst.Attribute():
                self.of(target.attr.value).assignments.append(replace(place, owner=target.value))
            case cst.Subscript(value=cst.Attribute(attr=cst.Name(value=name))):
                self.of(name).is_moved = True
                if is_given_rngs(place.value):
                    self.of(name).is_given_rngs = True
                self.of(name).keys += [self._file.value(key) for key in keys_of(target)]
            case cst.Subscript():
                self._grows(target.value, place.function)

    def _grows(self, node: cst.BaseExpression, function: cst.CSTNode | None) -> None:
        if isinstance(node, cst.Name):
            self.grown[function, node.value] = self._order

    def _plain(self, *nodes: cst.BaseExpression) -> None:
        for node in nodes:
            if isinstance(node, cst.Attribute):
                self.of(node.attr.value).is_plain = True

    def _call(self, node: cst.Call, function: cst.CSTNode | None) -> None:
        callee = node.func
        if isinstance(callee, cst.Subscript) and isinstance(callee.value, cst.Attribute):
            self.of(callee.value.attr.value).called.append(callee.value.value)
        if isinstance(callee, cst.Name):
            for loop, attribute in self._loops:
                if loop == callee.value:
                    self.of(attribute.attr.value).called.append(attribute.value)
        if isinstance(callee, cst.Attribute):
            self._method(callee.value, callee.attr.value, node, function)
        name = self._file.name(callee)
        if name == "builtins.isinstance" and len(node.args) == 2:
            if self._names_plain_types(node.args[1].value):
                self._plain(node.args[0].value)
        elif name and not name.startswith(_TAKE_ALL):
            self._plain(*(arg.value for arg in node.args if not arg.star))
            if name in {"nnx.Dict", "nnx.List"}:
                self._promoted(node)

    def _promoted(self, node: cst.Call) -> None:
        for arg in node.args:
            if isinstance(arg.value, cst.Attribute):
                self.of(arg.value.attr.value).is_promoted = True

    def _method(
        self, receiver: cst.BaseExpression, name: str, call: cst.Call, function: cst.CSTNode | None
    ) -> None:
        if name in _PLAIN_METHODS:
            self._plain(receiver)
        if name in _MOVING and isinstance(receiver, cst.Attribute):
            self.of(receiver.attr.value).is_moved = True
        if name in _ADDING:
            self._grows(receiver, function)
            if any(is_given_rngs(arg.value) for arg in call.args):
                self._given_rngs(receiver, function)
            if isinstance(receiver, cst.Attribute) and name in {"add", "append"} and call.args:
                item = Collection("list", None, self._file.value(call.args[0].value))
                self.of(receiver.attr.value).added.append((receiver.value, item))

    def _given_rngs(self, node: cst.BaseExpression, function: cst.CSTNode | None) -> None:
        if isinstance(node, cst.Name):
            self.given_rngs.add((function, node.value))
        elif isinstance(node, cst.Attribute):
            self.of(node.attr.value).is_given_rngs = True

    def _names_plain_types(self, node: cst.BaseExpression) -> bool:
        types = [element.value for element in node.elements] if isinstance(node, cst.Tuple) else []
        names = {self._file.name(each) for each in (types or [node])}
        return bool(names & {f"builtins.{kind}" for kind in _KINDS})


def keys_of(node: cst.Subscript) -> Iterator[cst.BaseExpression]:
    """Yield the keys of a subscript that are no slices."""
    for element in node.slice:
        if isinstance(element.slice, cst.Index):
            yield element.slice.value


def _loop_names(node: cst.CSTNode) -> Iterator[tuple[str, cst.Attribute]]:
    """Yield the names that go through the items of an attribute, with the attribute."""
    loop: cst.For | cst.CompFor | None = None
    if isinstance(node, cst.For):
        loop = node
    elif isinstance(node, cst.BaseComp):
        loop = node.for_in
    while loop is not None:
        attribute = _attribute_in(loop.iter)
        if attribute is not None:
            for target in targets_of(loop.target):
                if isinstance(target, cst.Name):
                    yield target.value, attribute
        loop = loop.inner_for_in if isinstance(loop, cst.CompFor) else None


def _attribute_in(items: cst.BaseExpression) -> cst.Attribute | None:
    """Return the attribute that a loop goes through, as it is or under ``enumerate`` and such."""
    while isinstance(items, cst.Call):
        if isinstance(items.func, cst.Attribute):
            # `self.layers.values()`
            items = items.func.value
        elif items.args:
            # `enumerate(self.layers)`
            items = items.args[0].value
        else:
            return None
    return items if isinstance(items, cst.Attribute) else None
