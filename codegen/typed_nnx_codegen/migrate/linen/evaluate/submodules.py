"""Submodules: where methods and defaults of fields construct them, and what their attributes are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    dotted,
    is_name,
    name_nodes,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import Method as ProjectMethod
from typed_nnx_codegen.migrate.analysis.values import ProjectClass, ProjectFunction, resolved
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    COUNTERPART,
    Build,
    BuildAtCall,
    Condition,
    Need,
    OutsideChange,
    Site,
    movable,
)
from typed_nnx_codegen.migrate.linen.domain.classes import (
    Field,
    LinenClass,
    Method,
    field_options,
    layer_subclass,
    types_in,
)
from typed_nnx_codegen.migrate.linen.domain.code import negated, parsed
from typed_nnx_codegen.migrate.linen.domain.expr import Constructed
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Dispatch,
    Evaluate,
    Frame,
    FunctionRef,
    Line,
    Recorder,
)
from typed_nnx_codegen.migrate.linen.domain.names import bound_in, name_pattern
from typed_nnx_codegen.migrate.linen.domain.references import (
    BoundMethod,
    Choice,
    ClassRef,
    ClassTransform,
    FieldModule,
    ModuleValue,
    OneOf,
    Partial,
    PlainClass,
    Ref,
    Repeated,
    SelfValue,
    sites_in,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Passed,
    Seq,
    Table,
    Value,
    made_by,
)
from typed_nnx_codegen.migrate.linen.evaluate.declaring import defined
from typed_nnx_codegen.migrate.linen.evaluate.functions import Functions, is_number_or_text
from typed_nnx_codegen.migrate.linen.evaluate.lists import one_by_one
from typed_nnx_codegen.migrate.linen.evaluate.merging import is_class, is_of_callables
from typed_nnx_codegen.migrate.linen.evaluate.recurrence import SEQUENTIAL
from typed_nnx_codegen.migrate.linen.layers import Helper, find_layer
from typed_nnx_codegen.migrate.linen.project.fields import (
    Evidence,
    FieldFacts,
    held_kind,
    in_field,
    with_counterpart,
    with_given_numbers,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import BoundArguments, bind_names
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

# What NNX may call otherwise; other keywords stay as they are written.
_FEATURES: Final = "features"


@lru_cache(maxsize=4096)
def _names_in(default: cst.BaseExpression) -> frozenset[str]:
    return frozenset(one.value for one in descendants(default) if isinstance(one, cst.Name))


@dataclass(frozen=True)
class _MadeInCall:
    """Writes an `nn.Sequential` as one that a method makes, without a name."""

    name: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the call."""
        del node
        layers = next(
            one.value for one in updated.args if one.keyword is None or one.keyword.value != "name"
        )
        args = [cst.Arg(layers, star="*")]
        if isinstance(layers, cst.List | cst.Tuple) and layers.elements:
            args = [
                cst.Arg(one.value, star="*" if isinstance(one, cst.StarredElement) else "")
                for one in layers.elements
            ]
        return cst.Call(parsed(self.name), args)


def _is_of_call(layers: Passed) -> bool:
    """Whether only a call knows the layers of an `nn.Sequential`, or a setting of one of them."""
    if layers.code is None:
        return True
    items = layers.value.items if isinstance(layers.value, Seq) else ()
    sites = [one.site for one in items if isinstance(one, ModuleValue)]
    return any(True for site in sites for _ in movable(site))


NOT_BUILT: Final = Helper("not_built")
BUILDER: Final = (
    "the function that is called here builds submodules or variables: write it as a method"
)


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
    options = field_options(one, one.default)
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
    if isinstance(value, Partial) and (value.args or _FEATURES in value.keywords):
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
    made = made_by(value)
    if made is not None and made.cls and isinstance(found, FieldModule):
        frame.recorder.mark(one.statement, of_elsewhere(made.cls), COUNTERPART)
    if _holds_module(value):
        plan.defaults[one.name] = "None"
        frame.recorder.mark(
            one.statement, f"the default of `{one.name}` holds modules that all share", COUNTERPART
        )
    return found


