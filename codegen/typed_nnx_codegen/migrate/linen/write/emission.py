"""Writes migrated files: classes with constructors, methods, the names and helpers that they use."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.node_index import NodeIndex
from typed_nnx_codegen.migrate.analysis.syntax import (
    Transformer,
    code_of,
    descendants,
    parts_of,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectClass, Value
from typed_nnx_codegen.migrate.comments import left_of, with_left_comments
from typed_nnx_codegen.migrate.file import File, with_commas
from typed_nnx_codegen.migrate.linen.callers import CallerPlan, around_statement
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    NAME,
    STAYS,
    Arguments,
    ClassPlan,
    ListUse,
    Mark,
    Rebuilt,
)
from typed_nnx_codegen.migrate.linen.domain.classes import (
    MOVED_METHODS,
    LinenClass,
    LinenClasses,
    is_dataclass_decorator,
    is_keyword_line,
    protocols,
)
from typed_nnx_codegen.migrate.linen.domain.code import arguments_of, in_same, wrapped, written_with
from typed_nnx_codegen.migrate.linen.domain.names import is_of_layer, linen_name, written_name
from typed_nnx_codegen.migrate.linen.layers import Helper, find_layer
from typed_nnx_codegen.migrate.linen.project.gradual import code_in_bridges
from typed_nnx_codegen.migrate.linen.write.constructor_code import is_partitioning_in, placed_later
from typed_nnx_codegen.migrate.linen.write.constructors import (
    constructor_of,
    names_read_in_class,
    without_dataclass_options,
)
from typed_nnx_codegen.migrate.linen.write.tidying import (
    pure_in,
    read_in,
    with_comments,
    with_items,
    with_open_value,
    without_unread,
)
from typed_nnx_codegen.migrate.markers import comment, marked_codes
from typed_nnx_codegen.migrate.options import TYPED_NNX

# What no attribute of an object stands in for.
_DECORATORS: Final = frozenset(
    {"builtins.property", "functools.cached_property", "abc.abstractmethod", "abc.abstractproperty"}
)


class MarkPlaces:
    """The markers of one file.

    Args:
        tree: The file.
        plans: The plans of its modules.
        others: Markers outside of its modules.
    """

    def __init__(
        self, tree: cst.Module, plans: Iterable[ClassPlan], others: Iterable[Mark] = ()
    ) -> None:
        self._at: dict[cst.CSTNode, list[Mark]] = {}
        self._constructors: dict[LinenClass, list[Mark]] = {}
        plans = list(plans)
        marks = [(plan, mark) for plan in plans for mark in plan.marks]
        moving = {node for plan in plans for node in plan.dropped}
        outside = list(others)
        wanted = {id(mark.node) for mark in (*outside, *(mark for _, mark in marks))}
        places = dict(_places(tree, wanted, moving)) if wanted else {}
        for mark in outside:
            self._at.setdefault(places[id(mark.node)][0], []).append(mark)
        for plan, mark in marks:
            statement, moved = places.get(id(mark.node), (plan.cls.node, False))
            if moved:
                self._constructors.setdefault(plan.cls, []).append(mark)
            else:
                self._at.setdefault(statement, []).append(mark)

    @property
    def nodes(self) -> set[int]:
        """The identities of the statements that get markers."""
        return set(map(id, self._at))

    def at(self, statement: cst.CSTNode) -> list[Mark]:
        """Return the markers of a statement."""
        return self._at.get(statement, [])

    def above_constructor(self, cls: LinenClass) -> list[Mark]:
        """Return the markers of what moves to the constructor of a module."""
        return self._constructors.get(cls, [])


def _places(
    tree: cst.Module, wanted: set[int], moving: set[cst.CSTNode]
) -> Iterator[tuple[int, tuple[cst.CSTNode, bool]]]:
    """Yield for each node its statement, and whether that moves to the constructor.

    Args:
        tree: The file.
        wanted: The identities of the nodes.
        moving: Methods whose code is part of the constructor now.
    """
    waiting: list[tuple[cst.CSTNode, cst.CSTNode, bool, bool]] = [(tree, tree, False, False)]
    while waiting:
        node, statement, moved, in_class = waiting.pop()
        if isinstance(node, cst.BaseStatement) and hasattr(node, "leading_lines"):
            statement = node
            if in_class and isinstance(node, cst.FunctionDef):
                moved = node.name.value in MOVED_METHODS or node in moving
            elif in_class and isinstance(node, cst.SimpleStatementLine):
                moved = any(isinstance(one, cst.AnnAssign) for one in node.body)
        if id(node) in wanted:
            yield id(node), (statement, moved)
        within = isinstance(node, cst.ClassDef) or (
            in_class and isinstance(node, cst.IndentedBlock)
        )
        waiting += [(child, statement, moved, within) for child in parts_of(node)]


def kept_field(
    statement: cst.BaseStatement, after: cst.CSTNode, cls: LinenClass, read: Container[str]
) -> cst.SimpleStatementLine | None:
    """Return what the class keeps of a field; None where that is nothing.

    Args:
        statement: A statement of the class.
        after: It with what is written differently.
        cls: The class.
        read: The fields that are read where there is no object: see `fields_read_on_class`.
    """
    match statement, after:
        case (
            cst.SimpleStatementLine(
                body=[cst.AnnAssign(target=cst.Name(value=name), value=cst.BaseExpression())]
            ),
            cst.SimpleStatementLine(body=[cst.AnnAssign(value=default) as line]),
        ) if name in read or name in set(_members(cls)):
            if isinstance(default, cst.Call) and name not in read:
                # It is for the constructor to make.
                default = cst.Name("None")
            return after.with_changes(body=[line.with_changes(value=default)])
    return None


def fields_read_on_class(cls: LinenClass, classes: LinenClasses) -> set[str]:
    """Return the fields of which the default is read: in the body of the class, or as `Class.field`."""
    names = {one.name for one in cls.own_fields if one.default is not None}
    statements = {id(one.statement) for one in cls.own_fields}
    read: set[str] = set()
    for statement in _lines_of(cls.node):
        if not _is_field(statement, statements):
            read |= {one.value for one in names_read_in_class(statement)} & names
    for one in reversed(cls.own_fields):
        if one.name in read and one.default is not None:
            read |= {inner.value for inner in names_read_in_class(one.default)} & names
    read |= {name for name in names if any(cls in one.ancestry() for one in classes.read_on(name))}
    return read


def _members(cls: LinenClass) -> Iterator[str]:
    """Yield the properties and abstract methods of what a class inherits from."""
    for base in cls.ancestry()[1:]:
        for name, method in base.own_methods.items():
            if _DECORATORS & set(method.decorators):
                yield name
    for one in cls.ancestry():
        values = (one.analysis.values.get(arg.value, UNKNOWN) for arg in one.node.bases)
        yield from _of_plain(values)


def _of_plain(bases: Iterable[Value]) -> Iterator[str]:
    for base in bases:
        if isinstance(base, ProjectClass):
            for name, function in base.methods.items():
                if _DECORATORS & set(function.decorators):
                    yield name
            yield from _of_plain(base.bases)


Written = TypeVar(
    "Written", str, list[str], list[ListUse], list[tuple[str, str]], Rebuilt, Arguments
)
_DIFFERENT = "classes that inherit this method need different code here"


@dataclass
class MethodCode:
    """What is written differently in methods.

    Attributes:
        code: Other code, by node.
        calls: Other arguments, by call.
        iterators: The lists of submodules that a method begins to go through, by method.
        parameters: Those that a method is given by its callers, by method.
        extras: Such lists that a call passes on, by call.
        added: Keywords that a method gets, and the lines that begin with them, by method.
        rebuilt: Calls that are written anew, by call.
        writes: Statements that write a variable, and how its value is read.
        dropped: Statements and decorators that go.
        read: The names that only modules read which stay: what they stand for stays in Linen, too.
        nodes: The identities of all these nodes.
    """

    code: dict[cst.CSTNode, str] = field(default_factory=dict)
    calls: dict[cst.CSTNode, Arguments] = field(default_factory=dict)
    iterators: dict[cst.CSTNode, list[ListUse]] = field(default_factory=dict)
    parameters: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    extras: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    added: dict[cst.CSTNode, list[tuple[str, str]]] = field(default_factory=dict)
    rebuilt: dict[cst.CSTNode, Rebuilt] = field(default_factory=dict)
    writes: dict[cst.CSTNode, str] = field(default_factory=dict)
    dropped: set[cst.CSTNode] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    nodes: set[int] = field(default_factory=set)


def merged(plans: Sequence[ClassPlan]) -> MethodCode:
    """Return what the methods of all classes need; where they differ, both get a marker."""
    found = MethodCode()
    owners: dict[cst.CSTNode, ClassPlan] = {}
    written = [plan for plan in plans if not plan.stays]
    if len(written) < len(plans):
        staying = [plan for plan in plans if plan.stays]
        found.read = _names_read(staying) - _names_read(written)
    for plan in written:
        _merge(found.code, plan.replacements, plan, owners)
        _merge(found.calls, plan.calls, plan, owners)
        _merge(found.iterators, plan.iterators, plan, owners)
        _merge(found.parameters, plan.parameters, plan, owners)
        _merge(found.extras, plan.extras, plan, owners)
        _merge(found.added, plan.added, plan, owners)
        _merge(found.writes, plan.writes, plan, owners)
        _merge(found.rebuilt, plan.rebuilt, plan, owners)
        found.dropped |= plan.dropped
    for node, names in found.parameters.items():
        # A method that a subclass gives a list must not begin with the list itself.
        uses = found.iterators.get(node, [])
        found.iterators[node] = [use for use in uses if use.name not in names]
    expressions = (found.code, found.calls, found.extras, found.rebuilt, found.writes)
    others = (found.dropped, found.iterators, found.parameters, found.added)
    found.nodes = {id(node) for table in (*expressions, *others) for node in table}
    for node in [*found.iterators, *found.parameters, *found.added]:
        for plan in written:
            needs = any(node in one for one in (plan.iterators, plan.parameters, plan.added))
            if node in plan.methods and not needs and plan is not owners[node]:
                _mark(node, plan, owners[node])
    return found


def _merge(
    found: dict[cst.CSTNode, Written],
    more: Mapping[cst.CSTNode, Written] | Mapping[cst.Call, Written],
    plan: ClassPlan,
    owners: dict[cst.CSTNode, ClassPlan],
) -> None:
    for node, written in more.items():
        if node in found and found[node] != written:
            if not _is_moved(node, plan.cls):
                _mark(node, owners[node], plan)
            continue
        found[node] = written
        owners[node] = plan


def _is_moved(node: cst.CSTNode, cls: LinenClass) -> bool:
    """Whether a node is in a method that goes: the constructor of each class has its code."""
    methods = (one.own_methods.get(name) for one in cls.ancestry() for name in MOVED_METHODS)
    return any(
        node is below for one in methods if one is not None for below in descendants(one.node)
    )


def _mark(node: cst.CSTNode, *plans: ClassPlan) -> None:
    for one in plans:
        if not any(mark.node is node for mark in one.marks):
            one.log.append(Mark(node, _DIFFERENT, NAME))


def written_variable(updated: cst.Assign | cst.AugAssign, reading: str) -> cst.CSTNode:
    """Return a statement that writes a variable, as NNX has it: shape and dtype may change.

    Args:
        updated: The statement, with what is below it rewritten.
        reading: What reads the value, after the expression for the variable.
    """
    target = updated.targets[0].target if isinstance(updated, cst.Assign) else updated.target
    if isinstance(target, (cst.Attribute, cst.Subscript)):
        variable = target.value
    elif isinstance(target, cst.Call) and isinstance(target.func, cst.Attribute):
        variable = target.func.value  # `count.get_value()`
    else:
        return updated
    value = updated.value
    if isinstance(updated, cst.AugAssign):
        operator = code_of(updated.operator).strip().removesuffix("=")
        added = code_of(wrapped(value))
        value = cst.parse_expression(f"{code_of(variable)}{reading} {operator} {added}")
    return cst.Expr(cst.Call(cst.Attribute(variable, cst.Name("set_value")), [cst.Arg(value)]))


_Statement = cst.BaseStatement
_EMPTY = cst.IndentedBlock([])
_REMOVED_DECORATORS = frozenset({"flax.linen.compact", "flax.linen.nowrap"})


def _names_read(plans: Iterable[ClassPlan]) -> set[str]:
    """Return the names that modules read, also through what their files define."""
    read: set[str] = set()
    classes = (plan.cls for plan in plans)
    waiting: list[tuple[cst.CSTNode, cst.Module]] = [
        (one.node, one.analysis.tree) for one in classes
    ]
    while waiting:
        node, tree = waiting.pop()
        names = {one.value for one in descendants(node) if isinstance(one, cst.Name)} - read
        read |= names
        waiting += [(one, tree) for one in _defined(tree, names)]
    return read


def _defined(tree: cst.Module, names: Container[str]) -> Iterator[cst.CSTNode]:
    """Yield the functions and assignments of a file that define one of some names."""
    for statement in tree.body:
        match statement:
            case cst.FunctionDef(name=cst.Name(value=name)) if name in names:
                yield statement
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))])]
            ) if name in names:
                yield statement


class NotWritten(Exception):
    """A module cannot be written as it was planned.

    Args:
        cls: The module.
        error: What went wrong.
    """

    def __init__(self, cls: LinenClass, error: Exception) -> None:
        super().__init__(f"{cls.name}: {error}")
        self.cls = cls
        self.error = error


class Emission(Transformer):
    """Rewrites the modules of one file.

    Args:
        file: The file.
        classes: The Linen modules of the project.
        plan_of: Gives the plan of a module.
        methods: What is written differently in methods.
        callers: What is written outside of modules.

    Raises:
        NotWritten: While it visits: a module cannot be written as it was planned.
    """

    def __init__(
        self,
        file: File,
        classes: LinenClasses,
        plan_of: Callable[[LinenClass], ClassPlan],
        methods: MethodCode,
        callers: CallerPlan,
    ) -> None:
        super().__init__()
        self._file = file
        self._classes = classes
        self._plan_of = plan_of
        plans = [plan_of(cls) for cls in classes.all_in(file.analysis)]
        self._methods = methods
        self._code: dict[cst.CSTNode, str] = methods.code | callers.code
        self._callers = callers
        self._places = MarkPlaces(file.analysis.tree, plans, callers.marks)
        self._bridged = code_in_bridges(file.analysis)
        self._around: list[LinenClass] = []
        self._called = {call.func for call in file.analysis.nodes.of(cst.Call)}
        self._is_pure = pure_in(file.analysis)
        # How many nodes were written differently; how many, before each function around.
        self._count = 0
        self._counts: list[int] = []
        self._changing = self._paths_to_changes()
        left = [call.func for call in callers.left if isinstance(call, cst.Call)]
        for node in (*left, *_defined(file.analysis.tree, methods.read)):
            below = [*map(id, descendants(node))]
            if (self._callers.nodes | self._methods.nodes).isdisjoint(below):
                self._changing.difference_update(below)

    def _paths_to_changes(self) -> set[int]:
        """Return the identities of the nodes that may change, and of all around these."""
        analysis = self._file.analysis
        own = self._callers.nodes | self._places.nodes
        tree = analysis.tree
        order: list[tuple[cst.CSTNode, int]] = [(tree, -1)]
        found = {id(tree)}
        for place, (node, _) in enumerate(order):  # it grows on the way
            order += [(below, place) for below in parts_of(node)]
            changes = id(node) in self._methods.nodes or id(node) in own
            if not changes and isinstance(node, cst.ClassDef):
                changes = self._classes.find(node) is not None
            if not changes and isinstance(node, cst.Call):
                changes = is_partitioning_in(node, analysis)
            if changes or linen_name(node, analysis):
                up = place
                while id(order[up][0]) not in found:
                    found.add(id(order[up][0]))
                    up = order[up][1]
        return found

    # -- names and calls ----------------------------------------------------------------------

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Begin a node; not below what is replaced, nor in what stays."""
        if id(node) not in self._changing:
            return False
        if isinstance(node, cst.FunctionDef):
            self._counts.append(self._count)
        elif isinstance(node, cst.ClassDef):
            cls = self._classes.find(node)
            if cls is not None:
                if self._plan_of(cls).stays:
                    return False
                self._around.append(cls)
        if node in self._code or isinstance(node, (cst.Import, cst.ImportFrom)):
            return False
        # `nn.transforms.Target` stays whole, though NNX has another module `transforms`.
        public = linen_name(node, self._file.analysis)
        return not public or bool(written_name(public)) or is_of_layer(public)

    def on_leave(  # type: ignore[override]  # one handler for all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Write a node."""
        if id(original_node) not in self._changing:
            return updated_node
        try:
            after = in_same(original_node, self._written(original_node, updated_node))
            self._count += after is not updated_node
            after = self._tidied(original_node, with_open_value(original_node, after))
        except NotWritten:
            raise
        except Exception as error:
            if not self._around:
                raise
            raise NotWritten(self._around[-1], error) from error
        if self._around and original_node is self._around[-1].node:
            self._around.pop()
        if original_node in self._methods.dropped:
            self._count += 1
            return left_of(original_node)
        marked = _marked(after, self._places.at(original_node))
        written = around_statement(original_node, marked, self._callers)
        self._count += written is not marked
        return written

    def _tidied(self, node: cst.CSTNode, after: cst.CSTNode) -> cst.CSTNode:
        match node, after:
            case cst.SimpleStatementLine(), cst.SimpleStatementLine():
                return with_comments(node, after)
            case cst.FunctionDef(), cst.FunctionDef():
                is_same = self._counts.pop() == self._count
                return after if is_same else without_unread(after, read_in(node), self._is_pure)
        return with_left_comments(after)

    def _written(self, node: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        if node in self._code:
            return cst.parse_expression(self._code[node])
        if isinstance(updated, cst.Call):
            return self._call(node, updated)
        if node in self._methods.writes and isinstance(updated, (cst.Assign, cst.AugAssign)):
            return written_variable(updated, self._methods.writes[node])
        if isinstance(node, (cst.Attribute, cst.Name)):
            return self._name(node, updated)
        if isinstance(node, cst.ClassDef):
            assert isinstance(updated, cst.ClassDef)
            return self._class(node, updated)
        return updated

    def _call(self, node: cst.CSTNode, updated: cst.Call) -> cst.CSTNode:
        methods = self._methods
        assert isinstance(node, cst.Call)
        if is_partitioning_in(node, self._file.analysis):
            return placed_later(updated)
        if node in methods.rebuilt:
            rebuilt = methods.rebuilt[node](node, updated)
            return rebuilt
        if node in methods.calls:
            pairs = zip(node.args, updated.args, strict=True)
            own: dict[cst.CSTNode, str | cst.BaseExpression]
            own = {old.value: new.value for old, new in pairs}
            args = [written_with(one, own) for one in methods.calls[node].args]
            updated = updated.with_changes(args=args)
        if node in methods.extras:
            extra = arguments_of(", ".join(methods.extras[node]))
            updated = updated.with_changes(args=with_commas([*updated.args, *extra]))
        return updated

    def _name(self, node: cst.Attribute | cst.Name, updated: cst.CSTNode) -> cst.CSTNode:
        public = linen_name(node, self._file.analysis)
        if not public or node in self._bridged:
            return updated
        if node in self._called and find_layer(public) is not None:
            return updated  # it is constructed outside of a module, without sizes: a marker says so
        name = written_name(public)
        return self._file.refer(name) if name else updated

    # -- classes ------------------------------------------------------------------------------

    def _class(self, node: cst.ClassDef, updated: cst.ClassDef) -> cst.CSTNode:
        cls = self._classes.find(node)
        if cls is None:
            return updated
        plan = self._plan_of(cls)
        if plan.stays:
            return updated
        fields = {id(one.statement) for one in cls.own_fields}
        body: list[_Statement] = []
        first_method: int | None = None
        behind_fields = 0
        moved: list[cst.EmptyLine] = []
        read = fields_read_on_class(cls, self._classes)
        there = (one for one in _lines_of(node) if not self._is_helper_of_setup(one))
        for before, after in zip(there, _lines_of(updated), strict=True):
            if _is_field(before, fields) or _is_pass(before):
                kept = kept_field(before, after, cls, read)
                body += [] if kept is None else [kept]
                behind_fields = len(body)
                continue
            if isinstance(before, cst.FunctionDef) and first_method is None:
                first_method = len(body)
            if isinstance(before, cst.FunctionDef) and before.name.value in MOVED_METHODS:
                moved += _comments_above(before)
                continue
            if isinstance(before, cst.FunctionDef) and isinstance(after, cst.FunctionDef):
                body.append(self._method(before, after, cls))
            else:
                body.append(after)
        # Defaults may use what the class body has bound by then.
        place = max(behind_fields, len(body) if first_method is None else first_method)
        if plan.derives is not None:
            return updated
        constructor = constructor_of(plan, cls, self._file)
        marked = _marked(constructor, self._places.above_constructor(cls))
        assert isinstance(marked, cst.FunctionDef)
        for code in reversed(plan.properties.values()):
            method = cst.parse_statement(code)
            assert isinstance(method, cst.FunctionDef)
            _insert(body, place, method)
        _insert(body, place, marked.with_changes(leading_lines=[*moved, *marked.leading_lines]))
        block = updated.body if isinstance(updated.body, cst.IndentedBlock) else _EMPTY
        decorators: list[cst.Decorator] = []
        comments = list(updated.leading_lines)
        for old, new in zip(node.decorators, updated.decorators, strict=True):
            if is_dataclass_decorator(cls.analysis, old):
                comments += [one for one in new.leading_lines if one.comment is not None]
            else:
                decorators.append(new)
        updated = updated.with_changes(decorators=decorators, leading_lines=comments)
        # A protocol is a structural type: what it asks for, the module has itself.
        left_out = {arg for arg, _ in protocols(cls)}
        if left_out:
            pairs = zip(node.bases, updated.bases, strict=True)
            *bases, last = [new for old, new in pairs if old not in left_out]
            last = last.with_changes(comma=cst.MaybeSentinel.DEFAULT)
            updated = updated.with_changes(bases=[*bases, last])
        return without_dataclass_options(updated.with_changes(body=block.with_changes(body=body)))

    def _is_helper_of_setup(self, node: cst.CSTNode) -> bool:
        """Whether it is a method that nothing calls any more."""
        return isinstance(node, cst.FunctionDef) and node in self._methods.dropped

    def _method(
        self, before: cst.FunctionDef, node: cst.FunctionDef, cls: LinenClass
    ) -> cst.FunctionDef:
        method = cls.own_methods.get(node.name.value)
        if method is not None:
            kept = [
                one
                for one, name in zip(node.decorators, method.decorators, strict=True)
                if name not in _REMOVED_DECORATORS
            ]
            if len(kept) != len(node.decorators):
                leading = node.decorators[0].leading_lines if not kept else ()
                node = node.with_changes(
                    decorators=kept, leading_lines=[*node.leading_lines, *leading]
                )
        after, left = with_items(node, self._methods.iterators.get(before, []), self._is_pure)
        after = _with_lists(before, after, left, self._methods)
        return node if after is node else without_unread(after, read_in(before), self._is_pure)


def _with_lists(
    before: cst.FunctionDef, node: cst.FunctionDef, begun: Sequence[str], methods: MethodCode
) -> cst.FunctionDef:
    """Return a method that goes through lists of submodules in the order of their construction.

    Args:
        before: The method as it was.
        node: It with what is written differently.
        begun: The lists that it makes iterators of.
        methods: What is written differently in methods.
    """
    given = methods.parameters.get(before, [])
    added = methods.added.get(before, [])
    if not (begun or given or added) or not isinstance(node.body, cst.IndentedBlock):
        return node
    lines = [cst.parse_statement(f"{name} = iter(self.{name})") for name in begun]
    lines += [
        cst.parse_statement(f"{name} = iter(self.{name}) if {name} is None else {name}")
        for name in given
    ]
    lines += [cst.parse_statement(line) for _, line in added if line]
    given = [*given, *(name for name, _ in added)]
    body = list(node.body.body)
    position = 1 if node.get_docstring() else 0
    body[position:position] = lines
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    parameters = [
        cst.Param(cst.Name(name), default=cst.Name("None"), equal=tight) for name in given
    ]
    params = node.params.with_changes(kwonly_params=[*node.params.kwonly_params, *parameters])
    if given and params.star_arg is cst.MaybeSentinel.DEFAULT:
        params = params.with_changes(star_arg=cst.ParamStar())
    return node.with_changes(body=node.body.with_changes(body=body), params=params)


def _marked(node: cst.CSTNode, marks: Sequence[Mark]) -> cst.CSTNode:
    existing: Sequence[cst.EmptyLine] | None = getattr(node, "leading_lines", None)
    if not marks or existing is None:
        return node
    there = {one.comment.value for one in existing if one.comment is not None}
    if STAYS in marked_codes(existing):
        marks = [mark for mark in marks if mark.code != STAYS]
    texts = dict.fromkeys(comment(mark.code, mark.message) for mark in marks)
    lines = [cst.EmptyLine(comment=cst.Comment(text)) for text in texts if text not in there]
    return node.with_changes(leading_lines=[*existing, *lines])


def _insert(body: list[_Statement], place: int, constructor: cst.FunctionDef) -> None:
    """Insert the constructor, with an empty line above it and above what follows."""
    blank = cst.EmptyLine(indent=False)
    if place:
        constructor = constructor.with_changes(leading_lines=[blank, *constructor.leading_lines])
    if place < len(body):
        following = body[place]
        lines: Sequence[cst.EmptyLine] = getattr(following, "leading_lines", ())
        if not lines or lines[0].comment is not None:
            body[place] = following.with_changes(leading_lines=[blank, *lines])
    body.insert(place, constructor)


def _lines_of(node: cst.ClassDef) -> list[_Statement]:
    """Return the statements of a class, also where they stand behind its colon."""
    if isinstance(node.body, cst.IndentedBlock):
        return list(node.body.body)
    return [
        cst.SimpleStatementLine([one])
        for one in node.body.body
        if isinstance(one, cst.BaseSmallStatement)
    ]


def _is_pass(node: cst.BaseStatement) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and all(
        isinstance(small, cst.Pass) for small in node.body
    )


def _comments_above(node: cst.FunctionDef) -> list[cst.EmptyLine]:
    return [line for line in node.leading_lines if line.comment is not None]


def _is_field(node: cst.BaseStatement, fields: set[int]) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and any(
        id(small) in fields or is_keyword_line(small) for small in node.body
    )


class NestedQuotes(Transformer):
    """Writes new f-strings: texts in them have free quotes, and one of numbers alone is a text."""

    def __init__(self, before: NodeIndex) -> None:
        super().__init__()
        self._before = before
        self._around: list[str] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Enter what is new."""
        return node not in self._before and super().on_visit(node)

    def on_leave(  # type: ignore[override]  # one handler for all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Leave what is new; libcst also leaves what it did not enter."""
        if original_node in self._before:
            return updated_node
        return super().on_leave(original_node, updated_node)

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        """Enter an f-string."""
        self._around.append(node.quote)
        return True

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.BaseExpression:
        """Leave an f-string; one whose values are all numbers is a text."""
        self._around.pop()
        prefix, quote = updated_node.prefix.strip("fF"), updated_node.quote
        text = ""
        for part in updated_node.parts:
            is_text = isinstance(part, cst.FormattedStringText)
            code = code_of(part) if is_text else code_of(part)[1:-1]
            if not (is_text or code.isdecimal()) or {*code} & {*"{}"}:
                return updated_node
            text += code
        string = cst.SimpleString(f"{prefix}{quote}{text}{quote}")
        return self.leave_SimpleString(string, string)

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        """Write a text with the quotes that are free."""
        del original_node
        quote = updated_node.quote
        if not self._around or quote not in self._around:
            return updated_node
        free = [one for one in ("'", '"') if one not in self._around]
        text = updated_node.raw_value
        if not free or free[0] in text or "\\" in text:
            return updated_node
        return updated_node.with_changes(value=f"{updated_node.prefix}{free[0]}{text}{free[0]}")


_MODULE: Final = "typed_nnx.migrated"
_NAME_OF_NNX = re.compile(r"(?<![\w.])nnx(?=\.)")


class NameTaken(Exception):
    """The file has something else by the name of a helper."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the file has a `{name}` already, which the migration would define")
        self.name = name


def in_order(helpers: Iterable[Helper]) -> list[Helper]:
    """Return helpers, each once, behind those that they need themselves."""
    found: list[Helper] = []
    seen: set[Helper] = set()

    def add(helper: Helper) -> None:
        if helper not in seen:
            seen.add(helper)  # two may need each other
            for one in helper.after:
                add(one)
            found.append(helper)

    for helper in helpers:
        add(helper)
    return found


def check_names(helpers: Iterable[Helper], file: File) -> None:
    """See that a file has the names of helpers free.

    Raises:
        NameTaken: It has one for something else.
    """
    for helper in helpers if _is_imported(file) else in_order(helpers):
        if helper.name in _imported(file):
            continue
        found = [one for one in file.analysis.tree.body if _defines(one) == helper.name]
        same = all(code_of(_without_comments(one)).strip() == helper.code.strip() for one in found)
        if not same or (not found and helper.name in file.analysis.scope.seen):
            raise NameTaken(helper.name)


def _is_imported(file: File) -> bool:
    """Whether files import helpers; code for flax.nnx has their definitions."""
    return file.target == TYPED_NNX


def _imported(file: File) -> set[str]:
    """Return the helpers that a file imports already."""
    found = file.analysis.scope.imports.values()
    return {one.local for one in found if one.full == f"{_MODULE}.{one.local}"}


def with_helpers(module: cst.Module, helpers: Iterable[Helper], file: File) -> cst.Module:
    """Return a module that has helpers; the imports that it needs for that are noted.

    Args:
        module: The module, whose imports are not finished yet.
        helpers: The helpers.
        file: The file.
    """
    there = {_defines(one) for one in module.body}
    if _is_imported(file):
        for name in {one.name for one in helpers} - there - _imported(file):
            file.names.added[name] = f"from {_MODULE} import {name}"
        return module
    new = [helper for helper in in_order(helpers) if helper.name not in there]
    if not new:
        return module
    nnx = code_of(file.refer("nnx"))
    statements: list[cst.BaseStatement] = []
    for helper in new:
        for text in helper.imports:
            local = text.rpartition(" ")[2]
            if local not in file.analysis.scope.seen:
                file.names.added.setdefault(local, text)
        parsed = cst.parse_module(_NAME_OF_NNX.sub(nnx, helper.code))
        blank = [cst.EmptyLine(indent=False)] * 2
        for number, one in enumerate(parsed.body):
            lines = (*blank, *(parsed.header if number == 0 else ()), *_lines(one))
            statements.append(one.with_changes(leading_lines=lines))
    place = _behind_imports(module)
    rest = list(module.body[place:])
    if rest and len([line for line in _lines(rest[0]) if line.comment is None]) < 2:
        blank = [cst.EmptyLine(indent=False)] * 2
        kept = [line for line in _lines(rest[0]) if line.comment is not None]
        rest[0] = rest[0].with_changes(leading_lines=[*blank, *kept])
    return module.with_changes(body=[*module.body[:place], *statements, *rest])


def _behind_imports(module: cst.Module) -> int:
    """Return the place behind the last import of the top level, and behind the docstring."""
    imports = [
        number
        for number, one in enumerate(module.body)
        if isinstance(one, cst.SimpleStatementLine)
        and isinstance(one.body[0], (cst.Import, cst.ImportFrom))
    ]
    return imports[-1] + 1 if imports else int(module.get_docstring() is not None)


def _defines(node: cst.CSTNode) -> str:
    return node.name.value if isinstance(node, (cst.ClassDef, cst.FunctionDef)) else ""


def _without_comments(node: cst.CSTNode) -> cst.CSTNode:
    return node.with_changes(leading_lines=()) if _defines(node) else node


def _lines(node: cst.CSTNode) -> tuple[cst.EmptyLine, ...]:
    return tuple(getattr(node, "leading_lines", ()))
