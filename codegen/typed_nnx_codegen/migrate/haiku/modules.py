"""Haiku's modules as modules of Linen: the constructor is fields and `setup`, other methods may build."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import libcst as cst
import libcst.matchers as m

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    is_docstring,
    names_of,
    parameters_of,
    targets_of,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectClass, options_of
from typed_nnx_codegen.migrate.haiku.expressions import (
    Functions,
    Spelling,
    StateOf,
    Untranslated,
    bound,
    called_name,
    haiku_name,
    is_initializer,
)

_MODULES: Final = ("Module", "RNNCore")
_CALL_OF_BASE: Final = m.Call(m.Attribute(m.Call(m.Name("super")), m.Name("__init__")))
_LINE_OF_BASE: Final = m.SimpleStatementLine([m.Expr(_CALL_OF_BASE)])
_NAME_FIELD: Final = m.SimpleStatementLine([m.AnnAssign(m.Name("name"))])
_PLAIN: Final = frozenset({"property", "staticmethod", "classmethod", "abstractmethod"})


@dataclass(eq=False)
class HaikuClass:
    """A class that derives from `hk.Module`.

    Attributes:
        node: Its definition.
        analysis: Its file.
        bases: The modules of the project that it derives from.
        name: What Haiku calls its objects where no name is given.
    """

    node: cst.ClassDef
    analysis: Analysis
    bases: tuple[HaikuClass, ...] = ()
    name: str = ""

    def methods(self) -> Iterator[cst.FunctionDef]:
        """Yield its methods."""
        for one in self.node.body.body:
            if isinstance(one, cst.FunctionDef):
                yield one

    def constructor(self) -> cst.FunctionDef | None:
        """Return its constructor."""
        return next((one for one in self.methods() if one.name.value == "__init__"), None)


class HaikuClasses:
    """The modules of Haiku in files.

    Args:
        analyses: The files.
    """

    def __init__(self, analyses: Iterable[Analysis]) -> None:
        self._owners = {node: one for one in analyses for node in one.nodes.of(cst.ClassDef)}
        self._known: dict[cst.ClassDef, HaikuClass | None] = {}

    def find(self, node: cst.ClassDef) -> HaikuClass | None:
        """Return the module that a definition defines; None where it is none."""
        if node not in self._known:
            self._known[node] = None  # classes that inherit from each other
            self._known[node] = self._read(node)
        return self._known[node]

    def all_in(self, analysis: Analysis) -> list[HaikuClass]:
        """Return the modules that a file defines."""
        found = (self.find(node) for node in analysis.nodes.of(cst.ClassDef))
        return [one for one in found if one is not None]

    def named_in(self, cls: HaikuClass) -> Iterator[HaikuClass]:
        """Yield the other modules that the code of one names."""
        for node in descendants(cls.node):
            if isinstance(node, cst.Name | cst.Attribute):
                for option in options_of(cls.analysis.values.get(node, UNKNOWN)):
                    found = self.find(option.node) if isinstance(option, ProjectClass) else None
                    if found is not None and found is not cls:
                        yield found

    def _read(self, node: cst.ClassDef) -> HaikuClass | None:
        analysis = self._owners.get(node)
        if analysis is None:
            return None
        bases: list[HaikuClass] = []
        is_module = False
        for arg in node.bases:
            value = arg.value.value if isinstance(arg.value, cst.Subscript) else arg.value
            is_module |= haiku_name(value, analysis) in _MODULES
            for option in options_of(analysis.values.get(value, UNKNOWN)):
                base = self.find(option.node) if isinstance(option, ProjectClass) else None
                bases += [] if base is None else [base]
        if not is_module and not bases:
            return None
        found = HaikuClass(node, analysis, tuple(bases))
        found.name = _name_of_objects(found) or camel_to_snake(node.name.value)
        return found


def camel_to_snake(name: str) -> str:
    """Return the name that Haiku gives objects of a class: `conv2_d` of `Conv2D`."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])", "_", name)
    return re.sub(r"_+", "_", split).lower() if "_" not in name else split.lower()


