"""What an expression may stand for, and the scopes that names are bound in.

`UNKNOWN` is everything that the analysis is not sure of; `NOTHING` is what has no value yet (an
attribute that no statement read so far assigns), and joins with any other value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, Protocol

import libcst as cst


class ModuleNames(Protocol):
    """What can be asked of a module of the project."""

    def name(self, name: str) -> Value | None:
        """Return what a name of the module stands for; None where it has none."""
        ...

    def bound(self, name: str) -> Value | None:
        """Return the same; what the module itself imports may be an `Imported`."""
        ...

    def public(self) -> Iterable[str]:
        """Return the names that ``from module import *`` binds."""
        ...


# The packages of NNX; what is in one of them has one public name, `nnx.Linear`.
NNX_PACKAGES: Final = ("flax.experimental.nnx", "flax.nnx", "typed_nnx")
NNX: Final = "nnx"

_MOST_OPTIONS: Final = 5

# The modules that define what the package offers; nobody has to import from them.
_FOLDERS: Final = frozenset({"nn", "training", "transforms"})
_MODULES: Final = frozenset(
    {
        *("graph", "graphlib", "graph_utils", "helpers", "module", "object", "pytreelib", "rnglib"),
        *("rnglib", "rng", "spmd", "state", "statelib", "variablelib", "variables", "filterlib"),
        *("linear", "attention", "normalization", "recurrent", "stochastic", "lora", "activations"),
        *("optimizer", "metrics", "autodiff", "compilation", "iteration", "looping", "traversals"),
        *("deprecated", "transforms", "tracers", "summary", "visualization", "extract"),
    }
)


@cache
def public_name(dotted: str) -> str:
    """Return the name of something whatever package of NNX it is from: ``nnx.Linear``."""
    for package in NNX_PACKAGES:
        if dotted == package:
            return NNX
        if dotted.startswith(package + "."):
            return f"{NNX}.{_without_modules(dotted[len(package) + 1 :])}"
    # Another package of that name is not ours.
    return f"other.{dotted}" if dotted == NNX or dotted.startswith(f"{NNX}.") else dotted


def _without_modules(name: str) -> str:
    """Return a name without the modules that define it: `nn.linear.Linear` is `Linear`."""
    first, _, rest = name.partition(".")
    while rest and (first in _MODULES or first in _FOLDERS):
        name = rest
        first, _, rest = name.partition(".")
    return name


class Value:
    """What an expression stands for."""

    __slots__ = ()


@dataclass(frozen=True)
class Unknown(Value):
    """Anything."""


@dataclass(frozen=True)
class Nothing(Value):
    """No value was seen yet."""


UNKNOWN: Final = Unknown()
NOTHING: Final = Nothing()


@dataclass(frozen=True)
class Constant(Value):
    """A literal: None, a number, a text.

    Attributes:
        value: The literal.
        type_name: Its type, so that ``1`` and ``True`` differ.
    """

    value: object
    type_name: str


NONE: Final = Constant(None, "NoneType")


@dataclass(frozen=True)
class External(Value):
    """A name of another package: a module, a class, a function.

    Attributes:
        name: The dotted name as imports spell it, ``flax.nnx.Linear``.
    """

    name: str

    @property
    def public(self) -> str:
        """The name whatever package of NNX it is from."""
        return public_name(self.name)


@dataclass(frozen=True)
class Array(Value):
    """An array of jax or numpy."""


ARRAY: Final = Array()


@dataclass(frozen=True)
class Plain(Value):
    """A value of a type of Python without structure: int, str, float, callable, ...

    Attributes:
        type_name: The type.
    """

    type_name: str


@dataclass(eq=False)
class ProjectClass(Value):
    """A class that the project defines.

    Attributes:
        name: Its name.
        module: The dotted name of its module.
        node: Its definition.
        bases: What its bases stand for.
        decorators: What its decorators stand for, as public names.
        annotated: What its objects have by the annotations of the class.
        attributes: What its objects have by assignments, as the last round saw them.
        assigned: The same, as this round sees them.
        methods: Its functions.
        rebound: The names that more than one statement binds, in it or from outside: what they
            hold depends on when they are read.
    """

    name: str
    module: str
    node: cst.ClassDef
    bases: tuple[Value, ...] = ()
    decorators: tuple[str, ...] = ()
    annotated: dict[str, Value] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)
    assigned: dict[str, Value] = field(default_factory=dict)
    methods: dict[str, ProjectFunction] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)

    __hash__ = object.__hash__

    def assign(self, name: str, value: Value) -> None:
        """Note a value of an attribute of its objects."""
        self.assigned[name] = join(self.assigned.get(name, NOTHING), value)


@dataclass(frozen=True)
class ProjectModule(Value):
    """A module of the project.

    Attributes:
        name: Its dotted name.
        names: What is bound in it; the same mapping for the same module.
    """

    name: str
    names: ModuleNames = field(compare=False)


@dataclass(eq=False)
class Imported(Value):
    """What an import gives: other files are read when a name of them is looked up.

    Attributes:
        name: What is imported, dotted.
        find: Reads the other file.
        found: What the name stands for, once it was looked up.
    """

    name: str
    find: Callable[[], Value]
    found: Value = NOTHING
    is_sought: bool = False

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Whether it is the same; what nobody looked up in either is not looked up for it."""
        if not isinstance(other, Imported) or self.name != other.name:
            return False
        return self.found is other.found is NOTHING or self.value() == other.value()

    def value(self) -> Value:
        """Return what the name stands for; `NOTHING` where that is being found out."""
        if self.found is NOTHING and not self.is_sought:
            self.is_sought = True
            try:
                self.found = self.find()
            finally:
                self.is_sought = False
        return self.found


