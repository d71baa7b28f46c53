"""The state of an evaluation: names, the object, the constructor so far; the events it appends."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    dotted,
    names_of,
)
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    OTHER,
    Build,
    Call,
    CallElsewhere,
    ClassPlan,
    Condition,
    Edit,
    Enter,
    Event,
    Lifted,
    Log,
    Mark,
    Rebuilt,
    Site,
)
from typed_nnx_codegen.migrate.linen.domain.classes import Method
from typed_nnx_codegen.migrate.linen.domain.code import parsed
from typed_nnx_codegen.migrate.linen.domain.dims import Binders, Dim, Piece, loops_of
from typed_nnx_codegen.migrate.linen.domain.expr import Slots
from typed_nnx_codegen.migrate.linen.domain.references import ClassRef, Ref, SelfValue
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Code,
    Const,
    Passed,
    Seq,
    ShapeOf,
    Size,
    Unknown,
    Value,
    with_binders,
)


@dataclass(eq=False)
class Line:
    """A line of the new constructor.

    Attributes:
        text: The code.
        local: The name that it assigns, where it can go if nothing reads that name.
        site: The submodule that it constructs.
        statement: A statement of `setup` that stays as it is but for what is rewritten in it.
        is_update: Whether it readies a local for the next iteration of the loop that it ends.
        place: Where the submodule goes in its list; None at the end.
    """

    text: str
    local: str = ""
    site: Site | None = None
    statement: cst.BaseStatement | None = None
    is_update: bool = False
    place: int | None = None


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
class Change(Event):
    """How a size changes from one iteration of a loop to the next.

    Attributes:
        piece: The local of the constructor that is the size.
        entry: What it is before the loop.
        update: What it is after an iteration.
        loop: The loop of the constructor that makes what the loop goes over.
        also: Loops that make it in other branches.
    """

    piece: Piece
    entry: Dim
    update: Dim
    loop: int | None = None
    also: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class CallEdit(Event):
    """How the arguments of a call of a submodule are written.

    Attributes:
        node: The call.
        site: Where the submodule is constructed; None for one in a field.
        arguments: The keyword and the argument node of each; None keeps what is written.
        called: The method that is called.
        frame: Where the call is.
    """

    node: cst.Call
    site: Site | None
    arguments: tuple[tuple[str, cst.BaseExpression], ...] | None
    called: str = "__call__"
    frame: Frame | None = None


@dataclass(frozen=True, eq=False)
class Declare(Event):
    """A variable is declared.

    Attributes:
        key: Its collection and its name in Linen: ``params/kernel``.
        attribute: The attribute of the new model.
        value: What it holds.
        around: The branches of the constructor around the line that makes it; None where it has
            no line of its own.
        calls: The branches on what methods are called with around it; None for no declaration of
            a method.
        is_parameter: Whether `setup` assigns it to the attribute, and it is a parameter.
        later: The expression that it is until a call makes it; empty where the constructor does.
    """

    key: str
    attribute: str
    value: Value
    around: tuple[Condition, ...] | None = None
    calls: tuple[Condition, ...] | None = None
    is_parameter: bool = False
    later: str = ""


@dataclass(frozen=True, eq=False)
class StateAccess(Event):
    """A call that asks for a variable by its name.

    Attributes:
        node: The call.
        method: The method of Linen's Module: ``has_variable``, or ``variable`` without a first value.
        collection: The collection; empty where it is computed.
        name: The name; empty where it is computed.
        conditions: The branches around.
    """

    node: cst.Call
    method: str
    collection: str
    name: str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class Sow(Event):
    """A value is sown: the collection and name, the argument that names it."""

    key: str
    node: cst.BaseExpression


@dataclass(frozen=True, eq=False)
class Take(Event):
    """A side of a branch is taken; both where it is not known which."""

    node: cst.If
    sides: frozenset[bool]


@dataclass(frozen=True, eq=False)
class Derived(Event):
    """An attribute that `setup` computes from variables: a property of the new module.

    Attributes:
        attribute: The attribute.
        node: The statement that assigns it.
        lines: The statements that compute it, those of several branches too.
        owner: The name of the object in `setup`.
        kept: How the property reads locals of the constructor.
        function: The `setup` that has the statement.
    """

    attribute: str
    node: cst.BaseStatement
    lines: tuple[cst.BaseStatement, ...]
    owner: str
    kept: Mapping[cst.CSTNode, str]
    function: cst.FunctionDef


@dataclass(frozen=True, eq=False)
class Stale(Event):
    """`setup` computes a local, or an attribute with its owner, from variables."""

    name: str
    node: cst.BaseStatement | None = None


@dataclass(frozen=True, eq=False)
class Pass(Event):
    """A loop is evaluated: the loops around, and its target."""

    loop: tuple[object, ...]


@dataclass(eq=False)
class Recorder:
    """The evaluation of one module: where it is, the constructor so far, and its log.

    Attributes:
        plan: The plan of the module.
        slots: What stands in code until all is known.
        block: Where lines of the constructor go.
        loops: The loops around that are part of the constructor, outermost first.
        conditions: The branches around: their number, the side, and whether only the call knows.
        branch_path: The branches on arguments of the call around, by number.
        setup: The lines that `setup` becomes.
        instance: The object of the module.
        headers: The target of each loop of the constructor, and what it goes over.
        call_loops: The loops around that only run with the call: for each, the loops that make the
            submodules it goes over in step; none where it goes over something else.
        breaks: What leaves a loop around that the constructor runs.
        filtered: The comprehensions that leave out items, or go over several things.
        returned: What `__call__` returns.
        roots: The methods that are called from outside.
        uses_rngs: Whether methods draw keys.
        locals: The names that the constructor binds.
        built_locals: The locals of `setup` that are submodules.
        stacks: The transforms of methods around, outermost first.
        reserved: The names that parameters of the constructor may get.
        setup_target: The call whose result `setup` assigns to an attribute now, and the attribute.
        branch_codes: The conditions of branches that the constructor decides, by number.
        chosen_locals: The locals that a branch of the constructor decides: its condition, what they
            are where it holds, and where not.
        partial_locals: The locals that one side of such a branch has alone, and its condition.
        traced: The parameters for shapes of variables that a trace tells, by collection and name.
        loop_numbers: The numbers of loops, by the loops around, the target, and how often it was
            passed before.
        anchors: Where the lines of the statement begin that is evaluated.
        pending: How many functions are evaluated in the midst of statements that build submodules.
        sized_names: The locals for sizes of arrays in lists, by where they are read.
        unsized: Those of lists whose sizes the constructor does not know any more.
        equal_sizes: Pairs of last sizes of arrays that are added.
        candidates: The sizes that a size may be of which nothing but a call decides.
        definitions: Where functions that methods define stand: the block, and the line before.
        running: The functions that are evaluated, outermost first: the frame around each, and
            what it is called with.
        cuts: How many calls were too deep to be evaluated.
        outputs: What calls with plain values return, and the events of that.
        log: Where events go: the log of the plan, or that of a trial.
    """

    plan: ClassPlan
    slots: Slots = field(default_factory=Slots)
    block: Block = field(default_factory=list)
    loops: list[int] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    branch_path: list[int] = field(default_factory=list)
    setup: Block = field(default_factory=list)
    instance: SelfValue | None = None
    locals: set[str] = field(default_factory=set)
    built_locals: dict[Site, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)
    headers: dict[int, tuple[str, str]] = field(default_factory=dict)
    call_loops: list[tuple[int, ...]] = field(default_factory=list)
    breaks: set[cst.CSTNode] = field(default_factory=set)
    filtered: set[int] = field(default_factory=set)
    returned: Value = UNKNOWN
    roots: list[str] = field(default_factory=list)
    uses_rngs: bool = False
    candidates: dict[Dim, None] = field(default_factory=dict)
    rngs: str = "rngs"
    stacks: tuple[Value, ...] = ()
    setup_target: tuple[cst.BaseExpression, str] | None = None
    running: list[tuple[cst.CSTNode, Frame | None, dict[str, object]]] = field(default_factory=list)
    cuts: int = 0
    steps: int = 0
    branch_codes: dict[int, str] = field(default_factory=dict)
    chosen_locals: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    partial_locals: dict[str, str] = field(default_factory=dict)
    traced: dict[str, Lifted] = field(default_factory=dict)
    loop_numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    anchors: dict[int, tuple[Block, int]] = field(default_factory=dict)
    pending: int = 0
    sized_names: dict[tuple[cst.CSTNode, str, int | None], str] = field(default_factory=dict)
    unsized: set[str] = field(default_factory=set)
    equal_sizes: set[frozenset[Dim]] = field(default_factory=set)
    definitions: dict[cst.CSTNode, tuple[Block, Line | Compound | None]] = field(
        default_factory=dict
    )
    outputs: dict[Hashable, tuple[Value, Log]] = field(default_factory=dict)
    log: Log = field(init=False)

    def __post_init__(self) -> None:
        """Append to the log of the plan."""
        self.log = self.plan.log

    @property
    def self_calls(self) -> list[tuple[cst.FunctionDef, cst.Call, cst.FunctionDef]]:
        """The calls of methods of the object: the caller, the call, what is called."""
        return [
            (one.caller, one.node, one.method)
            for one in self.log.of(Enter)
            if one.caller is not None and one.node is not None
        ]

    @property
    def is_abstract(self) -> bool:
        """Whether the object calls methods of its own that only classes which inherit from it have."""
        return any(_is_abstract(called) for _, _, called in self.self_calls)

    @property
    def traces(self) -> tuple[int, ...]:
        """How much evaluation left so far beside events: lines, names, calls that were cut."""
        return len(self.block), len(self.locals), self.cuts

    @property
    def variables(self) -> dict[str, Declare]:
        """The variables that are declared, by collection and name."""
        return {one.key: one for one in self.log.of(Declare)}

    @property
    def params(self) -> dict[str, bool]:
        """The attributes that `setup` assigns parameters to, and whether each is one array."""
        declared = self.log.of(Declare)
        return {one.attribute: isinstance(one.value, Array) for one in declared if one.is_parameter}

    @property
    def stale(self) -> dict[str, cst.BaseStatement | None]:
        """What `setup` computes from variables, and the statements of locals."""
        return {one.name: one.node for one in self.log.of(Stale)}

    @contextmanager
    def aside(self) -> Iterator[Log]:
        """Append to another log within, in which queries see this one too."""
        outer, self.log = self.log, Log(self.log)
        try:
            yield self.log
        finally:
            self.log = outer

    def once(
        self,
        key: Hashable,
        run: Callable[[], Value],
        is_kept: Callable[[Value, Log], bool] = lambda result, log: True,
    ) -> Value:
        """Return what a call returns; of one that was evaluated before, the events are repeated.

        Args:
            key: What the call depends on.
            run: Evaluates it.
            is_kept: Whether what it returns and its events are all that comes of it.
        """
        if key in self.outputs:
            result, log = self.outputs[key]
        else:
            with self.aside() as log:
                result = run()
            if is_kept(result, log):
                self.outputs[key] = result, log
        self.log.extend(log)
        return result

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Drop what is appended and written within."""
        block, self.block = self.block, []
        try:
            with self.aside():
                yield
        finally:
            self.block = block

    def write(self, text: str, local: str = "") -> None:
        """Write a line of the constructor."""
        self.block.append(Line(text, local))

    def begin_statement(self) -> None:
        """Note where the lines of another statement begin."""
        self.anchors[id(self.block)] = (self.block, len(self.block))

    def write_before(self, text: str, local: str) -> None:
        """Write a line before all others of the statement that is evaluated.

        What a statement constructs is written first, and its size may depend on the line.
        """
        block, place = self.anchors.get(id(self.block), (self.block, 0))
        place = place if block is self.block else 0
        self.block.insert(place, Line(text, local))
        self.anchors[id(self.block)] = (self.block, place + 1)

    def are_alike(self, one: int, other: int, *, cut: tuple[bool, bool] = (False, False)) -> bool:
        """Whether loops of the constructor bind the same in each iteration, so that they are in step.

        Args:
            one: A loop.
            other: Another one.
            cut: Whether the last iteration of each does not count.
        """
        if one not in self.headers or other not in self.headers or {one, other} & self.filtered:
            return False
        (target, header), (name, counterpart) = self.headers[one], self.headers[other]
        codes = (
            f"{header}[:-1]" if cut[0] else header,
            f"{counterpart}[:-1]" if cut[1] else counterpart,
        )
        return target == name and codes[0] == codes[1]

    def join_step(self, position: int, loop: int) -> None:
        """Note that a place in a list that one loop makes is the same in that of another loop."""
        for k, loops in enumerate(self.call_loops):
            if position in loops and loop not in loops and self.are_alike(position, loop):
                self.call_loops[k] = *loops, loop

    @property
    def loops_in_step(self) -> list[tuple[int, ...]]:
        """The loops around, each with those that others are in step with."""
        around = ((loop, [one for one in self.call_loops if loop in one]) for loop in self.loops)
        return [(loop, *(one for step in steps for one in step)) for loop, steps in around]

    def binding_of(self, site: Site) -> dict[int, int]:
        """Return which loop around a submodule binds what another one binds in step with it."""
        return {
            one: loop
            for step in self.call_loops
            for loop in site.loops
            if loop in step
            for one in step
            if one not in site.loops
        }

    def step_of(self, site: Site) -> dict[int, int]:
        """Return the loop that is evaluated in the place of those around a submodule."""
        steps = self.call_loops
        return {loop: one[0] for one in steps for loop in one[1:] if loop in site.loops}

    def are_bound(self, code: str, binders: Binders, steps: Sequence[tuple[int, ...]]) -> bool:
        """Whether loops bind the names of an expression, and no inner ones hide them.

        Args:
            code: The expression.
            binders: What binds its names.
            steps: The loops, outermost first, each with those in step with it.
        """
        places = [
            max((k for k, step in enumerate(steps) if one in step), default=None)
            for one in loops_of(binders)
        ]
        known = [one for one in places if one is not None]
        inner = [step[0] for step in steps[max(known, default=len(steps)) + 1 :]]
        is_hidden = bool(inner) and bool(self.targets(inner) & {*names_of(parsed(code))})
        return len(known) == len(places) and not is_hidden

    def targets(self, loops: Iterable[int]) -> set[str]:
        """Return the names that loops of the constructor bind."""
        targets = (self.headers[number][0] for number in loops if number in self.headers)
        return {name for target in targets for name in names_of(parsed(target))}

    def note_definition(self, node: cst.FunctionDef) -> None:
        """Note that a function of a method is defined here."""
        self.definitions[node] = self.block, self.block[-1] if self.block else None

    def write_definition(self, node: cst.FunctionDef, text: str) -> None:
        """Write a function where the method defines it, once."""
        block, before = self.definitions.get(node, (self.block, None))
        if any(isinstance(one, Line) and one.text == text for one in block):
            return
        place = block.index(before) + 1 if before in block else 0
        while place < len(block) and _is_definition(block[place]):
            place += 1
        block.insert(place, Line(text, node.name.value))
        anchor = self.anchors.get(id(block), (block, 0))[1]
        if anchor >= place:
            self.anchors[id(block)] = block, anchor + 1
        self.locals.add(node.name.value)

    def write_site(self, site: Site) -> None:
        """Write the line that constructs a submodule; its text is decided when all is known."""
        self.block.append(Line("", site=site))

    def unwrite(self, site: Site) -> None:
        """Take back the line that constructs a submodule."""
        waiting = [self.block, self.setup]
        while waiting:
            block = waiting.pop()
            block[:] = [one for one in block if isinstance(one, Compound) or one.site is not site]
            for one in block:
                waiting += [one.body, one.orelse] if isinstance(one, Compound) else []

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
        """Leave something to a person; the code is one of `domain.class_plan`."""
        if not self.log.about(Mark, node):
            self.log.append(Mark(node, message, code))

    def replace(self, node: cst.CSTNode, code: str | Rebuilt) -> None:
        """Write other code for a node of the file."""
        self.log.append(Edit(node, code))


