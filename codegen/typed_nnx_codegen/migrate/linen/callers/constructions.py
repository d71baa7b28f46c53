"""Where callers construct modules, where they use them, and how each construction is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    dotted,
    key_of,
    text_of,
)
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    UNKNOWN,
    Collection,
    External,
    Instance,
    Method,
    ProjectClass,
    ProjectFunction,
    Value,
    options_of,
    resolved,
    without_none,
)
from typed_nnx_codegen.migrate.linen.callers.caller_sizes import (
    NoSizes,
    call_parts,
    is_pure,
    sizes_for,
)
from typed_nnx_codegen.migrate.linen.callers.composed import (
    ComposedModels,
    Places,
    binder_of,
    same_variable,
)
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LINEN,
    LinenClass,
    LinenClasses,
)
from typed_nnx_codegen.migrate.linen.layers.layer import APPLY_OF, APPLY_WITH, BOUND_TO, INIT_WITH

# What only modules of Linen have, and how many arguments it takes at least.
METHODS: Final = {"init": 2, "init_with_output": 2, "apply": 2, "bind": 1}
_MODELS: Final = re.compile(r"model|module|net|actor|critic|polic", re.IGNORECASE)
_CLASS_OF_MODELS: Final = re.compile(r"(model|module|net|network)_?(cls|class)$")
INITS: Final = frozenset({"init", "init_with_output"})
# Functions of an earlier run, which have a call of Linen in them.
_OURS: Final = frozenset({one.name for one in (APPLY_OF, APPLY_WITH, BOUND_TO, INIT_WITH)})
# A table that is filled elsewhere has no items where it is read.
_UNKNOWN: Final = (UNKNOWN, NOTHING)
# A class of which no more is said than that it is one of modules: `type[nn.Module]`.
_ANY_MODULE: Final = External(f"{LINEN}.Module")
JIT: Final = frozenset({"jax.jit", "jax.experimental.pjit.pjit"})


@dataclass(eq=False)
class Construction:
    """A call that constructs a module outside of modules.

    Attributes:
        node: The call.
        cls: The module.
        analysis: The file.
        uses: Where its object is used.
        owner: The construction whose field it is given for.
        is_mixed: Whether some use may be of this object or of another one.
    """

    node: cst.Call
    cls: LinenClass
    analysis: Analysis
    uses: list[Use] = field(default_factory=list)
    owner: Construction | None = None
    is_mixed: bool = False

    __hash__ = object.__hash__


@dataclass(eq=False)
class Use:
    """An attribute of a module that is read outside of modules.

    Attributes:
        node: The attribute: ``model.apply``.
        analysis: The file.
        classes: The modules that it may be of.
        constructions: Where they are constructed, as far as that is known.
        call: The call of it, if it is called at once; also through ``jax.jit``.
    """

    node: cst.Attribute
    analysis: Analysis
    classes: tuple[LinenClass, ...]
    constructions: tuple[Construction, ...]
    call: cst.Call | None

    __hash__ = object.__hash__

    @property
    def name(self) -> str:
        """The attribute."""
        return self.node.attr.value


class Constructions:
    """What callers of a project do with its modules.

    Attributes:
        every: The places where modules are constructed.
        uses: The places where their attributes are read.
        chosen: Calls of one of several classes of modules, and these.
        later: Calls of what may be the class of a module.
        tables: The names of tables that have classes of modules.
        planned: The nodes that modules deal with: functions may be part of what a module does.
        built: The expressions that build a model of several modules, or of a layer.
        within: Reads of variables and attributes that such an expression builds itself, with what they have.
    """

    def __init__(
        self,
        classes: LinenClasses,
        composed: ComposedModels,
        plans: Iterable[ClassPlan],
        plan_of: Callable[[LinenClass], ClassPlan],
    ) -> None:
        self._classes = classes
        self.composed = composed
        self._plan_of = plan_of
        self.built: dict[cst.Call, LinenClass] = {}
        self.within: dict[cst.BaseExpression, cst.Call] = {}
        self.planned: set[cst.CSTNode] = set()
        for plan in plans:
            self.planned |= {site.node for site in plan.sites} | set(plan.replacements)
            self.planned |= {below for node in plan.dropped for below in descendants(node)}
        self.every: dict[cst.Call, Construction] = {}
        self.uses: dict[cst.Attribute, Use] = {}
        self.chosen: dict[cst.Call, tuple[LinenClass, ...]] = {}
        self.later: dict[cst.Call, None] = {}
        self.tables = {name for one in classes.analyses for name in self._tables(one)}
        for analysis in classes.analyses:
            self._read_constructions(analysis)
        for analysis in classes.analyses:
            self._read_uses(analysis)
            self._read_unknown(analysis)
        for one in self.every.values():
            for arg, value in self.given_to(one):
                if value in _UNKNOWN:
                    later = self._unknown_calls(arg.value, one.analysis, set())
                    self.later |= dict.fromkeys(later)
        for one in [*self.every.values()]:
            # Whoever gets a layer that nothing calls here wants one of Linen.
            is_read = one.uses or one.node in self.within.values()
            if not is_read and one.node in self.built and one.cls in composed.layers:
                del self.every[one.node], self.built[one.node]

    def places(self, analysis: Analysis) -> Places:
        """Return where the nodes of a file stand."""
        return self.composed.places(analysis)

    def classes_of(self, value: Value) -> tuple[LinenClass, ...]:
        """Return the modules that a value is surely an object of; none where it is not sure."""
        found: dict[LinenClass, None] = {}
        for option in options_of(without_none(value)):
            cls = self._class_of(option)
            if cls is None:
                return ()
            found[cls] = None
        return tuple(found)

    def _class_of(self, value: Value) -> LinenClass | None:
        if not isinstance(value, Instance):
            return None
        if value.origin in self.built:
            return self.built[value.origin]
        return self.composed.class_of(value)

    def named_by(self, value: Value) -> Iterator[LinenClass]:
        """Yield the modules that a value may be, or be an object of."""
        for option in options_of(without_none(value)):
            cls = self._class_of(option)
            found = self._classes.of(option) if isinstance(option, ProjectClass) else cls
            if found is not None:
                yield found

    def is_in_built(self, node: cst.CSTNode, places: Places) -> bool:
        """Whether a node is in an expression that is built as a whole."""
        return any(one in self.built for one in places.around(node))

    def is_module_class(self, value: Value) -> bool:
        """Whether a value is the class of a module of the project."""
        return isinstance(value, ProjectClass) and self._classes.of(value) is not None

    def _tables(self, analysis: Analysis) -> Iterator[str]:
        """Yield the names of tables that list modules, or that a decorator puts modules into."""
        assigned = [
            node
            for node in analysis.nodes.of(cst.Assign)
            if isinstance(node.value, cst.Dict)
            and any(
                self.is_module_class(analysis.values.get(one.value, UNKNOWN))
                for one in node.value.elements
            )
        ]
        for cls in self._classes.all_in(analysis):
            for decorator in cls.node.decorators:
                made = decorator.decorator
                func = made.func if isinstance(made, cst.Call) else made
                value = resolved(analysis.values.get(func, UNKNOWN))
                if isinstance(value, ProjectFunction):
                    below = descendants(value.node)
                    assigned += [one for one in below if isinstance(one, cst.Assign)]
        for node in assigned:
            target = node.targets[0].target
            yield last_part(target.value if isinstance(target, cst.Subscript) else target)

    def made_by(self, value: Value) -> tuple[Construction, ...]:
        """Return where the objects that a value stands for are constructed."""
        found: list[Construction] = []
        for option in options_of(without_none(value)):
            if isinstance(option, Instance) and option.origin in self.every:
                found.append(self.every[option.origin])
            elif isinstance(option, Collection):
                items = option.items or (option.element,)
                found += [one for item in items for one in self.made_by(item)]
        return tuple(found)

    def _read_constructions(self, analysis: Analysis) -> None:
        places = self.places(analysis)
        for call in analysis.nodes.of(cst.Call):
            value = analysis.values.get(call, UNKNOWN)
            if call not in places or call in self.planned or not isinstance(value, Instance):
                continue
            if value.origin is not call or self.is_in_built(call, places):
                continue
            cls = self._built(call) or self._class_of(value)
            if cls is None:
                continue
            one = Construction(call, cls, analysis)
            for around in places.around(call):
                if isinstance(around, cst.BaseStatement):
                    break
                is_other = isinstance(around, cst.Call) and around in self.every
                if isinstance(around, cst.Call) and is_other and not _is_func(around, call, places):
                    one.owner = self.every[around]
                    break
            self.every[call] = one

    def _built(self, call: cst.Call) -> LinenClass | None:
        """Return the module that a layer, or a model of several modules, is planned as."""
        one = self.composed.found.get(call)
        if one is not None and one.is_certain(self._plan_of(one.cls)):
            self.built[call] = one.cls
            self.within |= one.within
        return self.built.get(call)

    def _read_uses(self, analysis: Analysis) -> None:
        places = self.places(analysis)
        for node in analysis.nodes.of(cst.Attribute):
            if node not in places:
                continue
            value = analysis.values.get(node.value, UNKNOWN)
            classes = self.classes_of(value)
            if not classes:
                continue
            made = self.made_by(value)
            options = options_of(without_none(value))
            one = Use(node, analysis, classes, made, _call_of(node, analysis, places))
            self.uses[node] = one
            for each in made:
                each.uses.append(one)
                each.is_mixed = each.is_mixed or len(options) > 1
            if len(made) < len(options):
                self._mix(classes)

    def _read_unknown(self, analysis: Analysis) -> None:
        """Find `init` and `apply` of what may be a module: functions see at run time what it is."""
        places = self.places(analysis)
        receivers: dict[str, cst.BaseExpression] = {}
        others: list[tuple[cst.Attribute, cst.Call | None]] = []
        for node in analysis.nodes.of(cst.Attribute):
            if node in self.uses or node not in places:
                continue
            value = analysis.values.get(node.value, UNKNOWN)
            is_any = any(
                isinstance(one, Instance) and one.cls == f"{LINEN}.Module"
                for one in options_of(value)
            )
            home = places.function(node)
            is_ours = isinstance(home, cst.FunctionDef) and home.name.value in _OURS
            if is_ours or (value not in _UNKNOWN and not is_any):
                continue
            call = _call_of(node, analysis, places)
            is_method = node.attr.value in METHODS
            if is_method and (
                is_any or (call is not None and _is_like_linen(node, call, analysis))
            ):
                receivers[code_of(node.value)] = node.value
                self.uses[node] = Use(node, analysis, (), (), call)
            elif is_method or call is None:
                others.append((node, call))
        for node, call in others:
            parent = places.parent(node)
            is_method = node.attr.value in METHODS
            keyword = parent.keyword if isinstance(parent, cst.Arg) else None
            is_named = keyword is not None and keyword.value == "apply_fn" and call is None
            is_read = not isinstance(parent, cst.AssignTarget | cst.Del | cst.AugAssign) and not (
                is_method and isinstance(parent, cst.Attribute)
            )
            is_same = code_of(node.value) in receivers
            if is_same and not is_method and isinstance(node.value, cst.Name):
                home = binder_of(node.value, places)
                reads = (one.value for one in self.uses if isinstance(one.value, cst.Name))
                is_same = any(
                    one.value == node.value.value
                    and one in places
                    and binder_of(one, places) is home
                    for one in reads
                )
            if is_read and ((is_named and is_method) or is_same):
                self.uses[node] = Use(node, analysis, (), (), call)
        for call in analysis.nodes.of(cst.Call):
            if call not in places or call in self.planned:
                continue
            value = analysis.values.get(call.func, UNKNOWN)
            options = options_of(value)
            if len(options) > 1 and all(map(self.is_module_class, options)):
                self.chosen[call] = tuple(self.named_by(value))
            elif _ANY_MODULE in options or (
                value in _UNKNOWN and self._is_class_of_models(call.func, analysis)
            ):
                self.later[call] = None
        for receiver in receivers.values():
            self.later |= dict.fromkeys(self._unknown_calls(receiver, analysis, set()))

    def _unknown_calls(
        self, node: cst.CSTNode, analysis: Analysis, seen: set[cst.CSTNode]
    ) -> Iterator[cst.Call]:
        """Yield the calls of what is not known that give what an expression stands for."""
        if node in seen:
            return
        seen.add(node)
        places = self.places(analysis)
        found: list[tuple[cst.CSTNode, Analysis]] = []
        match node:
            case cst.Call(func=func):
                value = resolved(analysis.values.get(func, UNKNOWN))
                # What is said to be a module is a class where its call gives a model.
                is_any = value in (*_UNKNOWN, _ANY_MODULE, Instance(_ANY_MODULE.name))
                if is_any and node in places and node not in self.planned:
                    yield node
                found += self._returned(value)
            case cst.Name() | cst.Attribute():
                found += [(one, analysis) for one in assigned_to(node, analysis, places)]
        for one, home in found:
            yield from self._unknown_calls(one, home, seen)

    def _returned(self, value: Value) -> Iterator[tuple[cst.BaseExpression, Analysis]]:
        """Yield what a function of the project returns, with its file."""
        function = value.function if isinstance(value, Method) else value
        if isinstance(function, ProjectFunction):
            for node in descendants(function.node):
                if isinstance(node, cst.Return) and node.value is not None:
                    homes = (one for one in self._classes.analyses if node in self.places(one))
                    yield from ((node.value, home) for home in homes)

    def _is_class_of_models(self, func: cst.BaseExpression, analysis: Analysis) -> bool:
        """Whether what is called may be the class of a module: `model_cls`, an item of a table."""
        match func:
            case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
                values = assigned_to(func, analysis, self.places(analysis))
                return bool(_CLASS_OF_MODELS.search(name)) or any(
                    not isinstance(one, cst.Name | cst.Attribute)
                    and self._is_class_of_models(one, analysis)
                    for one in values
                )
            case cst.Call(func=cst.Name(value="getattr"), args=[cst.Arg(value=owner), *_]):
                return bool(_MODELS.search(code_of(owner)))
            case cst.Call(func=function) if any(
                self._is_class_of_models(one, home)
                for one, home in self._returned(resolved(analysis.values.get(function, UNKNOWN)))
                if isinstance(one, cst.Subscript | cst.Call)
            ):
                return True
        return _table_of(func) in {*self.tables, "globals"}

    def is_table_of_later(self, node: cst.CSTNode, places: Places) -> bool:
        """Whether a class is in a table of which modules, or callers later, construct modules."""
        names = {
            last_part(target.target)
            for one in places.around(node)
            if isinstance(one, cst.Assign)
            for target in one.targets
        }
        around = places.function(node)
        names |= {around.name.value} if isinstance(around, cst.FunctionDef) else set()
        if not names.isdisjoint(self._tables_of_modules):
            return True
        for call in (*self.chosen, *self.later, *self.every):
            if _table_of(call.func) in names:
                return True
            for analysis in self._classes.analyses if isinstance(call.func, cst.Name) else ():
                home = self.places(analysis)
                values = assigned_to(call.func, analysis, home) if call in home else []
                if any(_table_of(one) in names or node in descendants(one) for one in values):
                    return True
        return False

    @cached_property
    def _tables_of_modules(self) -> set[str]:
        """The tables, and the functions, of which modules take classes of modules."""
        made = [one.func for one in self.planned if isinstance(one, cst.Call)]
        functions = {last_part(one.func) for one in made if isinstance(one, cst.Call)}
        return functions | {name for one in made if (name := _table_of(one))}

    def _mix(self, classes: tuple[LinenClass, ...]) -> None:
        for one in self.every.values():
            one.is_mixed = one.is_mixed or one.cls in classes

    def remaining(self, call: cst.Call) -> cst.CSTNode:
        """Return where a marker for a module in a field stays: where the variables are made."""
        for one in self.every.values():
            uses = [use.call for use in one.uses if use.name == "init" and use.call is not None]
            if uses and any(arg.value is call for arg in one.node.args):
                return uses[0]
        return call

    def given_to(self, one: Construction) -> Iterator[tuple[cst.Arg, Value]]:
        """Yield what fields of a module get that are modules, or may be such."""
        fields = {each.name: each for each in one.cls.fields()}
        for name, arg in zip(fields, one.node.args, strict=False):
            field = fields.get(arg.keyword.value if arg.keyword is not None else name)
            value = one.analysis.values.get(arg.value, UNKNOWN)
            of_module = field is not None and last_part(field.annotation.annotation) == "Module"
            is_module = of_module if value in _UNKNOWN else bool(self.made_by(value))
            if arg.value not in self.within and is_module:
                yield arg, value

    def in_file(self, analysis: Analysis) -> Iterator[Construction]:
        """Yield the constructions in a file."""
        return (one for one in self.every.values() if one.analysis is analysis)

    def uses_in(self, analysis: Analysis) -> Iterator[Use]:
        """Yield the uses in a file."""
        return (one for one in self.uses.values() if one.analysis is analysis)


def last_part(node: cst.CSTNode) -> str:
    """Return the last part of a dotted name."""
    return dotted(node).rpartition(".")[2]


def assigned_to(
    name: cst.BaseExpression, analysis: Analysis, places: Places
) -> list[cst.BaseExpression]:
    """Return what a file assigns to a variable, or to attributes of a name."""
    assigns = analysis.nodes.of(cst.Assign)
    if isinstance(name, cst.Name):
        home = binder_of(name, places)
        variables = same_variable(name.value, home, analysis.tree, places)
        return [
            one.value for one in assigns if any(each.target in variables for each in one.targets)
        ]
    return [
        one.value
        for one in assigns
        for each in one.targets
        if isinstance(each.target, cst.Attribute) and last_part(each.target) == last_part(name)
    ]


def _table_of(func: cst.BaseExpression) -> str | None:
    """Return the name of the table that has what is called: `MODELS[name]`, `MODELS.get(name)`."""
    match func:
        case cst.Subscript(value=cst.Call(func=table)) | cst.Subscript(value=table):
            return last_part(table)
        case cst.Call(func=cst.Attribute(value=table, attr=cst.Name(value="get"))):
            return last_part(table)
    return None


def _is_like_linen(node: cst.Attribute, call: cst.Call, analysis: Analysis) -> bool:
    """Whether a call has the arguments of `init` or `apply` of a module."""
    name = node.attr.value
    first = call.args[0] if call.args else None
    if first is None:
        return False
    # A model without inputs gets its variables alone.
    is_alone = first.star == "*" or (name == "apply" and isinstance(first.value, cst.Dict))
    if len(call.args) < METHODS[name] and not is_alone:
        return False
    if first.star:
        return name.startswith("init") and bool(_MODELS.search(dotted(node.value)))
    if name == "init":
        return _is_key(first.value, analysis) or bool(_MODELS.search(last_part(node.value)))
    return name == "init_with_output" or _is_variables(first.value)


def _is_key(node: cst.BaseExpression, analysis: Analysis) -> bool:
    text = dotted(node).lower()
    if any(word in text for word in ("rng", "key", "seed")) or isinstance(node, cst.Dict):
        return True
    if not isinstance(node, cst.Call):
        return False
    value = analysis.values.get(node.func, UNKNOWN)
    return isinstance(value, External) and value.name.startswith("jax.random.")


def _is_variables(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Dict):
        return any(
            isinstance(one.key, cst.SimpleString)
            if isinstance(one, cst.DictElement)
            else _is_variables(one.value)
            for one in node.elements
        )
    return any(word in dotted(node).lower() for word in ("param", "variables"))


def _is_func(around: cst.Call, node: cst.CSTNode, places: Places) -> bool:
    """Whether a node is in what is called, not in an argument."""
    return any(one is around.func for one in (node, *places.around(node)))


def _call_of(node: cst.Attribute, analysis: Analysis, places: Places) -> cst.Call | None:
    """Return the call of an attribute: `m.init(...)`, also `jax.jit(m.init)(...)`."""
    parent = places.parent(node)
    if isinstance(parent, cst.Call) and parent.func is node:
        return parent
    if node.attr.value != "init" or not isinstance(parent, cst.Arg):
        return None
    wrapper = places.parent(parent)
    if not isinstance(wrapper, cst.Call) or len(wrapper.args) != 1:
        return None
    value = analysis.values.get(wrapper.func, UNKNOWN)
    outer = places.parent(wrapper)
    if isinstance(value, External) and value.name in JIT and isinstance(outer, cst.Call):
        return outer if outer.func is wrapper else None
    return None


@dataclass(frozen=True)
class Live:
    """It is constructed where Linen made its variables.

    Attributes:
        name: The variable or attribute that holds the model.
        statement: The statement that assigned it.
        init: The use that made its variables.
    """

    name: str
    statement: cst.SimpleStatementLine
    init: Use


@dataclass(frozen=True)
class Deferred:
    """What constructs it stands where the Linen module stood."""


@dataclass(frozen=True)
class Inline:
    """It is used where it is constructed.

    Attributes:
        node: The construction.
    """

    node: cst.Call


@dataclass(frozen=True)
class InField:
    """It is given for a field of another one."""


Kind = Live | Deferred | Inline | InField


class Kinds:
    """Decides how constructions are written.

    Args:
        constructions: What callers construct.
        plan_of: Gives the plan of a module.
        waits: Whether what constructs a module also constructs those in its fields that wait.

    Attributes:
        waiting: What waits in fields of others.
        takers: Those with something in a field that waits, or may do so.
    """

    def __init__(
        self,
        constructions: Constructions,
        plan_of: Callable[[LinenClass], ClassPlan],
        *,
        waits: bool,
    ) -> None:
        self._constructions = constructions
        self._plan_of = plan_of
        self._kinds: dict[Construction, Kind] = {}
        for one in constructions.every.values():
            self._kinds[one] = self._decide(one)
        self._agree()
        self.waiting: set[Construction] = set()
        self._waits = waits
        self.takers: set[Construction] = set()
        while waits and sum(self._wait(one) for one in self._kinds):
            self._agree()

    def is_open(self, one: Construction, given: Sequence[Construction]) -> bool:
        """Whether nothing gives sizes to what a field of a module gets: see `made_by`."""
        if self._waits and not _are_shared(self._given(one)):
            return False
        waits = (isinstance(self._kinds[each], Deferred) and each.owner is None for each in given)
        return not given or any(waits)

    def _given(self, one: Construction) -> list[Construction]:
        """Return the modules that the fields of a module get."""
        every = [value for _, value in self._constructions.given_to(one)]
        return [each for value in every for each in self._constructions.made_by(value)]

    def _wait(self, one: Construction) -> bool:
        """Let a module wait that has one in a field which does; return whether it is news."""
        every = self._given(one)
        waits = [each for each in every if isinstance(self._kinds[each], Deferred | InField)]
        given = [] if _are_shared(every) else waits
        may_be = any(value in _UNKNOWN for _, value in self._constructions.given_to(one))
        is_news = not self.waiting.issuperset(given)
        self.waiting.update(given)
        if not (given or may_be) or one in self.takers:
            return is_news
        self.takers.add(one)
        if isinstance(self._kinds[one], Live):
            self._kinds[one] = Deferred()
        return True

    def of(self, one: Construction) -> Kind:
        """Return how a construction is written."""
        return self._kinds[one]

    def of_use(self, use: Use) -> Kind:
        """Return how the object of a use is written."""
        for one in use.constructions:
            return self._kinds[one]
        return Deferred()

    def _agree(self) -> None:
        """Let the objects that one use may be of be written alike."""
        changed = True
        while changed:
            changed = False
            for use in self._constructions.uses.values():
                kinds = [self._kinds[one] for one in use.constructions]
                if len(set(map(type, kinds))) > 1:
                    for one in use.constructions:
                        if self._kinds[one] != Deferred():
                            self._kinds[one] = Deferred()
                            changed = True

    def _decide(self, one: Construction) -> Kind:
        if one.owner is not None:
            return InField()
        for use in one.uses:
            if use.node.value is one.node:
                return Inline(one.node)
        # Another model with some of its fields is constructed like it.
        is_cloned = any(use.name == "clone" for use in one.uses)
        live = None if one.is_mixed or is_cloned else self._live(one)
        return live if live is not None else Deferred()

    # -- constructed where the variables are made ------------------------------------------------

    def _live(self, one: Construction) -> Live | None:
        places = self._constructions.places(one.analysis)
        statement = places.statement(one.node)
        name = assigned_name(statement, one.node)
        inits = [use for use in one.uses if use.name in INITS]
        if not name or not inits or any(use.analysis is not one.analysis for use in inits):
            return None
        assert isinstance(statement, cst.SimpleStatementLine)
        init = min(inits, key=lambda use: places.order(use.node))
        if code_of(init.node.value) != name or any(use.name != "init" for use in inits):
            return None
        if not all(self._has_sizes(one, use) for use in inits):
            return None
        if not places.runs_once(init.node) or not self._are_repeatable(one, inits[1:]):
            return None
        target = places.statement(init.node)
        if target is None or places.block(target) is not places.block(statement):
            return None
        if not places.is_before(statement, target) or places.block(statement) is None:
            return None
        if self._is_used_between(name, statement, target, one):
            return None
        return Live(name, statement, init)

    def _are_repeatable(self, one: Construction, inits: list[Use]) -> bool:
        """Whether the model can be constructed once more where its variables are made again."""
        places = self._constructions.places(one.analysis)
        home = places.function(one.node)
        return not inits or (
            all(is_pure(arg.value, one.analysis) for arg in one.node.args)
            and all(places.function(use.node) is home for use in inits)
        )

    def _is_used_between(
        self, name: str, first: cst.SimpleStatementLine, last: cst.CSTNode, one: Construction
    ) -> bool:
        """Whether the model, or what it is constructed with, is touched before its variables are made."""
        places = self._constructions.places(one.analysis)
        block = places.block(first)
        assert isinstance(block, (cst.IndentedBlock, cst.Module))
        body: list[cst.CSTNode] = list(block.body)
        between = body[body.index(first) + 1 : body.index(last)]
        given = {below.value for below in descendants(one.node) if isinstance(below, cst.Name)}
        for statement in between:
            # Functions run later, when the model is there.
            is_later = isinstance(statement, (cst.FunctionDef, cst.ClassDef))
            for below in descendants(statement):
                is_name = isinstance(below, (cst.Name, cst.Attribute))
                if is_name and dotted(below) == name and not is_later:
                    return True
                if not is_later and given & _bound_names(below):
                    return True
        return False

    def _has_sizes(self, one: Construction, use: Use) -> bool:
        """Whether a call of `init` has a key, and tells all sizes that the constructor needs."""
        if use.call is None or (use.call.args and use.call.args[0].star):
            return False
        try:
            method, args = call_parts(use.call, 1)
            sizes = sizes_for(self._plan_of(one.cls), method, args, use.analysis, code_of)
        except NoSizes:
            return False
        return not sizes.missing


def _are_shared(given: Sequence[Construction]) -> bool:
    """Whether two fields get the same module."""
    return len(set(given)) < len(given)


def _bound_names(node: cst.CSTNode) -> set[str]:
    """Return the names that a node binds or changes, those below it apart."""
    target: cst.CSTNode | None = None
    match node:
        case cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.For() | cst.NamedExpr():
            target = node.target
        case cst.AsName():
            target = node.name
        case cst.Del():
            target = node.target
    if target is None:
        return set()
    return {below.value for below in descendants(target) if isinstance(below, cst.Name)}


def assigned_name(statement: cst.CSTNode | None, node: cst.Call) -> str:
    """Return the variable that a statement assigns a call to; empty where it does something else."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=target)], value=value)]
        ) if value is node:
            return dotted(target)
        case cst.SimpleStatementLine(body=[cst.AnnAssign(target=target, value=value)]) if (
            value is node
        ):
            return dotted(target)
    return ""