def of_elsewhere(name: str) -> str:
    """Return the message of a marker for a class of another package, which may be a module."""
    return f"`{name}` is of another package: if it is a Linen module, keep it in `nnx.bridge.ToNNX`"


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


class Submodules:
    """Constructs submodules."""

    def __init__(
        self,
        facts: FieldFacts,
        evaluate: Evaluate,
        dispatch: Dispatch,
        code: ConstructorCode,
        refer: Callable[[str], str],
    ) -> None:
        self._refer = refer
        self._facts = facts
        self._code = code
        self._evaluate = evaluate
        self._dispatch = dispatch
        self._instances: dict[Site, SelfValue] = {}

    def construct(self, callee: Value, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return the object that a call of a class constructs."""
        match callee:
            case PlainClass():
                return self._record(callee, passed)
            case ClassRef(cls=cls, code=code, is_held=is_held):
                is_there = is_held or code.startswith("self.") or code.endswith(("]", ")"))
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
        transforms, target = callee.unwrapped()
        match target:
            case ClassRef(cls=cls, code=code, binders=binders, is_held=is_held):
                is_there = (
                    is_held
                    or code.startswith("self.")
                    or binders == (frame.recorder.plan.cls.home,)
                )
                code = code if is_there else ""
                return self._module(cls, code, transforms, passed, node, frame)
            case Ref(name=name, code=code) if find_layer(name) is not None:
                value = self._module(name, code, transforms, passed, node, frame)
                return _of_subclass(value, target)
            case Partial(function=ClassRef() | Ref() as inner):
                again = spelled_as(inner, target.code)
                for one in reversed(transforms):
                    again = replace(one, target=again)
                assert isinstance(again, ClassTransform)
                return self._transformed(again, with_given(target, passed), node, frame)
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
        given = with_given_numbers(self._facts, target, _given(bound), frame)
        given = {name: self._defined(name, one, frame) for name, one in given.items()}
        site = Site(node, target, code, given, method, transforms=transforms)
        site.method_node = frame.method.node if frame.method is not None else None
        site.loops = tuple(recorder.loops)
        site.conditions = tuple(recorder.conditions)
        site.branches = tuple(recorder.branch_path)
        site.is_open = bound.is_open
        # A class of the project has the parameters in the same order.
        stars = ("*", "**") if isinstance(target, LinenClass) else ("**",)
        options = [
            f"{one.star}{one.code}"
            for one in bound.extra
            if one.star in stars and one.code is not None
        ]
        is_said = len(options) == sum(bool(one.star) for one in bound.extra)
        site.options = tuple(options) if is_said else None
        site.stacks = recorder.stacks
        site.owner = frame.name_of_instance()
        site.is_verbatim = frame.verbatim
        layers = bound.by_name.get("layers")
        is_given = layers is not None and not transforms and _is_of_call(layers)
        if target == SEQUENTIAL and is_given and frame.records and not frame.verbatim:
            # It has no variables: the method makes it of what is there.
            frame.replace(node, _MadeInCall(self._refer("nnx.Sequential")))
            site.is_made_in_call = True
            return ModuleValue(site)
        name = bound.by_name.get("name")
        if name is not None and name.value != Const(None):
            site.explicit = _pattern(name.node, name.value)
            site.name_code = name.code or ""
            site.is_named = site.explicit != "{name}" or _is_text(name, frame)
        elif name is not None:
            site.given.pop("name")
        if frame.caller is not None and not frame.records:
            recorder.mark(frame.caller, BUILDER)
        frame.log(Build(site))
        if frame.records and not frame.verbatim:
            recorder.write_site(site)
        return ModuleValue(site)

    def _defined(self, name: str, bound: Passed, frame: Frame) -> Passed:
        """Return a setting that is a function of the method as one of the constructor."""
        if bound.code is not None or not frame.records or not isinstance(bound.value, FunctionRef):
            return bound
        is_kept = not name.endswith("init")  # which only the constructor calls
        code = defined(bound.value, self._code, frame, is_kept=is_kept)
        return bound if code is None else replace(bound, code=code, place=None)

    def _parameters(self, target: str | LinenClass) -> list[str]:
        if isinstance(target, LinenClass):
            return [one.name for one in target.fields()]
        layer = find_layer(target)
        return list(layer.parameters) if layer is not None else []

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

    @staticmethod
    def subclass(derived: LinenClass, code: str) -> Value | None:
        """Return a class that derives from a layer as that layer; None where it is none."""
        found = layer_subclass(derived)
        if found is None:
            return None
        keywords = {
            name: Passed(UNKNOWN, "...", derived.node.name, name, hidden=True)
            for name in found.computed
        }
        return Partial(Ref(found.layer, code, derived.name), (), keywords, code)

    def _record(self, callee: PlainClass, passed: list[Passed]) -> Value:
        """Return an object of another class of the project: its fields, where it is a dataclass."""
        around = [one for one in ancestry(callee.cls)[0] if isinstance(one, ProjectClass)]
        names = list(dict.fromkeys(name for one in reversed(around) for name in one.annotated))
        bound = bind_names(names, passed)
        if bound.is_open or bound.extra or not names:
            return UNKNOWN
        given = {name: one.value for name, one in bound.by_name.items()}
        return Table({name: given.get(name, UNKNOWN) for name in names}, callee.cls)


def with_given(callee: Partial, passed: list[Passed]) -> list[Passed]:
    """Return the arguments of a call of a partial, with those that it has already."""
    is_hidden = bool(callee.code)
    later = {one.keyword for one in passed if one.keyword}
    by_name = [one for name, one in callee.keywords.items() if name not in later]
    first, last = (
        [replace(one, hidden=is_hidden or one.hidden) for one in part]
        for part in (callee.args, by_name)
    )
    return [*first, *passed, *last]


def spelled_as(function: Value, code: str) -> Value:
    """Return a class as it is spelled where a field or a name holds a partial of it."""
    match function:
        case Ref() if code:
            return replace(function, code=code)
        case ClassRef() if code:
            return replace(function, code=code, is_held=True)
    return function


def built_at(
    call: cst.Call,
    function: cst.FunctionDef | cst.Lambda,
    run: Callable[[], Value],
    frame: Frame,
) -> Value:
    """Return what a call returns: it is written as the submodule where it returns one.

    Args:
        call: The call.
        function: The function that is called.
        run: Goes through it.
        frame: Where the call is.
    """
    recorder = frame.recorder
    is_setup = frame.root == "setup"
    before = len(recorder.log.of(Build))
    changes = recorder.log.of(OutsideChange)
    value = run()
    if not only_computes(function):
        frame.log(OutsideChange(call))
    built = [one.site for one in recorder.log.of(Build)[before:]]
    if not built or (frame.records and is_setup and not frame.verbatim):
        return value
    # That of another module calls functions that it is given.
    is_one = frame.records and changes == recorder.log.of(OutsideChange)
    is_one = is_one and (is_setup or NONE not in _options_of(value))
    is_one = is_one and _is_one(value, built, recorder)
    for site in built if is_setup else ():
        site.is_verbatim = is_one
        if is_one:
            recorder.unwrite(site)
        else:
            recorder.mark(site.node, "`setup` builds this submodule in a function that it calls")
    if not is_one:
        return value
    first, *others = sites_in(value)
    first.node, first.alternatives = call, tuple(others)
    for other in others:
        other.node, other.is_alternative = call, True
        recorder.log.drop(*recorder.log.about(Build, other))
    frame.log(BuildAtCall(call, function))
    if not others:
        return value
    if len(first.tests) > len(others):
        # The function refuses all else.
        first.otherwise = f'{NOT_BUILT.name}("{code_of(call.func)}")'
        frame.log(Need(NOT_BUILT))
    if not is_setup:
        for site in built:
            recorder.unwrite(site)
        first.conditions = tuple(recorder.conditions)
        recorder.block.append(Line("", site=first))
    return ModuleValue(first)


@lru_cache(maxsize=4096)
def local_definition(
    function: cst.FunctionDef | cst.Lambda, method: cst.FunctionDef
) -> tuple[cst.BaseStatement, frozenset[cst.CSTNode]] | None:
    """Return the statement of a method that gives a function its name, and the names that call it.

    None where something else is done with the name than to call it.
    """
    statement: cst.BaseStatement | None = None
    bound: cst.Name | None = None
    called: set[cst.CSTNode] = set()
    for one in descendants(method.body):
        match one:
            case cst.FunctionDef(name=name, decorators=[]) if one is function:
                statement, bound = one, name
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(cst.Name() as name)], value=value)]
            ) if value is function:
                statement, bound = one, name
            case cst.Call(func=cst.Name() as name):
                called.add(name)
    if statement is None or bound is None:
        return None
    uses = {one for one in name_nodes(method) if one.value == bound.value and one is not bound}
    return (statement, frozenset(uses)) if uses <= called else None


@lru_cache(maxsize=4096)
def only_computes(function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether a function changes nothing but its own names."""
    if isinstance(function, cst.Lambda):
        return True
    own = {*bound_in(function.body)}
    for node in descendants(function.body):
        match node:
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target):
                changed: Sequence[cst.BaseExpression] = [target]
            case cst.AugAssign(target=target):
                changed = [target]
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=target))):
                changed = [target]
            case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()):
                changed = []
            case cst.Expr() | cst.Global() | cst.Nonlocal() | cst.Del() | cst.NamedExpr():
                return False
            case _:
                continue
        roots = [root for one in changed for root in _roots(one)]
        if not own.issuperset(roots) or len(roots) < len(changed):
            return False
    return True


