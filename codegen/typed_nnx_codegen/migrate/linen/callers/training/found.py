"""What training code does with its state, as far as it has a form in NNX."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.values import ProjectClass
from typed_nnx_codegen.migrate.linen.callers.constructions import Use
from typed_nnx_codegen.migrate.linen.callers.training.fields import Field


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