# Collections that calls of a module may change without being told to.
OTHERS = frozenset({"cache", "intermediates", "perturbations"})
# Methods of modules that change what the model holds when it is called.
_CHANGING = frozenset({"sow", "perturb", "put_variable", "make_rng"})
# Layers that change what they hold when they are called.
_CHANGING_LAYERS = ("Attention", "MultiHeadDotProductAttention", "SpectralNorm")


def plans_below(plan: ClassPlan, plan_of: Callable[[LinenClass], ClassPlan]) -> Iterator[ClassPlan]:
    """Yield the plan of a module and those of the modules in it, each once."""
    waiting = [plan]
    seen: set[LinenClass] = set()
    while waiting:
        current = waiting.pop()
        if current.cls in seen:
            continue
        seen.add(current.cls)
        yield current
        inner = [site.target for site in current.sites]
        waiting += [plan_of(target) for target in inner if isinstance(target, LinenClass)]


def named_collections(plan: ClassPlan) -> set[str]:
    """Return the collections of the variables of a module, those without a name of their own apart."""
    return {one.linen.partition("/")[0] for one in plan.entries if "/" in one.linen}


class DirectCalls:
    """Finds the calls of one model that can be calls of the model itself.

    Args:
        one: The construction.
        kind: How it is written.
        places: Where the nodes of its file stand.
        plan_of: Gives the plan of a module.

    Attributes:
        uses: The uses of `apply` that become calls.
        statement: The statement that assigned the variables, if nothing reads them any more.
    """

    def __init__(
        self,
        one: Construction,
        kind: Live,
        places: Places,
        plan_of: Callable[[LinenClass], ClassPlan],
    ) -> None:
        self._one = one
        self._places = places
        self._plan_of = plan_of
        self.uses: set[Use] = set()
        self.statement: cst.CSTNode | None = None
        if kind.init.name == "init" and self._only_reads(one.cls):
            self._find(kind)

    def _only_reads(self, cls: LinenClass) -> bool:
        """Whether calls of a module change nothing in it."""
        for current in plans_below(self._plan_of(cls), self._plan_of):
            if current.marks or current.stores_rngs or current.asks_mode:
                return False
            if named_collections(current) & OTHERS:
                return False
            for owner in current.cls.ancestry():
                for node in descendants(owner.node):
                    if isinstance(node, cst.Attribute) and node.attr.value in _CHANGING:
                        return False
            for site in current.sites:
                is_layer = not isinstance(site.target, LinenClass)
                if is_layer and str(site.target).endswith(_CHANGING_LAYERS):
                    return False
        return True

    def _find(self, kind: Live) -> None:
        init = kind.init
        assert init.call is not None
        statement = self._places.statement(init.node)
        name, is_params = _assigned_variables(statement, init.call)
        if not name or statement is None:
            return
        home = self._places.function(statement)
        found: list[tuple[cst.Name, Use | None]] = []
        by_first = {
            _variables(use.call, name, is_params=is_params): use
            for use in self._one.uses
            if use.name == "apply" and use.call is not None
        }
        for node in same_variable(name, home, self._one.analysis.tree, self._places):
            if self._places.statement(node) is statement:
                continue
            use = by_first.get(node)
            if use is None and not self._is_read(node):
                return
            found.append((node, use))
        direct = {use for _, use in found if use is not None and self._is_plain(use)}
        self.uses = direct
        if all(use in direct for _, use in found) and home is not None:
            self.statement = statement

    def _is_read(self, node: cst.Name) -> bool:
        """Whether a name is read in a way that changes nothing: an argument, an item."""
        parent = self._places.parent(node)
        if isinstance(
            parent, (cst.Arg, cst.DictElement, cst.StarredDictElement, cst.Return, cst.Element)
        ):
            return not any(
                isinstance(one, (cst.AssignTarget, cst.Del)) for one in self._places.around(node)
            )
        if isinstance(parent, cst.Subscript) and parent.value is node:
            above = self._places.parent(parent)
            return not isinstance(above, (cst.AssignTarget, cst.AugAssign, cst.Del, cst.Attribute))
        return isinstance(parent, cst.Assign)

    @staticmethod
    def _is_plain(use: Use) -> bool:
        assert use.call is not None
        for arg in use.call.args[1:]:
            keyword = arg.keyword.value if arg.keyword is not None else ""
            if keyword in ("rngs", "mutable", "capture_intermediates", "variables"):
                return False
            if keyword == "method" and not isinstance(arg.value, (cst.SimpleString, cst.Attribute)):
                return False
            if arg.star == "**":
                return False
        return True


def _assigned_variables(statement: cst.CSTNode | None, call: cst.Call) -> tuple[str, bool]:
    """Return the variable that has what `init` gives, and whether that is `params` only."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ):
            if value is call:
                return name, False
            if isinstance(value, cst.Subscript) and value.value is call:
                return (name, True) if key_of(value) == "params" else ("", False)
    return "", False


def _variables(call: cst.Call, name: str, *, is_params: bool) -> cst.CSTNode | None:
    """Return the name in the first argument of `apply`, where that is all of the variables."""
    first = call.args[0].value if call.args and call.args[0].keyword is None else None
    if not is_params:
        return first if isinstance(first, cst.Name) and first.value == name else None
    match first:
        case cst.Dict(elements=[cst.DictElement(key=key, value=cst.Name() as value)]):
            return value if text_of(key) == "params" and value.value == name else None
    return None