def _roots(target: cst.BaseExpression) -> list[str]:
    """Return the names that an expression begins with."""
    while isinstance(target, cst.Attribute | cst.Subscript):
        target = target.value
    match target:
        case cst.Name(value=name):
            return [name]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [name for one in elements for name in _roots(one.value)]
    return []


def _options_of(value: Value) -> tuple[Value, ...]:
    """Return what a value may be."""
    return value.options if isinstance(value, Choice) else (value,)


def _is_one(value: Value, built: Sequence[Site], recorder: Recorder) -> bool:
    """Whether a value is one submodule, or what conditions of the constructor choose.

    The conditions become tests of the first one.

    Args:
        value: What a function returns.
        built: The submodules that it builds.
        recorder: The evaluation.
    """
    options = _options_of(value)
    modules = [one.site for one in options if isinstance(one, ModuleValue)]
    is_maybe = len(modules) < len(options)
    if not modules or any(one != NONE for one in options if not isinstance(one, ModuleValue)):
        return False
    if {*built} != {part for one in modules for part in _with_parts(one)}:
        return False
    if any(site.loops != tuple(recorder.loops) for site in built):
        return False
    if len(options) == 1:
        return all(site.conditions == tuple(recorder.conditions) for site in built)
    if len(built) > len(modules) or (is_maybe and len(modules) > 1):
        return False
    ruled_out: set[Condition] = set()
    tests: list[str] = []
    for site in modules:
        inner = site.conditions[len(recorder.conditions) :]
        left = [one for one in inner if one not in ruled_out]
        if len(left) > 1 or (not left and (is_maybe or site is not modules[-1])):
            return False
        for one in left:
            code = recorder.branch_codes.get(one.number, "")
            if not code:
                return False
            test = cst.parse_expression(code)
            tests.append(code if one.side else code_of(negated(test)))
            ruled_out.add(replace(one, side=not one.side))
    modules[0].tests = tuple(tests)
    return True


