"""What a file assigns to its variables, attributes and keys, and where.

mypy compares types without what the plugin knows of States and Optimizers, so a variable that gets
two of them keeps what is known of the first. What counts is what all its values agree on.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from mypy import nodes
from mypy.nodes import CallExpr, Expression, IndexExpr, MemberExpr, MypyFile, NameExpr, Node, Var
from mypy.types import Instance, ProperType, TupleType, get_proper_type

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import Tree, descendants
from typed_nnx_codegen.facts.targets import (
    BOUND_BY,
    is_same_target,
    single_targets,
    unwritten_targets,
)

_WRITERS: Final = frozenset(("get", "pop", "setdefault", "update", "replace_by_pure_dict"))
_BY_NAME: Final = frozenset(("hasattr", "getattr", "setattr", "delattr"))
_WITH_METADATA: Final = frozenset(("set_metadata", "with_metadata", "with_partitioning"))
_CHANGES: Final = frozenset(
    ("clear", "pop", "popitem", "replace_by_pure_dict", "setdefault", "update")
)


_BINDING: Final = (
    {nodes.AssignmentStmt, nodes.AssignmentExpr, nodes.ComparisonExpr, CallExpr}
    | {nodes.FuncDef, nodes.LambdaExpr}
    | BOUND_BY.keys()
)


@dataclass(frozen=True, eq=False)
class Value:
    """What a target of an assignment gets: a value, or one of its items.

    Attributes:
        node: The assignment.
        value: The assigned expression; None where it is not written as one.
        items: The positions, outermost first.
        owner: The expression for the object whose attribute the target is.
    """

    node: Node
    value: Expression | None
    items: tuple[int, ...] = ()
    owner: MemberExpr | None = None

    def type(self, checker: Checker) -> ProperType | None:
        """Return its type; None where mypy has not found it."""
        inner = self.inner()  # mypy checks the items of a written tuple one by one
        found = checker.type_elsewhere(inner.value) if inner.value is not None else None
        for at in inner.items:
            if not isinstance(found, TupleType) or at >= len(found.items):
                return None
            found = get_proper_type(found.items[at])
        return found

    def inner(self) -> Value:
        """Return the same value as an item of a tuple that is written out."""
        value, items = self.value, list(self.items)
        while items and isinstance(value, nodes.TupleExpr) and items[0] < len(value.items):
            if any(isinstance(each, nodes.StarExpr) for each in value.items):
                break
            value = value.items[items.pop(0)]
        return replace(self, value=value, items=tuple(items))

    def has(self, node: Node) -> bool:
        """Tell whether a node is part of the assigned expression, which is read before."""
        if self.value is None or node.line < self.node.line:
            return False
        last = self.value.end_line
        if last is not None and node.line > last:
            return False
        return any(each is node for each in (self.value, *descendants(self.value)))


class File:
    """What is assigned in a file."""

    def __init__(self, tree: Tree) -> None:
        self.tree: Final = tree
        self.nodes: Final = tree.nodes
        self.of_variable: Final[defaultdict[Node, list[Value]]] = defaultdict(list)
        self.of_attribute: Final[defaultdict[str, list[Value]]] = defaultdict(list)
        self.parameters: Final[set[Node]] = set()  # with functions that are defined again
        # What is tested for, set or taken, with the objects that have it.
        self.keys: Final[defaultdict[str | int, list[Expression]]] = defaultdict(list)
        self.computed: Final[list[Expression]] = []
        self.changed: Final[list[Expression]] = []
        for node in self.nodes:
            if type(node) in _BINDING:
                self._look_at(node)

    def set_on(self, name: object) -> list[Value]:
        """Return what attributes of a name of objects are set to."""
        values = self.of_attribute.get(name, ()) if isinstance(name, str) else ()
        return [each for each in values if each.owner is not None]

    @cached_property
    def metadata(self) -> set[str]:
        """What is named where Variables and initializers get more metadata."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, CallExpr) and getattr(node.callee, "name", "") in _WITH_METADATA:
                names.update(each for each in node.arg_names if each is not None)
                names.update(e.value for e in node.args[:1] if isinstance(e, nodes.StrExpr))
        return names

    @cached_property
    def texts(self) -> set[str]:
        """The texts of the file."""
        return {node.value for node in self.nodes if isinstance(node, nodes.StrExpr)}

    @cached_property
    def keywords(self) -> set[str | None]:
        """The keywords of the calls in the file."""
        calls = (node for node in self.nodes if isinstance(node, CallExpr))
        return {name for call in calls for name in call.arg_names}

    def _look_at(self, node: Node) -> None:
        match node:
            case nodes.AssignmentStmt():
                for target in node.lvalues:
                    self._bind(target, Value(node, node.rvalue))
            case nodes.AssignmentExpr():
                self._bind(node.target, Value(node, node.value))
            case nodes.ForStmt(expr=nodes.TupleExpr() | nodes.ListExpr() as items) if items.items:
                for item in items.items:
                    value = None if isinstance(item, nodes.StarExpr) else item
                    self._bind(node.index, Value(node, value))
            case nodes.ComparisonExpr():
                self._note_key(node.operands[0], node.operands[1])
            case CallExpr():
                self._note_call(node)
            case nodes.FuncDef() | nodes.LambdaExpr():
                self.parameters.update(argument.variable for argument in node.arguments)
                if isinstance(node, nodes.FuncDef) and node.original_def is not None:
                    self.parameters.add(node.original_def)
            case _:
                for target in unwritten_targets(node):
                    self._bind(target, Value(node, None))

    def _bind(self, target: Expression, value: Value) -> None:
        match target:
            case nodes.TupleExpr() | nodes.ListExpr():
                for at, item in enumerate(target.items):
                    self._bind(item, Value(value.node, value.value, (*value.items, at)))
            case nodes.StarExpr():
                self._bind(target.expr, Value(value.node, None))
            case NameExpr(node=Node() as variable):
                self.of_variable[variable].append(value)
                if isinstance(variable, Var) and variable.info:
                    self.of_attribute[variable.name].append(value)
            case MemberExpr():
                owned = Value(value.node, value.value, value.items, target)
                self.of_attribute[target.name].append(owned)
            case IndexExpr(index=nodes.EllipsisExpr() | nodes.SliceExpr() | nodes.TupleExpr()):
                pass  # `kernel[...] = x` sets elements of an array, no key of a State
            case IndexExpr():
                self.changed.append(target.base)
                if not self._note_key(target.index, target.base):
                    self.computed.append(target.base)
            case _:
                pass

    def _note_key(self, expression: Expression, owner: Expression) -> bool:
        if isinstance(expression, nodes.StrExpr | nodes.IntExpr):
            self.keys[expression.value].append(owner)
            return True
        return False

    def _note_call(self, call: CallExpr) -> None:
        if isinstance(call.callee, NameExpr) and call.callee.name in _BY_NAME:
            for argument in call.args[1:2]:
                self._note_key(argument, call.args[0])
            match call:
                case CallExpr(
                    callee=NameExpr(name="setattr"), args=[owner, nodes.StrExpr(value=name), value]
                ):
                    self._bind(MemberExpr(owner, name), Value(call, value))
                case _:
                    pass
        if not isinstance(call.callee, MemberExpr) or call.callee.name not in _WRITERS:
            return
        owner = call.callee.expr
        self.changed.append(owner)
        for name in filter(None, call.arg_names):
            self.keys[name].append(owner)
        # That of a State takes one, and that of an Optimizer a model and gradients.
        is_of_keys = call.callee.name == "update" and call.arg_names.count(None) == 1
        for argument in call.args:
            if isinstance(argument, nodes.DictExpr):
                for key, _ in argument.items:
                    if key is not None:
                        self._note_key(key, owner)
            elif not self._note_key(argument, owner) and is_of_keys:
                self.computed.append(owner)


