"""Where training code makes its state, and from which variables of which model."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, key_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectClass
from typed_nnx_codegen.migrate.linen.callers.bindings import same_variable
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions, Use
from typed_nnx_codegen.migrate.linen.callers.rendering import keyword_of
from typed_nnx_codegen.migrate.linen.callers.training.found import Creation
from typed_nnx_codegen.migrate.linen.callers.training.state_values import (
    NotKnownError,
    is_state_class,
)


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