def _with_parts(site: Site) -> Iterator[Site]:
    """Yield a submodule and those that it is given when it is constructed."""
    yield site
    for given in site.given.values():
        for part in sites_in(given.value):
            yield from _with_parts(part)


def _of_subclass(value: Value, layer: Ref) -> Value:
    """Return an object of a layer, which may be one of a class that derives from it."""
    if layer.subclass and isinstance(value, ModuleValue):
        value.site.subclass = layer.subclass
    return value


def _in_field(value: Value, one: Field) -> Value:
    """Return what a field is given, which is a number, several or a text, where its type says so."""
    return replace(value, holds=one.holds) if isinstance(value, Code) and one.holds else value


def _given(bound: BoundArguments) -> dict[str, Passed]:
    return {name: one for name, one in bound.by_name.items() if name != "parent"}


def _pattern(node: cst.BaseExpression, value: Value) -> str:
    """Return the text of a name, with `{i}` for what is computed."""
    if isinstance(value, Const):
        return str(value.value)
    return name_pattern(node) or "{name}"


def _is_text(name: Passed, frame: Frame) -> bool:
    """Whether a name that is computed is surely a text: a field or a function of the project says so."""
    if isinstance(name.value, Code) and name.value.holds:
        return name.value.holds == "text"
    called = name.node.func if isinstance(name.node, cst.Call) else name.node
    found = resolved(frame.analysis.values.get(called, NOT_KNOWN))
    function = found.function if isinstance(found, ProjectMethod) else found
    node = function.node if isinstance(function, ProjectFunction) else None
    return isinstance(node, cst.FunctionDef) and (
        node.returns is not None and is_name(node.returns.annotation, "str")
    )