def _name_of_objects(cls: HaikuClass) -> str:
    """Return the name that a constructor gives where it is given none."""
    constructor = cls.constructor()
    if constructor is None:
        for one in cls.node.body.body:
            match one:
                case cst.SimpleStatementLine(
                    body=[cst.AnnAssign(target=cst.Name("name"), value=cst.SimpleString() as text)]
                ):
                    return str(text.evaluated_value)
        return ""
    defaults = {one.name.value: one.default for one in parameters_of(constructor.params)}
    given = _given_name(constructor)
    match given:
        case cst.Name(value=name) if name in defaults:
            given = defaults[name]
        case cst.BooleanOperation(left=cst.Name(), operator=cst.Or(), right=right):
            given = right
    return str(given.evaluated_value) if isinstance(given, cst.SimpleString) else ""


def _given_name(constructor: cst.FunctionDef) -> cst.BaseExpression | None:
    """Return the name that a constructor gives to that of `hk.Module`."""
    for node in descendants(constructor.body):
        if isinstance(node, cst.Call) and m.matches(node, _CALL_OF_BASE) and node.args:
            return node.args[0].value
    return None


# -- one module -------------------------------------------------------------------------------


class ClassTranslation:
    """Translates one module.

    Args:
        cls: The module.
        spelling: How its file spells what translated code imports.
        read: The names of attributes that other code reads.
    """

    def __init__(self, cls: HaikuClass, spelling: Spelling, read: frozenset[str]) -> None:
        self._cls = cls
        self._analysis = cls.analysis
        self._spelling = spelling
        self._read = read
        self._attributes: dict[str, str] = {}
        self.problems: list[Untranslated] = []

    def run(self) -> cst.ClassDef:
        """Return the class of Linen.

        Raises:
            Untranslated: It cannot be said in Linen.
        """
        node = self._cls.node
        self._check()
        constructor = self._cls.constructor()
        if constructor is not None:
            self._rename(constructor)
        nodes = [node, *(one.node for one in self._cls.bases)]
        settings = (self._analysis, self._spelling, self.problems, self._attributes)
        states = dict(states_of(nodes, *settings))
        body: list[cst.BaseStatement] = []
        for one in node.body.body:
            assert isinstance(one, cst.BaseStatement)
            if one is constructor and constructor is not None:
                body += self._constructor(constructor, states)
            elif isinstance(one, cst.FunctionDef):
                body.append(self._method(one, states))
            elif not m.matches(one, _NAME_FIELD):
                body.append(_visited(one, self._functions("", {})))
        decorators = [one for one in node.decorators if not self._is_dataclass(one)]
        functions = self._functions("", {})
        return node.with_changes(
            decorators=decorators,
            bases=[one.with_changes(value=_visited(one.value, functions)) for one in node.bases],
            body=node.body.with_changes(body=body),
        )

    def _check(self) -> None:
        cls = self._cls
        if not isinstance(cls.node.body, cst.IndentedBlock):
            raise Untranslated(cls.node, "its body is in one line")
        if cls.constructor() is not None and cls.bases:
            raise Untranslated(
                cls.node, "it has a constructor of its own, and derives from another module"
            )
        for one in cls.node.decorators:
            if not self._is_dataclass(one):
                raise Untranslated(one, f"its decorator `{code_of(one.decorator)}` is not known")

    def _is_dataclass(self, node: cst.Decorator) -> bool:
        inner = node.decorator.func if isinstance(node.decorator, cst.Call) else node.decorator
        value = self._analysis.values.get(inner, UNKNOWN)
        return isinstance(value, External) and value.name == "dataclasses.dataclass"

    def _functions(self, owner: str, states: Mapping[str, StateOf]) -> Functions:
        return Functions(
            *(self._analysis, self._spelling, owner, self._attributes, states, self.problems)
        )

    # -- methods ------------------------------------------------------------------------------

    def _method(self, node: cst.FunctionDef, states: Mapping[str, StateOf]) -> cst.FunctionDef:
        names = {code_of(one.decorator).rpartition(".")[2] for one in node.decorators}
        if unknown := names - _PLAIN:
            raise Untranslated(node, f"its decorator `{min(unknown)}` is not known")
        params = [*node.params.posonly_params, *node.params.params]
        is_bound = not names & {"staticmethod", "classmethod"}
        owner = params[0].name.value if params and is_bound else ""
        found = _visited(node, self._functions(owner, states))
        assert isinstance(found, cst.FunctionDef)
        if not owner or (names and not _declares(found, owner)):
            return found
        compact = cst.Decorator(cst.Attribute(cst.Name(self._spelling.linen), cst.Name("compact")))
        return found.with_changes(decorators=[*found.decorators, compact])

    # -- the constructor ----------------------------------------------------------------------

    def _rename(self, node: cst.FunctionDef) -> None:
        """Let the attributes that keep a parameter have its name: a field has one."""
        own = {one.name.value for one in self._cls.methods()}
        for one, parameter in _kept_parameters(node):
            if one != parameter and one not in self._read and parameter not in own:
                if _assigned(self._cls.node, parameter, node):
                    continue
                self._attributes[one] = parameter

    def _constructor(
        self, node: cst.FunctionDef, states: Mapping[str, StateOf]
    ) -> list[cst.BaseStatement]:
        params = node.params
        if params.star_kwarg is not None or isinstance(params.star_arg, cst.Param):
            raise Untranslated(node, "its constructor takes any arguments")
        if node.decorators or params.posonly_params:
            raise Untranslated(node, "its constructor is of a kind that is not known")
        owner = params.params[0].name.value
        name = _given_name(node)
        given = name.left if isinstance(name, cst.BooleanOperation) else name
        own_name = given.value if isinstance(given, cst.Name) else ""
        if not own_name and not isinstance(name, cst.SimpleString | None):
            raise Untranslated(node, "its name is computed")
        plain = self._functions("", {})
        fields: list[cst.BaseStatement] = []
        for one in (*params.params[1:], *params.kwonly_params):
            if one.name.value == own_name:
                continue
            is_first = not any("KW_ONLY" in code_of(line) for line in fields)
            if one in params.kwonly_params and is_first:
                fields.append(statement_of("_: dataclasses.KW_ONLY"))
            fields.append(self._field(one, plain))
        kept = {one.name.value for one in parameters_of(params)} - {owner, own_name}
        body = self._setup(node, owner, kept, own_name, states)
        if fields and isinstance(fields[0], cst.SimpleStatementLine):
            fields[0] = fields[0].with_changes(leading_lines=node.leading_lines)
        if not any(not is_docstring(one) for one in body):
            return fields
        setup = node.with_changes(
            name=cst.Name("setup"),
            params=cst.Parameters([cst.Param(cst.Name(owner))]),
            body=node.body.with_changes(body=body),
            returns=None,
            leading_lines=[cst.EmptyLine(indent=False)] if fields else node.leading_lines,
        )
        return [*fields, setup]

    def _field(self, one: cst.Param, functions: Functions) -> cst.BaseStatement:
        default = one.default
        if default is not None:
            translated = _visited(default, functions)
            assert isinstance(translated, cst.BaseExpression)
            if is_initializer(one.name.value):
                translated = functions.initializers.of_function(translated, default)
            default = translated
        annotation = _visited(one.annotation or cst.Annotation(cst.Name("Any")), functions)
        return cst.SimpleStatementLine([cst.AnnAssign(one.name, annotation, default)])

    def _setup(
        self,
        node: cst.FunctionDef,
        owner: str,
        fields: set[str],
        own_name: str,
        states: Mapping[str, StateOf],
    ) -> list[cst.BaseStatement]:
        rebound = _rebound(node) & fields
        dropped = {
            (one, parameter)
            for one, parameter in _kept_parameters(node)
            if self._attributes.get(one, one) == parameter and parameter not in rebound
        }
        functions = _OfConstructor(
            *(self._analysis, self._spelling, owner, self._attributes, states, self.problems),
            fields=frozenset(fields - rebound),
        )
        body: list[cst.BaseStatement] = []
        for statement in node.body.body:
            assert isinstance(statement, cst.BaseStatement)
            if m.matches(statement, _LINE_OF_BASE) or _kept(statement, owner) in dropped:
                continue
            if is_docstring(statement):
                continue
            body.append(_visited(statement, functions))
        if own_name and any(own_name in names_of(line) for line in body):
            raise Untranslated(node, f"its constructor reads `{own_name}`, which NNX has not")
        if not body:
            return []
        first = [statement_of(f"{one} = {owner}.{one}") for one in sorted(rebound)]
        return [*first, *body]


