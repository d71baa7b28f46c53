"""The state in which methods are gone through: names, the object, what is written down."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Condition, Mark, Site
from typed_nnx_codegen.migrate.linen.domain.classes import Method
from typed_nnx_codegen.migrate.linen.domain.dims import Atom, Dim, Piece
from typed_nnx_codegen.migrate.linen.domain.markers import OTHER
from typed_nnx_codegen.migrate.linen.domain.references import ClassTransform, SelfValue
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Value
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed
from typed_nnx_codegen.migrate.linen.write.templates import Templates

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.layers import Helper


@dataclass(eq=False)
class Line:
    """A line of the new constructor.

    Attributes:
        text: The code, a template; or what gives it when all is known.
        local: The name that it assigns, where it can go if nothing reads that name.
        site: The submodule that it constructs.
        statement: A statement of `setup` that stays as it is but for what is rewritten in it.
        is_update: Whether it readies a local for the next iteration of the loop that it ends.
    """

    text: str | Callable[[], str]
    local: str = ""
    site: Site | None = None
    statement: cst.BaseStatement | None = None
    is_update: bool = False


@dataclass(eq=False)
class Compound:
    """A compound statement of the new constructor.

    Attributes:
        header: Its first line, a template.
        body: What is in it.
        orelse: What is in its `else`.
        number: The loop that it is.
    """

    header: str
    body: Block = field(default_factory=list)
    orelse: Block = field(default_factory=list)
    number: int | None = None


Block = list[Line | Compound]


@dataclass(frozen=True)
class Change:
    """How a size changes from one iteration of a loop to the next.

    Attributes:
        entry: What it is before the loop.
        update: What it is after an iteration.
        loop: The loop of the constructor that makes what the loop goes over.
        also: Loops that make it in other branches.
    """

    entry: Dim
    update: Dim
    loop: int | None = None
    also: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class CallEdit:
    """How the arguments of a call of a submodule are written.

    Attributes:
        site: Where the submodule is constructed; None for one in a field.
        arguments: The keyword and the argument node of each; None keeps what is written.
        method: The name of the method, if it is another one.
        called: The method that is called.
        frame: Where the call is.
    """

    site: Site | None
    arguments: tuple[tuple[str, cst.BaseExpression], ...] | None
    method: str = ""
    called: str = "__call__"
    frame: Frame | None = None


@dataclass(eq=False)
class VariableSite:
    """A variable that methods declare.

    Attributes:
        node: The call that declares it.
        collection: Its collection.
        linen: Its name in Linen.
        attribute: The attribute of the new model.
        code: The expression that makes it in the constructor, a template.
        value: What it holds.
        is_verbatim: Whether it is declared in `setup`.
        is_later: Whether a call makes it: it is None until then.
    """

    node: cst.Call
    collection: str
    linen: str
    attribute: str
    code: str
    value: Value
    is_verbatim: bool = False
    is_later: bool = False


@dataclass(frozen=True, eq=False)
class StateAccess:
    """A call that asks for a variable by its name.

    Attributes:
        method: The method of Linen's Module: ``has_variable``.
        node: The call.
        collection: The collection; empty where it is computed.
        name: The name; empty where it is computed.
        value: What is written, for ``put_variable``.
        conditions: The branches around.
    """

    method: str
    node: cst.Call
    collection: str
    name: str
    value: Value
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class Derived:
    """An attribute that `setup` computes from variables: a property of the new module.

    Attributes:
        attribute: The attribute.
        value: The expression.
        before: The statements whose locals are in it.
        owner: The name of the object in `setup`.
    """

    attribute: str
    value: cst.BaseExpression
    before: tuple[cst.BaseStatement, ...]
    owner: str


@dataclass(eq=False)
class Recorder:
    """What is written down while the methods of one module are gone through.

    Attributes:
        plan: The plan of the module.
        templates: The sizes in code.
        block: Where lines of the constructor go.
        trials: How many loops around are gone through only to see what they change.
        loops: The loops around that are part of the constructor, outermost first.
        conditions: The branches around: their number, the side, and whether only the call knows.
        branch_path: The branches on arguments of the call around, by number.
        setup: The lines that `setup` becomes.
        instance: The object of the module.
        headers: The target of each loop of the constructor, and what it goes over.
        call_loops: The loops around that only run with the call.
        changes: The sizes that run in loops.
        edits: Calls of submodules whose arguments are written differently.
        self_calls: Calls of methods of the object: the caller, the call, what is called.
        returned: What `__call__` returns.
        repeated: Methods of the object that are called in a loop.
        uses_rngs: Whether methods draw keys.
        locals: The names that the constructor binds.
        stacks: The transforms of functions and methods around, outermost first.
        owner: The name of the module in the function under a transform around.
        lifted_calls: Calls of submodules whose class is under transforms.
        lifted_functions: Functions under transforms that are called.
        reserved: The names that parameters of the constructor may get.
        declared: The branches around each place that makes a variable, by collection and name.
        called: The branches on what methods are called with around it, likewise.
        setup_target: The call whose result `setup` assigns to an attribute now, and the attribute.
        sown: The arguments that name what is sown, by collection and name.
        asked: Where variables are asked for by name.
        params: The attributes that are parameters, and whether each is one array.
        derived: The statements of `setup` that compute attributes from variables.
        stale: The locals of `setup` that are computed from variables, and where; attributes with
            their owner.
        branch_codes: The conditions of branches that the constructor decides, by number.
        chosen_locals: The locals that a branch of the constructor decides: its condition, what they
            are where it holds, and where not.
        loop_numbers: The numbers of loops, by the loops around and the statement.
        passed_loops: The loops that were gone through for good.
        anchors: Where the lines begin that the statement writes which is gone through now.
        pending: How many functions are gone through in the midst of statements that build submodules.
        sized_names: The locals for sizes of arrays in lists, by where they are read.
        first_sizes: The size of the first item of a list, by that of the item of an iteration.
        unsized: Those of lists whose sizes the constructor does not know any more.
        helpers: Definitions that the methods need at the top level of the file.
        reads: The variables of modules that methods read by name.
        equal_sizes: Pairs of last sizes of arrays that are added.
        sides: The sides that calls take of branches, where their arguments decide.
        candidates: The sizes that a size may be of which nothing but a call decides.
    """

    plan: ClassPlan
    templates: Templates
    block: Block = field(default_factory=list)
    trials: int = 0
    loops: list[int] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    branch_path: list[int] = field(default_factory=list)
    setup: Block = field(default_factory=list)
    instance: SelfValue | None = None
    changes: dict[Piece, Change] = field(default_factory=dict)
    locals: set[str] = field(default_factory=set)
    reserved: set[str] = field(default_factory=set)
    headers: dict[int, tuple[str, str]] = field(default_factory=dict)
    call_loops: list[int] = field(default_factory=list)
    edits: dict[cst.Call, list[CallEdit]] = field(default_factory=dict)
    field_calls: list[tuple[str, str, dict[str, Value]]] = field(default_factory=list)
    variables: dict[str, VariableSite] = field(default_factory=dict)
    self_calls: list[tuple[cst.FunctionDef, cst.CSTNode, cst.FunctionDef]] = field(
        default_factory=list
    )
    returned: Value = UNKNOWN
    repeated: set[cst.FunctionDef] = field(default_factory=set)
    uses_rngs: bool = False
    visited: set[str] = field(default_factory=set)
    candidates: dict[Dim, None] = field(default_factory=dict)
    rngs: str = "rngs"
    stacks: tuple[Value, ...] = ()
    owner: str = ""
    lifted_calls: dict[cst.Call, list[LiftedCall]] = field(default_factory=dict)
    lifted_functions: list[LiftedFunction] = field(default_factory=list)
    declared: dict[str, list[tuple[Condition, ...]]] = field(default_factory=dict)
    called: dict[str, list[tuple[Condition, ...]]] = field(default_factory=dict)
    setup_target: tuple[cst.BaseExpression, str] | None = None
    sown: dict[tuple[str, str], list[cst.BaseExpression]] = field(default_factory=dict)
    asked: list[StateAccess] = field(default_factory=list)
    params: dict[str, bool] = field(default_factory=dict)
    derived: dict[cst.BaseStatement, Derived] = field(default_factory=dict)
    stale: dict[str, cst.BaseStatement | None] = field(default_factory=dict)
    depth: int = 0
    steps: int = 0
    branch_codes: dict[int, str] = field(default_factory=dict)
    chosen_locals: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    loop_numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    passed_loops: set[int] = field(default_factory=set)
    anchors: dict[int, tuple[Block, int]] = field(default_factory=dict)
    pending: int = 0
    sized_names: dict[tuple[cst.CSTNode, str, int | None], str] = field(default_factory=dict)
    first_sizes: dict[Atom, Dim] = field(default_factory=dict)
    unsized: set[str] = field(default_factory=set)
    helpers: list[Helper] = field(default_factory=list)
    reads: list[VariableRead] = field(default_factory=list)
    equal_sizes: set[frozenset[Dim]] = field(default_factory=set)
    sides: dict[cst.If, set[bool]] = field(default_factory=dict)
    outputs: dict[Hashable, Value] = field(default_factory=dict)

    @property
    def is_recording(self) -> bool:
        """Whether what is seen now is what happens."""
        return self.trials == 0

    def write(self, text: str | Callable[[], str], local: str = "") -> None:
        """Write a line of the constructor."""
        self.block.append(Line(text, local))

    def begin_statement(self) -> None:
        """Note where the lines of another statement begin."""
        self.anchors[id(self.block)] = (self.block, len(self.block))

    def write_before(self, text: str, local: str) -> None:
        """Write a line before all others of the statement that is gone through.

        What a statement constructs is written first, and its size may depend on the line.
        """
        block, place = self.anchors.get(id(self.block), (self.block, 0))
        place = place if block is self.block else 0
        self.block.insert(place, Line(text, local))
        self.anchors[id(self.block)] = (self.block, place + 1)

    def write_site(self, site: Site) -> None:
        """Write the line that constructs a submodule; its text is decided when all is known."""
        self.block.append(Line("", site=site))

    def fresh(self, name: str) -> str:
        """Return a name for a local of the constructor that nothing else has."""
        candidate = name
        number = 1
        while candidate in self.locals or candidate in self.reserved:
            number += 1
            candidate = f"{name}_{number}"
        self.locals.add(candidate)
        return candidate

    def mark(self, node: cst.CSTNode, message: str, code: str = OTHER) -> None:
        """Leave something to a person; the code is one of `domain.markers`."""
        if self.is_recording and not any(one.node is node for one in self.plan.marks):
            self.plan.marks.append(Mark(node, message, code))

    def replace(self, node: cst.CSTNode, code: str) -> None:
        """Write other code for a node of the file."""
        if self.is_recording:
            self.plan.replacements[node] = code


@dataclass(eq=False)
class Frame:
    """A function that is gone through.

    Attributes:
        recorder: What is written down; that of the module that is planned.
        analysis: What names of the file stand for.
        instance: The object, in a method.
        method: The method.
        names: What local names stand for.
        outer: The frame of the function around, for functions within functions.
        records: Whether its submodules are those of the module that is planned.
        verbatim: Whether statements move to the constructor as they are (`setup`).
        results: What it returned so far.
        root: The name of the method that was entered first, whose arguments sizes are of.
        ended_by: What ended the statements that were gone through last: ``return``, ``continue``.
        caller: The call in a method of the module that entered a function of the file.
        values: What its expressions stood for when they were gone through last.
        sites: The submodules that its calls construct, as they were gone through last.
    """

    recorder: Recorder
    analysis: Analysis
    instance: SelfValue | None = None
    method: Method | None = None
    names: dict[str, Value] = field(default_factory=dict)
    outer: Frame | None = None
    records: bool = True
    verbatim: bool = False
    results: list[Value] = field(default_factory=list)
    root: str = "__call__"
    ended_by: str = ""
    caller: cst.CSTNode | None = None
    values: dict[cst.CSTNode, Value] = field(default_factory=dict)
    sites: dict[cst.CSTNode, Site] = field(default_factory=dict)

    @property
    def home(self) -> str:
        """Where the names of its file are bound."""
        return str(self.analysis.path)

    def lookup(self, name: str) -> Value | None:
        """Return what a local name stands for, in this function or those around."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.outer
        return None

    def note_call(self, site: Site, method: str, values: dict[str, Value]) -> None:
        """Note what a method of a submodule is called with: its sizes follow from that."""
        recorder = self.recorder
        is_known = site.is_alternative or site in recorder.plan.sites
        if recorder.is_recording and is_known:
            site.calls.append((self.root, method, values))
            site.call_conditions.append(tuple(recorder.conditions))
            if not self.records and not site.is_alternative:
                site.is_called_elsewhere = True

    def seen(self, node: cst.BaseExpression) -> Value | None:
        """Return what an expression stood for when it was gone through last."""
        if node in self.values:
            return self.values[node]
        return self.lookup(node.value) if isinstance(node, cst.Name) else None