_WIDE: Final = {"features": "out_features"}
_CELL: Final = {"features": "hidden_features"}
_RENAMED: Final = {
    **dict.fromkeys(("Dense", "DenseGeneral", "Conv", "ConvTranspose"), _WIDE),
    **dict.fromkeys(("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell"), _CELL),
}


def read_attribute(
    base: ModuleValue | FieldModule, name: str, node: cst.CSTNode | None, frame: Frame
) -> Value | None:
    """Return an attribute of a layer that NNX names otherwise; None for any other attribute.

    Args:
        base: The layer, or a field that holds one.
        name: The attribute.
        node: The expression that reads it, which is written anew.
        frame: The function.
    """
    if not frame.records or not isinstance(node, cst.Attribute):
        return None
    new = _new_name(base, name)
    if not new:
        return None
    is_any = isinstance(base, FieldModule) and base.default == UNKNOWN
    frame.recorder.replace(node, _code(code_of(node.value).strip(), name, new, is_any=is_any))
    if isinstance(base, ModuleValue):
        return None
    return Code(_code(f"self.{base.name}", name, new, is_any=is_any))


def _code(owner: str, name: str, new: str, *, is_any: bool) -> str:
    if not is_any:
        return f"{owner}.{new}"
    # Other modules have it as it was.
    return f'({owner}.{new} if hasattr({owner}, "{new}") else {owner}.{name})'


def _new_name(base: ModuleValue | FieldModule, name: str) -> str:
    kind: object = None
    if isinstance(base, ModuleValue):
        kind = base.site.target
    elif base.default == UNKNOWN:
        return "out_features" if name == "features" else ""
    elif isinstance(base.default, Ref):
        kind = base.default.name
    if not isinstance(kind, str):
        return ""
    return _RENAMED.get(kind.rpartition(".")[2], {}).get(name, "")


# What every Linen module has.
API: Final = frozenset(
    {
        *("param", "variable", "make_rng", "sow", "perturb", "is_initializing", "has_variable"),
        *("get_variable", "put_variable", "is_mutable_collection", "has_rng", "bind", "apply"),
        *("init", "init_with_output", "clone", "copy", "unbind", "tabulate", "lazy_init"),
        *("module_paths", "__dataclass_fields__", "get_wrapped_methods"),
    }
)


