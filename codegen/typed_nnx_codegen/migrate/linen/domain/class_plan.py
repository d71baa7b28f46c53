"""The plan of a Linen module: its submodules, lifted sizes, variables; its log, and kinds of markers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LayerSubclass, LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentShape, Dim
from typed_nnx_codegen.migrate.linen.domain.values import Passed, Value
from typed_nnx_codegen.migrate.linen.layers import Given, Helper, find_layer

CLASS: Final = "TN200"
SIZE: Final = "TN201"
CALL: Final = "TN202"
COUNTERPART: Final = "TN203"
NAME: Final = "TN204"
CALLER: Final = "TN205"
TRANSFORM: Final = "TN206"
TRACE: Final = "TN207"
STAYS: Final = "TN208"
OTHER: Final = "TN209"

TITLES: Final[dict[str, str]] = {
    CLASS: "A module of `flax.linen` is an `nnx.Module`",
    SIZE: "The size of an input is not known",
    CALL: "A submodule depends on what a method is called with",
    COUNTERPART: "NNX has no counterpart",
    NAME: "The name of a weight is not sure",
    CALLER: "Code that uses a module is left to a person",
    TRANSFORM: "A transform of Linen is left to a person",
    TRACE: "A trace does not agree with the code",
    STAYS: "A module stays in `flax.linen`",
    OTHER: "Something else is left to a person",
}
"""What each code is for, as Markdown."""

EXPLANATIONS: Final[dict[str, str]] = {
    CLASS: "It is no marker: reports count the modules by it that were migrated with `--linen`.",
    SIZE: """The code does not tell the size of an input of a submodule.

The constructor has a required keyword for it, which the marker names: give it where the module is
constructed, or take it from a run: `--trace "python train.py"`, or `--example FILE`.""",
    CALL: """A size, name or setting of a submodule comes from an argument of a call.

The constructor does not have it. Let it be a field of the module.""",
    COUNTERPART: """A layer, argument or function that NNX does not have.

Write it by hand, or keep the module in Linen with `--gradual`.""",
    NAME: """The map of the weights may lack entries, or names depend on the first call.

Compare the map with the names in a checkpoint before you load one; `typed-nnx verify` does.""",
    CALLER: """Code outside of modules, or `init` and `apply` within one, in a form that is not known.

Construct the migrated module and call it.""",
    TRANSFORM: """`nn.scan`, `nn.vmap`, `nn.share_scope` or another transform in a form that is not known.

Write it with the transform of NNX of that name.""",
    TRACE: """What `--trace` or `--example` recorded is not what the code says.

Record it again if the code has changed; if it says the same, please report it.""",
    STAYS: """The class is as it was, or contains one that is; the marker says why.

