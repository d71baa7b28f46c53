"""The Linen modules of a project: their fields, their methods, and what they inherit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.members import ancestry
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, dotted, is_name
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    ProjectClass,
    Value,
    Wrapped,
    options_of,
)
from typed_nnx_codegen.migrate.linen.domain.values import Holds
from typed_nnx_codegen.migrate.linen.layers import Layer, find_layer

LINEN: Final = "flax.linen"
# A base of cells has nothing but the names of methods that cells define.
_BASE: Final = frozenset(
    {"flax.linen.Module", "flax.linen.module.Module", "flax.linen.RNNCellBase"}
)
# The base of modules of another library, whose code was translated.
_TRANSLATED: Final = "flax.linen.haiku.Module"
_COMPACT: Final = frozenset({"flax.linen.compact", "flax.linen.module.compact"})
# Fields that every Linen module has.
RESERVED_FIELDS: Final = frozenset({"parent", "name"})
# Methods that become part of the constructor.
MOVED_METHODS: Final = frozenset({"setup", "__post_init__"})


def public_linen(name: str) -> str:
    """Return the public name of something of Linen: `flax.linen.linear.Dense` is in the package."""
    if name.startswith(f"{LINEN}.") and name not in _NAMED_ALIKE:
        parts = name.split(".")
        is_own = len(parts) > 3 and (parts[3].startswith("_") or parts[3] in _OF_MODULES)
        if len(parts) > 3 and parts[2] in _MODULES and not is_own:
            return f"{LINEN}.{'.'.join(parts[3:])}"
    return name


_MODULES: Final = frozenset(
    {
        *("module", "linear", "attention", "normalization", "recurrent", "stochastic", "pooling"),
        *("combinators", "activation", "transforms", "partitioning", "spmd", "summary", "dtypes"),
        *("kw_only_dataclasses", "batch_apply", "fp8_ops"),
    }
)


# What such a module has for those who name it, and the package does not.
_OF_MODULES: Final = frozenset(
    {
        *("default_kernel_init", "default_embed_init", "promote_dtype", "canonicalize_dtype"),
        *("canonicalize_padding", "flip_sequences", "Target", "Row", "Table", "RulesFallback"),
    }
)

# What the package has another thing of the same name for.
_NAMED_ALIKE: Final = frozenset({f"{LINEN}.partitioning.remat"})


_DATACLASSES: Final = frozenset({"dataclasses.dataclass", "flax.struct.dataclass"})


@dataclass(frozen=True)
class Field:
    """A dataclass field of a module.

    Attributes:
        name: Its name.
        annotation: Its type.
        default: Its default; None where it has none.
        owner: The class that declares it.
        statement: The statement that declares it.
        is_keyword: Whether it is given by name only: behind `KW_ONLY`, or by `kw_only=True`.
    """

    name: str
    annotation: cst.Annotation
    default: cst.BaseExpression | None
    owner: LinenClass
    statement: cst.AnnAssign
    is_keyword: bool = False

    @property
    def holds(self) -> Holds:
        """What it surely holds: its type says so, and no default that it may be None or -1."""
        if self.default is not None and is_name(self.default, "None"):
            return ""
        below = descendants(self.default) if self.default is not None else ()
        is_open = any(isinstance(one, cst.Minus) or is_name(one, "None") for one in below)
        match self.annotation.annotation:
            case cst.Name(value="int"):
                return "number"
            case cst.Name(value="str"):
                return "text"
            case cst.Subscript(
                value=kind, slice=[cst.SubscriptElement(slice=cst.Index(value=item)), *more]
            ):
                is_long = len(more) == 1 and code_of(more[0]).strip(" ,") == "..."
                name = dotted(kind).rpartition(".")[2]
                is_tuple = name in ("tuple", "Tuple") and is_long
                if is_name(item, "int") and (is_tuple or (name == "Sequence" and not more)):
                    return "" if is_open else "shape"
        return ""

    @property
    def holds_texts(self) -> bool:
        """Whether its type says that it holds several texts, or something by texts."""
        match self.annotation.annotation:
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=item)), *_]):
                return is_name(item, "str")
        return False


@dataclass(frozen=True)
class Method:
    """A method of a module.

    Attributes:
        name: Its name.
        node: Its definition.
        owner: The class that defines it.
        decorators: The public names of its decorators, ``partial(f)`` as ``f``; empty if unknown.
    """

    name: str
    node: cst.FunctionDef
    owner: LinenClass
    decorators: tuple[str, ...]

    @property
    def is_compact(self) -> bool:
        """Whether it may build submodules."""
        return any(name in _COMPACT for name in self.decorators)

    @property
    def is_bound(self) -> bool:
        """Whether it is called with an object."""
        return not {"builtins.staticmethod", "builtins.classmethod"} & set(self.decorators)

    @property
    def is_property(self) -> bool:
        """Whether it is read like an attribute."""
        return any(
            name in ("builtins.property", "functools.cached_property") for name in self.decorators
        )

    def parameters(self) -> Iterator[cst.Param]:
        """Yield its parameters without the object, in the order of positions, then keywords."""
        params = self.node.params
        every = [*params.posonly_params, *params.params]
        yield from every[1:] if self.is_bound else every
        yield from params.kwonly_params


@dataclass(eq=False)
class LinenClass:
    """A class that derives from ``flax.linen.Module``.

    Attributes:
        name: Its name.
        node: Its definition.
        analysis: The analysis of its module.
        bases: The Linen modules of the project that it inherits from directly.
        own_fields: The fields that it declares itself.
        own_methods: The methods that it defines itself.
        foreign: Public names of bases outside of the project, other than ``Module`` itself.
        is_translated: Whether it was written for another library than Linen.
    """

    name: str
    node: cst.ClassDef
    analysis: Analysis
    bases: tuple[LinenClass, ...] = ()
    own_fields: tuple[Field, ...] = ()
    own_methods: dict[str, Method] = field(default_factory=dict)
    constants: dict[str, cst.BaseExpression] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()
    is_translated: bool = False

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"LinenClass({self.name})"

    @property
    def decorators(self) -> tuple[str, ...]:
        """The public names of its decorators, the outermost first."""
        return tuple(decorator_name(self.analysis, one.decorator) for one in self.node.decorators)

    @property
    def home(self) -> str:
        """The file that names in its code are bound in."""
        return str(self.analysis.path)

    @property
    def public(self) -> str:
        """Its full name, from which each file spells it; its own where it is not at the top level."""
        is_top = any(one is self.node for one in self.analysis.tree.body)
        return f"{self.analysis.module}.{self.name}" if is_top else self.name

    def ancestry(self) -> list[LinenClass]:
        """Return the class and those that it inherits from, in the order of lookup."""
        found: list[LinenClass] = [self]
        for base in self.bases:
            for one in base.ancestry():
                if one in found:
                    found.remove(one)
                found.append(one)
        return found

    def fields(self) -> list[Field]:
        """Return its fields in the order of positions: those of bases first."""
        found: dict[str, Field] = {}
        for cls in reversed(self.ancestry()):
            for one in cls.own_fields:
                found[one.name] = one
        return sorted(found.values(), key=lambda one: one.is_keyword)

    def method(self, name: str) -> Method | None:
        """Return the method that a name finds."""
        for cls in self.ancestry():
            if name in cls.own_methods:
                return cls.own_methods[name]
        return None

    def method_after(self, owner: LinenClass, name: str) -> Method | None:
        """Return the method that `super()` finds in a method of a class."""
        every = self.ancestry()
        if owner not in every:
            return None  # the method is borrowed from another class
        for cls in every[every.index(owner) + 1 :]:
            if name in cls.own_methods:
                return cls.own_methods[name]
        return None

    def methods(self) -> dict[str, Method]:
        """Return all methods by name."""
        found: dict[str, Method] = {}
        for cls in reversed(self.ancestry()):
            found |= cls.own_methods
        return found

    def constant(self, name: str) -> tuple[cst.BaseExpression, LinenClass] | None:
        """Return what the class body assigns to a name that is no field, and in which class."""
        for cls in self.ancestry():
            if name in cls.constants:
                return cls.constants[name], cls
        return None

    def is_rebound(self, name: str) -> bool:
        """Whether more than one statement binds a name that is no field, so that it may change."""
        nodes = {cls.node: cls.analysis for cls in self.ancestry()}
        known = (one for there in nodes.values() for one in there.classes if one.node in nodes)
        return any(name in one.rebound for one in known)


class LinenClasses:
    """The Linen modules of the files that are migrated."""

    def __init__(self, analyses: Iterable[Analysis]) -> None:
        self.analyses = list(analyses)
        self._by_node: dict[cst.ClassDef, LinenClass | None] = {}
        self._owners: dict[cst.ClassDef, Analysis] = {}
        self._only_called: dict[cst.FunctionDef, bool] = {}
        self._attributes: dict[str, list[tuple[cst.Attribute, LinenClass | None]]] | None = None
        self._read_on: dict[str, set[LinenClass]] | None = None
        for analysis in self.analyses:
            for node in analysis.nodes.of(cst.ClassDef):
                self._owners[node] = analysis

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all modules."""
        return frozenset(cls.name for one in self.analyses for cls in self.all_in(one))

    def of(self, cls: ProjectClass) -> LinenClass | None:
        """Return the module that a class of the project is; None where it is none."""
        return self.find(cls.node)

    def find(self, node: cst.ClassDef) -> LinenClass | None:
        """Return the module that a definition defines; None where it is none."""
        if node not in self._by_node:
            self._by_node[node] = None  # classes that inherit from each other
            self._by_node[node] = self._read(node)
        return self._by_node[node]

    def all_in(self, analysis: Analysis) -> list[LinenClass]:
        """Return the modules that a file defines, in the order of the text."""
        found = (self.find(node) for node in analysis.nodes.of(cst.ClassDef))
        return [cls for cls in found if cls is not None]

    def owner(self, node: cst.ClassDef) -> Analysis | None:
        """Return the analysis of the file that defines a class."""
        return self._owners.get(node)

    def reads_of(self, name: str) -> list[tuple[cst.Attribute, LinenClass | None]]:
        """Return where attributes of a name stand in the files, and the modules around them."""
        if self._attributes is None:
            self._attributes = {}
            for analysis in self.analyses:
                owners = {
                    node: cls for cls in self.all_in(analysis) for node in descendants(cls.node)
                }
                for node in analysis.nodes.of(cst.Attribute):
                    found = self._attributes.setdefault(node.attr.value, [])
                    found.append((node, owners.get(node)))
        return self._attributes.get(name, [])

    def reads_on(
        self, name: str, cls: LinenClass
    ) -> Iterator[tuple[cst.Attribute, LinenClass | None]]:
        """Yield where an attribute of the objects of a module may be read, and the modules around."""
        for one, owner in self.reads_of(name):
            # `self` in a module that has nothing to do with it is another object.
            is_related = owner is None or cls in owner.ancestry() or owner in cls.ancestry()
            if is_related or not is_name(one.value, "self"):
                yield one, owner

    def is_only_called(self, method: Method) -> bool:
        """Whether just its own class reads a method, to call it, and no class replaces it."""
        if method.node not in self._only_called:
            self._only_called[method.node] = self._is_only_called(method)
        return self._only_called[method.node]

    def _is_only_called(self, method: Method) -> bool:
        owner = method.owner
        every = (cls for one in self.analyses for cls in self.all_in(one))
        having = (cls for cls in every if cls is not owner and method.name in cls.own_methods)
        if any(cls in owner.ancestry() or owner in cls.ancestry() for cls in having):
            return False
        return all(
            reader is owner and node in self._called
            for node, reader in self.reads_on(method.name, owner)
        )

    @cached_property
    def _called(self) -> frozenset[cst.CSTNode]:
        """What the files call."""
        return frozenset(call.func for one in self.analyses for call in one.nodes.of(cst.Call))

    def read_on(self, name: str) -> set[LinenClass]:
        """Return the modules of which the files read an attribute of a name as `Class.name`."""
        if self._read_on is None:
            self._read_on = {}
            for analysis in self.analyses:
                for node in analysis.nodes.of(cst.Attribute):
                    owner = analysis.values.get(node.value)
                    cls = self.of(owner) if isinstance(owner, ProjectClass) else None
                    if cls is not None:
                        self._read_on.setdefault(node.attr.value, set()).add(cls)
        return self._read_on.get(name, set())

    def _read(self, node: cst.ClassDef) -> LinenClass | None:
        analysis = self._owners.get(node)
        if analysis is None:
            return None
        bases: list[LinenClass] = []
        foreign: list[str] = []
        is_module = is_translated = False
        for arg in node.bases:
            value = arg.value
            if isinstance(value, cst.Subscript):  # Generic[T]
                value = value.value
            for option in options_of(analysis.values.get(value, UNKNOWN)):
                if isinstance(option, ProjectClass):
                    base = self.of(option)
                    if base is not None:
                        bases.append(base)
                elif isinstance(option, External):
                    name = public_linen(option.name)
                    if name in _BASE or name == _TRANSLATED:
                        is_module = True
                        is_translated |= name == _TRANSLATED
                    elif not name.startswith(("typing.", "abc.", "typing_extensions.")):
                        foreign.append(name)
                elif option == UNKNOWN:
                    foreign.append(dotted(value))
        if not is_module and not bases and not any(name.startswith(LINEN) for name in foreign):
            return None
        cls = LinenClass(node.name.value, node, analysis, tuple(bases), foreign=tuple(foreign))
        cls.is_translated = is_translated or any(one.is_translated for one in bases)
        cls.own_fields = tuple(_fields(cls))
        cls.own_methods = {one.name: one for one in _methods(cls)}
        cls.constants = dict(_constants(cls))
        return cls


