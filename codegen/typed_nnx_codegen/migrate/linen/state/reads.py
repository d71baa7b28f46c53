"""Reads of variables through their module, what `setup` computes of them, and layers that share them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.builders.finding import names_in_code
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Edit, Entry, Site, given_of
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Derived,
    Evaluate,
    Frame,
    Line,
    Recorder,
    Stale,
    VariableRead,
)
from typed_nnx_codegen.migrate.linen.domain.log import Event
from typed_nnx_codegen.migrate.linen.domain.markers import CALL, COUNTERPART
from typed_nnx_codegen.migrate.linen.domain.names import free_name
from typed_nnx_codegen.migrate.linen.domain.references import (
    BoundMethod,
    Choice,
    FieldModule,
    ModuleValue,
    SelfValue,
    VariableValue,
    sites_in,
)
from typed_nnx_codegen.migrate.linen.domain.values import NONE, Array, Seq, Table, Value
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed, wanted_shape

_MESSAGE: Final = "which variable this is in `.variables` is not known"
# The settings of a layer that are the shape of a variable.
_SHAPES: Final = {("flax.linen.Embed", "embedding"): ("num_embeddings", "features")}


class VariableReads:
    """Finds such reads, and writes them as attributes.

    Args:
        evaluate: Goes through an expression.
    """

    def __init__(
        self,
        evaluate: Evaluate,
    ) -> None:
        self._evaluate = evaluate

    def read(self, node: cst.Subscript, frame: Frame) -> Value | None:
        """Return the variable that an expression reads; None where it is something else."""
        found = _path(node)
        if found is None:
            return None
        owner, path = found
        site: Site | None = None
        match self._evaluate(owner, frame):
            case SelfValue() as instance if instance is frame.instance:
                pass
            case ModuleValue(site=given) if not (given.transforms or given.alternatives):
                site = given
            case _:
                return None
        frame.log(VariableRead(node, owner, site, path))
        return _value(site, path)


def write_reads(recorder: Recorder, plan_of: Callable[[LinenClass], ClassPlan]) -> None:
    """Write the reads of a module, whose variables are known now."""
    for read in recorder.log.of(VariableRead):
        target = recorder.plan.cls if read.site is None else read.site.target
        place = _place(read.path, _entries(target, read.site, recorder, plan_of))
        if place is None:
            recorder.mark(read.node, _MESSAGE)
        else:
            own = recorder.variables.get(read.path) if read.site is None else None
            is_array = own is None or isinstance(own.value, Array)
            reading = "[...]" if is_array else ".get_value()"
            recorder.replace(read.node, f"{code_of(read.owner)}{place}{reading}")


def _entries(
    target: str | LinenClass,
    site: Site | None,
    recorder: Recorder,
    plan_of: Callable[[LinenClass], ClassPlan],
) -> Iterable[Entry]:
    """Return the variables of what is read from."""
    if site is None:
        return recorder.plan.entries
    if isinstance(target, LinenClass):
        plan = plan_of(target)
        return [] if plan.stays or not plan.is_done else plan.entries
    layer = find_layer(target)
    if layer is None or site.is_bridged:
        return []
    return [
        Entry(one.linen, one.nnx)
        for one in layer.variables(given_of(site))
        if one.transpose is None and one.reshape is None
    ]


def _place(path: str, entries: Iterable[Entry]) -> str | None:
    """Return the attributes that lead to a variable: ``.layers[0].kernel``."""
    for entry in entries:
        names = [*re.finditer(r"\{(\w+)\}", entry.linen)]
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(entry.linen))
        match = re.fullmatch(pattern, path) if len({m[1] for m in names}) == len(names) else None
        if match is None:
            continue
        if entry.to is None or entry.change:
            return None
        parts = entry.to.format_map(match.groupdict()).split(".") if names else entry.to.split(".")
        if not all(part.isidentifier() or part.isdecimal() for part in parts):
            return None
        return "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)
    return None


def _path(node: cst.Subscript) -> tuple[cst.BaseExpression, str] | None:
    """Return the module and the path of `module.variables["params"]["kernel"]`."""
    keys: list[str] = []
    current: cst.BaseExpression = node
    while isinstance(current, cst.Subscript):
        match current.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]:
                keys.insert(0, str(key.evaluated_value))
            case _:
                return None
        current = current.value
    match current:
        case cst.Attribute(value=owner, attr=cst.Name(value="variables")) if len(keys) > 1:
            return (owner, "/".join(keys)) if _is_name(owner) else None
    return None


def _is_name(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _value(site: Site | None, path: str) -> Array:
    """Return what is known of a variable."""
    name = path.rpartition("/")[2]
    settings = _SHAPES.get((str(site.target), name)) if site is not None else None
    if site is None or settings is None or path.count("/") != 1:
        return Array()
    given = [site.given.get(setting) for setting in settings]
    if any(one is None for one in given):
        return Array()
    return Array(wanted_shape(Seq(tuple(one.value for one in given if one is not None))))


_DECLARES = ("param", "variable", "get_variable")


def is_derived(node: cst.SimpleStatementLine, frame: Frame) -> bool:
    """Whether a statement of `setup` computes from variables what belongs in a property.

    What it computes is noted either way.
    """
    recorder = frame.recorder
    owner = _owner(frame)
    if len(node.body) != 1 or not owner:
        return False
    match node.body[0]:
        case (
            cst.Expr(
                cst.Call(
                    func=cst.Attribute(cst.Name(value=name), attr=cst.Name(value="append"))
                ) as value
            )
            | cst.AugAssign(target=cst.Name(value=name), value=value)
            | cst.Assign(
                targets=[cst.AssignTarget(cst.Subscript(value=cst.Name(value=name)))], value=value
            )
        ):
            # A property would have to repeat all that leads to it.
            if name in frame.names and _is_stale(value, owner, frame):
                recorder.log.append(Stale(name))
            return False
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            pass
        case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
            pass
        case _:
            return False
    if not _is_stale(value, owner, frame):
        return False
    match target:
        case cst.Name(value=name):
            recorder.log.append(Stale(name, node))
            return False
        case cst.Attribute(value=cst.Name(value=of), attr=attr) if of == owner:
            found = _found(value, frame)
            read = {one.value for one in descendants(value) if isinstance(one, cst.Name)}
            is_repeatable = all(recorder.stale.get(name, node) is not None for name in read)
            is_plain = is_repeatable and not recorder.conditions and not recorder.loops
            if is_plain and not isinstance(found, ModuleValue):
                before = tuple(_needed(value, recorder))
                _keep_locals(attr.value, (value, *before), owner, frame)
                recorder.log.append(Derived(attr.value, value, before, owner))
                recorder.log.append(Stale(f"{owner}.{attr.value}"))
                return True
    recorder.mark(node, "it is computed from variables once; Linen computes it at each call", CALL)
    return False


def write_properties(recorder: Recorder) -> None:
    """Write the properties of a module into its plan."""
    replacements = recorder.plan.replacements
    for one in recorder.log.of(Derived):
        lines = ["@property", f"def {one.attribute}({one.owner}):"]
        for statement in one.before:
            lines += [
                f"    {line}" for line in code_with(statement, replacements).strip().split("\n")
            ]
        lines.append(f"    return {code_with(one.value, replacements)}")
        recorder.plan.properties[one.attribute] = "\n".join(lines)


def _keep_locals(attribute: str, nodes: Sequence[cst.CSTNode], owner: str, frame: Frame) -> None:
    """Let the object keep the locals of `setup` that a property reads.

    Args:
        attribute: The property.
        nodes: Its code.
        owner: The name of the object in `setup`.
        frame: The frame of `setup`.
    """
    recorder = frame.recorder
    cls = recorder.plan.cls
    taken = {one.name for one in cls.fields()} | set(cls.methods())
    kept: dict[str, str] = {}
    replacements, stale = recorder.plan.replacements, recorder.stale
    for node in nodes:
        written = [one for one in descendants(node) if one in replacements]
        aside = {id(part) for one in written for part in descendants(one)}
        for below in names_in_code(node):
            name = below.value
            is_local = name in frame.names and name != owner and name not in stale
            if not is_local or id(below) in aside:
                continue
            if name not in kept:
                kept[name] = free_name(f"{attribute}_{name}", taken)
                recorder.block.append(Line(f"self.{kept[name]} = {name}"))
            recorder.replace(below, f"{owner}.{kept[name]}")


def _owner(frame: Frame) -> str:
    params = None if frame.method is None else frame.method.node.params
    first = [] if params is None else [*params.posonly_params, *params.params]
    return first[0].name.value if first else ""


def _found(value: cst.BaseExpression, frame: Frame) -> Value | None:
    return frame.values.get(value)


def _is_stale(value: cst.BaseExpression, owner: str, frame: Frame) -> bool:
    """Whether an expression reads variables; one that makes the variable itself does not."""
    recorder = frame.recorder
    params, stale = recorder.params, recorder.stale
    target = recorder.setup_target
    match value:
        case cst.Call(func=cst.Attribute(cst.Name(value=name), cst.Name(value="param"))):
            if name == owner and target is not None and value is target[0]:
                return False  # the first value, which counts once in Linen, too
    for node in descendants(value):
        match node:
            case cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=attr)) if (
                name == owner
            ):
                is_target = target is not None and node is target[0]
                if attr.value in _DECLARES and not is_target:
                    return attr.value != "variable" or node is not value
                callee = _found(node.func, frame)
                method = callee.method if isinstance(callee, BoundMethod) else None
                if method is not None and _declares(method.node, recorder):
                    return True
            case cst.Attribute(value=cst.Name(value=name), attr=attr) if name == owner:
                if attr.value in params or f"{owner}.{attr.value}" in stale:
                    return True
            case cst.Attribute(attr=cst.Name(value="value")):
                if isinstance(_found(node.value, frame), VariableValue):
                    return True
            case cst.Name(value=name) if name in stale:
                return True
    return False


def _declares(method: cst.FunctionDef, recorder: Recorder) -> bool:
    names = (*_DECLARES, *recorder.params)
    return any(
        isinstance(node, cst.Attribute) and node.attr.value in names for node in descendants(method)
    )


def _needed(value: cst.BaseExpression, recorder: Recorder) -> Iterator[cst.BaseStatement]:
    """Yield the statements that give the locals in an expression, in their order."""
    names = {one.value for one in descendants(value) if isinstance(one, cst.Name)}
    found: list[cst.BaseStatement] = []
    for name, statement in reversed(recorder.stale.items()):
        if name in names and statement is not None:
            found.append(statement)
            names |= {one.value for one in descendants(statement) if isinstance(one, cst.Name)}
    yield from reversed(found)


@dataclass(frozen=True, eq=False)
class Drawn(Value):
    """The first value of a variable of a layer.

    Attributes:
        site: Where the layer is constructed.
        node: The call of its `init`.
        linen: The path of the variable in Linen.
        nnx: The attribute of the layer in NNX.
    """

    site: Site
    node: cst.Call
    linen: str
    nnx: str


@dataclass(frozen=True, eq=False)
class Draw(Event):
    """`init` of a layer is called; a variable of that is the first value of a parameter.

    Attributes:
        site: Where the layer is constructed.
        node: The call of `init`.
        linen: The path of the variable in Linen; empty for the call alone.
        name: The name of the parameter.
    """

    site: Site
    node: cst.Call
    linen: str = ""
    name: str = ""


def first_values(site: Site, recorder: Recorder) -> set[cst.Call]:
    """Return the calls of `init` of a layer that give parameters their first values."""
    return {one.node for one in recorder.log.about(Draw, site) if one.linen}


def drawn_variables(site: Site, node: cst.Call, recorder: Recorder) -> Value:
    """Return what `init` of a layer returns: its variables by collection."""
    layer = find_layer(str(site.target))
    assert layer is not None
    found: dict[object, dict[object, Value]] = {}
    for one in layer.variables(given_of(site)):
        collection, _, name = one.linen.partition("/")
        if one.transpose is None and one.reshape is None:
            found.setdefault(collection, {})[name] = Drawn(site, node, one.linen, one.nnx)
    recorder.log.append(Draw(site, node))
    return Table({collection: Table(inner) for collection, inner in found.items()})


def declare_drawn(drawn: Drawn, name: str, node: cst.Call, recorder: Recorder) -> None:
    """Let a parameter of a module be a variable of a layer.

    Args:
        drawn: The variable.
        name: The name of the parameter.
        node: The call that declares it.
        recorder: What is written down.
    """
    recorder.log.append(Draw(drawn.site, drawn.node, drawn.linen, name))
    recorder.replace(node, Reading(drawn.site, drawn.nnx))


def entries_of_drawn(site: Site, recorder: Recorder) -> Iterator[Entry]:
    """Yield the variables of such a layer by their names in the module; mark what is left."""
    firsts = first_values(site, recorder)
    draws = recorder.log.about(Draw, site)
    for call in draws:
        if call.node not in firsts:
            recorder.mark(call.node, "`init` of a layer here is not migrated", COUNTERPART)
    drawn = {one.linen: one.name for one in draws if one.linen}
    layer = find_layer(str(site.target))
    for one in layer.variables(given_of(site)) if layer is not None and drawn else ():
        if one.linen not in drawn:
            message = f"`{one.linen}` of this layer is no parameter of the module"
            recorder.mark(site.node, message, COUNTERPART)
            continue
        collection = one.linen.partition("/")[0]
        yield Entry(f"{collection}/{drawn[one.linen]}", f"{site.attribute}.{one.nnx}")


@dataclass(frozen=True, eq=False)
class Reading:
    """Writes the declaration of such a parameter as what reads it from the layer.

    Attributes:
        site: Where the layer is constructed.
        nnx: The attribute of the layer.
    """

    site: Site
    nnx: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the expression."""
        del node, updated
        return cst.parse_expression(f"{self.site.reference}.{self.nnx}[...]")


