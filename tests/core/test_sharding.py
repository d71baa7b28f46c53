"""Placing values by sharding metadata, on eight host devices, in flax and here."""

from __future__ import annotations

import os
import sys
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.support.processes import run_process
from typed_nnx.errors import MeshRequiredError

SCRIPT = '''
import warnings
warnings.simplefilter("ignore")
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from flax import nnx as flax_nnx
import typed_nnx as nnx

devices = np.array(jax.devices()).reshape(4, 2)
assert devices.size == 8
mesh = Mesh(devices, ("data", "model"))
x = np.arange(32.0).reshape(8, 4)


def values():
    """Make the array under the mesh in force, as an initializer does."""
    return jnp.arange(32.0).reshape(8, 4)


cases = {
    "mesh in force": lambda lib: in_force(lambda: lib.Param(values(), out_sharding=("data", "model"))),
    "spec": lambda lib: in_force(lambda: lib.Param(values(), out_sharding=P("data", None))),
    "second axis": lambda lib: in_force(lambda: lib.Param(values(), out_sharding=(None, "data"))),
    "two names for one axis": lambda lib: in_force(
        lambda: lib.Param(values(), out_sharding=(("data", "model"), None))
    ),
    "mesh in metadata": lambda lib: lib.Param(values(), out_sharding=("data", None), mesh=mesh),
    "older name": lambda lib: in_force(lambda: lib.Param(values(), sharding=("data", None))),
    "with_partitioning": lambda lib: in_force(
        lambda: lib.Param(lib.with_metadata(values, out_sharding=("model", None))())
    ),
    "rules": lambda lib: in_force(
        lambda: lib.Param(
            values(), out_sharding=("batch", "mlp"), sharding_rules=(("batch", "data"), ("mlp", "model"))
        )
    ),
    "not eager": lambda lib: in_force(
        lambda: lib.Param(values(), out_sharding=("data", None), eager_sharding=False)
    ),
    "not eager in a block": lambda lib: in_force(lambda: not_eager(lib)),
    "no metadata": lambda lib: in_force(lambda: lib.Param(values())),
    "under jit": lambda lib: in_force(
        lambda: jax.jit(lambda: lib.Param(values(), out_sharding=("data", "model")))()
    ),
    "device array under jit": lambda lib: in_force(lambda: constant(lib)),
    "copy": lambda lib: in_force(lambda: lib.Param(values(), out_sharding=("data", None)).copy()),
    "bfloat16": lambda lib: in_force(
        lambda: lib.Param(values().astype(jnp.bfloat16), out_sharding=("data", None))
    ),
}


def in_force(make):
    with jax.set_mesh(jax.make_mesh(
        (4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2
    )):
        return make()


def not_eager(lib):
    with lib.use_eager_sharding(False):
        return lib.Param(values(), out_sharding=("data", None))


def constant(lib):
    made = values()
    return jax.jit(lambda: lib.Param(made, out_sharding=("data", "model")))()


def shards(variable):
    value = variable.get_value()
    np.testing.assert_array_equal(np.asarray(value, np.float32), np.asarray(x))
    return sorted((s.device.id, str(s.index)) for s in value.addressable_shards)


for name, make in cases.items():
    ours, theirs = shards(make(nnx)), shards(make(flax_nnx))
    same = ours == theirs
    print("RESULT", name, len({index for _, index in ours}), "same" if same else "different")
'''

