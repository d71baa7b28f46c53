"""Reads what the training code of a project does with its TrainStates, all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    Instance,
    ProjectClass,
    options_of,
)
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions
from typed_nnx_codegen.migrate.linen.callers.direct_calls import (
    OTHERS,
    named_collections,
    plans_below,
)
from typed_nnx_codegen.migrate.linen.callers.kinds import Kinds
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.callers.training.applications import Applications
from typed_nnx_codegen.migrate.linen.callers.training.creations import creation_of
from typed_nnx_codegen.migrate.linen.callers.training.fields import fields_of
from typed_nnx_codegen.migrate.linen.callers.training.found import Found
from typed_nnx_codegen.migrate.linen.callers.training.functions import Functions
from typed_nnx_codegen.migrate.linen.callers.training.manual_loops import ManualLoops
from typed_nnx_codegen.migrate.linen.callers.training.model_names import ModelNames
from typed_nnx_codegen.migrate.linen.callers.training.outputs import Outputs
from typed_nnx_codegen.migrate.linen.callers.training.program import Program
from typed_nnx_codegen.migrate.linen.callers.training.state_values import (
    NotKnownError,
    function_of,
    is_opt_state,
    is_params,
    is_state,
    is_state_class,
)
from typed_nnx_codegen.migrate.linen.callers.training.updates import check_calls, update_of
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan

_OF_STATES = frozenset({"apply_fn", "apply_gradients"})
# Functions that take the parameters as a tree of arrays.
_TREES = ("jax.tree.", "jax.tree_", "optax.")


class Reading:
    """Reads the training code of a project.

    Args:
        program: The files.
        kinds: How models are written.
        plan_of: Gives the plan of a module.
    """

    def __init__(
        self, program: Program, kinds: Kinds, plan_of: Callable[[LinenClass], ClassPlan]
    ) -> None:
        self._program = program
        self._constructions = program.constructions
        self._kinds = kinds
        self._plan_of = plan_of
        self._read_already: set[cst.CSTNode] = set()
        self._found = Found()
        self._collections: frozenset[str] = frozenset()
        self._in_dicts: list[cst.DictElement] = []

    def run(self) -> Found:
        """Return what the training code does.

        Raises:
            NotKnownError: Some of it has no known form in NNX.
        """
        self._read_collections()
        for analysis in self._program.analyses:
            for call in analysis.nodes.of(cst.Call):
                if call in self._program.places(analysis):
                    made = creation_of(call, analysis, self._constructions, self._collections)
                    if made is not None:
                        self._found.creations[call] = made
        self._read_loops()
        if not self._found.creations and not self._found.optimizers:
            return Found()
        self._check_models()
        self._read_classes()
        for analysis in self._program.analyses:
            self._read(analysis)
        check_calls(self._program)
        for analysis in self._program.analyses:
            self._read_outputs(analysis)
        Functions(self._program, self._found).run()
        ModelNames(self._program, self._found).run()
        return self._found

    def _read_loops(self) -> None:
        """Find the loops that keep parameters by themselves, and what is part of their steps."""
        found = self._found
        for made in found.creations.values():
            self._read_already |= {made.call, *made.dropped}
        loops = {
            analysis: ManualLoops(analysis, places, self._kinds, found)
            for analysis, places in self._program.files()
        }
        for one in loops.values():
            one.read_optimizers()
        if not found.optimizers:
            return
        known = {use.node for use in found.inits}
        for analysis, one in loops.items():
            for use in self._constructions.uses_in(analysis):
                if use.name == "init" and use.call is not None and use.node not in known:
                    model = one.model_of(use)
                    found.models_made[model.value] = model
                    self._read_already.add(model.statement)
            one.read_steps()
        self._read_already |= {one.call for one in found.optimizers.values()}
        for step in found.optimizer_steps.values():
            self._read_already |= {step.statement, *step.apply.args}
            found.dropped.add(step.statement)

    def _read_collections(self) -> None:
        """Find the collections of the modules of the project, parameters apart."""
        names: set[str] = set()
        for one in self._constructions.every.values():
            names |= named_collections(self._plan_of(one.cls))
        self._collections = frozenset(names - {"params"})

    def _check_models(self) -> None:
        is_manual = bool(self._found.optimizers)
        for use in self._found.inits:
            for made in use.constructions:
                plan = self._plan_of(made.cls)
                own = named_collections(plan)
                asks = any(inner.asks_mode for inner in plans_below(plan, self._plan_of))
                others = own - {"params"} if is_manual else own & OTHERS
                if plan.stays or plan.marks or others or asks:
                    raise NotKnownError(f"`{made.cls.name}` has more than NNX carries along")

    def _read_classes(self) -> None:
        for analysis in self._program.analyses:
            for cls in analysis.classes:
                if is_state_class(cls):
                    self._found.classes[cls.node] = fields_of(cls, self._collections, analysis)

    # -- one file -------------------------------------------------------------------------------

    def _read(self, analysis: Analysis) -> None:
        places = self._program.places(analysis)
        applications = Applications(analysis, places, self._collections)
        for attribute in analysis.nodes.of(cst.Attribute):
            of = analysis.values.get(attribute.value, UNKNOWN)
            if attribute in places and attribute.attr.value in _OF_STATES and not is_state(of):
                raise NotKnownError(
                    f"`{code_of(attribute)}` may be of a state, or of something else"
                )
        for use in self._constructions.uses_in(analysis):
            self._read_use(use.node, use.name, use.call, applications)
        for node, value in list(analysis.values.items()):
            if node not in places or not isinstance(node, cst.BaseExpression):
                continue
            if any(one in self._read_already for one in (node, *places.around(node))):
                continue
            if is_state(value):
                self._state(node, analysis, places, applications)
            elif is_params(value):
                self._params(node, analysis, places)
            elif is_opt_state(value):
                self._opt_state(node, analysis, places)
        self._found.dropped |= applications.dropped
        for element in self._in_dicts:
            inside = any(one in self._found.applications for one in places.around(element))
            if not inside and places.statement(element) not in self._found.dropped:
                raise NotKnownError(f"`{code_of(element)}` is in a dict")
        self._in_dicts.clear()

    def _read_use(
        self,
        node: cst.Attribute,
        name: str,
        call: cst.Call | None,
        applications: Applications,
    ) -> None:
        creations = self._found.creations.values()
        if name == "apply" and call is not None and call.func is node:
            self._check_same(node)
            self._found.applications[call] = applications.read(call)
            return
        is_made = any(node is one.node for one in self._found.inits)
        given = (arg.value for one in creations for arg in one.call.args)
        if not is_made and all(node is not one for one in given):
            raise NotKnownError(f"`{code_of(node)}` is for more than a state")

    def _check_same(self, node: cst.Attribute) -> None:
        """Raise where a model runs with the parameters of a state of another model."""
        use = self._constructions.uses[node]
        every = [made for one in self._found.inits for made in one.constructions]
        for made in use.constructions:
            alike = all(
                made is one or (made.cls is one.cls and code_of(made.node) == code_of(one.node))
                for one in every
            )
            if not alike:
                raise NotKnownError(f"`{code_of(node)}` may be of another model than a state")
        if not use.constructions:
            raise NotKnownError(f"`{code_of(node)}` may be of another model than a state")

    def _state(
        self, node: cst.BaseExpression, analysis: Analysis, places: Places, apply: Applications
    ) -> None:
        parent = places.parent(node)
        match parent:
            case cst.Attribute() if parent.value is node:
                self._member(parent, analysis, places, apply)
            case cst.Arg():
                self._passed(parent, analysis, places)
            case _:
                self._moves(node, places)

    @staticmethod
    def _moves(node: cst.BaseExpression, places: Places) -> None:
        """Check that what changes in place is a result or takes one: it never has a second name."""
        parent = places.parent(node)
        while isinstance(parent, (cst.Element, cst.Tuple)):
            parent = places.parent(parent)
        match parent:
            case cst.Return() if not isinstance(node, cst.Attribute):
                return
            case cst.AssignTarget(target=cst.Name() | cst.Tuple()):
                assign = places.parent(parent)
                if isinstance(assign, cst.Assign) and len(assign.targets) == 1:
                    return
            case cst.Assign(value=cst.Call()):
                return
        raise NotKnownError(f"`{code_of(node)}` is kept, or is in an expression")

    @staticmethod
    def _passed(arg: cst.Arg, analysis: Analysis, places: Places) -> None:
        call = places.parent(arg)
        value = analysis.values.get(call.func, UNKNOWN) if isinstance(call, cst.Call) else UNKNOWN
        if arg.star or function_of(value) is None:
            raise NotKnownError(f"`{code_of(arg.value)}` is given to something that is not known")

    def _member(
        self, node: cst.Attribute, analysis: Analysis, places: Places, apply: Applications
    ) -> None:
        name = node.attr.value
        parent = places.parent(node)
        call = parent if isinstance(parent, cst.Call) and parent.func is node else None
        if name == "params":
            self._found.models.add(node)
        elif name == "step":
            self._found.steps.add(node)
        elif name == "apply_fn" and call is not None:
            self._found.applications[call] = apply.read(call)
        elif name in ("apply_gradients", "replace") and call is not None:
            self._found.updates[call] = update_of(call, analysis, places, self._collections)
        elif name in self._collections:
            self._collection(node, analysis, places)
        elif name != "tx" and not self._is_field(node, analysis):
            raise NotKnownError(f"`{code_of(node)}` of a state is not known")

    def _collection(self, node: cst.Attribute, analysis: Analysis, places: Places) -> None:
        parent = places.parent(node)
        if isinstance(parent, cst.DictElement):
            self._in_dicts.append(parent)
            return
        if node.attr.value != "batch_stats" or not _is_of_tree(parent, analysis, places):
            raise NotKnownError(f"`{code_of(node)}` is for more than a call of the model")
        self._found.models.add(node)
        self._found.trees[node] = "nnx.BatchStat"

    def _is_field(self, node: cst.Attribute, analysis: Analysis) -> bool:
        options = options_of(analysis.values.get(node.value, UNKNOWN))
        classes = [one.cls for one in options if isinstance(one, Instance)]
        return any(
            isinstance(cls, ProjectClass) and node.attr.value in cls.annotated for cls in classes
        )

    def _params(self, node: cst.BaseExpression, analysis: Analysis, places: Places) -> None:
        parent = places.parent(node)
        match parent:
            case cst.DictElement():
                self._in_dicts.append(parent)
            case cst.Arg() if _is_of_tree(parent, analysis, places):
                self._found.trees[node] = "nnx.Param"
            case cst.Arg() if any(one in self._found.applications for one in places.around(node)):
                pass
            case cst.Arg():
                self._passed(parent, analysis, places)
            case _:
                self._moves(node, places)

    def _opt_state(self, node: cst.BaseExpression, analysis: Analysis, places: Places) -> None:
        parent = places.parent(node)
        if isinstance(parent, cst.Arg):
            self._passed(parent, analysis, places)
        else:
            self._moves(node, places)

    def _read_outputs(self, analysis: Analysis) -> None:
        outputs = Outputs(analysis, self._program, self._found)
        for call, one in self._found.applications.items():
            if one.target is not None and call in self._program.places(analysis):
                outputs.remove(one)


def _is_of_tree(arg: cst.CSTNode | None, analysis: Analysis, places: Places) -> bool:
    """Whether an argument is one of a function that takes any tree of arrays."""
    call = places.parent(arg) if isinstance(arg, cst.Arg) else None
    value = analysis.values.get(call.func, UNKNOWN) if isinstance(call, cst.Call) else UNKNOWN
    return isinstance(value, External) and value.name.startswith(_TREES)


def training_in(
    analyses: tuple[Analysis, ...],
    constructions: Constructions,
    kinds: Kinds,
    plan_of: Callable[[LinenClass], ClassPlan],
) -> Found:
    """Return what the training code of a project does; nothing where some of it is not known.

    Args:
        analyses: The files.
        constructions: What callers do with modules.
        kinds: How models are written.
        plan_of: Gives the plan of a module.
    """
    try:
        return Reading(Program(analyses, constructions), kinds, plan_of).run()
    except NotKnownError:
        return Found()