Migrate what it names by hand, or keep both in Linen with `--gradual`.""",
    OTHER: "The marker says what it is.",
}
"""What a person does about each, as Markdown."""

# What a marker says of a variable that cannot be made from sizes alone.
FIRST_VALUE: Final = "its first value depends on what the method is called with"


# Writes a call anew: given the call as it was, and with what is below it rewritten.
Rebuilt = Callable[[cst.Call, cst.Call], cst.BaseExpression]


# Keywords of partials, one in the other.
Path = tuple[str, ...]


# The code of an argument that a partial has already.
HIDDEN: Final = "__hidden__"


@dataclass(frozen=True)
class CallKeyword:
    """A keyword that methods get, for what a constructor was given and only a call knows.

    Attributes:
        name: The keyword.
        field: The field of the module.
        path: Where it is in what the field holds: the keyword of the partial; empty for the field
            itself.
    """

    name: str
    field: str
    path: Path = ()


# A size, a shape or the sizes of several arrays; several of these for the submodules of a list. In
# shapes, None where nothing reads a dimension.
Size = int | tuple["Size | None", ...]


@dataclass(frozen=True)
class Lifted:
    """A parameter of the constructor that the migration adds.

    Attributes:
        name: The parameter.
        method: The method whose arguments give it.
        argument: The expression of the array over the parameters of that method; empty where it
            is not known how to compute it.
        axis: The dimension that it is; None where it is the whole shape.
        why: Why it is not known how to compute it.
        is_optional: Whether the argument may be None: then so is this parameter.
        default: The size that all traced calls have; empty where none tells it.
        is_listed: Whether it is several sizes: one for each submodule of a list, or of a shape.
        is_of_items: Whether the argument is a list of arrays, and it is the dimension of each.
        is_number: Whether it is the argument itself, a whole number.
        measured: What it is in traced calls, by the outermost call and the module in it.
        reads: What the constructor reads of it, where it is a shape: see `dims.reads_of`.
    """

    name: str
    method: str = "__call__"
    argument: str = ""
    axis: int | None = None
    why: str = ""
    is_optional: bool = False
    default: str = ""
    is_listed: bool = False
    is_of_items: bool = False
    is_number: bool = False
    measured: tuple[tuple[tuple[int, int], Size], ...] = ()
    reads: tuple[int | ArgumentShape | None, ...] = ()

    @property
    def is_several(self) -> bool:
        """Whether it is a tuple of sizes."""
        is_shape = bool(self.argument) and self.axis is None and not self.is_number
        return is_shape or self.is_listed or self.is_of_items

    @property
    def is_found_by_calls(self) -> bool:
        """Whether `init_with` and `apply_with` find it out: one size, that always counts."""
        return not (self.is_several or self.is_number or self.is_optional)

    @property
    def expression(self) -> str:
        """The Python expression for it where the method is called; empty if that is not known."""
        if not self.argument:
            return self.default
        if self.is_number:
            return self.argument
        if self.is_of_items:
            return f"tuple(one.shape[{self.axis}] for one in {self.argument})"
        code = f"{self.argument}.shape" + ("" if self.axis is None else f"[{self.axis}]")
        return f"None if {self.argument} is None else {code}" if self.is_optional else code


@dataclass(frozen=True)
class Condition:
    """A side of a branch.

    Attributes:
        number: The branch.
        side: Whether it is the side where the condition holds.
        is_of_call: Whether only the call knows the condition.
    """

    number: int
    side: bool
    is_of_call: bool


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call as they are written, in which what the file passes stands as it was.

    Attributes:
        text: Their text.
        args: The arguments.
    """

    text: str
    args: tuple[cst.Arg, ...] = field(compare=False)


@dataclass(frozen=True)
class ListUse:
    """How a method goes through a list of submodules.

    Attributes:
        name: The attribute, and the local name of its iterator.
        item: A name for one of them.
        singles: How many are not built in loops, where the others are built one in each iteration;
            None where that depends on what the call or the fields are.
    """

    name: str
    item: str = ""
    singles: int | None = None


@dataclass(eq=False)
class Site:
    """A place where a submodule is constructed.

    Attributes:
        node: The call of the constructor.
        target: What is constructed: a public name of Linen, or a class of the project.
        code: The expression of the class in the new constructor, where it is no plain name of
            either: ``self.block``.
        given: The arguments, by field.
        method: The method of the module in which it is.
        method_node: The definition of that method.
        entry: The method, called from outside, on whose way it is constructed.
        linen: Its name in Linen: literal text, or a pattern with ``{i}``.
        attribute: The attribute path of the new model, without ``self``: ``dense_0``,
            ``blocks.{i}``.
        reference: The expression in methods that stands in for the constructor.
        owner: The name of the module where it is constructed.
        is_listed: Whether it is one item of a list that runs in the order of execution.
        explicit: The name that it is given in Linen; a pattern with `{i}` where it is computed.
        name_code: The expression for that name in the constructor.
        is_named: Whether that name is surely not None.
        transforms: The transforms of Linen around the class, outermost first.
        loops: The loops of the constructor around it.
        conditions: The branches around it.
        branches: The branches on arguments of the call around it.
        is_open: Whether some of its arguments are not known: `*sizes`, `**kwargs`.
        options: The code of these, with the stars; None where the constructor does not know one of
            them.
        is_verbatim: Whether it stays where it is written: in `setup`.
        stacks: The transforms of functions around it, outermost first.
        sizes: How often each transform of the class runs it, by what it is called with.
        aliases: Other names that it may have in Linen.
        shares: Whether it has the scope of the module: its variables are those of the module.
        is_shared: Whether it is the submodule that another method constructs.
        is_nested: Whether it is constructed within the arguments of another one, in `setup`.
        is_made_in_call: Whether a method makes it of submodules: it is none of its own.
        is_default: Whether it is built for a field that is not given.
        is_alternative: Whether it is one of the alternatives of another one.
        alternatives: What else it may construct: a field or a local holds one of several classes.
        tests: Where conditions of the constructor choose the class, that of each but the last one.
        otherwise: What is there where all of them have a condition and none holds.
        subclass: The class of the project that derives from the layer, where one is constructed.
        is_bridged: Whether it stays a module of Linen in a bridge.
        updates: Whether calls of it may change variables, if it does.
    """

    node: cst.Call
    target: str | LinenClass
    code: str
    given: dict[str, Passed]
    method: str
    method_node: cst.FunctionDef | None = None
    entry: str = ""
    linen: str = ""
    attribute: str = ""
    reference: str = ""
    owner: str = "self"
    is_listed: bool = False
    explicit: str = ""
    name_code: str = ""
    is_named: bool = True
    transforms: tuple[Value, ...] = ()
    loops: tuple[int, ...] = ()
    conditions: tuple[Condition, ...] = ()
    branches: tuple[int, ...] = ()
    is_open: bool = False
    options: tuple[str, ...] | None = ()
    is_verbatim: bool = False
    is_shared: bool = False
    is_nested: bool = False
    stacks: tuple[Value, ...] = ()
    sizes: tuple[Dim | None, ...] = ()
    aliases: tuple[str, ...] = ()
    shares: bool = False

    is_made_in_call: bool = False
    is_default: bool = False
    is_alternative: bool = False
    alternatives: tuple[Site, ...] = ()
    tests: tuple[str, ...] = ()
    otherwise: str = "None"
    subclass: str = ""
    is_bridged: bool = False
    updates: bool = True

    __hash__ = object.__hash__

    @property
    def class_name(self) -> str:
        """The name of the class, as Linen counts by it."""
        if isinstance(self.target, LinenClass):
            return self.target.name
        return self.subclass or self.target.rpartition(".")[2]


