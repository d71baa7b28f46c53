"""Writes what callers do with modules: `init`, `apply`, `bind`, reads of members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, targets_of, text_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.comments import left_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.caller_sizes import (
    NoSizes,
    Sizes,
    call_parts,
    check_sizes,
    is_pure,
    method_name,
    method_of,
    names_in,
    sizes_for,
)
from typed_nnx_codegen.migrate.linen.callers.composed import (
    binder_of,
    expression_of,
    same_variable,
    waits_for_first,
)
from typed_nnx_codegen.migrate.linen.callers.constructions import (
    INITS,
    Construction,
    Constructions,
    Deferred,
    DirectCalls,
    InField,
    Inline,
    Kinds,
    Live,
    Use,
    assigned_name,
)
from typed_nnx_codegen.migrate.linen.domain.class_plan import CALLER, ClassPlan, Mark
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClass, public_linen
from typed_nnx_codegen.migrate.linen.domain.code import code_with, operand
from typed_nnx_codegen.migrate.linen.domain.names import names_in_nnx
from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.linen.layers.layer import (
    APPLY_OF,
    APPLY_WITH,
    BOUND_TO,
    CONSTRUCT_LATER,
    FIELD_OF,
    INIT_WITH,
    INIT_WITH_OUTPUT,
    VARIABLES_OF,
)
from typed_nnx_codegen.migrate.linen.write.constructors import constructor_of
from typed_nnx_codegen.migrate.options import TYPED_NNX


@dataclass(eq=False)
class CallerPlan:
    """What is written differently in a file, outside of modules.

    Attributes:
        code: New code for expressions.
        before: Lines to put above statements.
        removed: Statements that go; what stands above them in their place stays.
        marks: What is left to a person.
        left: Calls of functions of Linen that stay, since they get what stays.
        helpers: Definitions that the file needs at its top level.
    """

    code: dict[cst.CSTNode, str] = field(default_factory=dict)
    before: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    removed: set[cst.CSTNode] = field(default_factory=set)
    marks: list[Mark] = field(default_factory=list)
    left: set[cst.CSTNode] = field(default_factory=set)
    helpers: dict[Helper, None] = field(default_factory=dict)

    @property
    def nodes(self) -> set[int]:
        """The identities of the nodes that change."""
        return {id(node) for table in (self.code, self.before, self.removed) for node in table}

    @property
    def is_empty(self) -> bool:
        """Whether the file stays as it is."""
        return not (self.code or self.before or self.removed or self.marks)


def around_statement(
    original: cst.CSTNode, after: cst.CSTNode, plan: CallerPlan
) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
    """Return a statement as it is written, with the lines that belong above it.

    Args:
        original: The node before.
        after: The node, rewritten.
        plan: What is written.
    """
    lines = plan.before.get(original)
    if not lines:
        return left_of(original) if original in plan.removed else after
    above: list[cst.CSTNode] = [cst.parse_statement(line) for line in lines]
    leading = tuple(getattr(after, "leading_lines", ()))
    above[0] = above[0].with_changes(leading_lines=leading)
    if original in plan.removed:
        return cst.FlattenSentinel(above)
    return cst.FlattenSentinel([*above, after.with_changes(leading_lines=())])


class Rendering:
    """Writes the expressions of one file.

    Args:
        file: The file.
        constructions: What the callers of the project do.
        kinds: How constructions are written.
        plan_of: Gives the plan of a module.

    Attributes:
        plan: What is written.
        done: The nodes that were written, or that stay.
        write: Writes a node if it is a use or a construction.
    """

    def __init__(
        self,
        file: File,
        constructions: Constructions,
        kinds: Kinds,
        plan_of: Callable[[LinenClass], ClassPlan],
    ) -> None:
        self.file = file
        self.analysis = file.analysis
        self.constructions = constructions
        self.places = constructions.places(file.analysis)
        self.kinds = kinds
        self.plan_of = plan_of
        self.plan = CallerPlan()
        self.done: set[cst.CSTNode] = set()
        self.write: Callable[[cst.CSTNode], None] | None = None
        # `typed_nnx.migrated` finds out sizes that no argument is named after.
        self.finds_sizes = file.options.target == TYPED_NNX

    def render(self, node: cst.CSTNode) -> str:
        """Return the new code of an expression."""
        replacements: dict[cst.CSTNode, str] = {
            below: code_of(self.file.refer(name))
            for below, name in names_in_nnx(node, self.analysis)
        }
        for below in descendants(node):
            if self.write is not None:
                self.write(below)
            if below in self.plan.code:
                replacements[below] = self.plan.code[below]
        return code_with(node, replacements)

    def refer(self, public: str) -> str:
        """Return how the file spells a public name."""
        return code_of(self.file.refer(public))

    def helper(self, helper: Helper) -> str:
        """Note that the file needs a helper; return its name."""
        self.plan.helpers[helper] = None
        return helper.name

    def mark(self, node: cst.CSTNode, message: str) -> None:
        """Leave something to a person."""
        self.plan.marks.append(Mark(node, message, CALLER))

    def deferred(self, call: cst.Call) -> str:
        """Return what constructs a model later: `partial(MLP, features=3)`."""
        built = self.constructions.built.get(call)
        if built is not None:
            plan = self.plan_of(built)
            if not waits_for_first(plan):
                raise NoSizes(f"nothing tells all sizes of `{built.name}` where it is constructed")
            names = [*(one.name for one in plan.lifted), "rngs"]
            return f"lambda *, {joined(names)}: {code_of(self._expression(plan))}"
        one = self.constructions.every.get(call)
        # What is in a list may be given to another module.
        is_item = isinstance(self.places.parent(call), cst.Element | cst.DictElement)
        is_open = is_item or call in self.constructions.chosen
        if one in self.kinds.waiting or (is_open and self.finds_sizes):
            return self.constructed_later(call, self._named(call))
        return self.waiting(call.func, self._named(call))

    def waiting(self, model: cst.BaseExpression, args: Sequence[cst.Arg]) -> str:
        """Return what constructs a model later, with arguments that are given now."""
        parts = [self.render(model), *self.args(args)]
        if not any(parts[1:]):
            return parts[0]
        return f"{self.refer('functools.partial')}({joined(parts)})"

    def constructed_later(self, call: cst.Call, args: Sequence[cst.Arg]) -> str:
        """Return a call that waits where it is one of the class of a module."""
        parts = [self.render(call.func), *self.args(args)]
        return f"{self.helper(CONSTRUCT_LATER)}({joined(parts)})"

    def _named(self, call: cst.Call) -> Sequence[cst.Arg]:
        """Return the arguments of a constructor, with their names where some are changed later."""
        one = self.constructions.every.get(call)
        if one is None or not any(use.name == "clone" for use in one.uses):
            return call.args
        named = [*call.args]
        for position, (arg, known) in enumerate(zip(call.args, one.cls.fields(), strict=False)):
            if arg.keyword is not None or arg.star:
                break
            named[position] = arg.with_changes(keyword=cst.Name(known.name))
        return named

    def constructed(self, call: cst.Call, sizes: Sizes, rngs: str, place: cst.CSTNode) -> str:
        """Return what constructs a model now, where a node stands."""
        built = self.constructions.built.get(call)
        if built is not None:
            return self._filled(self._expression(self.plan_of(built)), sizes, rngs, place)
        parts = [*self.args(call.args), sizes.text, f"rngs={rngs}"]
        return f"{self.render(call.func)}({joined(parts)})"

    def _expression(self, plan: ClassPlan) -> cst.BaseExpression:
        """Return what builds a model of several modules, with names for sizes and `rngs`."""
        found = expression_of(constructor_of(plan, plan.cls, self.file))
        if found is None:
            raise NoSizes(f"`{plan.cls.name}` is not built in one expression")
        self.plan.helpers |= dict.fromkeys(plan.helpers)
        return found

    def _filled(self, node: cst.BaseExpression, sizes: Sizes, rngs: str, place: cst.CSTNode) -> str:
        """Return an expression with the sizes and the random streams in it."""
        names = names_in(node)
        codes = {name: operand(code) for name, code in sizes.items}
        is_shared = sum(one.value == "rngs" for one in names) > 1
        codes["rngs"] = self._streams(rngs, place) if is_shared else rngs
        return code_with(node, {one: codes[one.value] for one in names if one.value in codes})

    def _streams(self, rngs: str, place: cst.CSTNode) -> str:
        """Return the variable that has random streams; a line above a node assigns it."""
        statement = self.places.statement(place)
        if statement is None or not self.places.runs_once(place):
            raise NoSizes("its random streams have no place")
        used = self.analysis.nodes.of(cst.Name)
        name = next(one for one in _streams() if all(each.value != one for each in used))
        self.plan.before.setdefault(statement, []).append(f"{name} = {rngs}")
        return name

    def args(self, args: Sequence[cst.Arg]) -> list[str]:
        """Return the new code of the arguments of a constructor."""
        return [self.arg(arg) for arg in args if not _is_parent(arg)]

    def arg(self, arg: cst.Arg) -> str:
        """Return the new code of an argument."""
        keyword = f"{arg.keyword.value}=" if arg.keyword is not None else ""
        return f"{keyword}{arg.star}{self.render(arg.value)}"


def _streams() -> Iterator[str]:
    yield "rngs"
    yield from (f"model_rngs{'_' * number}" for number in count())


def joined(parts: Sequence[str]) -> str:
    """Return arguments as they stand in a call; those that are empty are left out."""
    return ", ".join(part for part in parts if part)


def keyword_of(arg: cst.Arg) -> str:
    """Return the keyword of an argument; empty where it has none."""
    return arg.keyword.value if arg.keyword is not None else ""


def _is_parent(arg: cst.Arg) -> bool:
    """Whether an argument is the `parent` or the `name` that Linen modules take."""
    return keyword_of(arg) in ("parent", "name")


@dataclass(frozen=True, eq=False)
class Calls:
    """Writes the calls of models."""

    code: Rendering
    direct: Mapping[Use, DirectCalls]

    # -- what makes variables --------------------------------------------------------------------

    def init(self, use: Use) -> None:
        """Write `model.init`, called or handed to something."""
        kind = self.code.kinds.of_use(use)
        model: str | None = None
        if use.call is not None and use.name == "init" and isinstance(kind, Live | Inline):
            try:
                model = self._initialized(use, use.call, kind)
            except NoSizes:
                if isinstance(kind, Live):
                    raise
        if model is None:
            self._later(use, INIT_WITH if use.name == "init" else INIT_WITH_OUTPUT)
        elif model and use.call is not None:
            self.code.plan.code[use.call] = f"{self.code.helper(VARIABLES_OF)}({model})"

    def _initialized(self, use: Use, call: cst.Call, kind: Live | Inline) -> str:
        """Return the model that has the variables of `init`; empty where nothing reads them."""
        rngs = self._rngs(call)
        if use.constructions[0] in self.code.kinds.takers:
            raise NoSizes("a module in a field waits for its sizes")
        if isinstance(kind, Inline):
            return self.code.constructed(kind.node, self._sizes(use, call), rngs, use.node)
        one = use.constructions[0]
        if use is not kind.init:
            return self.code.constructed(one.node, self._sizes(use, call), rngs, use.node)
        made = self.code.constructed(one.node, self._sizes(use, call), rngs, use.node)
        statement = self.code.places.statement(use.node)
        assert statement is not None
        self.code.plan.before.setdefault(statement, []).append(f"{kind.name} = {made}")
        self.code.plan.removed.add(kind.statement)
        direct = self.direct.get(use)
        if direct is not None and direct.statement is not None:
            self.code.plan.removed.add(direct.statement)
            return ""
        return kind.name

    def _sizes(self, use: Use, call: cst.Call) -> Sizes:
        """Return the sizes that the arguments of a call of `init` tell.

        Raises:
            NoSizes: They do not tell one of them.
        """
        code = self.code
        plan = code.plan_of(use.classes[0])
        method, args = call_parts(call, 1)
        found = sizes_for(plan, method, args, code.analysis, code.render)
        if found.missing:
            raise NoSizes(found.missing[0])
        for node in found.used:
            is_twice = sum(one is node for one in found.used) > 1
            if is_twice and not is_pure(node, code.analysis):
                raise NoSizes(f"`{code_of(node)}` would be evaluated twice")
        return found

    def _passed(self, call: cst.Call) -> list[str]:
        """Return the arguments of `init` that are those of the model."""
        return [
            self.code.arg(arg)
            for number, arg in enumerate(call.args)
            if (number or arg.keyword is not None) and keyword_of(arg) not in ("rngs", "mutable")
        ]

    def _rngs(self, call: cst.Call) -> str:
        """Return the random streams that a call of `init` makes variables with."""
        given = {keyword_of(arg): arg.value for arg in reversed(call.args) if not arg.star}
        first = given.get("rngs", given.get(""))
        name = self.code.refer("nnx.Rngs")
        if first is None or (call.args[0].star and "rngs" not in given):
            raise NoSizes("the key for its variables is not known")
        keys: dict[str, str] = {}
        for one in first.elements if isinstance(first, cst.Dict) else ():
            stream = text_of(one.key) if isinstance(one, cst.DictElement) else None
            if stream is None:
                keys.clear()
                break
            keys[stream] = self.code.render(one.value)
        if not keys:
            return f"{name}({self.code.render(first)})"
        default = keys.pop("params", "")
        return f"{name}({joined([default, *(f'{key}={code}' for key, code in keys.items())])})"

    def tabulate(self, use: Use) -> None:
        """Write `model.tabulate`."""
        if use.call is None:
            raise NoSizes("`tabulate` is handed on")
        kind = self.code.kinds.of_use(use)
        if isinstance(kind, Live):
            model = kind.name
        elif isinstance(kind, Inline):
            rngs = self._rngs(use.call)
            model = self.code.constructed(kind.node, self._sizes(use, use.call), rngs, use.node)
        else:
            raise NoSizes("`tabulate` is of what is not constructed yet")
        text = joined([model, *self._passed(use.call)])
        self.code.plan.code[use.call] = f"{self.code.refer('nnx.tabulate')}({text})"

    # -- what runs models ------------------------------------------------------------------------

    def apply(self, use: Use) -> None:
        """Write `model.apply`, called or handed to something."""
        if use in self.direct and use.call is not None:
            self._direct_call(use, use.call)
        else:
            self._later(use, APPLY_WITH)

    def _later(self, use: Use, helper: Helper) -> None:
        """Let a function do with a model, or with what constructs it, what a method of Linen does."""
        method = "__call__"
        if use.call is not None and use.call.func is use.node:
            method = method_of(use.call)
        if not self.has_sizes(use.classes, use) or use.name in INITS:
            for cls in use.classes:
                check_sizes(self.code.plan_of(cls), method, by_calls=self.code.finds_sizes)
        model = self.model(use)
        if use.call is None or use.call.func is not use.node:  # also in `jax.jit(model.init)(...)`
            if helper == APPLY_WITH:
                text = f"{self.code.helper(APPLY_OF)}({model})"
            else:
                partial = self.code.refer("functools.partial")
                text = f"{partial}({self.code.helper(helper)}, {model})"
            self.code.plan.code[use.node] = text
            return
        if any(keyword_of(arg) == "capture_intermediates" for arg in use.call.args):
            raise NoSizes("`capture_intermediates` has no counterpart here")
        args = [model, *(self._applied_arg(arg) for arg in use.call.args)]
        self.code.plan.code[use.call] = f"{self.code.helper(helper)}({joined(args)})"

    def has_sizes(self, classes: Sequence[LinenClass], use: Use | None = None) -> bool:
        """Whether a model has its sizes when it runs: there already, or from `init` in this file."""
        code = self.code
        if use is not None and isinstance(code.kinds.of_use(use), Live):
            return True
        made = {
            cls
            for one in code.constructions.uses_in(code.analysis)
            if one.name in INITS and not isinstance(code.kinds.of_use(one), Live)
            for cls in one.classes
        }
        return all(cls in made or not code.plan_of(cls).lifted for cls in classes)

    def function(self, call: cst.Call) -> None:
        """Write `nn.apply(function, model)`, called or handed to something."""
        code = self.code
        match call.args:
            case [cst.Arg(value=function, keyword=None, star=""), cst.Arg(value=model), *rest]:
                classes = code.constructions.classes_of(code.analysis.values.get(model, UNKNOWN))
            case _:
                return
        if not classes or not self.has_sizes(classes):
            return
        method = f"method={code.render(function)}"
        given = [code.helper(APPLY_WITH), code.render(model)]
        options = [method, *map(code.arg, rest)]
        outer = code.places.parent(call)
        if isinstance(outer, cst.Call) and outer.func is call:
            args = [*given[1:], *map(code.arg, outer.args), *options]
            code.plan.code[outer] = f"{given[0]}({joined(args)})"
        else:
            args = [*given, *options]
            code.plan.code[call] = f"{code.refer('functools.partial')}({joined(args)})"

    def model(self, use: Use) -> str:
        """Return the model of a use, or what constructs it: the first argument of helpers."""
        kind = self.code.kinds.of_use(use)
        if isinstance(kind, Inline):
            return self.code.deferred(kind.node)
        return self.code.render(use.node.value)

    def _direct_call(self, use: Use, call: cst.Call) -> None:
        """Write a call of the model with its own variables."""
        method, passed = call_parts(call, 1)
        self.code.done |= {arg.value for arg in call.args if keyword_of(arg) == "method"}
        model = self.code.render(use.node.value)
        function = model if method == "__call__" else f"{model}.{method}"
        args = joined([self.code.arg(arg) for arg in passed])
        self.code.plan.code[call] = f"{function}({args})"

    def _applied_arg(self, arg: cst.Arg) -> str:
        """Return an argument; a method of a model that is not there yet is named."""
        is_method = keyword_of(arg) == "method" and isinstance(arg.value, cst.Attribute)
        if not is_method or arg.value not in self.code.constructions.uses:
            return self.code.arg(arg)
        self.code.done.add(arg.value)
        return f'method="{method_name(arg.value)}"'

    def bind(self, use: Use) -> None:
        """Write `model.bind`."""
        if use.call is None:
            raise NoSizes("`bind` is handed on")
        lifted = [one for cls in use.classes for one in self.code.plan_of(cls).lifted]
        is_told = self.code.finds_sizes and all(one.is_found_by_calls for one in lifted)
        if not is_told and not self.has_sizes(use.classes, use):
            raise NoSizes("the sizes of its inputs are not known where variables are bound")
        args = [self.code.arg(arg) for arg in use.call.args]
        text = joined([self.model(use), *args])
        self.code.plan.code[use.call] = f"{self.code.helper(BOUND_TO)}({text})"


# Attributes of a Linen module that a model of NNX does not have, or that do something else there.
_LINEN_ONLY = frozenset(
    {
        *("clone", "copy", "replace", "unbind", "variables", "scope", "parent", "name", "path"),
        *("lazy_init", "module_paths", "make_rng", "is_initializing", "has_rng", "param", "sow"),
        *("variable", "get_variable", "put_variable", "has_variable", "perturb"),
    }
)


@dataclass(frozen=True, eq=False)
class MemberReads:
    """Writes reads of attributes."""

    code: Rendering

    def member(self, use: Use) -> None:
        """See that an attribute is still there: a field, or a method."""
        is_waiting = use.classes and isinstance(self.code.kinds.of_use(use), Deferred)
        if use.name == "clone" and use.call is not None and is_waiting:
            text = self.code.waiting(use.node.value, use.call.args)
            self.code.plan.code[use.call] = text
            return
        if not use.classes and use.name in _LINEN_ONLY:
            return
        if not self.code.constructions.composed.layers.isdisjoint(use.classes):
            raise NoSizes(f"`{use.name}` is read of a layer, which may have another name for it")
        if use.name in _LINEN_ONLY and not any(
            one.name == use.name for cls in use.classes for one in cls.fields()
        ):
            raise NoSizes(f"`{use.name}` of a module has no counterpart here")
        if isinstance(self.code.kinds.of_use(use), Live):
            return
        receiver = self.code.render(use.node.value)
        text = f'{self.code.helper(FIELD_OF)}({receiver}, "{use.name}")'
        self.code.plan.code[use.node] = text


_APPLY = f"{LINEN}.apply"
_KNOWN = frozenset({*INITS, "apply", "bind", "tabulate"})


class Writing:
    """Writes the code of one file outside of its modules.

    Args:
        file: The file.
        constructions: What the callers of the project do.
        kinds: How constructions are written.
        plan_of: Gives the plan of a module.
    """

    def __init__(
        self,
        file: File,
        constructions: Constructions,
        kinds: Kinds,
        plan_of: Callable[[LinenClass], ClassPlan],
    ) -> None:
        self._code = Rendering(file, constructions, kinds, plan_of)
        self._code.write = self._write
        self._made: dict[cst.CSTNode, Construction] = {
            one.node: one
            for one in constructions.in_file(file.analysis)
            if not plan_of(one.cls).stays
        }
        self._uses: dict[cst.CSTNode, Use] = {}
        for use in constructions.uses_in(file.analysis):
            # Functions see at run time whether it is of what stays.
            migrated = tuple(cls for cls in use.classes if not plan_of(cls).stays)
            if migrated == use.classes:
                self._uses[use.call or use.node] = use
            elif migrated:
                self._uses[use.call or use.node] = replace(use, classes=migrated)
        staying = {
            call: [bool(plan_of(cls).stays) for cls in classes]
            for call, classes in constructions.chosen.items()
        }
        # Where some classes stay, a function sees at run time which one it is.
        self._chosen = {call for call, some in staying.items() if not any(some)}
        chosen = [call for call, some in staying.items() if not all(some)]
        calls = [*chosen, *constructions.later]
        self._later = [call for call in calls if call in self._code.places]
        direct = self._direct_calls()
        self._calls = Calls(self._code, direct)
        self._members = MemberReads(self._code)

    @property
    def plan(self) -> CallerPlan:
        """What is written."""
        return self._code.plan

    def run(self) -> None:
        """Write everything."""
        self._leave_assigned()
        for node in [*self._uses, *self._made, *self._later]:
            self._write(node)
        for call in self._code.analysis.nodes.of(cst.Call):
            value = self._code.analysis.values.get(call.func, UNKNOWN)
            is_apply = isinstance(value, External) and public_linen(value.name) == _APPLY
            if is_apply and call in self._code.places:
                self._calls.function(call)

    def _direct_calls(self) -> dict[Use, DirectCalls]:
        code = self._code
        found: dict[Use, DirectCalls] = {}
        for one in self._made.values():
            kind = code.kinds.of(one)
            inits = [use for use in one.uses if use.name in INITS]
            if isinstance(kind, Live) and len(inits) == 1:
                calls = DirectCalls(one, kind, code.places, code.plan_of)
                found |= dict.fromkeys([*calls.uses, kind.init], calls)
        return found

    def _write(self, node: cst.CSTNode) -> None:
        if node in self._code.done:
            return
        if node not in self._uses and node not in self._made and node not in self._later:
            return
        self._code.done.add(node)
        if node in self._later and isinstance(node, cst.Call):
            self._code.plan.code[node] = self._waiting(node)
        try:
            if node in self._uses:
                self._use(self._uses[node])
            if node in self._made:
                self._construction(self._made[node])
        except NoSizes as reason:
            self._code.mark(node, f"{reason}; the call is still that of Linen")

    def _waiting(self, call: cst.Call) -> str:
        """Return a call of what is, or may be, the class of a module."""
        if call in self._chosen:
            return self._code.deferred(call)
        return self._code.constructed_later(call, call.args)

    def _use(self, use: Use) -> None:
        if use.name in INITS:
            self._calls.init(use)
        elif use.name == "apply":
            self._calls.apply(use)
        elif use.name == "bind":
            self._calls.bind(use)
        elif use.name == "tabulate":
            self._calls.tabulate(use)
        else:
            self._members.member(use)

    def _construction(self, one: Construction) -> None:
        plan = self._code.plan
        if self._drop_unread(one):
            return
        is_built = one.node in self._code.constructions.built
        if not is_built and one not in self._code.kinds.takers:
            for node in self._code.constructions.composed.modules_in(one.node, one.analysis):
                if not isinstance(node, cst.Call):
                    message = (
                        f"`{code_of(node)}` in a field needs the sizes of its inputs and `rngs`"
                    )
                    self._code.mark(self._remaining(one), message)
        match self._code.kinds.of(one):
            case Deferred():
                around = self._code.places.parent(one.node)
                if isinstance(around, cst.BinaryOperation | cst.UnaryOperation):
                    raise NoSizes(
                        f"`{one.cls.name}` is an operand, and waits for its sizes: NNX has none yet"
                    )
                if isinstance(around, cst.Call) and around.func is one.node:
                    # Linen finds the module by the call around: nothing else can give its variables.
                    raise NoSizes(
                        f"`{one.cls.name}` is built and called outside of a module, and only runs"
                        " where a module calls this: build it in that module"
                    )
                for lifted in self._code.plan_of(one.cls).lifted:
                    is_found = lifted.is_found_by_calls and self._is_initialized(one)
                    if not lifted.argument and not lifted.default and not is_found:
                        message = f"nothing tells `{lifted.name}` of `{one.cls.name}`: give it here"
                        self._code.mark(one.node, message)
                plan.code[one.node] = self._code.deferred(one.node)
            case Live(init=init):
                self._write(init.call or init.node)
            case InField() if one in self._code.kinds.waiting:
                plan.code[one.node] = self._code.deferred(one.node)
            case InField():
                message = f"`{one.cls.name}` in a field needs the sizes of its inputs and `rngs`"
                self._code.mark(self._remaining(one), message)

    def _is_initialized(self, one: Construction) -> bool:
        """Whether `init_with` constructs a module, or may do so."""
        uses = self._code.constructions.uses.values()
        return self._code.finds_sizes and any(
            use.name in INITS and (not use.classes or one.cls in use.classes) for use in uses
        )

    def _drop_unread(self, one: Construction) -> bool:
        """Drop the statement that assigns a module which another expression builds; say whether."""
        code = self._code
        reads = [node for node, made in code.constructions.within.items() if made is one.node]
        statement = code.places.statement(one.node)
        first = reads[0] if reads else None
        if statement is None or not isinstance(first, cst.Name) or one.uses:
            return False
        if assigned_name(statement, one.node) != first.value:
            return False
        home = binder_of(first, code.places)
        every = same_variable(first.value, home, code.analysis.tree, code.places)
        if home is None or len(every) != len(reads) + 1:
            return False
        code.plan.removed.add(statement)
        return True

    def _remaining(self, one: Construction) -> cst.CSTNode:
        """Return where a marker for a construction stays: models move to where variables are made."""
        outer = one.owner if one.owner is not None else one
        kind = self._code.kinds.of(outer)
        if isinstance(kind, Live):
            return kind.init.call or kind.init.node
        return one.node

    def _forget(self, use: Use) -> None:
        """Leave an attribute alone that the program itself gives to modules."""
        for other in [*self._uses.values()]:
            if other.name == use.name and set(other.classes) & set(use.classes):
                self._uses.pop(other.call or other.node, None)

    def _leave_assigned(self) -> None:
        """Leave `model.apply` alone where a program assigns it: `model.apply = jit(model.apply)`."""
        places = self._code.places
        nodes = self._code.analysis.nodes
        setting: list[cst.AssignTarget | cst.AugAssign | cst.For] = [
            *nodes.of(cst.AssignTarget),
            *nodes.of(cst.AugAssign),
            *nodes.of(cst.For),
        ]
        targets = {
            target
            for one in setting
            for target in targets_of(one.target)
            if isinstance(target, cst.Attribute) and target in self._code.constructions.uses
        }
        for target in targets:
            use = self._code.constructions.uses[target]
            self._uses.pop(target, None)
            if use.name not in _KNOWN:
                self._forget(use)
                continue
            statement = places.statement(target)
            block = places.block(statement) if statement is not None else None
            for other in [*self._uses.values()]:
                is_same = other.name == use.name and set(other.constructions) & set(
                    use.constructions
                )
                is_after = (
                    block is not None
                    and block in places.around(other.node)
                    and places.is_before(target, other.node)
                )
                if is_same and is_after and places.statement(other.node) is not statement:
                    self._uses.pop(other.call or other.node, None)