def _is_definition(line: Line | Compound) -> bool:
    return isinstance(line, Line) and line.text.startswith(("def ", "#"))


@dataclass(eq=False)
class Frame:
    """A function that is evaluated.

    Attributes:
        recorder: The evaluation of the module that is planned.
        analysis: What names of the file stand for.
        instance: The object, in a method.
        method: The method.
        names: What local names stand for.
        outer: The frame of the function around, for functions within functions.
        records: Whether its submodules are those of the module that is planned.
        verbatim: Whether statements move to the constructor as they are (`setup`).
        results: What it returned so far.
        root: The name of the method that was entered first, whose arguments sizes are of.
        ended_by: What ended the statements that were evaluated last: ``return``, ``continue``, ``break``.
        caller: The call in a method of the module that entered a function of the file.
        values: What its expressions stood for when they were evaluated last.
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

    @property
    def binders(self) -> Binders:
        """What binds the names of its file."""
        return (str(self.analysis.path),)

    @property
    def binds_locals(self) -> bool:
        """Whether a line of the constructor can bind a local here.

        It has none of a trial, nor of a function that `setup` calls.
        """
        recorder = self.recorder
        is_there = self.records and self.root != "setup"
        return is_there and recorder.log is recorder.plan.log

    @property
    def innermost(self) -> Binders:
        """The innermost loop of the constructor around, which what changes now is bound by."""
        return tuple(self.recorder.loops[-1:])

    def log(self, event: Event) -> None:
        """Append an event, where this is a function of the module that is planned."""
        if self.records:
            self.recorder.log.append(event)

    def mark(self, node: cst.CSTNode, message: str, code: str = OTHER) -> None:
        """Leave something to a person, likewise."""
        if self.records:
            self.recorder.mark(node, message, code)

    def replace(self, node: cst.CSTNode, code: str | Rebuilt) -> None:
        """Write other code for a node of the file, likewise."""
        self.log(Edit(node, code))

    def lookup(self, name: str) -> Value | None:
        """Return what a local name stands for, in this function or those around."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.outer
        return None

    def name_of_instance(self) -> str:
        """Return the name of the object here: a function may get it as an argument."""
        frame: Frame | None = self
        while frame is not None:
            for name, value in frame.names.items():
                if value is self.recorder.instance:
                    return name
            frame = frame.outer
        return "self"

    def note_call(self, site: Site, method: str, values: dict[str, Value]) -> None:
        """Note what a method of a submodule is called with: its sizes follow from that."""
        recorder = self.recorder
        log = recorder.log
        if site.is_alternative or log.about(Build, site):
            conditions = tuple(recorder.conditions)
            # Its own loop binds what another one binds in step with it.
            binding = recorder.binding_of(site)
            there = {name: with_binders(value, binding) for name, value in values.items()}
            log.append(Call(site, method, there, self.root, conditions))
            if not self.records and not site.is_alternative:
                log.append(CallElsewhere(site))

    def seen(self, node: cst.BaseExpression) -> Value | None:
        """Return what an expression stood for when it was evaluated last."""
        value = self.values.get(node)
        return self.lookup(node.value) if value is None and isinstance(node, cst.Name) else value