@dataclass(frozen=True)
class Entry:
    """A variable in the weight map.

    Attributes:
        linen: Its Linen path with the collection first; for a submodule without the collection.
        to: The attribute path of the new model; None where it has no place any more.
        change: What is done with the array: ``unstack``, ``transpose``, ``reshape``.
    """

    linen: str
    to: str | None
    change: Mapping[str, object] = field(default_factory=dict)


# -- the log ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Event:
    """Something that the evaluation of methods finds out; its first field is what it is about."""


E = TypeVar("E", bound=Event)


class Log:
    """Events in the order in which they were appended.

    Evaluation appends without asking whether it counts. In a trial it appends to a log of its own,
    in which queries see the events around too, and which is dropped at the end.

    Args:
        outer: The log around that of a trial.
    """

    def __init__(self, outer: Log | None = None) -> None:
        self._outer = outer
        self._kinds: dict[type[Event], list[Event]] = {}
        self._subjects: dict[tuple[type[Event], Hashable], list[Event]] = {}
        self._events: list[Event] = []
        self._dropped: set[int] = set()

    @property
    def kinds(self) -> set[type[Event]]:
        """The kinds of its events, without those of the log around."""
        return {*self._kinds}

    def append(self, event: Event) -> None:
        """Append an event."""
        kind = type(event)
        self._events.append(event)
        self._dropped.discard(id(event))  # it may be repeated after it was taken back
        self._kinds.setdefault(kind, []).append(event)
        self._subjects.setdefault((kind, _subject(event)), []).append(event)

    def extend(self, other: Log) -> None:
        """Append the events of another log, without those around it."""
        for event in other._events:
            self.append(event)
        self._dropped |= other._dropped

    def drop(self, *events: Event) -> None:
        """Take back events: queries do not find them any more."""
        self._dropped.update(id(one) for one in events)

    def __len__(self) -> int:
        """Return how many events were appended, without those of the log around."""
        return len(self._events)

    def drop_from(self, count: int) -> None:
        """Take back all events but the first so many."""
        self.drop(*self._events[count:])

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of a kind."""
        found = (one for log in self._chain() for one in log._kinds.get(kind, ()))
        return self._present(found, kind)

    def about(self, kind: type[E], subject: Hashable) -> list[E]:
        """Return the events of a kind that are about something."""
        key = kind, subject
        found = (one for log in self._chain() for one in log._subjects.get(key, ()))
        return self._present(found, kind)

    def groups(self, kind: type[E]) -> list[list[E]]:
        """Return the events of a kind, those about the same together."""
        found: dict[Hashable, list[E]] = {}
        for one in self.of(kind):
            found.setdefault(_subject(one), []).append(one)
        return list(found.values())

    def _chain(self) -> list[Log]:
        """Return this log and those around, outermost first."""
        return [*([] if self._outer is None else self._outer._chain()), self]

    def _present(self, events: Iterator[Event], kind: type[E]) -> list[E]:
        dropped = [log._dropped for log in self._chain() if log._dropped]
        return [
            one
            for one in events
            if isinstance(one, kind) and not any(id(one) in each for each in dropped)
        ]


def _subject(event: Event) -> Hashable:
    subject: Hashable = next(iter(vars(event).values()))
    return subject


@dataclass(frozen=True, eq=False)
class Build(Event):
    """A submodule is constructed."""

    site: Site


@dataclass(frozen=True, eq=False)
class BuildAtCall(Event):
    """What a function returns is constructed in the place of a call of it."""

    call: cst.Call
    function: cst.FunctionDef | cst.Lambda


@dataclass(frozen=True, eq=False)
class OutsideChange(Event):
    """A function that is called changes something beside its own names."""

    call: cst.Call


@dataclass(frozen=True, eq=False)
class Recursion(Event):
    """Functions call each other without an end that is known: they are not evaluated again."""

    functions: tuple[cst.CSTNode, ...]


@dataclass(frozen=True, eq=False)
class Call(Event):
    """A method of a submodule, or of a module in a field, is called: sizes follow from that.

    Attributes:
        site: The submodule; the name of the field.
        method: The method.
        values: What it is called with, by parameter.
        root: The method of the module that was entered.
        conditions: The branches around; None where they are not known.
    """

    site: Site | str
    method: str
    values: dict[str, Value]
    root: str = ""
    conditions: tuple[Condition, ...] | None = None


@dataclass(frozen=True, eq=False)
class CallElsewhere(Event):
    """Another module, which gets a submodule as an argument, calls it.

    Attributes:
        site: The submodule.
        is_in_turn: Whether it is an `nn.Sequential` that the method makes for the call.
    """

    site: Site
    is_in_turn: bool = False


@dataclass(frozen=True, eq=False)
class Enter(Event):
    """A method of the object is entered: by a call in a method, or from outside.

    Attributes:
        method: The method.
        caller: The method that calls it; None where it is entered from outside.
        node: The call in that.
        is_repeated: Whether that is in a loop.
        values: What its parameters are, where a method calls it.
    """

    method: cst.FunctionDef
    caller: cst.FunctionDef | None = None
    node: cst.Call | None = None
    is_repeated: bool = False
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Assignment:
    """How a statement assigns the value of a variable: what reads that, after the variable."""

    reading: str


@dataclass(frozen=True, eq=False)
class Edit(Event):
    """A node of the file is written otherwise: new code, or what rewrites it; None drops it."""

    node: cst.CSTNode
    code: str | Rebuilt | Assignment | None


@dataclass(frozen=True)
class Need(Event):
    """The file needs a definition at its top level."""

    helper: Helper


@dataclass(frozen=True)
class Mark(Event):
    """Something that is left to a person.

    Attributes:
        node: The place.
        message: What is to decide.
        code: The kind of it, one of those above.
    """

    node: cst.CSTNode
    message: str
    code: str = OTHER


@dataclass(eq=False)
class ClassPlan:
    """What becomes of a module.

    Attributes:
        cls: The module.
        lifted: The parameters that its constructor gets.
        init: The statements of its constructor after the fields.
        entries: Its variables.
        log: What its evaluation found, and the edits and markers of what looked at that.
        is_done: Whether all of it is known; a module that contains itself asks before.
        stores_rngs: Whether its methods draw keys.
        calls: The arguments of calls that are written differently, by call.
        iterators: The lists of submodules that a method begins to go through, by method.
        parameters: Those that a method is given by its callers, by method.
        extras: Such lists that a call passes on, by call.
        keywords: The keywords that methods get for fields that calls say, by name of the method.
        added: Those that are new parameters and the lines that begin with them, by method.
        containers: What the containers of modules in fields become, by field.
        built: Fields that the constructor builds where they are not given.
        defaults: The code of defaults, where it is not just that of Linen with other names.
        optional: Fields whose parameters get a default, None.
        others: Entries beside those of submodules and declared variables: what methods sow.
        properties: Methods that are read like attributes, by name.
        derives: The layer that it derives from, where it only gives that other settings.
        shared: The field whose module it shares its variables with; empty where there is none.
        stays: Why it stays a module of Linen; empty where it does not.
        problem: What went wrong while it was planned: a bug of ours.
        setups: The classes whose `setup` its constructor has.
        makes_later: Whether calls of it make variables, its own or those of submodules.
        asks_mode: Whether its methods ask whether statistics may change.
    """

    cls: LinenClass
    lifted: list[Lifted] = field(default_factory=list)
    init: list[cst.BaseStatement] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    log: Log = field(default_factory=Log)
    is_done: bool = False
    stores_rngs: bool = False
    stays: str = ""
    problem: str = ""
    setups: list[LinenClass] = field(default_factory=list)
    shared: str = ""
    calls: dict[cst.Call, Arguments] = field(default_factory=dict)
    iterators: dict[cst.CSTNode, list[ListUse]] = field(default_factory=dict)
    parameters: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    extras: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    keywords: dict[str, tuple[CallKeyword, ...]] = field(default_factory=dict)
    added: dict[cst.CSTNode, list[tuple[str, str]]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    containers: dict[str, str] = field(default_factory=dict)
    built: set[str] = field(default_factory=set)
    defaults: dict[str, str] = field(default_factory=dict)

    others: list[Entry] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    derives: LayerSubclass | None = None
    makes_later: bool = False
    asks_mode: bool = False

    __hash__ = object.__hash__

    @property
    def sites(self) -> tuple[Site, ...]:
        """The places where it constructs submodules."""
        return tuple(one.site for one in self.log.of(Build))

    @property
    def methods(self) -> frozenset[cst.CSTNode]:
        """The methods that are entered."""
        return frozenset(one.method for one in self.log.of(Enter))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What is left to a person."""
        return tuple(dict.fromkeys(self.log.of(Mark)))

    @property
    def helpers(self) -> tuple[Helper, ...]:
        """The definitions that the file needs at its top level."""
        return tuple(dict.fromkeys(one.helper for one in self.log.of(Need)))

    @property
    def replacements(self) -> dict[cst.CSTNode, str]:
        """New code for nodes of the file."""
        return {one.node: one.code for one in self.log.of(Edit) if isinstance(one.code, str)}

    @property
    def rebuilt(self) -> dict[cst.CSTNode, Rebuilt]:
        """What writes calls anew, by call."""
        return {one.node: one.code for one in self.log.of(Edit) if callable(one.code)}

    @property
    def writes(self) -> dict[cst.CSTNode, str]:
        """Statements that write a variable, and how its value is read."""
        edits = self.log.of(Edit)
        return {one.node: one.code.reading for one in edits if isinstance(one.code, Assignment)}

    @property
    def dropped(self) -> frozenset[cst.CSTNode]:
        """The statements and decorators that go."""
        return frozenset(one.node for one in self.log.of(Edit) if one.code is None)