def resolved(value: Value) -> Value:
    """Return a value itself, for one that is imported, too."""
    return value.value() if isinstance(value, Imported) else value


@dataclass(eq=False)
class ProjectFunction(Value):
    """A function or lambda that the project defines.

    Attributes:
        name: Its name.
        node: Its definition.
        scope: The scope around it.
        owner: The class whose method it is.
        decorators: What its decorators stand for, as public names.
        arguments: What its callers pass, by parameter, as the last round saw it.
        passed: The same, as this round sees it.
        escapes: Whether something that the analysis does not know may call it.
        result: What it returns, as the last round saw it.
        returned: The same, as this round sees it.
    """

    name: str
    node: cst.FunctionDef | cst.Lambda
    scope: Scope
    owner: ProjectClass | None = None
    decorators: tuple[str, ...] = ()
    arguments: dict[str, Value] = field(default_factory=dict)
    passed: dict[str, Value] = field(default_factory=dict)
    escapes: bool = False
    result: Value = NOTHING
    returned: Value = NOTHING

    __hash__ = object.__hash__


@dataclass(frozen=True)
class Instance(Value):
    """An object of a class.

    Attributes:
        cls: The class: a public name (``nnx.Linear``) or a class of the project.
        of: What it is made of: the model of a State, GraphDef or Optimizer, the items of an
            nnx.List.
        origin: The call that made it, where there is one.
    """

    cls: str | ProjectClass
    of: Value = UNKNOWN
    origin: cst.Call | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Collection(Value):
    """A list, tuple, dict or set.

    Attributes:
        kind: ``list``, ``tuple``, ``dict``, ``set``.
        items: Its items, in order, where each is known (values of a dict).
        element: What any of its items stands for.
        keys: The keys of a dict that are literals, in the order of the items.
    """

    kind: str
    items: tuple[Value, ...] | None
    element: Value
    keys: tuple[object, ...] | None = None


@dataclass(frozen=True)
class Method(Value):
    """An attribute of an object that is to be called.

    Attributes:
        receiver: The object or class.
        name: The attribute.
        function: The function of the project that it is.
    """

    receiver: Value
    name: str
    function: ProjectFunction | None = None


@dataclass(frozen=True)
class Wrapped(Value):
    """A function under a transform, or with some arguments given: ``jax.jit(f)``, ``partial(f)``.

    Attributes:
        function: The function.
        by: The public name of the transform.
        given: How many positional arguments are given already.
        keywords: The keywords that are given already.
    """

    function: Value
    by: str
    given: int = 0
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True)
class OneOf(Value):
    """One of a few values.

    Attributes:
        options: The values; at least two, none of them `UNKNOWN` or a `OneOf`.
    """

    options: tuple[Value, ...]


