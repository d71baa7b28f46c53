"""Static values without a hash go through every transform, compared by what they hold now."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.calls import CALLS


@dataclasses.dataclass
class Config:
    """What libraries of models keep as ``self.config``: compared by value, without a hash."""

    width: int = 2
    names: list[str] = dataclasses.field(default_factory=lambda: ["a"])


class Named:
    """A class with an ``==`` of its own and no hash."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    __hash__ = None  # type: ignore[assignment]  # as Python does for a class with `__eq__`


def model_of(lib: Any, config: Any, **metadata: Any) -> Any:
    class Model(lib.Module):
        def __init__(self) -> None:
            self.config = config
            self.inner = lib.Dict(w=lib.Param(jnp.array([2.0, 3.0]), **metadata))
            self.count = lib.BatchStat(jnp.array(0.0))

        def __call__(self, x: Any) -> Any:
            self.count[...] += 1.0
            return self.inner.w[...] * x * self.config.width

    return Model()


def out(run: Callable[[Any, Any], Any], model: Any) -> Any:
    found = run(model, jnp.ones(2))
    return [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(found)], float(model.count[...])


def using(name: str) -> Callable[[Any], Callable[[Any, Any], Any]]:
    """Use a model under a transform."""
    return lambda lib: lambda m, x: CALLS[name](lib, lambda m, x: m(x), m, x)


RUNS: dict[str, Callable[[Any], Callable[[Any, Any], Any]]] = {
    **{name: using(name) for name in CALLS},
    "grad": lambda lib: lib.grad(lambda m, x: m(x).sum()),
    "split and merge": lambda lib: lambda m, x: lib.merge(*lib.split(m))(x),
}


@pytest.mark.parametrize("metadata", [{}, {"tag": ["a"]}], ids=["", "metadata"])
@pytest.mark.parametrize("config", [Config(), Config(3, ["b", "c"])], ids=["first", "second"])
@pytest.mark.parametrize("name", RUNS)
def test_every_transform_gives_what_flax_gives(name: str, config: Any, metadata: Any) -> None:
    from flax import nnx as flax_nnx

    found, expected = [
        out(RUNS[name](lib), model_of(lib, config, **metadata)) for lib in (nnx, flax_nnx)
    ]
    assert found == expected


def traces(lib: Any) -> tuple[list[int], Any]:
    seen: list[int] = []

    @lib.jit
    def call(model: Any, x: Any) -> Any:
        seen.append(1)
        return model.inner.w[...].sum() * x

    return seen, call


@both
def test_equal_values_share_a_trace_and_others_do_not(lib: Any) -> None:
    seen, call = traces(lib)
    model = model_of(lib, Config(2))
    for config in (Config(2), Config(2), Config(3), Config(2)):
        model.config = config
        call(model, 1.0)
    assert len(seen) == 2


@pytest.mark.parametrize("name", ["jit", "remat", "cached_partial", "grad", "eager"])
def test_a_change_in_place_is_seen(name: str) -> None:
    config = Config(2)
    model = model_of(nnx, config)
    run = RUNS[name](nnx)
    before, _ = out(run, model)
    config.width = 5
    after, _ = out(run, model)
    assert np.allclose(np.array(after), np.array(before) * 5 / 2)


def test_a_change_deep_inside_is_seen() -> None:
    config = Config(2)
    model = model_of(nnx, config)
    seen, call = traces(nnx)
    call(model, 1.0)
    structure = nnx.graphdef(model)
    config.names.append("z")
    call(model, 1.0)
    assert len(seen) == 2
    assert nnx.graphdef(model) != structure
    config.names.pop()
    call(model, 1.0)
    assert len(seen) == 2
    assert nnx.graphdef(model) == structure


def test_metadata_that_changes_in_place_is_seen() -> None:
    tag = ["a"]
    model = model_of(nnx, Config(), tag=tag)
    seen, call = traces(nnx)
    call(model, 1.0)
    tag.append("b")
    call(model, 1.0)
    assert len(seen) == 2


def test_a_structure_is_what_it_was_when_it_was_taken() -> None:
    config = Config(2)
    first = nnx.graphdef(model_of(nnx, config))
    config.width = 3
    cls_of_second = model_of(nnx, Config(2))
    assert nnx.graphdef(nnx.Dict(a=Config)) == nnx.graphdef(nnx.Dict(a=Config))
    assert first != nnx.graphdef(cls_of_second)  # another class of the same name


def test_a_hash_is_asked_for_only_by_the_user() -> None:
    structure = nnx.graphdef(model_of(nnx, Named("a")))
    with pytest.raises(nnx.errors.UnhashableError, match="'config' of Model"):
        hash(structure)
    assert isinstance(hash(nnx.graphdef(model_of(nnx, Config()))), int)
