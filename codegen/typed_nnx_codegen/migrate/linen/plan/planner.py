"""Plans the modules of a project, each once, inner ones first; finds code without a place any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.console.bugs import described
from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    children,
    code_of,
    descendants,
    dotted,
    is_name,
)
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    Instance,
    OneOf,
    ProjectClass,
    ProjectFunction,
)
from typed_nnx_codegen.migrate.analysis.values import Method as MethodOf
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    COUNTERPART,
    NAME,
    Build,
    BuildAtCall,
    Call,
    ClassPlan,
    Edit,
    Enter,
    Lifted,
    Mark,
    Need,
    Recursion,
    Site,
    linen_class_name,
)
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LINEN,
    MOVED_METHODS,
    LinenClass,
    LinenClasses,
    Method,
    dataclasses_of,
    inherited_from,
    layer_subclass,
    protocols,
    public_linen,
)
from typed_nnx_codegen.migrate.linen.domain.expr import Unnamed
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallEdit,
    Frame,
    Line,
    Recorder,
    Take,
)
from typed_nnx_codegen.migrate.linen.domain.references import ClassTransform, SelfValue
from typed_nnx_codegen.migrate.linen.evaluate.entries import (
    drop_stale,
    entries_of,
    write_accesses,
    write_properties,
    write_reads,
)
from typed_nnx_codegen.migrate.linen.evaluate.executor import Executor, TooLong
from typed_nnx_codegen.migrate.linen.evaluate.lifts import name_optional
from typed_nnx_codegen.migrate.linen.evaluate.module_calls import is_sayable, write_output
from typed_nnx_codegen.migrate.linen.evaluate.submodules import BUILDER, NOT_BUILT, local_definition
from typed_nnx_codegen.migrate.linen.evaluate.variables import mark_stacked
from typed_nnx_codegen.migrate.linen.layers import Given, find_layer
from typed_nnx_codegen.migrate.linen.layers.products import CellLayer
from typed_nnx_codegen.migrate.linen.plan.naming import Naming
from typed_nnx_codegen.migrate.linen.project.fields import (
    Discovery,
    held_containers,
    optional_fields,
)
from typed_nnx_codegen.migrate.linen.project.gradual import Gradual
from typed_nnx_codegen.migrate.linen.project.rewriting import Builder, called_by, find_builders
from typed_nnx_codegen.migrate.linen.trace.record import Trace
from typed_nnx_codegen.migrate.linen.write.method_edits import Moving, edit_methods
from typed_nnx_codegen.migrate.linen.write.printing import Printing

_BY_NAME = ("getattr", "vars", "dir")


def drop_unread(recorder: Recorder, classes: LinenClasses) -> None:
    """Drop the statements of `setup` that build submodules which nothing reads."""
    plan = recorder.plan
    for line in recorder.setup:
        statement = line.statement if isinstance(line, Line) else None
        attribute = _assigned(statement)
        if statement is None or attribute is None:
            continue
        within = set(descendants(statement))
        sites = [site for site in plan.sites if site.node in within]
        is_called = any(plan.log.about(Call, site) or site.alternatives for site in sites)
        if not sites or is_called or _is_read(attribute, plan.cls, classes):
            continue
        plan.log.append(Edit(statement, None))
        for site in sites:
            plan.log.drop(*plan.log.about(Build, site))


def drop_helpers(recorder: Recorder, classes: LinenClasses) -> None:
    """Drop the methods and local functions whose calls are all written as what they return."""
    plan = recorder.plan
    calls = plan.log.of(BuildAtCall)
    within: set[cst.CSTNode] = {one.call.func for one in calls}
    methods = plan.cls.methods()
    kept = {name: one for name, one in methods.items() if one.node in plan.methods}
    is_more = bool(calls)
    while is_more:
        reads = {
            name: {node for node, _ in classes.reads_on(name, one.owner)}
            for name, one in kept.items()
        }
        gone = {
            name: one.node for name, one in kept.items() if reads[name] and reads[name] <= within
        }
        for name, node in gone.items():
            plan.log.append(Edit(node, None))
            within |= {*descendants(node)}
            del kept[name]
        is_more = bool(gone)
    for function in {one.function for one in calls}:
        for method in methods.values():
            found = local_definition(function, method.node)
            if found is not None and found[1] <= within:
                plan.log.append(Edit(found[0], None))


def _is_for_setups(method: Method, cls: LinenClass, classes: LinenClasses) -> bool:
    """Whether only the `setup` of other modules reads a method."""
    reads = [*classes.reads_on(method.name, method.owner)]
    return bool(reads) and all(
        owner is not cls and _is_in_setup(node, owner) for node, owner in reads
    )


def _is_in_setup(node: cst.CSTNode, cls: LinenClass | None) -> bool:
    setup = None if cls is None else cls.own_methods.get("setup")
    return setup is not None and node in descendants(setup.node)


def _assigned(statement: cst.BaseStatement | None) -> cst.Attribute | None:
    """Return the attribute that a statement assigns; None where it does something else."""
    match statement:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name()) as target)]
                )
            ]
        ):
            return target
    return None


def _is_read(attribute: cst.Attribute, cls: LinenClass, classes: LinenClasses) -> bool:
    """Whether an attribute of the objects of a module is read anywhere."""
    if any(one is not attribute for one, _ in classes.reads_on(attribute.attr.value, cls)):
        return True
    return any(
        isinstance(one, cst.Name) and one.value in _BY_NAME
        for each in cls.ancestry()
        for one in descendants(each.node)
    )


_METHOD: Final = "initialize_carry"


def drop_carry_cells(recorder: Recorder, refer: Callable[[str], str]) -> None:
    """Write the first carries of cells that nothing else calls, and leave the cells out.

    Linen counts such a cell when it names others, so this comes after all have their names.
    """
    plan = recorder.plan
    zeros = refer("jax.numpy.zeros")
    for site in plan.sites:
        calls = _carries(site, recorder)
        if not calls:
            continue
        uses = _uses(site, list(calls))
        if uses is None:
            continue
        for call, code in calls.items():
            recorder.replace(call, code.replace("jnp.zeros", zeros))
            plan.log.drop(*plan.log.about(CallEdit, call))
        for use in uses:
            plan.log.append(Edit(use, None))
        plan.log.drop(*plan.log.about(Build, site))
        recorder.unwrite(site)


def _carries(site: Site, recorder: Recorder) -> dict[cst.Call, str]:
    """Return the code of the first carries that calls of a cell return; none to leave it."""
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    is_plain = not (site.is_verbatim or site.is_listed or site.transforms or site.loops)
    if not isinstance(layer, CellLayer) or not is_plain:
        return {}
    if {call.method for call in recorder.log.about(Call, site)} != {_METHOD}:
        return {}
    found: dict[cst.Call, str] = {}
    for edits in recorder.log.groups(CallEdit):
        call = edits[0].node
        if all(edit.site is not site for edit in edits):
            continue
        shape = _argument(call, 1, "input_shape")
        given = _written(site)
        if shape is None or given is None or len(edits) != 1:
            return {}
        code = layer.first_carry(given, shape)
        if code is None:
            return {}
        found[call] = code
    return found


def _written(site: Site) -> Mapping[str, Given] | None:
    """Return the arguments of a constructor as they are written; None where some are not."""
    if any(one.hidden for one in site.given.values()):
        return None
    return {
        name: Given(code_of(one.node), one.value, bool(one.keyword))
        for name, one in site.given.items()
    }


def _argument(call: cst.Call, position: int, name: str) -> cst.BaseExpression | None:
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg.value
    plain = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    return plain[position] if len(plain) > position else None


def _uses(site: Site, calls: list[cst.Call]) -> set[cst.CSTNode] | None:
    """Return the statement that binds a cell, if any; None where more than the calls read it."""
    receivers = [call.func.value for call in calls if isinstance(call.func, cst.Attribute)]
    if receivers == [site.node]:
        return set()
    if site.method_node is None:
        return None
    for line in descendants(site.method_node):
        match line:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)], value=value)
                ]
            ) if value is site.node:
                named = [
                    one
                    for one in descendants(site.method_node)
                    if isinstance(one, cst.Name) and one.value == target.value
                ]
                others = [one for one in named if one is not target and one not in receivers]
                return None if others else {line}
    return None


def untaken(method: cst.FunctionDef, recorder: Recorder) -> set[cst.CSTNode]:
    """Return the nodes of a method on the sides of branches that no call takes."""
    found: set[cst.CSTNode] = set()
    for node in descendants(method):
        if isinstance(node, cst.If):
            taken = _taken(node, recorder)
            if taken == {True} and node.orelse is not None:
                found.update(descendants(node.orelse))
            elif taken == {False}:
                found.update(descendants(node.body))
        elif isinstance(node, cst.IndentedBlock):
            leaves = False
            for one in node.body:
                found.update(descendants(one) if leaves else ())
                leaves = leaves or (isinstance(one, cst.If) and _leaves(one, recorder))
    return found


def _taken(node: cst.If, recorder: Recorder) -> set[bool]:
    """Return the sides that calls take of a branch."""
    return {side for one in recorder.log.about(Take, node) for side in one.sides}


def _leaves(node: cst.If | cst.Else, recorder: Recorder) -> bool:
    """Whether the sides of a branch that calls take all leave the function."""
    last = node.body.body[-1] if node.body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    ends = isinstance(last, cst.Return | cst.Raise)
    if isinstance(node, cst.Else):
        return ends
    taken = _taken(node, recorder) or {True, False}
    orelse = node.orelse
    goes_on = False in taken and (orelse is None or not _leaves(orelse, recorder))
    return not goes_on and (ends or True not in taken)


def leave_out(node: cst.Call, recorder: Recorder) -> None:
    """Write an error in the place of a submodule that is never built."""
    recorder.replace(node, f'{NOT_BUILT.name}("{code_of(node.func)}")')
    recorder.log.append(Need(NOT_BUILT))


def mark_unseen(recorder: Recorder, classes: LinenClasses) -> None:
    """Mark what methods construct in functions whose calls nobody sees."""
    plan = recorder.plan
    written = {*plan.replacements, *plan.rebuilt, *plan.dropped}
    written |= {site.node for site in plan.sites}
    written |= {one.function for one in plan.log.of(BuildAtCall)}
    for method in plan.cls.methods().values():
        is_entered = method.node in plan.methods or method.name in MOVED_METHODS
        if not is_entered or method.node in plan.dropped:
            continue
        if _is_for_setups(method, plan.cls, classes):
            continue
        dead = untaken(method.node, recorder)
        for node in _constructors(method, written, classes):
            if node in dead:
                leave_out(node, recorder)
                continue
            message = "a submodule is built here, in code that nothing is known to call"
            recorder.mark(node, message)


def mark_builders(recorder: Recorder, builders: Mapping[cst.CSTNode, Builder]) -> None:
    """Mark calls of what is no module and builds submodules, where nothing else is written for it."""
    plan = recorder.plan
    written = {*plan.replacements, *plan.rebuilt, *plan.dropped}
    for method in plan.cls.methods().values():
        for node in _kept_calls(method, written):
            called = called_by(node, method.owner.analysis)
            if called is not None and called.node in builders:
                recorder.mark(node, BUILDER)


# Functions that take dataclasses, as modules of Linen are.
_OF_DATACLASSES: Final = frozenset(
    f"dataclasses.{name}" for name in ("asdict", "astuple", "fields", "replace")
)


def mark_class_uses(recorder: Recorder, classes: LinenClasses) -> None:
    """Mark code that takes a module for a dataclass, properties that functions make, unread classes."""
    cls = recorder.plan.cls
    for base in dataclasses_of(cls, classes):
        message = f"the constructor lacks the fields of `{base}`, a dataclass that is no module"
        recorder.mark(cls.node, message, COUNTERPART)
    for decorator in cls.node.decorators:
        if any(dotted(one) in _OF_DATACLASSES for one in _function_of(decorator.decorator, cls)):
            message = "this decorator takes the class for a dataclass, which it is not any more"
            recorder.mark(cls.node, message, COUNTERPART)
    for method in cls.methods().values():
        for call in _calls_of_dataclasses(method):
            message = "the module is not a dataclass any more"
            recorder.mark(call, message, COUNTERPART)
        for call, name in _calls_of_unread(method, classes):
            message = f"`{name}` stays in Linen: a class that it inherits from is not read here"
            recorder.mark(call, message, COUNTERPART)
    for owner in cls.ancestry():
        for name, node in owner.constants.items():
            made = _function_of(node, owner) if isinstance(node, cst.Call) else ()
            if any(
                isinstance(one, cst.Decorator) and is_name(one.decorator, "property")
                for one in made
            ):
                message = f"the map may lack what the property `{name}` does with the module"
                recorder.mark(node, message, NAME)


def _function_of(node: cst.BaseExpression, cls: LinenClass) -> Iterator[cst.CSTNode]:
    """Yield the nodes of the function of the project that an expression is or calls."""
    named = node.func if isinstance(node, cst.Call) else node
    function = cls.analysis.values.get(named, UNKNOWN)
    if isinstance(function, ProjectFunction):
        yield from descendants(function.node)


def _calls_of_dataclasses(method: Method) -> Iterator[cst.Call]:
    """Yield the calls in a method of functions that take its module for a dataclass."""
    analysis = method.owner.analysis
    imports = analysis.scope.imports.values()
    names = [one.name.value for one in method.node.params.params[:1]]
    if not names or not any(one.module == "dataclasses" for one in imports):
        return
    modules = (names[0], f"type({names[0]})", f"{names[0]}.__class__")
    for node in descendants(method.node.body):
        if isinstance(node, cst.Call) and node.args and code_of(node.args[0].value) in modules:
            value = analysis.values.get(node.func, UNKNOWN)
            if isinstance(value, External) and value.name in _OF_DATACLASSES:
                yield node


def _calls_of_unread(method: Method, classes: LinenClasses) -> Iterator[tuple[cst.Call, str]]:
    """Yield the constructions of modules whose base class is none of the project, and their names."""
    for node in descendants(method.node.body):
        if not isinstance(node, cst.Call):
            continue
        value = method.owner.analysis.values.get(node.func, UNKNOWN)
        # A class may have the name of the imported one that it inherits from.
        for one in value.options if isinstance(value, OneOf) else (value,):
            if not isinstance(one, ProjectClass) or classes.of(one) is not None:
                continue
            decorators = {name for each in one.methods.values() for name in each.decorators}
            is_module = "setup" in one.methods or f"{LINEN}.compact" in decorators
            if is_module and any(isinstance(base, External) for base in one.bases):
                yield node, one.name


def _constructors(
    method: Method, written: set[cst.CSTNode], classes: LinenClasses
) -> Iterator[cst.Call]:
    """Yield the calls of classes of modules, and of their class methods, that stay as they are."""
    analysis = method.owner.analysis
    for node in _kept_calls(method, written):
        value = analysis.values.get(node.func, UNKNOWN)
        if isinstance(value, External):
            public = public_linen(value.name)
            if public.startswith(f"{LINEN}.") and find_layer(public) is not None:
                yield node
        elif isinstance(value, ProjectClass) and classes.of(value) is not None:
            yield node
        elif _is_of_class(node, analysis):
            made = analysis.values.get(node, UNKNOWN)
            cls = made.cls if isinstance(made, Instance) else None
            if isinstance(cls, ProjectClass) and classes.of(cls) is not None:
                yield node


def _kept_calls(method: Method, written: set[cst.CSTNode]) -> Iterator[cst.Call]:
    """Yield the calls of a method for which nothing else is written."""
    waiting: list[cst.CSTNode] = [method.node.body]
    while waiting:
        node = waiting.pop()
        if node not in written:
            waiting += children(node)
            if isinstance(node, cst.Call):
                yield node


def _is_of_class(call: cst.Call, analysis: Analysis) -> bool:
    """Whether a call calls a class method or static method of a class."""
    match analysis.values.get(call.func, UNKNOWN):
        case MethodOf(receiver=ProjectClass(), function=ProjectFunction(decorators=decorators)):
            return not {"builtins.classmethod", "builtins.staticmethod"}.isdisjoint(decorators)
    return False


def drop_leftovers(recorder: Recorder, refer: Callable[[str], str]) -> None:
    """Write the classes that transforms are of in their place, where constructors do not have them."""
    plan = recorder.plan
    used: dict[cst.CSTNode, Site] = {}
    for site in plan.sites:
        for one in site.transforms:
            if isinstance(one, ClassTransform) and one.node is not None:
                used[one.node] = site
    for node, site in used.items():
        if isinstance(site.target, LinenClass) and node not in plan.replacements:
            recorder.replace(node, site.code or refer(site.target.public))


def keep_marked(plan: ClassPlan) -> None:
    """Keep statements with a marker: it would go with them."""
    marked = {mark.node for mark in plan.marks}
    for one in plan.log.of(Edit):
        is_statement = one.code is None and not isinstance(one.node, cst.FunctionDef)
        if is_statement and any(node in marked for node in descendants(one.node)):
            plan.log.drop(one)


_SCOPED = ("flax.linen.compact_name_scope", "flax.linen.module.compact_name_scope")


def mark_recursion(recorder: Recorder) -> None:
    """Mark submodules in functions that call themselves as often as their arguments say."""
    functions = {one for found in recorder.log.of(Recursion) for one in found.functions}
    below = {node for one in functions for node in descendants(one)}
    for site in recorder.plan.sites:
        if site.node in below:
            message = "how often the method that constructs this calls itself is not known"
            recorder.mark(site.node, message)


def mark_restarted_names(recorder: Recorder) -> None:
    """Mark what makes names of submodules start again, or belong to a scope of a method.

    Linen counts from zero whenever a compact method is entered from one that is not compact: then
    two calls share their submodules, which the new model does not.
    """
    cls = recorder.plan.cls
    methods = cls.methods().values()
    for method in methods:
        if any(name in _SCOPED for name in method.decorators):
            recorder.mark(method.node, "`nn.compact_name_scope` is not migrated", NAME)
        if _constructs_itself(method):
            recorder.mark(method.node, "`cls(...)` needs the sizes that the constructor got")
    compact = {method.node for method in methods if method.is_compact}
    entered = [
        (call, called)
        for caller, call, called in recorder.self_calls
        if called in compact and caller not in compact
    ]
    counted = [site for site in recorder.plan.sites if not site.explicit and not site.is_verbatim]
    again = len(entered) > 1 or any(
        one.is_repeated for _, called in entered for one in recorder.log.about(Enter, called)
    )
    if counted and again:
        recorder.mark(
            entered[-1][0],
            "Linen counts the names of submodules anew here, and shares those that are named alike",
            NAME,
        )


def _constructs_itself(method: Method) -> bool:
    """Whether a class method constructs an object of its class."""
    params = method.node.params.params
    if "builtins.classmethod" not in method.decorators or not params:
        return False
    name = params[0].name.value
    values = method.owner.analysis.values
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == name
        and not isinstance(values.get(node, UNKNOWN), Instance)  # callers are rewritten for it
        for node in descendants(method.node.body)
    )


def mark_shifting_names(recorder: Recorder) -> None:
    """Mark submodules of one of several classes where others count by one of these names, too."""
    sites = [one for one in recorder.plan.sites if not one.explicit and not one.is_verbatim]
    for site in sites:
        if not site.alternatives:
            continue
        names = [linen_class_name(one) for one in (site, *site.alternatives)]
        for other in sites:
            counted = [linen_class_name(one) for one in (other, *other.alternatives)]
            is_field = bool(site.code) and other.code == site.code
            is_choice = bool(site.tests) and (other.tests, counted) == (site.tests, names)
            is_alike = {*names} == {*counted} and len({*names}) == 1
            if other is site or is_field or is_choice or is_alike:
                continue  # it is of the same class, whichever that is
            if {*names} & {*counted}:
                called = site.code or code_of(site.node.func)
                recorder.mark(
                    site.node,
                    f"which number its name in Linen has depends on what `{called}` is:"
                    f" `{code_of(other.node.func)}` may be counted with it",
                    NAME,
                )
                break


# Why the sizes of a class that derives from a layer of NNX are not written by name.
_SIGNATURE: Final = "its constructor is that of the NNX layer that it derives from"
_NOT_ENTERED: Final = frozenset({"setup", "__post_init__", "__hash__", "__eq__", "__repr__"})


# Makes what names the submodules of a module, from what was seen of it and what it inherits.
MakesNaming = Callable[[Recorder, Mapping[cst.CSTNode, str]], Naming]


class Planner:
    """Plans modules.

    Args:
        classes: The Linen modules of the project.
        refers: What spells public names, by the file in which they are written.
        trace: What a trace tells of the shapes that submodules are called with.
        gradual: The modules that stay in Linen, where NNX modules may hold such; None where not.
        on_module: Called after each look at a module, and after each plan.
        naming: Names the submodules of a module.
        composed: What callers build of several modules.
    """

    def __init__(
        self,
        classes: LinenClasses,
        refers: Mapping[Path, Callable[[str], str]] | None = None,
        trace: Trace | None = None,
        gradual: Gradual | None = None,
        on_module: Callable[[], None] = lambda: None,
        naming: MakesNaming = Naming,
        composed: Sequence[LinenClass] = (),
    ) -> None:
        self._naming = naming
        self.classes = classes
        self.executor = Executor(classes, self.plan_of, trace, gradual)
        self._plans: dict[LinenClass, ClassPlan] = {}
        self._builders = find_builders(classes.analyses, classes)
        self._refers = refers or {}
        self._seen: dict[LinenClass, Recorder] | None = None
        self._on_module = on_module
        self._composed = composed

    def plan_of(self, cls: LinenClass) -> ClassPlan:
        """Return what becomes of a module."""
        if self._seen is None:
            self._seen = {}
            every = [cls for one in self.classes.analyses for cls in self.classes.all_in(one)]
            self._seen = Discovery(
                [*every, *self._composed],
                self.executor.facts,
                self._explored,
                lambda seen: is_sayable(self.executor.code, seen, seen.returned),
            ).run()
        if cls not in self._plans:
            if self.executor.gradual is not None and cls in self.executor.gradual.kept:
                kept = self.executor.gradual.kept[cls]
                self._plans[cls] = ClassPlan(cls, stays=kept.why, problem=kept.problem)
                return self._plans[cls]
            self._plans[cls] = ClassPlan(cls)
            try:
                with self._names_of(cls):
                    self._plans[cls] = self._plan(cls)
            except Unnamed as error:
                self._plans[cls] = _staying(cls, str(error))
            # One module that we fail at must not take others along.
            except Exception as error:  # noqa: BLE001 - a bug of ours, which the report says
                self._plans[cls] = _failed(cls, described(error))
            self._on_module()
        return self._plans[cls]

    @contextmanager
    def _names_of(self, cls: LinenClass) -> Iterator[None]:
        """Spell public names as the file of a module does."""
        around = self.executor.names
        self.executor.names = self._refers.get(cls.analysis.path, around)
        try:
            yield
        finally:
            self.executor.names = around

    def _plan(self, cls: LinenClass) -> ClassPlan:
        seen = (self._seen or {}).pop(cls, None)
        recorder = seen or Recorder(self._plans[cls])
        plan = recorder.plan
        self._plans[cls] = plan
        foreign = [name for name in cls.foreign if not _is_harmless(name)]
        subclass = layer_subclass(cls)
        if subclass is not None:
            plan.lifted.append(Lifted("in_features", why=_SIGNATURE))
            plan.derives = subclass
            plan.is_done = True
            return plan
        why = _why_it_stays(cls, foreign)
        if why:
            return _staying(cls, why)
        if foreign:
            plan.log.append(Mark(cls.node, f"it inherits from {', '.join(foreign)}"))
        try:
            if seen is None:
                self._run(recorder)
        except TooLong:
            return _staying(cls, "its methods are too long to go through")
        if self.executor.facts.is_asked(cls):
            write_output(self.executor.code, recorder, recorder.returned)
        write_accesses(recorder, self.executor.refer)
        inherited: dict[cst.CSTNode, str] = {}
        for base in reversed(cls.ancestry()[1:]):
            inherited |= self.plan_of(base).replacements
        drop_unread(recorder, self.classes)
        drop_stale(recorder)
        drop_helpers(recorder, self.classes)
        mark_stacked(recorder, self.plan_of)
        for check in (mark_recursion, mark_restarted_names, mark_shifting_names):
            check(recorder)
        naming = self._naming(recorder, inherited)
        naming.run()
        drop_carry_cells(recorder, self.executor.refer)
        name_optional(recorder)
        drop_leftovers(recorder, self.executor.refer)
        Printing(recorder, self.executor, naming, recorder.roots).run()
        write_properties(recorder)
        plan.entries = entries_of(recorder, self.plan_of)
        write_reads(recorder, self.plan_of)
        plan.stores_rngs = recorder.uses_rngs
        plan.containers = held_containers(cls)
        plan.optional = optional_fields(cls, self.executor.facts)
        moving = Moving(recorder, self.executor.facts, self.plan_of, self.executor.refer)
        edit_methods(recorder, naming, moving, self.executor.refer)
        self.executor.lifted_calls.write(recorder)
        self.executor.lifted_methods.write(recorder)
        self.executor.lifted_functions.write(recorder)
        mark_unseen(recorder, self.classes)
        mark_builders(recorder, self._builders)
        mark_class_uses(recorder, self.classes)
        keep_marked(plan)
        plan.is_done = True
        return plan

    def _run(self, recorder: Recorder) -> None:
        """Go through the methods of a module."""
        cls = recorder.plan.cls
        instance = SelfValue(cls)
        recorder.instance = instance
        recorder.locals |= {"rngs", "self", *(one.name for one in cls.fields())}
        recorder.reserved |= set(_sizes_of_arguments(cls))
        frame = Frame(recorder, cls.analysis, instance)
        for one in cls.fields():
            instance.fields[one.name] = self.executor.members.root_field(one, frame)
        self.executor.functions.set_up(instance, frame)
        recorder.roots = self._enter(instance, frame)

    def _explored(self, cls: LinenClass) -> Recorder | None:
        """Go through a module to see what it gives others; nothing is planned."""
        recorder = Recorder(ClassPlan(cls))
        try:
            with self._names_of(cls):
                self._run(recorder)
        # It is gone through again when it is planned, and then the error counts.
        except Exception:  # noqa: BLE001 - see above
            return None
        finally:
            self._on_module()
        return recorder

    def _enter(self, instance: SelfValue, frame: Frame) -> list[str]:
        """Go through the methods that are called from outside; those that others call are not."""
        methods = instance.cls.methods()
        first = [name for name in ("__call__",) if name in methods]
        compact = [name for name, one in methods.items() if one.is_compact]
        others = [name for name in methods if not name.startswith("_")]
        private = [name for name in methods if name.startswith("_")]
        roots: list[str] = []
        recorder = frame.recorder
        log = recorder.log
        for name in dict.fromkeys([*first, *compact, *others, *private]):
            method = methods[name]
            entered = {one.method.name.value for one in log.of(Enter)}
            if name in _NOT_ENTERED or name in entered or not _is_called(method):
                continue
            sites, events, lines = len(log.of(Build)), len(log), len(recorder.block)
            value = self.executor.functions.enter(instance, method, frame)
            built = log.of(Build)[sites:]
            makes = built and not _is_compact_below(built, methods)
            if not method.is_compact and (makes or _declares(method.node)):
                # Linen makes nothing there when it is called from outside: it is planned with
                # the methods that call it.
                is_for_others = self._is_for_others(method, instance.cls)
                if makes or is_for_others:
                    del recorder.block[lines:]
                    for one in built:
                        recorder.unwrite(one.site)
                if is_for_others:
                    log.drop_from(events)
                    continue
                if makes:
                    log.drop(*built)
                    message = f"`{name}` builds submodules, and nothing here calls it"
                    recorder.mark(built[0].site.node, message)
                    continue
            if name == "__call__":
                recorder.returned = value
            for one in built:
                one.site.entry = name
            roots.append(name)
        return roots

    def _is_for_others(self, method: Method, cls: LinenClass) -> bool:
        """Whether a method is for classes that inherit it, or for `setup` of other modules."""
        reads = self.classes.reads_on(method.name, method.owner)
        is_inherited = any(
            owner is not None and owner is not cls and cls in owner.ancestry() for _, owner in reads
        )
        return is_inherited or _is_for_setups(method, cls, self.classes)


def _declares(method: cst.FunctionDef) -> bool:
    """Whether a method declares variables of its object."""
    params = [*method.params.posonly_params, *method.params.params][:1]
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value in ("param", "variable")
        and any(is_name(node.func.value, one.name.value) for one in params)
        for node in descendants(method)
    )


def _why_it_stays(cls: LinenClass, foreign: Iterable[str]) -> str:
    """Return which base a module of NNX cannot have; empty where it can have all of them."""
    layers = [name for name in foreign if find_layer(name) is not None]
    if layers:
        return f"it inherits from {', '.join(layers)}"
    for _, protocol in protocols(cls):
        names = ", ".join(f"`{one}`" for one in sorted(inherited_from(protocol, cls)))
        if names:
            return f"it inherits {names} from `{protocol.name}`, a protocol"
    return ""


def _staying(cls: LinenClass, why: str) -> ClassPlan:
    """Return the plan of a module that stays in Linen."""
    return ClassPlan(cls, stays=why)


def _failed(cls: LinenClass, problem: str) -> ClassPlan:
    """Return the plan of a module that we failed at."""
    return ClassPlan(cls, stays=problem, problem=problem)


def _sizes_of_arguments(cls: LinenClass) -> Iterator[str]:
    """Yield the names that sizes of arguments may get as parameters of the constructor."""
    for method in cls.methods().values():
        for parameter in list(method.parameters())[1:]:
            yield f"{parameter.name.value}_features"
            yield f"{parameter.name.value}_shape"


def _is_compact_below(built: list[Build], methods: dict[str, Method]) -> bool:
    """Whether submodules are built by compact methods."""
    names = [one.site.method for one in built]
    return all(name in methods and methods[name].is_compact for name in names)


def _is_called(method: Method) -> bool:
    return method.is_bound and not any(
        isinstance(one.decorator, cst.Attribute)
        and one.decorator.attr.value in ("setter", "deleter")
        for one in method.node.decorators
    )


def _is_harmless(name: str) -> bool:
    return name in ("builtins.object", "abc.ABC", "typing.Generic", "Generic", "ABC", "Protocol")