def join(*values: Value) -> Value:
    """Return what stands for any of some values: `UNKNOWN` if one of them is."""
    seen = [value for value in values if value is not NOTHING]
    if not seen:
        return NOTHING
    first = seen[0]
    for value in seen:
        if value is not first:
            break
    else:
        return first
    imported = [value for value in seen if isinstance(value, Imported)]
    if len(imported) == len(seen) and any(value.found is NOTHING for value in imported):
        # Nobody has looked up the name yet.
        name = " or ".join(value.name for value in imported)
        return Imported(name, lambda: join(*map(resolved, imported)))
    options: list[Value] = []
    for value in map(resolved, seen):
        for option in options_of(value):
            if isinstance(option, Unknown):
                return UNKNOWN
            if not any(option == other and _same_origin(option, other) for other in options):
                options.append(option)
    merged = _merge_alike(options)
    if not merged:
        return NOTHING
    if len(merged) == 1:
        return merged[0]
    return OneOf(tuple(merged)) if len(merged) <= _MOST_OPTIONS else UNKNOWN


def _same_origin(one: Value, other: Value) -> bool:
    """Whether two equal values were made by the same call, as far as values know that."""
    if isinstance(one, Instance) and isinstance(other, Instance):
        return one.origin is other.origin
    return True


def options_of(value: Value) -> tuple[Value, ...]:
    """Return the values that one of several may be, or the value alone."""
    return value.options if isinstance(value, OneOf) else (value,)


def without_none(value: Value) -> Value:
    """Return a value without None: what it is when an attribute of it is used."""
    if not isinstance(value, OneOf):
        return value
    return join(*(option for option in value.options if option != NONE))


def _merge_alike(options: list[Value]) -> list[Value]:
    """Join objects of one class and collections of one kind: what they hold may differ."""
    merged: list[Value] = []
    for option in options:
        for position, other in enumerate(merged):
            one = _merged(other, option)
            if one is not None:
                merged[position] = one
                break
        else:
            merged.append(option)
    return merged


def _merged(first: Value, second: Value) -> Value | None:
    if isinstance(first, External) and isinstance(second, External):
        # What a project imports from the one or the other package of NNX is the same thing.
        is_same = first.public == second.public and first.public.partition(".")[0] == NNX
        return first if is_same else None
    if isinstance(first, Instance) and isinstance(second, Instance) and first.cls == second.cls:
        origin = first.origin if first.origin is second.origin else None
        return Instance(first.cls, join(first.of, second.of), origin)
    if isinstance(first, Collection) and isinstance(second, Collection):
        return _merged_collections(first, second)
    if isinstance(first, Constant) and isinstance(second, Constant) and NONE not in (first, second):
        return Plain(first.type_name) if first.type_name == second.type_name else None
    if isinstance(first, Plain) and isinstance(second, Constant):
        return first if first.type_name == second.type_name else None
    return None


def _merged_collections(first: Collection, second: Collection) -> Collection | None:
    if first.kind != second.kind:
        return None
    items: tuple[Value, ...] | None = None
    alike = first.items is not None and second.items is not None and first.keys == second.keys
    if alike and len(first.items or ()) == len(second.items or ()):
        pairs = zip(first.items or (), second.items or (), strict=True)
        items = tuple(join(one, other) for one, other in pairs)
    element = join(first.element, second.element)
    return Collection(first.kind, items, element, first.keys if items is not None else None)


def collection(kind: str, items: Iterable[Value], keys: tuple[object, ...] | None = None) -> Value:
    """Return a collection of known items."""
    known = tuple(items)
    return Collection(kind, known, join(*known), keys)


