"""Where training code runs its model: `state.apply_fn`, and `model.apply` with its parameters."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, text_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN
from typed_nnx_codegen.migrate.linen.callers.bindings import binder_of, same_variable
from typed_nnx_codegen.migrate.linen.callers.kinds import method_name
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.callers.rendering import keyword_of
from typed_nnx_codegen.migrate.linen.callers.sizes import NoSizes
from typed_nnx_codegen.migrate.linen.callers.training.found import Application
from typed_nnx_codegen.migrate.linen.callers.training.state_values import (
    NotKnownError,
    is_params,
    is_state,
)


class Applications:
    """Reads the calls that run the model of a state.

    Args:
        analysis: The file.
        places: Where its nodes stand.
        collections: The fields that have collections of variables.

    Attributes:
        dropped: The statements that only put variables together for such a call.
    """

    def __init__(self, analysis: Analysis, places: Places, collections: frozenset[str]) -> None:
        self._analysis = analysis
        self._places = places
        self._collections = collections
        self.dropped: set[cst.CSTNode] = set()

    def read(self, call: cst.Call) -> Application:
        """Return what a call of `apply` does.

        Raises:
            NotKnownError: It has no known form in NNX.
        """
        given: dict[str, cst.BaseExpression] = {}
        passed: list[cst.Arg] = []
        for number, arg in enumerate(call.args):
            keyword = keyword_of(arg)
            if arg.star and (number == 0 or arg.star == "**"):
                raise NotKnownError("it is not known what a call of a model passes on")
            if keyword in _OPTIONS or (not keyword and number == 0):
                given[keyword or "variables"] = arg.value
            else:
                passed.append(arg)
        if "variables" not in given or "capture_intermediates" in given:
            raise NotKnownError("a call of a model has no variables, or returns intermediates")
        params = given["variables"]
        if not is_params(self._analysis.values.get(params, UNKNOWN)):
            params = self._params(self._dict(params, "variables"))
        method = "__call__"
        if "method" in given:
            try:
                method = method_name(given["method"])
            except NoSizes as reason:
                raise NotKnownError(str(reason)) from reason
        streams = tuple(self._dict(given["rngs"], "rngs").items()) if "rngs" in given else ()
        target = self._target(call) if self._is_mutable(given.get("mutable")) else None
        if streams and not self._places.runs_once(call):
            raise NotKnownError("random streams are given in the middle of a statement")
        return Application(call, params, tuple(passed), method, streams, target)

    def _dict(self, node: cst.BaseExpression, what: str) -> dict[str, cst.BaseExpression]:
        """Return the items of a dict that is written where it is used, or right before."""
        if isinstance(node, cst.Name):
            node = self._named_dict(node)
        if not isinstance(node, cst.Dict):
            raise NotKnownError(f"`{what}` of a call of a model is `{code_of(node)}`, not a dict")
        found: dict[str, cst.BaseExpression] = {}
        for one in node.elements:
            key = text_of(one.key) if isinstance(one, cst.DictElement) else None
            if key is None:
                raise NotKnownError(f"`{what}` of a call of a model has keys that are computed")
            found[key] = one.value
        return found

    def _named_dict(self, name: cst.Name) -> cst.BaseExpression:
        """Return the dict that a variable has, if this is all that the variable is for."""
        home = binder_of(name, self._places)
        uses = same_variable(name.value, home, self._analysis.tree, self._places)
        if len(uses) == 2 and uses[1] is name:
            match self._places.parent(uses[0]), self._places.statement(uses[0]):
                case cst.AssignTarget() as target, cst.SimpleStatementLine() as statement:
                    assign = self._places.parent(target)
                    block = self._places.block(statement)
                    is_near = any(one is block for one in self._places.around(name))
                    if isinstance(assign, cst.Assign) and len(assign.targets) == 1 and is_near:
                        self.dropped.add(statement)
                        return assign.value
        return name

    def _params(self, variables: dict[str, cst.BaseExpression]) -> cst.BaseExpression:
        params = variables.pop("params", None)
        if params is None or not is_params(self._analysis.values.get(params, UNKNOWN)):
            raise NotKnownError("a model runs with parameters that are not of a state")
        for name, value in variables.items():
            if name not in self._collections or not self.is_collection(value):
                raise NotKnownError(f"a model runs with `{name}` that is not of its state")
        return params

    def is_collection(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a collection of variables of a state: `state.batch_stats`."""
        return (
            isinstance(node, cst.Attribute)
            and node.attr.value in self._collections
            and is_state(self._analysis.values.get(node.value, UNKNOWN))
        )

    def _is_mutable(self, node: cst.BaseExpression | None) -> bool:
        match node:
            case None | cst.Name(value="False"):
                return False
            case cst.SimpleString():
                names = [text_of(node)]
            case cst.List(elements=elements) | cst.Tuple(elements=elements):
                names = [text_of(one.value) for one in elements]
            case _:
                raise NotKnownError(f"it is not known which collections `{code_of(node)}` are")
        if not self._collections.issuperset(str(name) for name in names):
            raise NotKnownError("a call changes collections that its state does not have")
        return bool(names)

    def _target(self, call: cst.Call) -> cst.Tuple:
        """Return the pair that takes the result and the updates."""
        match self._places.parent(call):
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Tuple(elements=[_, last]) as target)]
            ) if isinstance(last.value, cst.Name):
                return target
        raise NotKnownError("the updates of a call of a model are not given a name at once")


_OPTIONS = frozenset({"variables", "rngs", "mutable", "method", "capture_intermediates"})