@dataclass
class _OfConstructor(Functions):
    """Translates the body of a constructor: what it is given is in fields.

    Args:
        fields: The parameters that are fields, and are not bound to anything else.
    """

    fields: frozenset[str] = frozenset()

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Return a parameter as the field."""
        if original_node.value in self.fields:
            return cst.Attribute(cst.Name(self.owner), updated_node)
        return super().leave_Name(original_node, updated_node)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        """Return an attribute, whose own name is no parameter."""
        return super().leave_Attribute(
            original_node, updated_node.with_changes(attr=original_node.attr)
        )

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        """Return an argument, whose keyword is no parameter."""
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        """Return a parameter of a function within."""
        if original_node.name.value in self.fields:
            raise Untranslated(original_node, "a function in the constructor has its parameter")
        return updated_node


def states_of(
    nodes: Sequence[cst.CSTNode],
    analysis: Analysis,
    spelling: Spelling,
    problems: list[Untranslated],
    attributes: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, StateOf]]:
    """Yield how the states begin that code of modules has."""
    plain = Functions(analysis, spelling, "self", attributes or {}, {}, problems)
    for call in (below for node in nodes for below in descendants(node)):
        if not isinstance(call, cst.Call) or called_name(call, analysis) != "get_state":
            continue
        given = bound(call, "name shape dtype init", call)
        name, init = given.get("name"), given.get("init")
        if not isinstance(name, cst.SimpleString) or init is None:
            continue
        parts = {key: _visited(one, plain) for key, one in given.items() if key != "init"}
        match init:
            case cst.Call(func=func, args=[one]) if (
                haiku_name(func, analysis) == "initializers.Constant"
            ):
                text = f"lambda shape, dtype: jnp.full(shape, {code_of(one.value)}, dtype)"
                init = cst.parse_expression(text)
            case cst.Call(func=func) if haiku_name(func, analysis):
                problems.append(Untranslated(call, "its first value is random"))
                continue
        dtype = parts.get("dtype") or cst.parse_expression("jnp.float32")
        yield name.raw_value, StateOf(parts["shape"], dtype, init)


_Code = TypeVar("_Code", cst.BaseExpression, cst.BaseStatement, cst.Annotation)


def _visited(node: _Code, functions: Functions) -> _Code:
    """Return code as it is translated; what kind it is of stays."""
    found: Any = node.visit(functions)
    return found  # type: ignore[no-any-return]  # an expression becomes one


def _declares(node: cst.FunctionDef, owner: str) -> bool:
    """Whether a method makes parameters or states."""
    made = m.Attribute(m.Name(owner), m.Name("param") | m.Name("variable"))
    return bool(m.findall(node.body, made))


def _kept(statement: cst.CSTNode, owner: str) -> tuple[str, str] | None:
    """Return the attribute and the name in `self.attribute = name`."""
    match statement:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(
                    targets=[cst.AssignTarget(cst.Attribute(value=cst.Name(value=of), attr=attr))],
                    value=cst.Name(value=name),
                )
            ]
        ) if of == owner:
            return attr.value, name
    return None


def _kept_parameters(node: cst.FunctionDef) -> list[tuple[str, str]]:
    """Return the attributes that keep parameters of a constructor as they are."""
    params = [one.name.value for one in parameters_of(node.params)]
    found = (_kept(one, params[0]) for one in node.body.body)
    rebound = _rebound(node)
    return [one for one in found if one and one[1] in params and one[1] not in rebound]


_BINDING: Final = (
    *(cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr, cst.CompFor),
)


def _rebound(node: cst.FunctionDef) -> set[str]:
    """Return the names that a function binds."""
    found: set[str] = set()
    for below in descendants(node.body):
        if isinstance(below, _BINDING):
            targets = targets_of(below.target)
            found |= {one.value for one in targets if isinstance(one, cst.Name)}
    return found


def _assigned(cls: cst.ClassDef, attribute: str, constructor: cst.FunctionDef) -> bool:
    """Whether a class has an attribute of a name that is no such parameter."""
    kept = {one for one, parameter in _kept_parameters(constructor) if parameter == attribute}
    own = m.Attribute(m.Name("self"), m.Name(attribute))
    return attribute not in kept and bool(m.findall(cls, own))


def statement_of(text: str) -> cst.BaseStatement:
    """Return a statement."""
    found = cst.parse_statement(text)
    assert isinstance(found, cst.BaseStatement)
    return found


def read_attributes(analyses: Sequence[Analysis]) -> dict[str, set[cst.ClassDef | None]]:
    """Return the classes in which attributes are read, by their name; None for other code."""
    found: dict[str, set[cst.ClassDef | None]] = {}
    for one in analyses:
        owners: dict[cst.CSTNode, cst.ClassDef] = {}
        for cls in one.nodes.of(cst.ClassDef):
            owners |= dict.fromkeys(descendants(cls), cls)
        for node in one.nodes.of(cst.Attribute):
            found.setdefault(node.attr.value, set()).add(owners.get(node))
    return found