@dataclass(frozen=True, eq=False)
class FunctionRef(Value):
    """A function or lambda of the project.

    Attributes:
        node: Its definition.
        frame: The frame that it is defined in: its file, and the names around it.
        code: The expression for it; empty for one that is defined in a method.
        home: Where the names in the expression are bound.
    """

    node: cst.FunctionDef | cst.Lambda
    frame: Frame
    code: str = ""
    home: str = ""


@dataclass(frozen=True, eq=False)
class VariableRead:
    """A variable that a method reads through a module.

    Attributes:
        node: The expression.
        owner: The expression for the module.
        site: Where the module is constructed; None for the object itself.
        path: The path in Linen, the collection first.
    """

    node: cst.Subscript
    owner: cst.BaseExpression
    site: Site | None
    path: str


@dataclass(frozen=True, eq=False)
class LiftedCall:
    """A call of a submodule whose class is under transforms.

    Attributes:
        site: The submodule.
        method: Its method.
        passed: The arguments.
        is_here: Whether the transforms are written in the method that has the call.
    """

    site: Site
    method: str
    passed: tuple[Passed, ...]
    is_here: bool


@dataclass(frozen=True, eq=False)
class LiftedFunction:
    """A function under transforms, and how it is called.

    Attributes:
        transforms: The transforms, outermost first.
        module: The module that it is called with.
        count: How many arguments there are after the module.
    """

    transforms: tuple[ClassTransform, ...]
    module: Value
    count: int


# Goes through an expression.
Evaluate = Callable[[cst.BaseExpression, Frame], Value]
# Goes through a call of something with arguments.
Dispatch = Callable[[Value, list[Passed], cst.Call, Frame], Value]
# Goes through a function of the project with arguments.
CallFunction = Callable[[FunctionRef, Sequence[Passed], Frame], Value]
# Goes through a method of an object with arguments, from a call.
CallMethod = Callable[[SelfValue, Method, Sequence[Passed], cst.BaseExpression, Frame], Value]
# Binds a target to a value; where there is one, with the expression for it.
Assign = Callable[[cst.BaseExpression, Value, cst.BaseExpression | None, Frame], None]