@dataclass(frozen=True)
class ImportBinding:
    """A name that an import statement binds.

    Attributes:
        local: The name.
        spelled: What it stands for, dotted, as the statement spells it.
        module: The module that the statement names, dotted: the one that has the name.
        imported: The name after ``import``, as the statement spells it.
        has_alias: Whether the statement says ``as``.
        is_from: Whether it is ``from ... import ...``.
        is_apart: Whether it is for type checkers or for the main module only: code elsewhere may
            not have the name when it runs.
        value: What it stands for.
    """

    local: str
    spelled: str
    module: str
    imported: str
    has_alias: bool
    is_from: bool
    is_apart: bool = False
    value: Value = NOTHING

    @property
    def full(self) -> str:
        """What it stands for, dotted: ``flax.nnx.Param``."""
        value = resolved(self.value) if self.is_from else NOTHING
        return value.name if isinstance(value, External) else self.spelled


@dataclass(eq=False)
class Scope:
    """The names of a module, class, function, lambda or comprehension.

    Attributes:
        kind: What it is of.
        parent: The scope around it.
        now: What each name is bound to where the analysis stands.
        seen: All that each name was bound to, in this round of the analysis.
        before: The same in the round before; complete, so nested functions look here.
        imports: The names that imports bind.
        outer: Names declared ``global`` or ``nonlocal``, with the scope that has them.
        shared: Names of it that functions assign with ``global`` or ``nonlocal``, at any time.
        narrowed: What an ``isinstance`` around says of a dotted name.
        function: The function whose scope it is.
        owner: The class whose scope it is.
    """

    kind: Literal["module", "class", "function", "comprehension"]
    parent: Scope | None = None
    now: dict[str, Value] = field(default_factory=dict)
    seen: dict[str, Value] = field(default_factory=dict)
    before: dict[str, Value] = field(default_factory=dict)
    imports: dict[str, ImportBinding] = field(default_factory=dict)
    outer: dict[str, Scope] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    narrowed: dict[str, Value] = field(default_factory=dict)
    function: ProjectFunction | None = None
    owner: ProjectClass | None = None

    def bind(self, name: str, value: Value) -> None:
        """Bind a name."""
        scope = self.outer.get(name, self)
        if scope is not self:
            scope.shared.add(name)
        if scope.owner is not None and scope.kind == "class" and name in scope.seen:
            scope.owner.rebound.add(name)
        scope.now[name] = value
        scope.seen[name] = join(scope.seen.get(name, NOTHING), value)
        for dotted in [key for key in self.narrowed if key.split(".")[0] == name]:
            del self.narrowed[dotted]

    def bind_import(self, binding: ImportBinding) -> None:
        """Bind a name that an import statement binds."""
        self.outer.get(binding.local, self).imports[binding.local] = binding
        self.bind(binding.local, binding.value)

    def owner_of(self, name: str) -> Scope | None:
        """Return the scope that a name is bound in, as seen from here; None for builtins."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.outer:
                return scope.outer[name]
            visible = scope is self or scope.kind != "class"
            if visible and (name in scope.seen or name in scope.before or name in scope.now):
                return scope
            scope = scope.parent
        return None

    def lookup(self, name: str) -> Value | None:
        """Return what a name stands for here; None where nothing binds it."""
        owner = self.owner_of(name)
        if owner is None:
            return None
        if self._runs_with(owner):
            value = owner.now.get(name)
            if value is not None:
                later = owner.before.get(name, NOTHING) if name in owner.shared else NOTHING
                return resolved(join(value, later))
        # The body of a function runs later than the statements around it.
        return resolved(owner.before.get(name, owner.seen.get(name, NOTHING)))

    def _runs_with(self, owner: Scope) -> bool:
        """Whether the code of this scope runs where the code of another one stands."""
        scope: Scope | None = self
        while scope is not None and scope is not owner:
            if scope.kind == "function":
                return False
            scope = scope.parent
        return True

    def next_round(self) -> None:
        """Start the next round: what was seen is complete now."""
        self.before = self.seen
        self.now = {}
        self.seen = {}
        self.narrowed = {}

    def import_of(self, name: str) -> ImportBinding | None:
        """Return the import that binds a name, as seen from here."""
        owner = self.owner_of(name)
        return owner.imports.get(name) if owner is not None else None


# Evaluates an expression, as seen from a scope.
Evaluate = Callable[[cst.CSTNode, Scope], Value]
