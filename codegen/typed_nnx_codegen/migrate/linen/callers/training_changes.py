"""Where training code makes its state, runs its model and updates it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, key_of, text_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectClass
from typed_nnx_codegen.migrate.linen.callers.caller_sizes import NoSizes
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions, Use
from typed_nnx_codegen.migrate.linen.callers.kinds import method_name
from typed_nnx_codegen.migrate.linen.callers.places import Places, binder_of, same_variable
from typed_nnx_codegen.migrate.linen.callers.rendering import keyword_of
from typed_nnx_codegen.migrate.linen.callers.training_states import (
    Application,
    Creation,
    NotKnownError,
    Program,
    Update,
    holds_state,
    is_changing,
    is_params,
    is_state,
    is_state_class,
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


def creation_of(
    call: cst.Call,
    analysis: Analysis,
    constructions: Constructions,
    collections: frozenset[str],
) -> Creation | None:
    """Return what a call makes, if it makes a TrainState.

    Args:
        call: The call.
        analysis: The file.
        constructions: What callers do with modules.
        collections: The fields that have collections of variables.

    Raises:
        NotKnownError: It is not known of which variables it makes the state.
    """
    func = call.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "create":
        return None
    cls = analysis.values.get(func.value, UNKNOWN)
    if not is_state_class(cls):
        return None
    given = {keyword_of(arg): arg for arg in call.args}
    if "" in given or not {"apply_fn", "params", "tx"} <= set(given):
        raise NotKnownError("a state is not made of `apply_fn`, `params` and `tx`")
    apply = constructions.uses.get(given["apply_fn"].value)  # type: ignore[call-overload]  # any node may be asked for
    if apply is None or apply.name != "apply" or len(apply.constructions) != 1:
        raise NotKnownError(f"`{code_of(given['apply_fn'].value)}` is not the `apply` of one model")
    names = [name for name in given if name in collections]
    source = _Source(call, analysis, constructions)
    init = source.init_of(given["params"].value, "params")
    for name in names:
        if source.init_of(given[name].value, name) is not init:
            raise NotKnownError(f"`{name}` of a state is not of the variables of its parameters")
    if init.constructions != apply.constructions:
        raise NotKnownError("the parameters of a state are not of the model that it runs")
    source.check()
    fields = [arg for name, arg in given.items() if name not in _OWN and name not in collections]
    own = cls if isinstance(cls, ProjectClass) else None
    return Creation(
        call,
        analysis,
        init,
        source.statement,
        source.dropped,
        given["tx"].value,
        tuple(fields),
        own,
    )


_OWN = frozenset({"apply_fn", "params", "tx"})


class _Source:
    """The variables that a state is made of: where `init` gives them, and the names on the way.

    Args:
        call: The call that makes the state.
        analysis: The file.
        constructions: What callers do with modules.
    """

    def __init__(self, call: cst.Call, analysis: Analysis, constructions: Constructions) -> None:
        self._call = call
        self._analysis = analysis
        self._constructions = constructions
        self._places = constructions.places(analysis)
        self._home = self._places.function(call)
        self._statements: dict[cst.CSTNode, None] = {}
        self._names: set[str] = set()
        self._reads: set[cst.CSTNode] = set()
        self.statement: cst.CSTNode | None = None

    @property
    def dropped(self) -> tuple[cst.CSTNode, ...]:
        """The statements on the way from `init`."""
        return tuple(self._statements)

    def init_of(self, node: cst.BaseExpression, collection: str) -> Use:
        """Return the use whose call gives the variables that an expression takes a collection of."""
        if isinstance(node, cst.Subscript):
            if key_of(node) != collection:
                raise NotKnownError(f"`{code_of(node)}` is not the collection `{collection}`")
            return self._whole(node.value)
        if isinstance(node, cst.Name):
            value = self._assigned(node)
            if isinstance(value, cst.Subscript):
                return self.init_of(value, collection)
            node = value
        if collection == "params" and isinstance(node, cst.Call):
            return self._whole(node)  # `params=model.init(...)`, and `model.apply(params, x)`
        raise NotKnownError(
            f"`{code_of(node)}` is not known to be variables that a model was made with"
        )

    def _whole(self, node: cst.BaseExpression) -> Use:
        if isinstance(node, cst.Name):
            node = self._assigned(node)
        for use in self._constructions.uses_in(self._analysis):
            if use.call is node and use.name == "init":
                statement = self._places.statement(node)
                self.statement = statement if statement in self._statements else None
                return use
        raise NotKnownError(f"`{code_of(node)}` is not known to make the variables of a model")

    def _assigned(self, name: cst.Name) -> cst.BaseExpression:
        """Return what the only assignment of a name gives it."""
        self._names.add(name.value)
        self._reads.add(name)
        found = list(self._assignments(name.value))
        if len(found) != 1:
            raise NotKnownError(f"`{name.value}` is assigned more than once")
        statement, value = found[0]
        block = self._places.block(statement)
        if block is None or block not in self._places.around(self._call):
            raise NotKnownError(f"`{name.value}` is not assigned in each case")
        self._statements[statement] = None
        return value

    def _assignments(self, name: str) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
        for node in same_variable(name, self._home, self._analysis.tree, self._places):
            target = self._places.parent(node)
            if not isinstance(target, cst.AssignTarget):
                continue
            assign, statement = self._places.parent(target), self._places.statement(node)
            assert isinstance(assign, cst.Assign)
            if len(assign.targets) > 1 or statement is None:
                raise NotKnownError(f"`{name}` is assigned with others")
            yield statement, assign.value

    def check(self) -> None:
        """Raise where the names on the way are read for something else."""
        for name in self._names:
            for node in same_variable(name, self._home, self._analysis.tree, self._places):
                is_bound = isinstance(self._places.parent(node), cst.AssignTarget)
                if not is_bound and node not in self._reads:
                    raise NotKnownError(f"`{name}` is read where no state is made of it")


def update_of(
    call: cst.Call, analysis: Analysis, places: Places, collections: frozenset[str]
) -> Update:
    """Return what a call of `apply_gradients` or `replace` of a state does.

    Args:
        call: The call.
        analysis: The file.
        places: Where its nodes stand.
        collections: The fields that have collections of variables.

    Raises:
        NotKnownError: It has no known form in NNX.
    """
    func = call.func
    assert isinstance(func, cst.Attribute)
    given = {keyword_of(arg): arg for arg in call.args}
    is_step = func.attr.value == "apply_gradients"
    if "" in given or is_step != ("grads" in given) or {"params", "opt_state", "tx"} & set(given):
        raise NotKnownError(f"`{code_of(call)}` changes more than NNX does in one step")
    if not isinstance(func.value, cst.Name) or not places.runs_once(call):
        raise NotKnownError(f"`{code_of(func.value)}` changes in the middle of an expression")
    check_old(func.value, call, analysis, places)
    fields = tuple(a for name, a in given.items() if name != "grads" and name not in collections)
    grads = given["grads"].value if is_step else None
    alone = assigning(call, func.value.value, places)
    return Update(call, func.value, grads, fields, alone)


def assigning(call: cst.Call, name: str, places: Places) -> cst.CSTNode | None:
    """Return the statement of a call, if all it does is to give a name the changed state."""
    match places.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))]) if (
            target == name
        ):
            return places.statement(call)
    return None


def check_old(state: cst.Name, call: cst.Call, analysis: Analysis, places: Places) -> None:
    """Raise where a state is read after a call changed it: in NNX it is the same object.

    Args:
        state: The state that a call takes.
        call: The call, which gives the state after.
        analysis: The file.
        places: Where its nodes stand.
    """
    statement = places.statement(call)
    if statement is None or state.value in _targets(statement):
        return
    home = binder_of(state, places)
    around = next(
        (n for n in places.around(call) if isinstance(n, (cst.For, cst.While, cst.Lambda))), None
    )
    is_again = around is not None and (home is None or home in places.around(around))
    later = [
        node
        for node in same_variable(state.value, home, analysis.tree, places)
        if places.is_before(call, node) and statement not in places.around(node)
    ]
    is_returned = isinstance(_simple(statement), cst.Return)
    if (later or is_again) and not is_returned:
        raise NotKnownError(f"`{state.value}` is still used after it changed")


def _simple(statement: cst.CSTNode) -> cst.CSTNode | None:
    match statement:
        case cst.SimpleStatementLine(body=[only]):
            return only
    return None


def _targets(statement: cst.CSTNode) -> set[str]:
    """Return the names that a statement binds."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assign(targets=targets)]):
            return {
                node.value
                for target in targets
                for node in descendants(target.target)
                if isinstance(node, cst.Name)
            }
    return set()


def check_calls(program: Program) -> None:
    """Raise where a function of the program gives a new state and the old one is used again."""
    for call in program.calls():
        values = call.analysis.values
        if not holds_state(values.get(call.node, UNKNOWN)):
            continue
        for arg in call.node.args:
            if isinstance(arg.value, cst.Name) and is_changing(values.get(arg.value, UNKNOWN)):
                check_old(arg.value, call.node, call.analysis, program.places(call.analysis))
