"""Writes what callers do with modules."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.apply_calls import ApplyCalls
from typed_nnx_codegen.migrate.linen.callers.caller_plan import CallerPlan
from typed_nnx_codegen.migrate.linen.callers.constructions import Construction, Constructions, Use
from typed_nnx_codegen.migrate.linen.callers.direct_calls import DirectCalls
from typed_nnx_codegen.migrate.linen.callers.init_calls import InitCalls
from typed_nnx_codegen.migrate.linen.callers.kinds import INITS, Deferred, InField, Kinds, Live
from typed_nnx_codegen.migrate.linen.callers.later_models import later_model
from typed_nnx_codegen.migrate.linen.callers.member_reads import MemberReads
from typed_nnx_codegen.migrate.linen.callers.models import Models
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering
from typed_nnx_codegen.migrate.linen.callers.sizes import NoSizes, Sizes
from typed_nnx_codegen.migrate.linen.callers.training import Found, TrainingCode
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan

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
        training: What the training code of the project does with TrainStates.
    """

    def __init__(
        self,
        file: File,
        constructions: Constructions,
        kinds: Kinds,
        plan_of: Callable[[LinenClass], ClassPlan],
        training: Found,
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
        self._training = TrainingCode(self._code, models, self._inits, training)

    @property
    def plan(self) -> CallerPlan:
        """What is written."""
        return self._code.plan

    def run(self) -> None:
        """Write everything."""
        self._leave_assigned()
        for node in [*self._training.nodes, *self._uses, *self._made]:
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
        if self._training.write(node):
            return
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