@dataclass(frozen=True, eq=False)
class Members:
    """Finds attributes of modules.

    Attributes:
        functions: Goes through methods and functions.
        submodules: Constructs submodules.
        evidence: What callers give for fields.
        facts: What is known of fields.
        code: Writes expressions for the constructor.
        evaluate: Goes through an expression.
        of_file: Goes through a name of a file.
    """

    functions: Functions
    submodules: Submodules
    evidence: Evidence
    facts: FieldFacts
    code: ConstructorCode
    evaluate: Evaluate
    of_file: Evaluate

    def of_self(self, base: SelfValue, name: str, node: cst.Attribute, frame: Frame) -> Value:
        """Return an attribute of the object whose method is gone through."""
        if not base.is_set_up and name not in base.fields:
            self.functions.set_up(base, frame)
        if name in base.attributes:
            return base.attributes[name]
        if name in base.fields:
            return base.fields[name]
        method = base.cls.method(name)
        if method is not None:
            if method.is_property:
                return self.functions.call_method(base, method, [], node, frame)
            return BoundMethod(base, name, method)
        if name in API:
            return BoundMethod(base, name)
        if name in ("scope", "path", "name", "variables", "parent"):
            return UNKNOWN
        return self._constant(base, name, frame)

    def _constant(self, base: SelfValue, name: str, frame: Frame) -> Value:
        found = base.cls.constant(name)
        if found is None:
            return UNKNOWN
        node, owner = found
        inner = Frame(frame.recorder, owner.analysis, records=False)
        value = self.evaluate(node, inner)
        if not base.cls.is_rebound(name):
            if isinstance(value, Const):
                is_shown = frame.records and is_number_or_text(value.value)
                return Const(value.value, f"self.{name}" if is_shown else "")
            if isinstance(value, (Ref, ClassRef, FunctionRef)):
                return value
            if isinstance(value, Table) and is_of_callables(value) and frame.records:
                return replace(value, code=f"self.{name}")
        return Code(f"self.{name}") if frame.records else UNKNOWN

    def has(self, passed: Sequence[Passed], frame: Frame) -> Value:
        """Return whether an object whose method is gone through has an attribute."""
        match [one.value for one in passed]:
            case [SelfValue() as base, Const(value=str() as name)]:
                if not base.is_set_up and name not in base.fields:
                    self.functions.set_up(base, frame)
                known = {*base.fields, *base.attributes, *base.cls.methods(), *API}
                is_there = name in known or base.cls.constant(name) is not None
                is_whole = not any(one.foreign or _is_mixed(one) for one in base.cls.ancestry())
                if is_there or (is_whole and name not in _assigned(base.cls)):
                    return Const(is_there)
            case [Array(origin=origin, is_said=is_said), Const(value=str() as name)]:
                # That of a table: an argument may be one, whatever its type says.
                if name in dir(dict) and (not origin or (is_said and not frame.records)):
                    return Const(False)
        return UNKNOWN

    def of_module(
        self,
        base: ModuleValue | FieldModule,
        name: str,
        frame: Frame,
        node: cst.CSTNode | None = None,
    ) -> Value:
        """Return an attribute of a submodule."""
        renamed = read_attribute(base, name, node, frame)
        if renamed is not None:
            return renamed
        if isinstance(base, FieldModule):
            if name in API or base.default == UNKNOWN:
                return BoundMethod(base, name)
            return self._of_default(base, name)
        if name in ("variables", "scope") and frame.records:
            frame.recorder.mark(
                node or frame.recorder.plan.cls.node, f"`.{name}` of a submodule is not migrated"
            )
            return UNKNOWN
        site = base.site
        if isinstance(site.target, LinenClass):
            instance = self.submodules.instance(site, frame)
            if name in instance.fields:
                return self._of_held(site, name, instance.fields[name], frame)
            method = site.target.method(name)
            if (method is not None and not method.is_property) or name in API:
                return BoundMethod(base, name, method)
            self.functions.set_up(instance, frame)
            value = instance.attributes.get(name, UNKNOWN)
            return value
        layer = find_layer(site.target)
        if layer is not None and name in layer.parameters:
            given = site.given.get(name)
            return given.value if given is not None else UNKNOWN
        return BoundMethod(base, name)

    @staticmethod
    def _of_held(site: Site, name: str, value: Value, frame: Frame) -> Value:
        """Return a field of a submodule; a partial in the place of its class may say another one."""
        is_said = name in site.given and not site.given[name].hidden
        if is_said or not site.code.startswith("self.") or not frame.records:
            return value
        code = f"{frame.recorder.slots.name(Constructed(site.node))}.{name}"
        kind = held_kind(value)
        if kind is None:
            return Code(code)
        return value if isinstance(kind, FieldModule) else in_field(kind, code, {})

    @staticmethod
    def _of_default(base: FieldModule, name: str) -> Value:
        default = base.default
        if isinstance(default, ClassRef):
            method: Method | None = default.cls.method(name)
            return BoundMethod(base, name, method)
        return BoundMethod(base, name)

    # -- fields -------------------------------------------------------------------------------

    def root_field(self, one: Field, frame: Frame) -> Value:
        """Return what a field of the module that is planned stands for: whoever constructs it says.

        What it is by default, or what callers in the project give, says what kind of thing it is.
        """
        code = f"self.{one.name}"
        facts = self.facts
        if facts.is_of_call(frame.recorder.plan.cls, one.name):
            return Array() if facts.holds_arrays(one) else UNKNOWN
        default = default_of(one, self.evaluate, frame)
        given = [default, *self.evidence.of(one, frame)]
        held = [kind for kind in map(held_kind, given) if kind is not None]
        kinds = with_counterpart(facts.kinds(one, held))
        names = {
            keyword.path: keyword.name
            for keyword in facts.keywords(frame.recorder.plan.cls)
            if keyword.field == one.name and keyword.path
        }
        found = [in_field(kind, code, names) for kind in kinds]
        if len(found) > 1 and all(is_class(one) for one in found):
            value: Value = OneOf(tuple(found))
        else:
            value = self._kind_of(one, found, frame)
        return note_default(one, default, value, self.code, frame)

    def _kind_of(self, one: Field, found: list[Value], frame: Frame) -> Value:
        """Return what a field stands for, of what it is by default or given."""
        modules = [value for value in found if isinstance(value, FieldModule)]
        if len(modules) > 1:
            kinds = tuple(dict.fromkeys(each.default for each in modules))
            return FieldModule(one.name, kinds[0] if len(kinds) == 1 else OneOf(kinds))
        functions = [value for value in found if isinstance(value, FunctionRef)]
        if functions and any(is_class(value) for value in found):
            return Code(f"self.{one.name}", holds=one.holds)  # functions do not take sizes
        if found:
            return found[0]
        if self._is_module(one, frame):
            return FieldModule(one.name)
        kind = class_in(one.annotation.annotation)
        if kind is not None:
            inner = Frame(frame.recorder, one.owner.analysis, records=False)
            held = held_kind(self.of_file(kind, inner))
            if isinstance(held, ClassRef):
                return in_field(held, f"self.{one.name}", {})
        code = f"self.{one.name}"
        return one_by_one(one, code) or Code(code, holds=one.holds)

    def _is_module(self, one: Field, frame: Frame) -> bool:
        inner = Frame(frame.recorder, one.owner.analysis, records=False)
        for option in types_in(one.annotation.annotation):
            match self.of_file(option, inner):
                case ClassRef():
                    return True
                case Ref(name=name) if name == "flax.linen.Module" or find_layer(name) is not None:
                    return True
        return False


def class_in(annotation: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the class in the type of a field that holds a class: ``type[Torso] | None``."""
    for option in types_in(annotation):
        match option:
            case cst.Subscript(
                value=kind, slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]
            ) if dotted(kind).rpartition(".")[2] in ("type", "Type"):
                return inner
    return None


def _is_mixed(cls: LinenClass) -> bool:
    """Whether a module inherits from a class of the project that is no module."""
    bases = [cls.analysis.values.get(arg.value, NOT_KNOWN) for arg in cls.node.bases]
    return sum(isinstance(one, ProjectClass) for one in bases) > len(cls.bases)


def _assigned(cls: LinenClass) -> set[str]:
    """Return the attributes that methods of a module assign, and those that every object has."""
    found = {"scope", "path", "name", "variables", "parent"}
    for method in cls.methods().values():
        for node in descendants(method.node.body):
            match node:
                case cst.Assign(targets=targets):
                    found |= {
                        one.target.attr.value
                        for one in targets
                        if isinstance(one.target, cst.Attribute)
                    }
    return found
