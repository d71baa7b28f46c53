"""What expressions in Linen modules refer to: classes, functions, modules, parts of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import Constant, ProjectClass
from typed_nnx_codegen.migrate.linen.domain.class_plan import Condition, Site
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, Method
from typed_nnx_codegen.migrate.linen.domain.dims import Binders, Dim, Piece
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Code,
    Passed,
    Seq,
    Table,
    Value,
)


@dataclass(frozen=True)
class Ref(Value):
    """Something of another package.

    Attributes:
        name: Its public name.
        code: The expression for it where it is a field: ``self.act``; empty for its name.
        subclass: The class of the project that stands for it, where one does.
        alias: The name that a file gives it: ``DTYPE`` for ``jnp.float32``.
    """

    name: str
    code: str = ""
    subclass: str = ""
    alias: Code | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ClassRef(Value):
    """A Linen module class of the project.

    Attributes:
        cls: The class.
        code: The expression for it, as it is written or the field that holds it.
        binders: What binds the names in the expression.
        is_held: Whether something has it under that expression, with arguments: a partial.
    """

    cls: LinenClass
    code: str
    binders: Binders = ()
    is_held: bool = False


@dataclass(frozen=True)
class PlainClass(Value):
    """Another class of the project: a configuration, a record of outputs.

    Attributes:
        cls: The class.
        code: The expression for it.
        binders: What binds the names in the expression.
    """

    cls: ProjectClass
    code: str
    binders: Binders = ()


@dataclass(frozen=True)
class EnumMember(Code):
    """A member of an Enum of the project.

    Attributes:
        cls: The Enum.
        name: The name of the member.
    """

    cls: ProjectClass | None = None
    name: str = ""

    def is_same(self, other: EnumMember) -> bool | None:
        """Return whether another one is the same member; None where that is not sure."""
        if self.cls is None or other.cls is not self.cls or _OWN & {*self.cls.methods}:
            return None
        if self.name == other.name:
            return True
        match self.cls.attributes.get(self.name), self.cls.attributes.get(other.name):
            case Constant(value=one), Constant(value=two) if one != two:
                return False
        return None  # two names of one value are one member


# Methods of an Enum that say which of its members are equal.
_OWN: Final = frozenset({"__eq__", "__ne__", "__new__"})


@dataclass(frozen=True, eq=False)
class Partial(Value):
    """A function or class with some arguments given.

    Attributes:
        function: The function or class.
        args: The positional arguments.
        keywords: The keyword arguments.
        code: The expression for it where it is a field; empty to write `functools.partial(...)`.
    """

    function: Value
    args: tuple[Passed, ...]
    keywords: Mapping[str, Passed]
    code: str = ""

    def held_as(self, code: str) -> Partial:
        """Return it as a field or a name holds it, with all that partials in it have given."""
        if not isinstance(self.function, Partial):
            return replace(self, code=code)
        inner = self.function.held_as(code)
        keywords = {**inner.keywords, **self.keywords}
        return Partial(inner.function, (*inner.args, *self.args), keywords, code)


@dataclass(eq=False)
class SelfValue(Value):
    """The object whose method is gone through.

    Attributes:
        cls: Its class.
        fields: The values of its fields.
        attributes: What `setup` and other methods assign.
        assigned: What is assigned to each attribute, and the branches around.
        replaced: The targets of assignments that put a submodule in the place of a function, or the
            other way round, and whether it is the submodule.
        may_be_none: The attributes that a branch of `setup` assigns None to.
        site: Where it is constructed, as seen from the module that is planned; None for that one.
    """

    cls: LinenClass
    fields: dict[str, Value] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)
    assigned: dict[str, list[tuple[Value, tuple[Condition, ...]]]] = field(default_factory=dict)
    replaced: dict[cst.BaseExpression, bool] = field(default_factory=dict)
    may_be_none: set[str] = field(default_factory=set)
    is_set_up: bool = False

    __hash__ = object.__hash__


@dataclass(frozen=True)
class ModuleValue(Value):
    """A submodule.

    Attributes:
        site: Where it is constructed.
        is_last: Whether it is the last one that a loop makes.
    """

    site: Site
    is_last: bool = False


@dataclass(frozen=True)
class FieldModule(Value):
    """A module that a field holds, given by who constructs the object.

    Attributes:
        name: The field.
        default: What it is by default, or what callers give; UNKNOWN where that is not known.
        site: Where the module builds it if it is not given; None where it does not.
    """

    name: str
    default: Value = UNKNOWN
    site: Site | None = None


@dataclass(frozen=True)
class Repeated(Value):
    """A list or tuple of unknown length: a loop or a comprehension makes it, or only its ends are known.

    Attributes:
        element: What any of its items is.
        loop: The number of the loop of the constructor that makes the items; None if it is not one.
        also: The loops that make them in other branches.
        head: The first items, as far as they are known: `(x, *rest)`.
        tail: The last items, as far as they are known.
        parts: Where the constructor builds it part by part, what each iteration of `loop` appends,
            or the whole list where that is None: items, and lists for several of them. None where
            the items are alike.
        condition: Where this is a part that only one side of a branch appends, what decides.
        orelse: The parts of the other side.
        count: How many items there are, where a size says it.
        without_last: Whether the last one that the loop makes is not in it; None where more of the
            last ones may not be in it.
    """

    element: Value
    loop: int | None = None
    also: tuple[int, ...] = ()
    head: tuple[Value, ...] = ()
    tail: tuple[Value, ...] = ()
    parts: tuple[Value, ...] | None = None
    condition: Piece | None = None
    orelse: tuple[Value, ...] = ()
    without_last: bool | None = False
    count: Dim | None = None


# How the names of locals with sizes end.
_SUFFIX: Final = re.compile(r"_(features|sizes)(_\d+)?$")


@dataclass(frozen=True)
class SizedList(Repeated):
    """A list of arrays whose last sizes the constructor has, in the same order.

    Attributes:
        sizes: The expression for the sizes: a local, or a template; where an iteration goes on,
            the local that has them when it begins.
        now: The expression over that local for the sizes that it has now.
        is_local: Whether statements of the constructor change it.
        loops: The loops around it.
        depth: How many branches there are around the loop of that iteration; None where none
            goes on.
    """

    sizes: str = ""
    now: str = field(default="", compare=False)
    is_local: bool = False
    loops: tuple[int, ...] = ()
    depth: int | None = None

    @property
    def is_running(self) -> bool:
        """Whether an iteration of a loop over submodules goes on: it has other sizes later."""
        return self.depth is not None

    @property
    def code(self) -> str:
        """The expression for the sizes that it has now."""
        return self.now if self.is_running else self.sizes

    @property
    def local(self) -> str:
        """The local that has the sizes, now or when the iteration began; empty where none has."""
        return self.sizes if self.is_local or self.is_running else ""

    @property
    def base(self) -> str:
        """The name of the list, for locals with sizes of its items."""
        return _SUFFIX.sub("", self.local)

    def with_code(self, code: str) -> SizedList:
        """Return it with other sizes."""
        return replace(self, now=code) if self.is_running else replace(self, sizes=code)


@dataclass(frozen=True)
class BoundMethod(Value):
    """A method of a module with the module.

    Attributes:
        receiver: The module: a `SelfValue`, `ModuleValue` or `FieldModule`.
        name: The method.
        method: Its definition, where the project has it.
    """

    receiver: Value
    name: str
    method: Method | None = None


@dataclass(frozen=True)
class ArrayMethod(Value):
    """A method of an array.

    Attributes:
        array: The array.
        name: The method.
    """

    array: Array
    name: str


@dataclass(frozen=True)
class ClassTransform(Value):
    """A module class, or a function, under `nn.remat`, `nn.scan`, `nn.vmap` or `nn.jit`.

    Attributes:
        name: The public name of the transform.
        target: The class or function.
        args: The other arguments.
        keywords: The keyword arguments.
        node: The expression that applies it, or the decorator.
        condition: Where it applies only to some objects, the condition.
    """

    name: str
    target: Value
    args: tuple[Passed, ...] = ()
    keywords: tuple[Passed, ...] = ()
    node: cst.BaseExpression | None = field(default=None, compare=False)
    condition: str = ""

    def __hash__(self) -> int:
        return hash((self.name, self.target))

    def unwrapped(self) -> tuple[tuple[ClassTransform, ...], Value]:
        """Return the transforms, outermost first, and what they are of."""
        if isinstance(self.target, ClassTransform):
            inner, target = self.target.unwrapped()
            return (self, *inner), target
        return (self,), self.target


@dataclass(frozen=True)
class Choice(Value):
    """One of a few classes, functions or submodules, or None.

    Attributes:
        options: What it may be.
        code: The expression for it in the constructor; empty where that cannot say it.
        condition: Where a condition that the constructor decides says whether it is a submodule,
            or else None or a function, that condition: `Block() if self.deep else None`.
        tests: Where conditions of the constructor choose a class, the condition of each option
            but the last one.
    """

    options: tuple[Value, ...]
    code: str = ""
    condition: str = field(default="", compare=False)
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class OneOf(Value):
    """A field that holds one of several classes: the one who constructs the module says which.

    Attributes:
        options: The classes, or partials of them.
    """

    options: tuple[Value, ...]


@dataclass(frozen=True)
class VariableValue(Value):
    """A variable of a collection, as `self.variable` returns it.

    Attributes:
        attribute: The attribute of the new model.
        array: What it holds.
    """

    attribute: str
    array: Value


def sites_in(value: Value) -> list[Site]:
    """Return the submodules that a value holds."""
    match value:
        case ModuleValue(site=site):
            return [site]
        case Seq(items=items) | Choice(options=items):
            return [site for item in items for site in sites_in(item)]
        case Table(items=table):
            return [site for item in table.values() for site in sites_in(item)]
        case Repeated(element=element):
            return sites_in(element)
    return []
