"""What goes wrong with filters and States."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Bag, Case
from typed_nnx import errors


def network() -> Bag:
    """Return a model with a Param and, deeper, a BatchStat."""
    return Bag(w=nnx.Param(jnp.ones((2, 3))), norm=Bag(mean=nnx.BatchStat(jnp.zeros(3))))


def network_state(**more: Any) -> nnx.State:
    """Return the State of a model of that structure, with other entries."""
    return nnx.State({"w": nnx.Param(1), "norm": {"mean": nnx.BatchStat(1)}, **more})


def merge(*states: Any) -> object:
    """Merge States with the structure of the network."""
    return nnx.merge(nnx.graphdef(network()), *states)


WRONG: Any = 3.5
LISTED = "\n    "

CASES = [
    Case(
        "a number as a filter",
        errors.InvalidFilterError,
        lambda: nnx.split(network(), WRONG),
        ("filter: ", "got 3.5 (float)", "expected a type, a string tag"),
        "nnx.split(model, nnx.Param, ...)",
    ),
    Case(
        "a number as a filter, as a TypeError",
        errors.InvalidFilterError,
        lambda: nnx.to_predicate(WRONG),
        ("filter: ", "got 3.5 (float)", "expected a type, a string tag"),
        "nnx.split(model, nnx.Param, ...)",
        TypeError,
    ),
    Case(
        "the ellipsis before another filter",
        errors.FilterOrderError,
        lambda: nnx.split(network(), ..., nnx.Param),
        ("`...` or `True` can only be used as the last filters", "got `...` at index 0"),
        "move it to the end of the filters",
    ),
    Case(
        "a leaf that no filter matches",
        errors.NoFilterMatchedError,
        lambda: nnx.split(network(), nnx.Param),
        ("split: ", "No filter matched", "('norm', 'mean')", "(BatchStat, float32[3])"),
        'add a filter that matches it, or `...` as the last filter for "everything else".',
    ),
    Case(
        "several leaves that no filter matches",
        errors.NoFilterMatchedError,
        lambda: nnx.state(network()).split(nnx.RngState, nnx.Cache),
        ("State.split: ", "No filter matched", "('norm', 'mean')", "float32[3]", "(and 1 more)"),
        "add a filter that matches it",
    ),
    Case(
        "pop without a filter",
        errors.MissingFilterError,
        lambda: nnx.pop(network()),
        ("pop: ", "Expected at least one filter"),
        "nnx.pop(model, nnx.Intermediate)",
    ),
    Case(
        "a merge with missing leaves",
        errors.StateMismatchError,
        lambda: merge(nnx.state(network(), nnx.Param)),
        ("merge: ", f"missing, expected at:{LISTED}('norm', 'mean')"),
        "pass every State that `split` returned",
    ),
    Case(
        "a State after a GraphState",
        errors.GraphStateError,
        lambda: nnx.merge(nnx.unpack(network()), nnx.state(network())),
        ("merge: Expected GraphState object, got State at position 1",),
        "pass the GraphStates that one `unpack` returned",
    ),
    Case(
        "GraphStates of two models",
        errors.GraphStateError,
        lambda: nnx.merge(nnx.unpack(network()), nnx.unpack(Bag(w=nnx.Param(1)))),
        ("merge: GraphDef must be the same, got another structure at position 1",),
        "nnx.merge(graphdef, *states)",
    ),
    Case(
        "a merge with leaves too many",
        errors.StateMismatchError,
        lambda: merge(network_state(head={"b": nnx.Param(1)}, tail=nnx.Param(2))),
        ("merge: ", f"extra, not in the GraphDef:{LISTED}('head', 'b'){LISTED}('tail',)"),
        "pass every State that `split` returned",
    ),
    Case(
        "a merge with a leaf of another type",
        errors.StateMismatchError,
        lambda: merge(network_state(norm={"mean": nnx.Cache(jnp.zeros(3))})),
        ("merge: ", "wrong type at ('norm', 'mean')", "expected BatchStat", "got Cache"),
        "pass every State that `split` returned",
    ),
    Case(
        "an update at paths that are not there",
        errors.UnknownPathError,
        lambda: nnx.update(network(), network_state(head={"b": nnx.Param(1)})),
        ("update: ", "Bag has nothing at the path(s)", f"{LISTED}('head', 'b')"),
        "assign new attributes directly (model.name = variable)",
    ),
    Case(
        "an update of a node with a Variable",
        errors.UpdateTypeError,
        lambda: nnx.update(network(), nnx.State({"norm": nnx.Param(1)})),
        ("update: ", "at path ('norm',)", "there is a node (Bag)", "got Param"),
        "update with a State of a model of the same structure",
    ),
    Case(
        "an attribute that a State has not",
        errors.StateKeyError,
        lambda: nnx.state(network()).kernel,
        ("No attribute 'kernel' in State", "its keys are: ", "'norm'", "'w'"),
        "state['kernel'] = variable",
        AttributeError,
    ),
    Case(
        "a key that a State has not",
        errors.StateKeyError,
        lambda: nnx.state(network())["kernel"],
        ("No attribute 'kernel' in State", "its keys are: ", "'norm'", "'w'"),
        "state['kernel'] = variable",
        KeyError,
    ),
    Case(
        "a key of an empty State",
        errors.StateKeyError,
        lambda: nnx.state(network(), nnx.Cache).kernel,
        ("No attribute 'kernel' in State", "its keys are: none, it is empty"),
        "state['kernel'] = variable",
        AttributeError,
    ),
]
