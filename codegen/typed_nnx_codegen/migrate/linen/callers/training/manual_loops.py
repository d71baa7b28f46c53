"""Training loops that keep the parameters and the state of optax by themselves."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.linen_training import TRANSFORMATION
from typed_nnx_codegen.migrate.analysis.syntax import code_of, key_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, Instance, Value
from typed_nnx_codegen.migrate.linen.callers.bindings import binder_of, same_variable, variables_in
from typed_nnx_codegen.migrate.linen.callers.constructions import Use
from typed_nnx_codegen.migrate.linen.callers.kinds import Kinds, Live
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.callers.training.found import (
    Found,
    ModelCreation,
    OptimizerCreation,
    OptimizerStep,
)
from typed_nnx_codegen.migrate.linen.callers.training.state_values import (
    NotKnownError,
    is_changing,
    is_opt_state,
    is_params,
)
from typed_nnx_codegen.migrate.linen.callers.training.updates import assigning, check_old

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