_LAST: Final[list[File]] = []


def file_of(checker: Checker) -> File:
    """Return what is assigned in the file that is being checked."""
    tree = checker.syntax
    if not _LAST or _LAST[0].tree is not tree:
        _LAST[:] = [File(tree)]
    return _LAST[0]


# -- the only value ---------------------------------------------------------------------------


def assigned_once(node: Node | None, checker: Checker) -> Expression | None:
    """Return what a variable of the file is assigned, where that happens in one place only.

    The place may be in a loop or a branch, or run later than the use: it is the only value that the
    name ever has. Variables of other files and attributes of objects are not known.
    """
    file = file_of(checker)
    if not isinstance(node, Var) or node in file.parameters:
        return None
    values = [each.inner() for each in file.of_variable.get(node, ())]
    return values[0].value if len(values) == 1 and not values[0].items else None


def is_rebound(function: nodes.FuncDef, checker: Checker) -> bool:
    """Tell whether the name of a function of the file is given to something else, too.

    That is so where the file assigns to it, ``f = jax.jit(f)``, or defines it in several branches.
    """
    file = file_of(checker)
    return function in file.of_variable or function in file.parameters


def value_of(expression: Expression, checker: Checker) -> CallExpr | None:
    """Return the call whose result a name or an attribute surely is; the call itself for a call."""
    match expression:
        case CallExpr():
            return expression
        case NameExpr(node=Var() as variable):
            value = assigned_once(variable, checker)
        case MemberExpr():
            owner = checker.known_type(expression.expr)
            every = file_of(checker).of_attribute.get(expression.name, ())
            found = [e for e in every if e.owner is not None and not is_of_other(e.owner, owner)]
            value = found[0].value if len(found) == 1 and not found[0].items else None
        case _:
            return None
    return value if isinstance(value, CallExpr) else None


def is_of_other(target: MemberExpr, owner: ProperType | None) -> bool:
    """Tell whether ``self.x = ...`` defines an attribute of a class that `owner` has none of."""
    variable = target.node
    if not isinstance(variable, Var) or not variable.info or not isinstance(owner, Instance):
        return False
    return variable.info not in owner.type.mro and owner.type not in variable.info.mro


def is_changed_in_place(expression: Expression, checker: Checker) -> bool:
    """Tell whether the file changes the keys of a State that a name or an attribute stands for."""
    if not isinstance(expression, NameExpr | MemberExpr):
        return False
    return any(_changes(node, expression) for node in file_of(checker).nodes)


def _changes(node: Node, state: NameExpr | MemberExpr) -> bool:
    if isinstance(node, CallExpr) and isinstance(node.callee, MemberExpr):
        if node.callee.name not in _CHANGES:
            return False
        owner = node.callee.expr
        if isinstance(owner, NameExpr) and isinstance(owner.node, MypyFile):
            # nnx.update(state, ...)
            return any(is_same_target(each, state) for each in node.args[:1])
        return is_same_target(owner, state) or _stands_in_front(state, owner)
    return any(_stands_in_front(state, each) for each in single_targets(node))


def _stands_in_front(name: Expression, target: Expression) -> bool:
    """Tell whether a target is ``name[...]`` or ``name.x``, at any depth."""
    while isinstance(target, IndexExpr | MemberExpr):
        target = target.base if isinstance(target, IndexExpr) else target.expr
        if is_same_target(target, name):
            return True
    return False
