"""`merge`, `clone`, `view`, `update`, `call`: structure and State become an object again."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_type

import jax
import optax

import typed_nnx as nnx
from tests.assert_type.models import CNN, MLP, Box

Model: TypeAlias = tuple[nnx.GraphDef[MLP], nnx.State[Any, Any, MLP, Any]]


def merging(model: MLP, restored: nnx.State, loaded: Any, pair: tuple[MLP, CNN]) -> None:
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    assert_type(nnx.merge(graphdef, params, rest), MLP)
    assert_type(nnx.merge(graphdef, rest, params, copy=True), MLP)
    assert_type(nnx.merge(graphdef, restored), MLP)
    assert_type(nnx.merge(graphdef, params.to_pure_dict(), rest.flat_state()), MLP)
    assert_type(nnx.merge(*nnx.split(pair)), tuple[MLP, CNN])
    assert_type(nnx.merge(nnx.unpack(model)), MLP)
    assert_type(nnx.merge(loaded, params), Any)
    nnx.merge()  # E
    nnx.merge(params, rest)  # E
    nnx.merge(model, params)  # E
    nnx.merge(graphdef, model)  # E
    nnx.merge(graphdef, 3)  # E
    nnx.merge(graphdef, params, rest, copies=True)  # E
    wrong: CNN = nnx.merge(graphdef, params, rest)  # E: [assignment|reportAssignmentType]
    del wrong


def packed(model: MLP) -> None:
    assert_type(nnx.unpack(model).graphdef, nnx.GraphDef[MLP])
    assert_type(nnx.unpack(model).state, nnx.State[Any, Any, MLP, Any])
    params, rest = nnx.unpack(model, nnx.Param, ...)
    assert_type(nnx.merge(params, rest), MLP)
    params, rest = nnx.unpack(model, nnx.Param, nnx.BatchStat, ...)  # E


def of_a_part(model: MLP, box: Box[CNN]) -> None:
    assert_type(nnx.merge(*nnx.split(model.first)), nnx.Linear)
    assert_type(nnx.merge(*nnx.split(box)).inner, CNN)
    _ = nnx.merge(*nnx.split(box)).outer  # E


def the_same_type_again(model: MLP, tree: dict[str, MLP]) -> None:
    assert_type(nnx.clone(model), MLP)
    assert_type(nnx.clone(tree, variables=False), dict[str, MLP])
    assert_type(nnx.view(model, deterministic=True), MLP)
    assert_type(nnx.with_attributes(model, only=nnx.Dropout, rate=0.0), MLP)
    assert_type(nnx.pure(nnx.state(model)), nnx.State[Any, Any, MLP, Any])
    assert_type(nnx.to_refs(model), MLP)
    assert_type(nnx.to_arrays(model), MLP)
    nnx.clone()  # E
    nnx.clone(model, 3)  # E
    nnx.view(model, only=3)  # E
    nnx.with_attributes(model, raise_if_not_found="no")  # E
    nnx.pure()  # E
    nnx.to_refs(model, only=3)  # E


def updating(model: MLP, other: CNN, param: nnx.Param[jax.Array], x: jax.Array) -> None:
    nnx.update(model, nnx.state(model, nnx.Param), nnx.state(model, nnx.BatchStat))
    nnx.update(model, {"temperature": x})
    nnx.update(model, optax.apply_updates(nnx.state(model, nnx.Param), nnx.state(model, nnx.Param)))
    nnx.update(model, nnx.state(model).flat_state())
    nnx.update(param, x)
    nnx.update({"a": model, "b": None}, {"a": nnx.state(model)})
    nnx.update(model if param.shape else None, nnx.state(model))
    nnx.update(model)  # E
    nnx.update(model, other)  # E
    nnx.update(model, x)  # E mypy: to pyright optax says that what it returns may be an array
    nnx.update(x, nnx.state(model))  # E
    nnx.update(model, state=nnx.state(model))  # E


def calling(model: MLP, x: jax.Array) -> None:
    graphdef, state = nnx.split(model)
    assert_type(nnx.call((graphdef, state))(x), tuple[jax.Array, Model])
    assert_type(nnx.call(nnx.split(model, nnx.Param, ...))(x=x), tuple[jax.Array, Model])
    assert_type(nnx.call((graphdef, state)).predict(x, top=2), tuple[Any, Model])
    assert_type(nnx.call((graphdef, state)).blocks[0](x), tuple[Any, Model])
    y, (graphdef, state) = nnx.call((graphdef, state))(x)
    assert_type(y, jax.Array)
    nnx.call((graphdef, state))(x, x)  # E
    nnx.call((graphdef, state))(3)  # E
    nnx.call((graphdef, state))(image=x)  # E
    nnx.call((state, graphdef))  # E
    nnx.call(state)  # E


def applying(model: MLP, box: Box[CNN], x: jax.Array, loaded: Any) -> None:
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    assert_type(graphdef.apply(params, rest)(x), tuple[jax.Array, Model])
    assert_type(graphdef.apply(params, rest).predict(x), tuple[Any, Model])
    boxdef, state = nnx.split(box)
    _, (boxdef, state) = boxdef.apply(state).inner(x)
    graphdef.apply()  # E
    graphdef.apply(params, rest)()  # E
    structure: nnx.GraphDef[Any] = loaded
    assert_type(structure.apply(params)(x, 1), tuple[Any, tuple[nnx.GraphDef[Any], nnx.State]])


def structures(model: MLP) -> None:
    graphdef = nnx.graphdef(model)
    assert_type(graphdef.num_leaves, int)
    assert_type({graphdef: 1}, dict[nnx.GraphDef[MLP], int])
    other: nnx.GraphDef[CNN] = graphdef  # E: [assignment|reportAssignmentType]
    any_structure: nnx.GraphDef[Any] = graphdef
    del other, any_structure
