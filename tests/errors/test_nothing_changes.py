"""A failed operation leaves the objects as they were, also where a part of it would have worked."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.errors.case import Bag, assign
from tests.errors.snapshot import snapshot


def network() -> Any:
    """Return a model with every kind of place: attributes, a List, a Dict, containers, sharing."""
    shared = nnx.Param(jnp.ones(2))
    return Bag(
        a=shared,
        b=Bag(again=shared, mean=nnx.BatchStat(jnp.zeros(2))),
        layers=nnx.List([nnx.Param(jnp.ones(2)), Bag(w=nnx.Param(jnp.ones(2)))]),
        options=nnx.Dict(x=nnx.Param(jnp.ones(2))),
        held=nnx.data({"l": [nnx.Param(jnp.ones(2))], "t": (jnp.ones(2),)}),
        name="static",
        z=nnx.Param(jnp.ones(2), tag="a"),
    )


def new_state(**wrong: Any) -> nnx.State:
    """Return a State whose first entries fit the network and whose later ones do not."""
    return nnx.State(
        {"a": nnx.Param(jnp.zeros(2)), "b": {"mean": nnx.BatchStat(jnp.ones(2))}, **wrong}
    )


def refused_by_a_hook(variable: Any, value: Any) -> Any:
    """Refuse a value."""
    raise ValueError(f"{variable} does not take {value}")


WRONG: Any = 3.5

FAILURES: dict[Any, dict[str, Callable[[Any], object]]] = {
    nnx.errors.UnknownPathError: {
        "update with an unknown path": lambda m: nnx.update(m, new_state(zz={"w": nnx.Param(1)})),
        "update with an unknown path in a List": lambda m: nnx.update(
            m, new_state(layers={7: nnx.Param(1)})
        ),
        "update of a tuple": lambda m: nnx.update(
            m, new_state(held={"t": {0: jnp.zeros(3)}}, zz=nnx.Param(1))
        ),
        "update with several states, the last one wrong": lambda m: nnx.update(
            m, new_state(), nnx.State({"zz": nnx.Param(1)})
        ),
        "a set hook that refuses": lambda m: nnx.update(
            m, {"a": jnp.zeros(2), "z": m.z.replace(on_set_value=refused_by_a_hook), "zz": 1}
        ),
    },
    nnx.errors.StateMismatchError: {
        "update of a node with a Variable": lambda m: nnx.update(m, new_state(layers=nnx.Param(1))),
        "merge of states that do not fit": lambda m: nnx.merge(nnx.graphdef(m), new_state()),
    },
    nnx.errors.NoFilterMatchedError: {
        "split with a filter too few": lambda m: nnx.split(m, nnx.Param)
    },
    nnx.errors.GraphError: {"pop of elements of a list": lambda m: nnx.pop(m, nnx.Param)},
    nnx.errors.ArgumentError: {"pop without a filter": lambda m: nnx.pop(m)},  # type: ignore[call-overload]  # as tested
    nnx.errors.InvalidFilterError: {
        "pop with a bad filter": lambda m: nnx.pop(m, nnx.Param, WRONG)
    },
    nnx.errors.PytreeAttributeError: {
        "an array assigned to a static attribute": lambda m: assign(m, "name", jnp.ones(2)),
        "a list of arrays assigned to a static attribute": lambda m: assign(
            m, "name", [jnp.ones(2)]
        ),
        "a list of arrays assigned to a new attribute": lambda m: assign(m, "fresh", [jnp.ones(2)]),
        "a misplaced annotation": lambda m: assign(m, "name", [nnx.data(1)]),
        "an array annotated as static": lambda m: assign(m, "a", nnx.static(jnp.ones(2))),
        "List.append": lambda m: m.layers.append([jnp.ones(2)]),
        "List.insert": lambda m: m.layers.insert(0, [jnp.ones(2)]),
        "List.extend, the last one wrong": lambda m: m.layers.extend([nnx.Param(1), [jnp.ones(2)]]),
        "List += , the last one wrong": lambda m: m.layers.__iadd__([nnx.Param(1), [jnp.ones(2)]]),
        "List slice assignment": lambda m: m.layers.__setitem__(
            slice(0, 1), [nnx.Param(1), [jnp.ones(2)]]
        ),
        "Dict.update, the last one wrong": lambda m: m.options.update(
            {"x": nnx.Param(2), "y": [jnp.ones(2)]}
        ),
    },
    IndexError: {"List index out of range": lambda m: m.layers.__delitem__(9)},
    (TypeError, ValueError): {
        "List.sort of what has no order": lambda m: m.layers.sort(),
        "a value of another shape written to a part": lambda m: m.z.__setitem__(0, jnp.ones(5)),
    },
    ValueError: {
        "List.remove of what is not there": lambda m: m.layers.remove("nothing"),
        "replace_by_pure_dict with an unknown path": lambda m: nnx.replace_by_pure_dict(
            nnx.state(m), {"a": jnp.zeros(2), "zz": 1}
        ),
    },
    TypeError: {"Dict with a key that is no text": lambda m: m.options.__setitem__(3, 1)},
    KeyError: {"Dict without the key": lambda m: m.options.__delitem__("nothing")},
    nnx.errors.VariableAttributeError: {
        "metadata deleted that is not there": lambda m: m.z.del_metadata("nothing")
    },
    nnx.errors.VariableError: {
        "a copy from another type": lambda m: m.z.copy_from(m.b.mean),
        "sow over a Param": lambda m: m.sow(nnx.Intermediate, "z", 1),
    },
    nnx.errors.AttributesNotFoundError: {
        "set_attributes with one name unknown": lambda m: m.set_attributes(name="other", nobody=1),
        "with_attributes with one name unknown": lambda m: nnx.with_attributes(
            m, name="other", nobody=1
        ),
    },
}


@pytest.mark.every_case
@pytest.mark.parametrize("known", [False, True], ids=["unrecorded", "recorded"])
@pytest.mark.parametrize(
    ("error", "failure"), [(error, name) for error, each in FAILURES.items() for name in each]
)
def test_a_failed_operation_leaves_the_objects_unchanged(
    error: Any, failure: str, known: bool
) -> None:
    model = network()
    if known:
        nnx.split(model)
    before = snapshot(model)
    with pytest.raises(error):
        FAILURES[error][failure](model)
    assert snapshot(model) == before
    graphdef, state = nnx.split(model)
    fresh_graphdef, fresh_state = nnx.split(copy.deepcopy(model))
    assert graphdef == fresh_graphdef
    assert state == fresh_state


def test_a_bad_filter_leaves_the_state_unchanged() -> None:
    state = nnx.state(network())
    before = [(path, id(leaf)) for path, leaf in nnx.to_flat_state(state)]
    with pytest.raises(nnx.errors.NoFilterMatchedError):
        state.split(nnx.BatchStat)
    assert [(path, id(leaf)) for path, leaf in nnx.to_flat_state(state)] == before