STATISTICS: Final = "batch_stats"
MODE: Final = "use_running_average"
# The line of the constructor; a new model is in training.
MODE_LINE: Final = f"self.{MODE} = False  # `train()` and `eval()` set it"


def ask_mode(node: cst.Call, frame: Frame) -> bool:
    """Write the question whether statistics are mutable as one for the mode of the module.

    Args:
        node: The question.
        frame: The frame.

    Returns:
        Whether that is possible.
    """
    if not frame.records:
        return True
    recorder = frame.recorder
    cls = recorder.plan.cls
    taken = {one.name for one in cls.fields()} | set(cls.methods())
    taken |= {one.attribute for one in recorder.variables.values()}
    if recorder.instance is not None:
        taken |= set(recorder.instance.attributes)
    if frame.verbatim or frame.method is None or MODE in taken:
        return False
    recorder.plan.asks_mode = True
    negated = next((one for one in descendants(frame.method.node) if _is_negation(one, node)), None)
    if negated is None:
        recorder.replace(node, f"(not self.{MODE})")
    else:
        recorder.replace(negated, f"self.{MODE}")
    return True


def _is_negation(node: cst.CSTNode, inner: cst.CSTNode) -> bool:
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=expression):
            return expression is inner
    return False


def share_scope(passed: Sequence[Passed], node: cst.Call, frame: Frame) -> Value:
    """Note that a submodule has the scope of the module, or the module that of one in a field."""
    if not frame.records:
        return NONE  # the plan of its class tells it
    match [one.value for one in passed]:
        case [SelfValue() as owner, ModuleValue() | Choice() as other] if (
            owner is frame.instance and _is_built(other)
        ):
            if frame.method is not None:
                for site in sites_in(other):
                    site.shares = True
                _drop(node, frame.method.node, frame)
            return NONE
        case [SelfValue() as owner, FieldModule(name=name)] if owner is frame.instance and any(
            name == one.name for one in owner.cls.fields()
        ):
            if frame.method is not None:
                frame.recorder.plan.shared = name
                _drop(node, frame.method.node, frame)
            return NONE
    frame.recorder.mark(node, "`nn.share_scope` with a module from outside is not migrated")
    return NONE


def is_scope(node: cst.BaseExpression, frame: Frame) -> bool:
    """Whether an expression is the scope of the module, which it has wherever methods run."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="scope")):
            return isinstance(frame.lookup(name), SelfValue)
    return False


def _is_built(value: Value) -> bool:
    """Whether a value is one of some submodules that are built here."""
    if isinstance(value, Choice):
        return all(_is_built(one) for one in value.options)
    return isinstance(value, ModuleValue)


def _drop(node: cst.Call, function: cst.FunctionDef, frame: Frame) -> None:
    """Drop the statement that is nothing but a call."""
    for line in descendants(function):
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=value)]) if value is node:
                frame.log(Edit(line, None))