# How many different parts of the 8 x 4 array there are on a mesh of 4 x 2.
PARTS = {
    "mesh in force": 8,
    "spec": 4,
    "second axis": 4,
    "two names for one axis": 8,
    "mesh in metadata": 4,
    "older name": 4,
    "with_partitioning": 2,
    "rules": 8,
    "not eager": 1,
    "not eager in a block": 1,
    "no metadata": 1,
    "under jit": 8,
    "device array under jit": 8,
    "copy": 4,
    "bfloat16": 4,
}


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[int, str]]:
    flags = f"--xla_force_host_platform_device_count=8 {os.environ.get('XLA_FLAGS', '')}"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = run_process(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            name, parts, same = line.removeprefix("RESULT ").rsplit(" ", 2)
            found[name] = (int(parts), same)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("name", PARTS)
def test_a_value_is_split_over_the_devices_as_in_flax(
    results: dict[str, tuple[int, str]], name: str
) -> None:
    assert results[name] == (PARTS[name], "same")


@both
def test_sharding_metadata_without_a_mesh_is_an_error(lib: Any) -> None:
    with pytest.raises(ValueError, match="mesh"):
        lib.Param(jnp.ones(2), out_sharding=("data",))


class Block(nnx.Module):
    """A layer whose parameter has a partition, in a list of a model."""

    def __init__(self) -> None:
        self.norm = nnx.LayerNorm(2, rngs=nnx.Rngs(0))
        self.mlp = nnx.Linear(2, 2, kernel_metadata={"out_sharding": ("a", "b")}, rngs=nnx.Rngs(0))
        self.after = 1


class Stack(nnx.Module):
    def __init__(self) -> None:
        self.before = 1
        self.blocks = nnx.List([Block() for _ in range(2)])


class Local(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.ones(2), out_sharding=("a",))
        self.after = 1


class Loose(nnx.Module):
    def __init__(self) -> None:
        w = nnx.Param(jnp.ones(2), out_sharding=("a",))
        self.w = w


@pytest.mark.parametrize(
    ("make", "path"),
    [(Block, "Block.mlp.kernel"), (Stack, "Stack.blocks.mlp.kernel"), (Local, "Local.w"), (Loose, "Variable")],
    ids=["layer", "list", "own", "local variable"],
)  # fmt: skip
def test_a_missing_mesh_names_layer_and_attribute_and_what_it_names_works(
    make: Any, path: str
) -> None:
    for call in (make, nnx.jit(make)):
        with pytest.raises(MeshRequiredError) as caught:
            call()
        assert str(caught.value).startswith(f"{path}: no mesh for out_sharding=P('a'")
    with nnx.use_eager_sharding(False):
        make()
    with jax.set_mesh(
        jax.make_mesh((1, 1), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    ):
        make()


@both
def test_no_mesh_is_needed_when_the_value_is_not_placed_at_once(lib: Any) -> None:
    variable = lib.Param(jnp.ones(2), out_sharding=("data",), eager_sharding=False)
    assert variable.get_metadata("out_sharding") == ("data",)
    with lib.use_eager_sharding(False):
        lib.Param(jnp.ones(2), out_sharding=("data",))


# -- with_metadata ---------------------------------------------------------------------------------


# The oracle recommends overriding `get_value` instead.
pytestmark = pytest.mark.filterwarnings("ignore:Variable hooks are deprecated")


@both
def test_with_metadata_makes_an_initializer_whose_variable_has_metadata(lib: Any) -> None:
    def zeros(n: int, dtype: Any = jnp.float32) -> Any:
        """Make zeros."""
        return jnp.zeros(n, dtype)

    init = lib.with_metadata(zeros, tag="t", sizes=(1, 2))
    value = init(3, jnp.int32)
    assert isinstance(value, lib.VariableMetadata)
    assert value.metadata == {"tag": "t", "sizes": (1, 2)}
    variable = lib.Param(value, extra=1)
    assert (variable.tag, variable.sizes, variable.extra) == ("t", (1, 2), 1)
    assert (variable.shape, variable.dtype) == ((3,), jnp.int32)
    assert init.__name__ == "zeros"


@both
def test_each_value_of_an_initializer_has_its_own_metadata(lib: Any) -> None:
    init = lib.with_metadata(lambda: 1, tag="t")
    one, two = lib.Param(init()), lib.Param(init())
    one.set_metadata(tag="other")
    assert (two.tag, lib.Param(init()).tag) == ("t", "t")


@both
def test_variable_metadata_has_these_fields(lib: Any) -> None:
    made = lib.VariableMetadata(1)
    hooks = ("set_value", "get_value", "create_value", "add_axis", "remove_axis")
    assert made.raw_value == 1
    assert [getattr(made, f"on_{name}") for name in hooks] == [()] * 5
    assert made.metadata == {}


@both
def test_a_nested_with_metadata_adds_up(lib: Any) -> None:
    variable = lib.Param(lib.VariableMetadata(1, metadata={"a": 1, "b": 2}), c=3)
    assert variable.get_metadata(exclude_required=True) == {"a": 1, "b": 2, "c": 3}


@both
def test_metadata_of_the_initializer_win_over_keywords_and_hooks_do_not(lib: Any) -> None:
    init = lib.with_metadata(lambda: 1, a=1, on_get_value=lambda v, x: x + 1)
    variable = lib.Param(init(), a=2, on_get_value=lambda v, x: x * 10)
    assert (variable.a, variable.get_value()) == (1, 10)
