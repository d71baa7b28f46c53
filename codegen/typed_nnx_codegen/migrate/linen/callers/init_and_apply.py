"""Writes what callers do with modules: `apply`, `bind`, reads of members."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import libcst as cst

from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.caller_sizes import NoSizes, Sizes
from typed_nnx_codegen.migrate.linen.callers.constructions import Construction, Constructions, Use
from typed_nnx_codegen.migrate.linen.callers.direct_calls import DirectCalls
from typed_nnx_codegen.migrate.linen.callers.kinds import (
    INITS,
    Deferred,
    InField,
    Kinds,
    Live,
    call_parts,
    method_name,
)
from typed_nnx_codegen.migrate.linen.callers.models import InitCalls, Models, later_model
from typed_nnx_codegen.migrate.linen.callers.places import CallerPlan
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering, joined, keyword_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.layers.layer import APPLY_WITH, BOUND_TO, FIELD_OF


class ApplyCalls:
    """Writes what runs modules.

    Args:
        code: Writes expressions.
        models: Writes models.
        direct: The calls that need no variables, by use.
    """

    def __init__(self, code: Rendering, models: Models, direct: Mapping[Use, DirectCalls]) -> None:
        self._code = code
        self._models = models
        self._direct = direct

    def apply(self, use: Use) -> None:
        """Write `model.apply`, called or handed to something."""
        if use.call is None:
            self._apply_function(use)
            return
        call = use.call
        if any(keyword_of(arg) == "capture_intermediates" for arg in call.args):
            raise NoSizes("`capture_intermediates` has no counterpart here")
        if use in self._direct:
            self._direct_call(use, call)
            return
        skip = 0 if any(keyword_of(arg) == "variables" for arg in call.args) else 1
        model = self._models.model(use, lambda: self._models.sizes(use, call, skip, is_kept=True))
        args = [self._applied_arg(arg, use) for arg in call.args]
        self._code.plan.code[call] = f"{self._code.helper(APPLY_WITH)}({joined([model, *args])})"

    def _direct_call(self, use: Use, call: cst.Call) -> None:
        """Write a call of the model with its own variables."""
        method, passed = call_parts(call, self._code.analysis, 1)
        self._code.done |= {arg.value for arg in call.args if keyword_of(arg) == "method"}
        model = self._code.render(use.node.value)
        function = model if method == "__call__" else f"{model}.{method}"
        self._code.plan.code[call] = (
            f"{function}({joined([self._code.arg(arg) for arg in passed])})"
        )

    def _applied_arg(self, arg: cst.Arg, use: Use) -> str:
        if keyword_of(arg) == "method" and isinstance(arg.value, cst.Attribute):
            below = self._code.constructions.uses.get(arg.value)
            if below is not None:
                self._code.done.add(arg.value)
                return f'method="{method_name(arg.value)}"'
        return self._code.arg(arg)

    def _apply_function(self, use: Use) -> None:
        """Write `model.apply` where it is handed to something."""
        kind = self._code.kinds.of_use(use)
        helper = self._code.helper(APPLY_WITH)
        is_known = isinstance(kind, Live) or (
            isinstance(kind, Deferred) and kind.preset is not None
        )
        if is_known or not self._models.takes_sizes(use):
            model = self._models.model(use, lambda: Sizes(()))
            self._code.plan.code[use.node] = (
                f"{self._code.refer('functools.partial')}({helper}, {model})"
            )
            return
        model = self._models.model(use, lambda: self._models.sizes_of_names(use))
        header = self._models.header(use.classes[0])
        passed: list[str] = []
        is_keyword_only = False
        for one in header:
            name = one.partition("=")[0]
            if name == "*":
                is_keyword_only = True
            else:
                passed.append(f"{name}={name}" if is_keyword_only else name)
        head = joined(["variables", *header, "**options"])
        body = f"{helper}({joined([model, 'variables', *passed, '**options'])})"
        self._code.plan.code[use.node] = f"(lambda {head}: {body})"

    def bind(self, use: Use) -> None:
        """Write `model.bind`."""
        if use.call is None:
            raise NoSizes("`bind` is handed on")

        def sizes() -> Sizes:
            if self._models.takes_sizes(use):
                raise NoSizes("the sizes of its inputs are not known where variables are bound")
            return Sizes(())

        args = [self._code.arg(arg) for arg in use.call.args]
        text = joined([self._models.model(use, sizes), *args])
        self._code.plan.code[use.call] = f"{self._code.helper(BOUND_TO)}({text})"


# Attributes of a Linen module that a model of NNX does not have, or that do something else there.
_LINEN_ONLY = frozenset(
    {
        *("clone", "copy", "replace", "unbind", "variables", "scope", "parent", "name", "path"),
        *("lazy_init", "module_paths", "make_rng", "is_initializing", "has_rng", "param", "sow"),
        *("variable", "get_variable", "put_variable", "has_variable", "perturb"),
    }
)


class MemberReads:
    """Writes reads of attributes.

    Args:
        code: Writes expressions.
    """

    def __init__(self, code: Rendering) -> None:
        self._code = code

    def member(self, use: Use) -> None:
        """See that an attribute is still there: a field, a method that needs no object."""
        if use.name in _LINEN_ONLY and not any(
            one.name == use.name for cls in use.classes for one in cls.fields()
        ):
            raise NoSizes(f"`{use.name}` of a module has no counterpart here")
        if isinstance(self._code.kinds.of_use(use), Live):
            return
        methods = [cls.method(use.name) for cls in use.classes]
        if len(use.classes) == 1 and methods[0] is not None and not methods[0].is_bound:
            owner = self._constructions_class_code(use)
            if owner:
                self._code.plan.code[use.node] = f"{owner}.{use.name}"
                return
        if not any(cls.method(use.name) for cls in use.classes):
            receiver = self._code.render(use.node.value)
            self._code.plan.code[use.node] = (
                f'{self._code.helper(FIELD_OF)}({receiver}, "{use.name}")'
            )
            return
        raise NoSizes(f"`{use.name}` is read of what is not constructed yet")

    def _constructions_class_code(self, use: Use) -> str:
        """Return how the file spells the class of a use; empty where it does not."""
        scope = self._code.analysis.scope
        for one in use.constructions:
            if one.analysis is self._code.analysis and isinstance(one.node.func, cst.Name):
                name = one.node.func.value
                if name in scope.seen:
                    return name
        return ""


# Random streams from one key.
_ONE_KEY = re.compile(r"([\w.]*Rngs)\((jax\.random\.\w+\([^()]*\)|[a-z_]*(?:rng|key)\w*)\)")
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
        self._uses: dict[cst.CSTNode, Use] = {
            use.call or use.node: use
            for use in constructions.uses_in(file.analysis)
            if not any(plan_of(cls).stays for cls in use.classes)
        }
        direct = self._direct_calls()
        models = Models(self._code)
        self._inits = InitCalls(self._code, models, direct)
        self._applies = ApplyCalls(self._code, models, direct)
        self._members = MemberReads(self._code)

    @property
    def plan(self) -> CallerPlan:
        """What is written."""
        return self._code.plan

    def run(self) -> None:
        """Write everything."""
        self._leave_assigned()
        for node in [*self._uses, *self._made]:
            self._write(node)

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
        if node in self._code.done or (node not in self._uses and node not in self._made):
            return
        self._code.done.add(node)
        try:
            if node in self._uses:
                self._use(self._uses[node])
            if node in self._made:
                self._construction(self._made[node])
        except NoSizes as reason:
            self._code.mark(node, f"{reason}; the call is still that of Linen")

    def _use(self, use: Use) -> None:
        if use.name in INITS:
            self._inits.init(use)
        elif use.name == "apply":
            self._applies.apply(use)
        elif use.name == "bind":
            self._applies.bind(use)
        elif use.name == "tabulate":
            self._inits.tabulate(use)
        else:
            self._members.member(use)

    def _construction(self, one: Construction) -> None:
        plan = self._code.plan
        match self._code.kinds.of(one):
            case Deferred(preset=preset):
                later = later_model(one, self._code) if not (preset and preset.items) else None
                deferred = later or self._code.deferred(one.node, preset or Sizes(()))
                plan.code[one.node] = deferred
            case Live(init=init):
                self._write(init.call or init.node)
            case InField() if one.node in self._code.held and self._code.rngs:
                sizes = self._code.held[one.node]
                plan.code[one.node] = self._code.constructed(
                    one.node, sizes, folded(self._code, one.node)
                )
            case InField():
                message = f"`{one.cls.name}` in a field needs the sizes of its inputs and `rngs`"
                self._code.mark(self._remaining(one), message)

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
        targets = {
            one.target
            for one in self._code.analysis.nodes.of(cst.AssignTarget)
            if isinstance(one.target, cst.Attribute) and one.target in self._code.constructions.uses
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


def folded(code: Rendering, node: cst.CSTNode) -> str:
    """Return the random streams of a module in a field: not those of the module that has it."""
    before = [one for one in code.held if code.places.order(one) <= code.places.order(node)]
    match = _ONE_KEY.fullmatch(code.rngs)
    if match is None:
        return code.rngs
    fold_in = code.refer("jax.random.fold_in")
    return f"{match[1]}({fold_in}({match[2]}, {len(before)}))"