def protocols(cls: LinenClass) -> Iterator[tuple[cst.Arg, ProjectClass]]:
    """Yield the bases of a module that are protocols.

    Python allows them for modules of Linen, and not for those of NNX, which have a metaclass.
    """
    for arg in cls.node.bases:
        value = arg.value.value if isinstance(arg.value, cst.Subscript) else arg.value
        found = cls.analysis.values.get(value, UNKNOWN)
        if isinstance(found, ProjectClass) and is_protocol(found):
            yield arg, found


def inherited_from(protocol: ProjectClass, cls: LinenClass) -> set[str]:
    """Return the names that a module has from a protocol, and does not define itself."""
    defined = {*cls.methods(), *(one.name for one in cls.fields())}
    names = {*protocol.methods, *protocol.attributes} - defined
    found = {name for name in names if cls.constant(name) is None}
    for base in protocol.bases:
        if isinstance(base, ProjectClass):
            found |= inherited_from(base, cls)
    return found


def types_in(annotation: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the types of a union; a type that is none."""
    match annotation:
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            yield from (*types_in(left), *types_in(right))
        case cst.Subscript(value=kind, slice=parts) if dotted(kind).rpartition(".")[2] in (
            "Optional",
            "Union",
        ):
            for part in parts:
                if isinstance(part.slice, cst.Index):
                    yield from types_in(part.slice.value)
        case _:
            yield annotation


def is_protocol(base: Value) -> bool:
    """Whether a base, or a class, is a protocol."""
    if isinstance(base, ProjectClass):
        return any(map(is_protocol, base.bases))
    return isinstance(base, External) and base.name.rpartition(".")[2] == "Protocol"


def _statements(node: cst.ClassDef) -> Iterator[cst.BaseStatement | cst.BaseSmallStatement]:
    if not isinstance(node.body, cst.IndentedBlock):
        yield from node.body.body
        return
    for statement in node.body.body:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from statement.body
        else:
            yield statement


def is_keyword_line(node: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
    """Whether a statement says that the fields behind it are given by name: ``_: KW_ONLY``."""
    match node:
        case cst.AnnAssign(annotation=annotation, value=None):
            return dotted(annotation.annotation).rpartition(".")[2] == "KW_ONLY"
    return False


def _says_keyword(arg: cst.Arg) -> bool:
    is_it = arg.keyword is not None and arg.keyword.value == "kw_only"
    return is_it and dotted(arg.value) == "True"


def _decorator_says_keyword(analysis: Analysis, node: cst.BaseExpression) -> bool:
    """Whether a decorator is given `kw_only`, or stands for one that is."""
    below = [one for one in (node, *descendants(node)) if isinstance(one, cst.Arg)]
    value = analysis.values.get(node, UNKNOWN)
    while isinstance(value, Wrapped) and "kw_only" not in value.keywords:
        value = value.function
    return isinstance(value, Wrapped) or any(map(_says_keyword, below))


def dataclasses_of(cls: LinenClass, classes: LinenClasses) -> Iterator[str]:
    """Yield the dataclasses with fields that a module inherits from and that are no modules."""
    for one in cls.ancestry():
        for arg in one.node.bases:
            start = one.analysis.values.get(arg.value, UNKNOWN)
            for base in ancestry(start)[0] if isinstance(start, ProjectClass) else ():
                home = classes.owner(base.node) if isinstance(base, ProjectClass) else None
                if home is None or not isinstance(base, ProjectClass) or classes.of(base):
                    continue
                is_one = any(is_dataclass_decorator(home, node) for node in base.node.decorators)
                if is_one and base.annotated:
                    yield base.name


def is_dataclass_decorator(analysis: Analysis, node: cst.Decorator) -> bool:
    """Whether a decorator makes a dataclass of a class."""
    return decorator_name(analysis, node.decorator) in _DATACLASSES


def _fields(cls: LinenClass) -> Iterator[Field]:
    is_keyword = any(_says_keyword(arg) for arg in cls.node.keywords) or any(
        _decorator_says_keyword(cls.analysis, one.decorator)
        for one in cls.node.decorators
        if is_dataclass_decorator(cls.analysis, one)
    )
    for statement in _statements(cls.node):
        if is_keyword_line(statement):
            is_keyword = True
            continue
        match statement:
            case cst.AnnAssign(target=cst.Name(value=name), annotation=annotation, value=value):
                kind = annotation.annotation
                kind = kind.value if isinstance(kind, cst.Subscript) else kind
                if not dotted(kind).endswith("ClassVar") and name not in RESERVED_FIELDS:
                    args = value.args if isinstance(value, cst.Call) else ()
                    by_name = is_keyword or any(_says_keyword(arg) for arg in args)
                    yield Field(name, annotation, value, cls, statement, by_name)


def _constants(cls: LinenClass) -> Iterator[tuple[str, cst.BaseExpression]]:
    for statement in _statements(cls.node):
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                yield name, value


def _methods(cls: LinenClass) -> Iterator[Method]:
    for statement in _statements(cls.node):
        if isinstance(statement, cst.FunctionDef):
            names = tuple(
                decorator_name(cls.analysis, one.decorator) for one in statement.decorators
            )
            yield Method(statement.name.value, statement, cls, names)


def decorator_name(analysis: Analysis, node: cst.BaseExpression) -> str:
    """Return the public name of a decorator; of what is called or given to `partial`, too."""
    if isinstance(node, cst.Call):
        name = decorator_name(analysis, node.func)
        if name == "functools.partial" and node.args:
            return decorator_name(analysis, node.args[0].value)
        return name
    value = analysis.values.get(node, UNKNOWN)
    while isinstance(value, Wrapped) and value.by == "functools.partial":
        value = value.function
    if isinstance(value, External):
        return public_linen(value.name)
    text = dotted(node)
    return f"builtins.{text}" if text in ("property", "staticmethod", "classmethod") else text


_HARMLESS: Final = frozenset({"builtins.object", "abc.ABC", "typing.Generic"})
# Settings that a constructor may compute: the shapes of arrays do not depend on them.
_COMPUTED: Final = ("epsilon", "momentum")


@dataclass(frozen=True)
class LayerSubclass:
    """A class that derives from a layer and gives its constructor other settings.

    Attributes:
        layer: The public name of the layer.
        computed: The settings that its own constructor gives.
    """

    layer: str
    computed: frozenset[str] = frozenset()


def layer_subclass(cls: LinenClass) -> LayerSubclass | None:
    """Return what a class changes of the layer that it derives from; None where it does more."""
    names = [name for name in cls.foreign if name not in _HARMLESS]
    if len(cls.bases) == 1 and not names:
        base = layer_subclass(cls.bases[0])
    elif len(names) == 1 and not cls.bases:
        base = LayerSubclass(names[0])
    else:
        return None
    layer = find_layer(base.layer) if base is not None else None
    if base is None or layer is None or not layer.nnx.startswith("nnx.") or "layers" in layer.nnx:
        return None
    if cls.constants or cls.own_fields or cls.node.keywords or cls.node.decorators:
        return None
    computed: frozenset[str] = frozenset()
    if cls.own_methods:
        constructor = cls.own_methods.get("__init__")
        if len(cls.own_methods) > 1 or constructor is None:
            return None
        found = _computed(constructor.node, layer)
        if found is None:
            return None
        computed = found
    return LayerSubclass(base.layer, base.computed | computed)


def _computed(node: cst.FunctionDef, layer: Layer) -> frozenset[str] | None:
    """Return the settings that a constructor gives; None where it does something else.

    It takes ``*args`` and ``**kwargs``, and calls the constructor of the layer at its end.
    """
    params = node.params
    stars = (params.star_arg, params.star_kwarg)
    plain = [*params.posonly_params, *params.params, *params.kwonly_params]
    if len(plain) != 1 or not all(isinstance(one, cst.Param) for one in stars):
        return None
    first = plain[0].name.value
    # Beside what it is called with, the object is not used.
    if any(isinstance(one, cst.Name) and one.value == first for one in descendants(node.body)):
        return None
    if len(list(_calls_of_parent(node))) != 1:
        return None
    names = set(_settings(node, layer))
    allowed = {one for one in layer.parameters if one.endswith("_init") or one in _COMPUTED}
    return frozenset(names) if names <= allowed else None


def _calls_of_parent(node: cst.FunctionDef) -> Iterator[cst.Call]:
    """Yield ``super().__init__(*args, **kwargs)`` where it is the last statement."""
    assert isinstance(node.body, cst.IndentedBlock)
    match node.body.body[-1]:
        case cst.SimpleStatementLine(
            body=[
                cst.Expr(
                    value=cst.Call(
                        func=cst.Attribute(
                            value=cst.Call(func=cst.Name(value="super"), args=[]),
                            attr=cst.Name(value="__init__"),
                        )
                    ) as call
                )
            ]
        ):
            stars = [arg.star for arg in call.args]
            if stars.count("*") == 1 and stars.count("**") == 1 and stars[0] == "*":
                yield call


def _settings(node: cst.FunctionDef, layer: Layer) -> Iterator[str]:
    """Yield the settings of a layer that a constructor names, as texts or as keywords."""
    for below in descendants(node.body):
        name: object = None
        if isinstance(below, cst.SimpleString):
            name = below.evaluated_value
        elif isinstance(below, cst.Arg) and below.keyword is not None:
            name = below.keyword.value
        if isinstance(name, str) and name in layer.parameters:
            yield name


_FIELD_FUNCTIONS: Final = frozenset(
    {"dataclasses.field", "flax.struct.field", "flax.linen.kw_only_dataclasses.field"}
)


def field_options(one: Field, default: cst.BaseExpression) -> dict[str, cst.BaseExpression] | None:
    """Return the arguments of `dataclasses.field`; None where the default is no call of it."""
    if not isinstance(default, cst.Call):
        return None
    value = one.owner.analysis.values.get(default.func, UNKNOWN)
    if not isinstance(value, External) or value.name not in _FIELD_FUNCTIONS:
        return None
    return {arg.keyword.value: arg.value for arg in default.args if arg.keyword is not None}