def movable(site: Site) -> Iterator[tuple[str, Passed]]:
    """Yield the arguments of a layer that are given at its calls in NNX, as only calls know them."""
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    if layer is None:
        return
    given = site.given.items()
    yield from ((name, one) for name, one in given if one.code is None and name in layer.movable)


def given_of(site: Site) -> dict[str, Given]:
    """Return the arguments of a layer's constructor, as the table of layers takes them."""
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    leading = layer.leading if layer is not None else ()
    movable = layer.movable if layer is not None else frozenset()
    found: dict[str, Given] = {}
    for name, one in site.given.items():
        if name == "name" or (one.code is None and name in movable):
            continue
        code = "None" if one.code is None else one.code
        # What a partial has already is not written; by position nothing else tells it.
        hidden = one.hidden and name in leading
        found[name] = Given(HIDDEN if hidden else code, one.value, bool(one.keyword))
    return found


_PREFIXES: Final = {
    "partitioning.remat": "Core_remat_static",
    "remat": "Checkpoint",
    "checkpoint": "Checkpoint",
    "jit": "Jit",
    "vmap": "Vmap",
    "scan": "Scan",
    "remat_scan": "Remat_scan",
}


def linen_class_name(site: Site) -> str:
    """Return the name of the class as Linen counts by it: with the transforms around it."""
    around = [getattr(one, "name", "") for one in site.transforms]
    if isinstance(site.target, LinenClass):
        around += site.target.decorators
    prefix = "".join(
        _PREFIXES.get(name.removeprefix(f"{LINEN}."), _PREFIXES.get(name.rpartition(".")[2], ""))
        for name in around
        if name.startswith(LINEN)
    )
    return prefix + site.class_name
