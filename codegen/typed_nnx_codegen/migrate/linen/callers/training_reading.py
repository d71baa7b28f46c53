"""Reads what the training code of a project does with its TrainStates, all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.linen_training import TRANSFORMATION
from typed_nnx_codegen.migrate.analysis.syntax import code_of, key_of
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    Instance,
    ProjectClass,
    Value,
    options_of,
)
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions, Use
from typed_nnx_codegen.migrate.linen.callers.direct_calls import (
    OTHERS,
    named_collections,
    plans_below,
)
from typed_nnx_codegen.migrate.linen.callers.kinds import Kinds, Live
from typed_nnx_codegen.migrate.linen.callers.places import (
    Places,
    binder_of,
    same_variable,
    variables_in,
)
from typed_nnx_codegen.migrate.linen.callers.training_changes import (
    Applications,
    assigning,
    check_calls,
    check_old,
    creation_of,
    update_of,
)
from typed_nnx_codegen.migrate.linen.callers.training_functions import Functions, Outputs
from typed_nnx_codegen.migrate.linen.callers.training_states import (
    Found,
    ModelCreation,
    NotKnownError,
    OptimizerCreation,
    OptimizerStep,
    Program,
    fields_of,
    function_of,
    is_changing,
    is_opt_state,
    is_params,
    is_state,
    is_state_class,
)
from typed_nnx_codegen.migrate.linen.callers.training_writing import ModelNames
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass

_APPLY = "optax.apply_updates"


class ManualLoops:
    """Reads where such a loop begins, and its steps, in one file.

    Args:
        analysis: The file.
        places: Where its nodes stand.
        kinds: How models are written.
        found: What the training code does; what is found is added.
    """

    def __init__(self, analysis: Analysis, places: Places, kinds: Kinds, found: Found) -> None:
        self._analysis = analysis
        self._places = places
        self._kinds = kinds
        self._found = found

    def _value(self, node: cst.CSTNode) -> Value:
        return self._analysis.values.get(node, UNKNOWN)

    # -- where a loop begins ----------------------------------------------------------------------

    def model_of(self, use: Use) -> ModelCreation:
        """Return the model whose variables a use makes for such a loop.

        Raises:
            NotKnownError: The variables are not only given a name.
        """
        assert use.call is not None
        value: cst.BaseExpression = use.call
        above = self._places.parent(value)
        if isinstance(above, cst.Subscript) and key_of(above) == "params":
            value, above = above, self._places.parent(above)
        match above, self._places.statement(value):
            case (
                cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]),
                cst.SimpleStatementLine(body=[_]) as statement,
            ):
                kind = self._kinds.of_use(use)
                is_live = isinstance(kind, Live) and use is kind.init and "." not in kind.name
                if isinstance(kind, Live) and not is_live:
                    raise NotKnownError(f"`{code_of(use.call)}` makes variables again")
                return ModelCreation(use, value, name, statement, kind.name if is_live else "")  # type: ignore[union-attr]  # `is_live` says that it is Live
        raise NotKnownError(f"`{code_of(use.call)}` is not only given a name")

    def read_optimizers(self) -> None:
        """Find the calls that make the state of a transformation: `opt_state = tx.init(params)`."""
        for call in self._analysis.nodes.of(cst.Call):
            if call not in self._places or not self._is_of_transformation(call, "init"):
                continue
            params = [arg.value for arg in call.args]
            if len(params) != 1 or not is_params(self._value(params[0])):
                raise NotKnownError(f"`{code_of(call)}` is not of the parameters of a model")
            assert isinstance(call.func, cst.Attribute)
            self._found.optimizers[call] = OptimizerCreation(call, call.func.value, params[0])

    def _is_of_transformation(self, call: cst.Call, name: str) -> bool:
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != name:
            return False
        value = self._value(call.func.value)
        return isinstance(value, Instance) and value.cls == TRANSFORMATION

    # -- steps ------------------------------------------------------------------------------------

    def read_steps(self) -> None:
        """Find the steps: `updates, opt_state = tx.update(...)`, and `optax.apply_updates`.

        Raises:
            NotKnownError: A step does more than NNX does in one.
        """
        for call in self._analysis.nodes.of(cst.Call):
            if call in self._places and self._is_of_transformation(call, "update"):
                self._read_step(call)
        for call in self._analysis.nodes.of(cst.Call):
            value = self._value(call.func)
            is_apply = isinstance(value, External) and value.name == _APPLY
            if call in self._places and is_apply and call not in self._found.optimizer_steps:
                raise NotKnownError(f"`{code_of(call)}` applies updates of something else")

    def _read_step(self, call: cst.Call) -> None:
        match self._places.parent(call), self._places.statement(call):
            case (
                cst.Assign(
                    targets=[
                        cst.AssignTarget(
                            target=cst.Tuple(
                                elements=[
                                    cst.Element(value=cst.Name() as updates),
                                    cst.Element(value=cst.Name() as after),
                                ]
                            )
                        )
                    ]
                ),
                cst.SimpleStatementLine(body=[_]) as statement,
            ):
                pass
            case _:
                raise NotKnownError(f"`{code_of(call)}` is not unpacked at once")
        values = [arg.value for arg in call.args]
        if not 2 <= len(values) <= 3 or any(arg.star or arg.keyword for arg in call.args):
            raise NotKnownError(f"`{code_of(call)}` has other arguments")
        optimizer = values[1]
        if not isinstance(optimizer, cst.Name) or not is_opt_state(self._value(optimizer)):
            raise NotKnownError(f"`{code_of(optimizer)}` is not the state of an optimizer")
        check_old(optimizer, call, self._analysis, self._places)
        target = call  # what gives the state its next name
        apply = self._apply_of(updates)
        params = apply.args[0].value
        if not isinstance(params, cst.Name) or not is_params(self._value(params)):
            raise NotKnownError(f"`{code_of(params)}` is not the parameters of a model")
        if len(values) == 3 and code_of(values[2]) != params.value:
            raise NotKnownError(f"`{code_of(call)}` is of other parameters")
        block = self._places.block(statement)
        if block is None or block is not self._block(apply):
            raise NotKnownError("updates are applied in another place than they are made")
        check_old(params, apply, self._analysis, self._places)
        self._check_between(target, apply, optimizer.value)
        self._found.optimizer_steps[apply] = OptimizerStep(
            apply,
            statement,
            optimizer,
            after,
            params,
            values[0],
            assigning(apply, params.value, self._places),
        )

    def _apply_of(self, updates: cst.Name) -> cst.Call:
        """Return the call that applies updates; nothing else may read them."""
        home = binder_of(updates, self._places)
        every = same_variable(updates.value, home, self._analysis.tree, self._places)
        reads = [node for node in every if node is not updates]
        if len(reads) == 1:
            call = self._places.parent(self._places.parent(reads[0]) or reads[0])
            if isinstance(call, cst.Call) and len(call.args) == 2:
                value = self._value(call.func)
                is_second = call.args[1].value is reads[0]
                is_apply = isinstance(value, External) and value.name == _APPLY
                if is_apply and is_second and self._places.runs_once(call):
                    return call
        raise NotKnownError(f"`{updates.value}` is for more than to be applied")

    def _block(self, node: cst.CSTNode) -> cst.CSTNode | None:
        statement = self._places.statement(node)
        return self._places.block(statement) if statement is not None else None

    def _check_between(self, first: cst.Call, last: cst.Call, optimizer: str) -> None:
        """Raise where something between the two halves of a step uses what it changes."""
        block = self._block(first)
        assert isinstance(block, (cst.IndentedBlock, cst.Module))
        statements: list[cst.CSTNode] = list(block.body)
        start, end = (statements.index(self._places.statement(n)) for n in (first, last))  # type: ignore[arg-type]  # both stand in the block
        for statement in statements[start + 1 : end]:
            used = variables_in(statement, optimizer, self._places) or self._changing(statement)
            if used:
                raise NotKnownError(f"`{code_of(used[0])}` is used in the middle of a step")

    def _changing(self, statement: cst.CSTNode) -> list[cst.Name]:
        return [
            node
            for node, value in self._analysis.values.items()
            if isinstance(node, cst.Name)
            and is_changing(value)
            and node in self._places
            and self._places.statement(node) is statement
        ]


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
