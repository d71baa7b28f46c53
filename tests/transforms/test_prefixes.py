"""`StateAxes` and `StateSharding` as objects, and prefix trees that do not fit; `test_vmap_axes.py`
and others have what they mean."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx
from jax.sharding import NamedSharding, PartitionSpec
from jax.sharding import PartitionSpec as P

from tests.core.libraries import both
from tests.transforms.library import nnx
from tests.transforms.mapping_scenarios import model_of, stacked_model
from tests.transforms.modes import all_modes

XS = jnp.ones((4, 3))


CUT: Any = P("d")
MESH = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


classes = pytest.mark.parametrize("name", ["StateAxes", "StateSharding"])


@both
@classes
def test_prefixes_by_filter_compare_and_hash_by_class_filters_and_prefixes(lib, name):
    cls = getattr(lib, name)
    one = cls({lib.Param: 0, ...: None})
    same = cls([(lib.Param, 0), (..., None)])
    assert one == same == copy.deepcopy(one)
    assert one != 3
    assert len({one, same}) == 1
    for other in ({lib.Param: 1, ...: None}, {...: None, lib.Param: 0}, {lib.Param: 0}):
        assert one != cls(other)
    assert lib.StateAxes(one.filters and {...: 0}) != lib.StateSharding({...: 0})
    assert jax.tree.leaves({"a": one}) == [one]
    assert repr(one) == f"{name}({{{lib.Param!r}: 0, Ellipsis: None}})"
    with pytest.raises(TypeError):
        cls(3)


@both
def test_state_sharding_has_filters_and_shardings(lib):
    found = lib.StateSharding({lib.Param: CUT, ...: P()})
    assert (found.filters, found.shardings) == ((lib.Param, ...), (CUT, P()))
    with pytest.raises(AttributeError):
        found.shardings = ()


@both
@classes
def test_the_first_filter_that_matches_a_variable_gives_its_prefix(lib, name):
    found = getattr(lib, name)({lib.PathContains("a"): 1, lib.Param: 2})
    assert found.map_prefix(("a",), lib.BatchStat(0)) == 1
    assert found.map_prefix(("a",), lib.Param(0)) == 1
    assert found.map_prefix(("b",), lib.Param(0)) == 2
    with pytest.raises(ValueError, match="'b'"):
        found.map_prefix(("b",), lib.BatchStat(0))


@both
def test_the_paths_of_a_state_become_one_filter_for_each_prefix(lib):
    state = lib.State({"w": 0, "c": None, "d": {"e": 0}})
    found = lib.StateAxes(state)
    assert found.axes == (None, 0)
    for path, axis in ((("c",), None), (("d", "e"), 0), (("w",), 0)):
        assert found.map_prefix(path, lib.Param(0)) == axis
    with pytest.raises(ValueError, match="other"):
        found.map_prefix(("other",), lib.Param(0))
    assert lib.StateSharding(lib.State({"w": lib.Param(CUT)})).shardings == (CUT,)
    with pytest.raises(TypeError, match="hash"):
        lib.StateAxes(lib.State({"w": jnp.ones(2)}))


@both
@classes
def test_filters_are_checked_when_they_are_used(lib, name):
    cls = getattr(lib, name)
    assert cls({}).filters == ()
    assert cls({...: 0, lib.Param: 1}).filters == (..., lib.Param)
    wrong = cls({3: 0})
    assert wrong.filters == (3,)
    if lib is nnx:  # the text of the error in flax fails to format
        with pytest.raises(nnx.errors.InvalidFilterError, match="3"):
            wrong.map_prefix(("a",), lib.Param(0))


# -- trees that do not fit -------------------------------------------------------------------------


def nest() -> Any:
    return {"a": [stacked_model(nnx), XS]}


@pytest.mark.parametrize(
    ("axes", "place", "prefix", "value"),
    [
        ({"b": 0}, "nest", "a dict with the keys ['b']", "a dict with the keys ['a']"),
        ({"a": (0, 0)}, "nest.a", "a tuple of 2", "a list of 2"),
        ({"a": [0]}, "nest.a", "a list of 1", "a list of 2"),
        ({"a": [0, {}]}, "nest.a[1]", "a dict", "float32[4,3]"),
        ({"a": [[0], 0]}, "nest.a[0]", "a list of 1", "Model"),
    ],
    ids=["keys", "type", "length", "array", "object"],
)
def test_the_error_names_the_first_place_that_differs(axes, place, prefix, value):
    for transform in ("vmap", "pmap"):
        with pytest.raises(nnx.errors.PrefixError) as info:
            getattr(nnx, transform)(lambda nest: 0.0, in_axes=(axes,))(nest())
        text = str(info.value)
        assert text.startswith(f"{transform} of ")
        assert ": in_axes " in text
        assert f"differs at {place}, where in_axes has {prefix}" in text
        assert value in text


def test_the_error_names_the_option_and_the_result():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    with pytest.raises(nnx.errors.PrefixError, match=r"^shard_map of .*: in_specs .* at y,"):
        nnx.shard_map(lambda x, y: x, mesh=mesh, in_specs=(CUT, (CUT,)), out_specs=CUT)(XS, XS)
    with pytest.raises(nnx.errors.PrefixError, match=r"^shard_map of .*: out_specs .* result\[0\]"):
        nnx.shard_map(lambda x: (x, x), mesh=mesh, in_specs=CUT, out_specs=([CUT], CUT))(XS)
    with pytest.raises(nnx.errors.PrefixError, match=r"^jit of .*: in_shardings .* at model,"):
        nnx.jit(lambda model: 0.0, in_shardings=({"a": None},))(stacked_model(nnx))


def test_what_is_not_mapped_in_a_result_is_named():
    def made(x: Any) -> Any:
        return {"a": model_of(nnx, weight=nnx.Param(x), bias=nnx.BatchStat(x)), "b": 1.0}

    axes = {"a": nnx.StateAxes({nnx.Param: 0, ...: None}), "b": None}
    with pytest.raises(nnx.errors.BroadcastChangedError) as info:
        nnx.vmap(made, out_axes=axes)(XS)
    assert info.value.paths == ["result.a.bias"]


@pytest.mark.parametrize("axes", [0, None], ids=str)
def test_axes_of_plain_nests_are_given_entry_by_entry(axes):
    xs = {"a": XS, "b": jnp.ones((4, 3)) * 2}
    mapped = nnx.vmap(lambda xs: xs["a"].sum() * xs["b"].sum(), in_axes=({"a": 0, "b": axes},))
    assert mapped(xs).tolist() == [3.0 * 2 * (3 if axes == 0 else 12)] * 4


# -- one prefix for each Variable ------------------------------------------------------------------

#: The class of prefixes by filter, a prefix that cuts an array and one that does not.
PREFIXES: dict[str, tuple[str, Any, Any]] = {
    "in_axes": ("StateAxes", 0, None),
    "in_shardings": (
        "StateSharding",
        NamedSharding(MESH, PartitionSpec("data")),
        NamedSharding(MESH, PartitionSpec()),
    ),
    "in_specs": ("StateSharding", PartitionSpec("data"), PartitionSpec()),
}
each_option = pytest.mark.parametrize("option", PREFIXES)


def lifted(lib: Any, option: str, function: Any, prefixes: Any) -> Any:
    if option == "in_axes":
        return lib.vmap(function, in_axes=prefixes)
    if option == "in_shardings":
        return lib.jit(function, in_shardings=prefixes)
    specs: Any = PartitionSpec("data")
    return lib.shard_map(function, mesh=MESH, in_specs=prefixes, out_specs=specs)


@both
@each_option
def test_one_variable_has_one_prefix(lib, option):
    name, cut, whole = PREFIXES[option]
    by_filter, model = getattr(lib, name), model_of(lib, weight=lib.Param(XS))

    def run(*prefixes: Any) -> Any:
        return lifted(lib, option, lambda a, b: a.weight[...] + 0, prefixes)(model, model)

    text = r"(?s)\ba\.weight.*\bb\.weight" if lib is nnx else "(?s)aliasing.*weight"
    for other in (whole, by_filter({lib.Param: whole, ...: cut})):
        with pytest.raises(ValueError, match=text):
            run(by_filter({...: cut}), other)
    found = run(by_filter({...: cut}), by_filter({lib.Param: cut, ...: cut}))
    assert found.tolist() == XS.tolist()


@both
@each_option
def test_a_variable_that_no_filter_matches_is_an_error(lib, option):
    name, cut, _ = PREFIXES[option]
    by_filter, model = getattr(lib, name), model_of(lib, weight=lib.Param(XS))
    with pytest.raises(ValueError, match="weight"):
        lifted(lib, option, lambda a: 0.0, (by_filter({lib.BatchStat: cut}),))(model)


# -- which kinds of prefixes the options of transforms take, in each mode: as in NNX ----------------


KINDS: dict[str, Callable[[Any], Any]] = {
    "a Module": lambda lib: lib.Dict(a=0),
    "a Variable": lambda lib: lib.Param(0),
    "StateAxes": lambda lib: lib.StateAxes({...: 0}),
    "StateSharding": lambda lib: lib.StateSharding({...: PartitionSpec()}),
    "DiffState": lambda lib: lib.DiffState(0, ...),
}


OPTIONS: dict[str, Callable[..., Any]] = {
    "vmap in_axes": lambda lib, kind, **mode: lib.vmap(id, in_axes=(kind,), **mode),
    "vmap out_axes": lambda lib, kind, **mode: lib.vmap(id, out_axes=kind, **mode),
    "pmap in_axes": lambda lib, kind, **mode: lib.pmap(id, in_axes=(kind,), **mode),
    "jit in_shardings": lambda lib, kind, **mode: lib.jit(id, in_shardings=kind, **mode),
    "jit out_shardings": lambda lib, kind, **mode: lib.jit(id, out_shardings=[kind], **mode),
    "shard_map in_specs": lambda lib, kind, **mode: lib.shard_map(
        id, mesh=MESH, in_specs=(kind,), out_specs=PartitionSpec(), **mode
    ),
    "scan in_axes": lambda lib, kind, **mode: lib.scan(
        id, in_axes=(lib.Carry, kind), out_axes=(lib.Carry, 0), **mode
    ),
    "scan out_axes": lambda lib, kind, **mode: lib.scan(
        id, in_axes=(lib.Carry, 0), out_axes=(lib.Carry, {"x": kind}), **mode
    ),
    "grad argnums": lambda lib, kind, **mode: lib.grad(id, argnums=kind, **mode),
}


def refusal(option: str, kind: str, lib: Any, mode: dict[str, Any]) -> bool:
    """Whether a library refuses a prefix for its kind."""
    try:
        OPTIONS[option](lib, KINDS[kind](lib), **mode)
    except ValueError:
        return True
    except TypeError:  # what jax says of a prefix of the wrong option
        return False
    return False


# Axes and shardings are no positions for us in any mode; flax takes some and fails at the call.
CASES = [
    (option, kind)
    for option in OPTIONS
    for kind in KINDS
    if kind != "a Module"
    if option != "grad argnums" or kind not in ("StateAxes", "StateSharding")
]


@all_modes
def test_objects_as_prefixes_are_refused_where_structures_may_change(mode):
    # With graph_updates=False alone `nnx.prefix` of flax returns no Module but a form of its own.
    for option in OPTIONS:
        refused = mode != {"graph": False} and mode != {"graph_updates": False}
        assert refusal(option, "a Module", nnx, mode) == (refused or option == "grad argnums")


@all_modes
@pytest.mark.parametrize(("option", "kind"), CASES)
def test_the_same_kinds_of_prefixes_are_refused_as_in_flax(option, kind, mode):
    assert refusal(option, kind, nnx, mode) == refusal(option, kind, flax_nnx, mode)
