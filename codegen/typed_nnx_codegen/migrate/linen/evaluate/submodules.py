"""Submodules: where methods and defaults of fields construct them, and with what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import External, ProjectClass
from typed_nnx_codegen.migrate.linen.domain.class_plan import Bound, Build, Site
from typed_nnx_codegen.migrate.linen.domain.classes import Field, LinenClass, layer_subclass
from typed_nnx_codegen.migrate.linen.domain.frames import Dispatch, Evaluate, Frame, Line
from typed_nnx_codegen.migrate.linen.domain.markers import COUNTERPART
from typed_nnx_codegen.migrate.linen.domain.names import name_pattern
from typed_nnx_codegen.migrate.linen.domain.references import (
    ClassRef,
    ClassTransform,
    FieldModule,
    ModuleValue,
    Partial,
    PlainClass,
    Ref,
    Repeated,
    SelfValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Code,
    Const,
    Seq,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.project.fields import FieldFacts
from typed_nnx_codegen.migrate.linen.shapes.operands import BoundArguments, Passed, bind_names
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

# What NNX may call otherwise; other keywords stay as they are written.
_RENAMED: Final = "features"
_FIELD_FUNCTIONS: Final = frozenset(
    {"dataclasses.field", "flax.struct.field", "flax.linen.kw_only_dataclasses.field"}
)


@lru_cache(maxsize=4096)
def _names_in(default: cst.BaseExpression) -> frozenset[str]:
    return frozenset(one.value for one in descendants(default) if isinstance(one, cst.Name))


def default_of(one: Field, evaluate: Evaluate, frame: Frame) -> Value:
    """Return the default of a field, in the file of the class that declares it."""
    if one.default is None:
        return UNKNOWN
    inner = Frame(frame.recorder, one.owner.analysis, records=False)
    for other in one.owner.own_fields:
        if other.name == one.name:
            break
        if other.name in _names_in(one.default):
            # In the body of a class the name is the default of that field.
            inner.names[other.name] = default_of(other, evaluate, frame)
    options = _options(one, one.default)
    if options is None:
        return evaluate(one.default, inner)
    if "default_factory" in options:
        made = cst.Call(options["default_factory"])
        return evaluate(made, inner)
    return evaluate(options["default"], inner) if "default" in options else UNKNOWN


def note_default(
    one: Field, value: Value, found: Value, writer: ConstructorCode, frame: Frame
) -> Value:
    """Let the constructor build a module that is the default of a field.

    Args:
        one: The field.
        value: Its default.
        found: What it stands for.
        writer: Writes expressions for the constructor.
        frame: A frame of the module that is planned.

    Returns:
        What the field stands for now.
    """
    plan = frame.recorder.plan
    layer = find_layer(value.name) if isinstance(value, Ref) else None
    if layer is not None and layer.definition is not None:
        code = writer.of_value(value, frame)
        if code is not None:
            plan.defaults[one.name] = code
    if isinstance(value, Partial) and (value.args or _RENAMED in value.keywords):
        code = writer.of_value(value, frame)
        if code is not None:
            plan.defaults[one.name] = code
    if isinstance(value, ModuleValue) and isinstance(found, FieldModule):
        site = value.site
        site.linen = site.attribute = one.name
        site.reference = f"self.{one.name}"
        site.is_default = True
        frame.recorder.log.append(Build(site))
        for inner in _given_to(site):
            inner.is_nested = True
        plan.built.add(one.name)
        frame.recorder.setup.append(Line("", site=site))
        return replace(found, site=site)
    if _holds_module(value):
        plan.defaults[one.name] = "None"
        frame.recorder.mark(
            one.statement, f"the default of `{one.name}` holds modules that all share", COUNTERPART
        )
    return found


def _given_to(site: Site) -> Iterator[Site]:
    """Yield the modules that a module is constructed with, and those that these are."""
    for bound in site.given.values():
        if isinstance(bound.value, ModuleValue):
            yield bound.value.site
            yield from _given_to(bound.value.site)


def _holds_module(value: Value) -> bool:
    match value:
        case ModuleValue():
            return True
        case Seq(items=items):
            return any(_holds_module(item) for item in items)
        case Table(items=table):
            return any(_holds_module(item) for item in table.values())
        case Repeated(element=element):
            return _holds_module(element)
    return False


def _options(one: Field, default: cst.BaseExpression) -> dict[str, cst.BaseExpression] | None:
    """Return the arguments of `dataclasses.field`; None where the default is no call of it."""
    if not isinstance(default, cst.Call):
        return None
    value = one.owner.analysis.values.get(default.func, NOT_KNOWN)
    if not isinstance(value, External) or value.name not in _FIELD_FUNCTIONS:
        return None
    return {arg.keyword.value: arg.value for arg in default.args if arg.keyword is not None}


class Submodules:
    """Constructs submodules.

    Args:
        facts: What is known of fields.
        evaluate: Goes through an expression.
        dispatch: Goes through a call of something.
    """

    def __init__(
        self,
        facts: FieldFacts,
        evaluate: Evaluate,
        dispatch: Dispatch,
    ) -> None:
        self._facts = facts
        self._evaluate = evaluate
        self._dispatch = dispatch
        self._instances: dict[Site, SelfValue] = {}

    def construct(self, callee: Value, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return the object that a call of a class constructs."""
        match callee:
            case PlainClass():
                return self._record(callee, passed)
            case ClassRef(cls=cls, code=code):
                is_there = code.startswith("self.")
                return self._module(cls, code if is_there else "", (), passed, node, frame)
            case Ref(name=name, code=code):
                value = self._module(name, code, (), passed, node, frame)
                return _of_subclass(value, callee)
            case ClassTransform():
                return self._transformed(callee, passed, node, frame)
        return UNKNOWN

    def one_of(
        self,
        options: tuple[Value, ...],
        passed: list[Passed],
        node: cst.Call,
        frame: Frame,
        tests: tuple[str, ...] = (),
    ) -> Value:
        """Return the object that a call of one of several classes constructs.

        Args:
            options: The classes.
            passed: The arguments.
            node: The call.
            frame: Where it is.
            tests: Where the constructor chooses the class, the conditions of all but the last one.
        """
        first, *others = options
        value = self._dispatch(first, passed, node, frame)
        if not isinstance(value, ModuleValue):
            return UNKNOWN
        found: list[Site] = []
        with frame.recorder.trial():
            for other in others:
                made = self._dispatch(other, passed, node, frame)
                if isinstance(made, ModuleValue):
                    made.site.is_alternative = True
                    found.append(made.site)
        if tests and len(found) < len(others):
            return UNKNOWN
        value.site.alternatives, value.site.tests = tuple(found), tests
        return value

    def _transformed(
        self, callee: ClassTransform, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        transforms: list[ClassTransform] = []
        target: Value = callee
        while isinstance(target, ClassTransform):
            transforms.append(target)
            target = target.target
        match target:
            case ClassRef(cls=cls, code=code, home=home):
                is_there = code.startswith("self.") or home == frame.recorder.plan.cls.home
                code = code if is_there else ""
                return self._module(cls, code, tuple(transforms), passed, node, frame)
            case Ref(name=name, code=code) if find_layer(name) is not None:
                value = self._module(name, code, tuple(transforms), passed, node, frame)
                return _of_subclass(value, target)
            case Partial(function=ClassRef() | Ref() as inner):
                again: Value = inner
                for one in reversed(transforms):
                    again = replace(one, target=again)
                before = [
                    Passed(one.value, one.code, one.node or node, place=one.place)
                    for one in target.args
                ]
                given = [
                    Passed(one.value, one.code, one.node or node, name, place=one.place)
                    for name, one in target.keywords.items()
                    if all(each.keyword != name for each in passed)
                ]
                assert isinstance(again, ClassTransform)
                return self._transformed(again, [*before, *passed, *given], node, frame)
        frame.recorder.mark(node, f"`{callee.name}` of something that is no module is not migrated")
        return UNKNOWN

    def _module(
        self,
        target: str | LinenClass,
        code: str,
        transforms: tuple[ClassTransform, ...],
        passed: list[Passed],
        node: cst.Call,
        frame: Frame,
    ) -> Value:
        recorder = frame.recorder
        names = self._parameters(target)
        bound = bind_names(names, passed)
        if not names and isinstance(target, str):
            # A layer that NNX does not have: its arguments are only written again.
            numbered = {f"*{place}": one for place, one in enumerate(bound.extra) if not one.star}
            bound.by_name = numbered | bound.by_name
        method = frame.method.name if frame.method is not None else ""
        given = _given(bound)
        site = Site(node, target, code, given, method, transforms=transforms)
        site.method_node = frame.method.node if frame.method is not None else None
        site.loops = tuple(recorder.loops)
        site.conditions = tuple(recorder.conditions)
        site.branches = tuple(recorder.branch_path)
        site.is_open = bound.is_open
        site.stacks = recorder.stacks
        site.owner = recorder.owner
        site.is_verbatim = frame.verbatim
        name = bound.by_name.get("name")
        if name is not None and name.value != Const(None):
            site.explicit = _pattern(name.node, name.value)
            site.name_code = name.code or ""
        elif name is not None:
            site.given.pop("name")
        if frame.caller is not None and not frame.records:
            recorder.mark(
                frame.caller,
                "the function that is called here builds submodules: write it as a module",
            )
        if frame.records and frame.root == "setup" and not frame.verbatim:
            recorder.mark(node, "`setup` builds this submodule in a function that it calls")
        frame.log(Build(site))
        if frame.records and not frame.verbatim:
            recorder.write_site(site)
        return ModuleValue(site)

    def _parameters(self, target: str | LinenClass) -> list[str]:
        if isinstance(target, LinenClass):
            return [one.name for one in target.fields()]
        layer = find_layer(target)
        return list(layer.parameters) if layer is not None else []

    @staticmethod
    def is_class(value: Value) -> bool:
        """Whether a value is a class of modules, or a partial of one."""
        if isinstance(value, Partial):
            value = value.function
        if isinstance(value, Ref):
            return find_layer(value.name) is not None
        return isinstance(value, (ClassRef, ClassTransform))

    def instance(self, site: Site, frame: Frame) -> SelfValue:
        """Return the object of a submodule, to go through its methods."""
        if site not in self._instances:
            assert isinstance(site.target, LinenClass)
            fields: dict[str, Value] = {}
            for one in site.target.fields():
                given = site.given.get(one.name)
                if given is not None:
                    fields[one.name] = _in_field(given.value, one)
                elif site.is_open:
                    fields[one.name] = UNKNOWN
                else:
                    fields[one.name] = default_of(one, self._evaluate, frame)
            self._instances[site] = SelfValue(site.target, fields)
        return self._instances[site]

    def subclass(self, cls: LinenClass, code: str, frame: Frame) -> Value | None:
        """Return a class that derives from a layer as that layer; None where it is none."""
        found = layer_subclass(cls)
        if found is None:
            return None
        keywords = {
            name: Bound(
                default_of(one, self._evaluate, frame),
                code_of(one.default) if one.default is not None else "...",
                one.default,
                hidden=True,
            )
            for name, one in found.fields.items()
        }
        for name in found.computed:
            keywords[name] = Bound(UNKNOWN, "...", cls.node.name, hidden=True)
        return Partial(Ref(found.layer, code, cls.name), (), keywords, code)

    def _record(self, callee: PlainClass, passed: list[Passed]) -> Value:
        """Return an object of another class of the project: its fields, where it is a dataclass."""
        around = [one for one in ancestry(callee.cls)[0] if isinstance(one, ProjectClass)]
        names = list(dict.fromkeys(name for one in reversed(around) for name in one.annotated))
        bound = bind_names(names, passed)
        if bound.is_open or bound.extra or not names:
            return UNKNOWN
        given = {name: one.value for name, one in bound.by_name.items()}
        return Table({name: given.get(name, UNKNOWN) for name in names}, callee.cls)


def _of_subclass(value: Value, layer: Ref) -> Value:
    """Return an object of a layer, which may be one of a class that derives from it."""
    if layer.subclass and isinstance(value, ModuleValue):
        value.site.subclass = layer.subclass
    return value


def _in_field(value: Value, one: Field) -> Value:
    """Return what a field is given, which is a number, or several, where its type says so."""
    if isinstance(value, Code) and (one.is_number or one.is_shape):
        return replace(value, is_number=one.is_number, is_shape=one.is_shape)
    return value


def _given(bound: BoundArguments) -> dict[str, Bound]:
    return {
        name: Bound(one.value, one.code, one.node, bool(one.keyword), one.hidden, one.place)
        for name, one in bound.by_name.items()
        if name != "parent"
    }


def _pattern(node: cst.BaseExpression, value: Value) -> str:
    """Return the text of a name, with `{i}` for what is computed."""
    if isinstance(value, Const):
        return str(value.value)
    return name_pattern(node) or "{name}"