@dataclass(frozen=True, eq=False)
class FunctionRef(Value):
    """A function or lambda of the project.

    Attributes:
        node: Its definition.
        frame: The frame that it is defined in: its file, and the names around it.
        code: The expression for it; empty for one that is defined in a method.
        binders: What binds the names in the expression.
    """

    node: cst.FunctionDef | cst.Lambda
    frame: Frame
    code: str = ""
    binders: Binders = ()


def _is_abstract(method: cst.FunctionDef) -> bool:
    """Whether a method only raises an error, or is said to be abstract."""
    lines = method.body.body[method.get_docstring() is not None :]
    match lines:
        case [cst.SimpleStatementLine(body=[cst.Raise()]) | cst.Raise()]:
            return True
    names = (dotted(one.decorator).rpartition(".")[2] for one in method.decorators)
    return "abstractmethod" in names


def plain_key(value: Value) -> Hashable | None:
    """Return a key of a value that alone says what comes of it; None for one that does not."""
    match value:
        case Const(value=literal, code=code, binders=binders):
            return Const, type(literal), literal, code, binders
        case Code(holds=holds):
            return value, holds
        case Seq(items=items, is_list=is_list):
            keys = [plain_key(item) for item in items]
            return None if None in keys else (Seq, is_list, *keys)
        case FunctionRef(node=node, frame=Frame(outer=None) as frame):
            is_of_file = not frame.names and frame.instance is None
            return (FunctionRef, node, value.code, value.binders) if is_of_file else None
        case Array() | ShapeOf() | Size() | Unknown() | Ref() | ClassRef():
            return value
    return None


@dataclass(frozen=True, eq=False)
class VariableRead(Event):
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
class LiftedCall(Event):
    """A call of a submodule whose class is under transforms.

    Attributes:
        node: The call.
        site: The submodule.
        method: Its method.
        passed: The arguments.
        is_here: Whether the transforms are written in the method that has the call.
    """

    node: cst.Call
    site: Site
    method: str
    passed: tuple[Passed, ...]
    is_here: bool


# Evaluates an expression.
Evaluate = Callable[[cst.BaseExpression, Frame], Value]
# Evaluates a call of something with arguments.
Dispatch = Callable[[Value, list[Passed], cst.Call, Frame], Value]
# Evaluates a function of the project with arguments.
CallFunction = Callable[[FunctionRef, Sequence[Passed], Frame], Value]
# Evaluates a method of an object with arguments, from a call.
CallMethod = Callable[[SelfValue, Method, Sequence[Passed], cst.BaseExpression, Frame], Value]
# Binds a target to a value; where there is one, with the expression for it.
Assign = Callable[[cst.BaseExpression, Value, cst.BaseExpression | None, Frame], None]
