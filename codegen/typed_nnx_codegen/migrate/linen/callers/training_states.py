"""What training code does with its TrainState, as far as it has a form in NNX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.linen_training import MODEL_PARAMS, OPT_STATE, TRAIN_STATE
from typed_nnx_codegen.migrate.analysis.syntax import code_of, parameters_of
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    Array,
    Collection,
    External,
    Instance,
    Method,
    Plain,
    ProjectClass,
    ProjectFunction,
    Value,
    Wrapped,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions, Use
from typed_nnx_codegen.migrate.linen.callers.places import Places


class NotKnownError(Exception):
    """The training code does something with its state that has no known form in NNX."""


def is_state_class(value: Value | str) -> bool:
    """Whether a value is TrainState, or a class of the program right below it."""
    if isinstance(value, str):
        return value == TRAIN_STATE
    if isinstance(value, External):
        return value.name == TRAIN_STATE
    return isinstance(value, ProjectClass) and any(
        isinstance(base, External) and base.name == TRAIN_STATE for base in value.bases
    )


def is_state(value: Value) -> bool:
    """Whether a value is surely a TrainState."""
    return _is_object(value, is_state_class)


def is_params(value: Value) -> bool:
    """Whether a value is surely the parameters of a TrainState."""
    return _is_object(value, lambda cls: cls == MODEL_PARAMS)


def is_opt_state(value: Value) -> bool:
    """Whether a value is surely the state of a transformation of optax."""
    return _is_object(value, lambda cls: cls == OPT_STATE)


def is_changing(value: Value) -> bool:
    """Whether a value is what NNX changes in place: a TrainState, parameters, an optimizer."""
    return is_state(value) or is_params(value) or is_opt_state(value)


def _is_object(value: Value, test: Callable[[ProjectClass | str], bool]) -> bool:
    options = options_of(without_none(value))
    return all(isinstance(one, Instance) and test(one.cls) for one in options)


def holds_state(value: Value) -> bool:
    """Whether a state, or its parameters, may be in a value."""
    for option in options_of(value):
        if isinstance(option, Collection):
            if holds_state(option.element) or any(map(holds_state, option.items or ())):
                return True
        elif is_changing(option):
            return True
    return False


def function_of(value: Value) -> ProjectFunction | None:
    """Return the function of the program that a value is, under transforms or not."""
    while isinstance(value, Wrapped):
        value = value.function
    if isinstance(value, Method):
        return value.function
    return value if isinstance(value, ProjectFunction) else None


# Types of what an attribute of an NNX object carries as it is: arrays and numbers.
_CARRIED: Final = frozenset(
    {
        "chex.Array",
        "chex.PRNGKey",
        "jax.Array",
        "jax.numpy.ndarray",
        "builtins.int",
        "builtins.float",
    }
)


@dataclass(frozen=True)
class Field:
    """A field that a program adds to its TrainState.

    Attributes:
        name: Its name.
        annotation: Its type.
        default: Its default; None if it has none.
    """

    name: str
    annotation: cst.BaseExpression
    default: cst.BaseExpression | None


def fields_of(
    cls: ProjectClass, collections: frozenset[str], analysis: Analysis
) -> tuple[Field, ...]:
    """Return the fields of a class, those for collections of variables apart.

    Args:
        cls: The class, right below TrainState.
        collections: The fields that have collections of variables.
        analysis: The file.

    Raises:
        NotKnownError: It has something else than fields of arrays and numbers.
    """
    if len(cls.bases) != 1 or cls.node.decorators or cls.node.keywords:
        raise NotKnownError(f"`{cls.name}` has other bases, or decorators")
    found: list[Field] = []
    for statement in cls.node.body.body:
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.AnnAssign(target=cst.Name(value=name), annotation=said, value=default)]
            ):
                if name in collections:
                    continue
                if not _is_carried(analysis, said.annotation):
                    raise NotKnownError(f"`{cls.name}.{name}` may hold more than arrays")
                found.append(Field(name, said.annotation, default))
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString()) | cst.Pass()]):
                pass
            case _:
                raise NotKnownError(f"`{cls.name}` has more than fields: `{code_of(statement)}`")
    return tuple(found)


def _is_carried(analysis: Analysis, annotation: cst.BaseExpression) -> bool:
    value = analysis.values.get(annotation, UNKNOWN)
    if isinstance(value, (Array, Plain)):
        return True
    return isinstance(value, External) and value.name in _CARRIED


@dataclass(frozen=True)
class Creation:
    """A call that makes a state: `TrainState.create(apply_fn=..., params=..., tx=...)`.

    Attributes:
        call: The call.
        analysis: The file.
        init: The use that makes the variables.
        statement: The statement that assigns them to a variable; None where nothing does.
        dropped: The statements that only take them apart, that one included.
        tx: The transformation of optax.
        fields: What the fields of the program's own class get.
        cls: That class.
    """

    call: cst.Call
    analysis: Analysis
    init: Use
    statement: cst.CSTNode | None
    dropped: tuple[cst.CSTNode, ...]
    tx: cst.BaseExpression
    fields: tuple[cst.Arg, ...]
    cls: ProjectClass | None


@dataclass(frozen=True)
class Application:
    """A call that runs the model: `state.apply_fn({"params": params}, x)`.

    Attributes:
        call: The call.
        params: The parameters, an expression that stands for the model in NNX.
        args: The arguments of the method.
        method: The method.
        streams: The keys of random streams, by their names.
        target: Where the result is unpacked to, if it comes with the updates of collections.
    """

    call: cst.Call
    params: cst.BaseExpression
    args: tuple[cst.Arg, ...]
    method: str
    streams: tuple[tuple[str, cst.BaseExpression], ...]
    target: cst.Tuple | None


@dataclass(frozen=True)
class Update:
    """A call that gives a changed state: `state.apply_gradients(grads=grads)`, `state.replace(...)`.

    Attributes:
        call: The call.
        state: The state before.
        grads: The gradients; None where it only replaces fields.
        fields: The fields that it replaces, those of collections apart.
        statement: The statement, if it does nothing else than to assign the state to its own name.
    """

    call: cst.Call
    state: cst.BaseExpression
    grads: cst.BaseExpression | None
    fields: tuple[cst.Arg, ...]
    statement: cst.CSTNode | None


@dataclass(frozen=True)
class ModelCreation:
    """Variables that are made for a loop that keeps them by itself: `params = model.init(...)`.

    Attributes:
        init: The use that makes them.
        value: What the variable gets: the call, or its parameters.
        name: The variable.
        statement: The statement.
        live: The variable of a model that is constructed there; empty where it is constructed
            from a partial.
    """

    init: Use
    value: cst.BaseExpression
    name: cst.Name
    statement: cst.SimpleStatementLine
    live: str


@dataclass(frozen=True)
class OptimizerCreation:
    """A call that makes the state of a transformation: `tx.init(params)`.

    Attributes:
        call: The call.
        tx: The transformation of optax.
        params: The parameters.
    """

    call: cst.Call
    tx: cst.BaseExpression
    params: cst.BaseExpression


@dataclass(frozen=True)
class OptimizerStep:
    """A step: `updates, opt_state = tx.update(grads, opt_state, params)`, and what applies it.

    Attributes:
        apply: The call that applies them.
        statement: The statement that computes them.
        optimizer: The state of the transformation.
        after: The variable that has it after the step.
        params: The parameters.
        grads: The gradients.
        alone: The statement that applies them, if it gives them the name that they had.
    """

    apply: cst.Call
    statement: cst.SimpleStatementLine
    optimizer: cst.Name
    after: cst.Name
    params: cst.Name
    grads: cst.BaseExpression
    alone: cst.CSTNode | None


@dataclass
class Found:
    """What the training code of a project does.

    Attributes:
        creations: Where states are made.
        models_made: Where models are made for loops that keep their parameters by themselves.
        optimizers: Where such loops make the state of optax.
        optimizer_steps: The steps of such loops, by what applies the updates.
        applications: Where models run.
        updates: Where states change.
        models: Where `state.params` stands for the model.
        trees: Where the variables are a tree of arrays, with the public name of their type.
        steps: Where `state.step` is read.
        shorter: Tuples that lose an item, with its position.
        shorter_types: The types of such tuples: `tuple[jax.Array, dict]` of what a function returns.
        names: Names that are spelled in another way.
        publics: Expressions that are another public name: `jax.jit`.
        has_aux: The arguments `has_aux=True` of gradients whose function has no other output now.
        classes: The classes below TrainState, with the fields that they keep.
        dropped: The statements that go.
    """

    creations: dict[cst.CSTNode, Creation] = field(default_factory=dict)
    models_made: dict[cst.CSTNode, ModelCreation] = field(default_factory=dict)
    optimizers: dict[cst.CSTNode, OptimizerCreation] = field(default_factory=dict)
    optimizer_steps: dict[cst.CSTNode, OptimizerStep] = field(default_factory=dict)
    applications: dict[cst.CSTNode, Application] = field(default_factory=dict)
    updates: dict[cst.CSTNode, Update] = field(default_factory=dict)
    models: set[cst.Attribute] = field(default_factory=set)
    trees: dict[cst.CSTNode, str] = field(default_factory=dict)
    steps: set[cst.Attribute] = field(default_factory=set)
    shorter: dict[cst.Tuple, int] = field(default_factory=dict)
    shorter_types: dict[cst.Subscript, int] = field(default_factory=dict)
    names: dict[cst.CSTNode, str] = field(default_factory=dict)
    publics: dict[cst.CSTNode, str] = field(default_factory=dict)
    has_aux: dict[cst.Call, cst.Arg] = field(default_factory=dict)
    classes: dict[cst.CSTNode, tuple[Field, ...]] = field(default_factory=dict)
    dropped: set[cst.CSTNode] = field(default_factory=set)

    @property
    def inits(self) -> list[Use]:
        """The uses that make the variables of models."""
        states = [one.init for one in self.creations.values()]
        return [*states, *(one.init for one in self.models_made.values())]


GRADIENTS: Final = {"jax.grad": "nnx.grad", "jax.value_and_grad": "nnx.value_and_grad"}
"""The gradients of jax, and those of NNX for models."""


@dataclass(frozen=True)
class Call:
    """A call of a function of the project.

    Attributes:
        node: The call.
        value: What is called: the function, also under transforms.
        function: The function.
        analysis: The file of the call.
    """

    node: cst.Call
    value: Value
    function: ProjectFunction
    analysis: Analysis


@dataclass(frozen=True)
class Program:
    """The files of a project.

    Attributes:
        analyses: The files.
        constructions: What their code does with modules.
    """

    analyses: tuple[Analysis, ...]
    constructions: Constructions

    def places(self, analysis: Analysis) -> Places:
        """Return where the nodes of a file stand."""
        return self.constructions.places(analysis)

    def files(self) -> Iterator[tuple[Analysis, Places]]:
        """Yield the files with where their nodes stand."""
        for analysis in self.analyses:
            yield analysis, self.places(analysis)

    def parameters(self, function: ProjectFunction) -> Iterator[tuple[str, Value]]:
        """Yield the parameters of a function with what they stand for."""
        for analysis in self.analyses:
            scope = analysis.scopes.get(function.node)
            if scope is not None:
                for one in parameters_of(function.node.params):
                    yield one.name.value, scope.seen.get(one.name.value, UNKNOWN)

    def calls(self) -> Iterator[Call]:
        """Yield the calls of functions of the project, those in modules apart."""
        for analysis, places in self.files():
            for node in analysis.nodes.of(cst.Call):
                value = analysis.values.get(node.func, UNKNOWN)
                function = function_of(value)
                if node in places and function is not None:
                    yield Call(node, value, function, analysis)

    def calls_of(self, function: cst.CSTNode) -> Iterator[Call]:
        """Yield the calls of one function."""
        return (one for one in self.calls() if one.function.node is function)
