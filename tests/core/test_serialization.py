"""Programs of `jax.export` that take States and Variables go to files and come back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.sharding import PartitionSpec

import typed_nnx as nnx
from tests.support.processes import run_process


class Scale(nnx.Param[jax.Array]):
    """A type of Variable as users make them."""


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([nnx.Linear(3, 3, rngs=rngs), nnx.Linear(3, 3, rngs=rngs)])
        self.scale = Scale(
            jnp.ones((1, 3)),
            axes=("embed", None),
            spec=PartitionSpec("data"),
            limits=[0.5, {"a": (1, True)}],
        )


def function(state: Any, x: jax.Array) -> Any:
    total = sum((leaf[...].sum() for leaf in jax.tree.leaves(state, is_leaf=is_variable)), x.sum())
    return total, state


def is_variable(leaf: object) -> bool:
    return isinstance(leaf, nnx.Variable)


# In a State, jax writes no dict with numbers for keys, which a list of layers has.
FORMS: dict[str, Callable[[Any], Any]] = {
    "State": lambda state: nnx.State({"layers": {"a": state.layers[0]}, "scale": state.scale}),
    "FlatState": nnx.to_flat_state,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_program_of_a_state_is_written_and_read(form: str) -> None:
    state, x = FORMS[form](nnx.state(Model(nnx.Rngs(0)))), jnp.ones((1, 3))
    written = export.export(jax.jit(function))(state, x).serialize()
    program = export.deserialize(bytearray(written))
    assert str(program.in_tree) == str(jax.tree.structure(((state, x), {})))
    y, back = program.call(state, x)
    np.testing.assert_array_equal(y, function(state, x)[0])
    jax.tree.map(np.testing.assert_array_equal, back, state)  # raises where the structures differ
    assert type(back) is type(state)


def test_another_process_reads_it(tmp_path: Path) -> None:
    linear = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    graphdef, state = nnx.split(linear)
    program = export.export(jax.jit(lambda s, x: nnx.merge(graphdef, s)(x)))(
        state, jnp.ones((1, 2))
    )
    file = tmp_path / "program.bin"
    file.write_bytes(program.serialize())
    code = (
        "import sys, pathlib, jax.numpy as jnp, typed_nnx as nnx; from jax import export\n"
        "program = export.deserialize(bytearray(pathlib.Path(sys.argv[1]).read_bytes()))\n"
        "state = nnx.state(nnx.Linear(2, 1, rngs=nnx.Rngs(0)))\n"
        "print(program.call(state, jnp.ones((1, 2))).item())\n"
    )
    done = run_process([sys.executable, "-c", code, str(file)], check=True)
    assert float(done.stdout) == linear(jnp.ones((1, 2))).item()


def test_what_cannot_be_written_is_named() -> None:
    state = nnx.State({"w": nnx.Param(jnp.ones(2), origin=object())})
    program = export.export(jax.jit(lambda state: state["w"] * 2))(state)
    with pytest.raises(nnx.errors.ExportError, match=r"(?s)Param\.origin is <object .*nnx\.export"):
        program.serialize()


def test_a_class_of_the_same_name_may_be_made_again() -> None:
    def make() -> type[nnx.Variable[Any]]:
        class Again(nnx.Param[jax.Array]):
            pass

        return Again

    first, second = make(), make()
    for kind in (first, second):
        assert jax.tree.leaves(jax.jit(lambda v: v)(kind(jnp.ones(2))))[0].shape == (2,)
