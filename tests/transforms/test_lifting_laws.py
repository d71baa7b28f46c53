"""What `checkify`, `eval_shape`, `make_jaxpr` and `remat` share: they lift a function and its models."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.jit_models import (
    MODES,
    bump,
    count_of,
    counter,
    numbers,
    pair,
    same_contents,
)

CALLS = {
    "checkify": lambda lib, f, *args, **modes: lib.checkify(f, **modes)(*args)[1],
    "eval_shape": lambda lib, f, *args, **modes: lib.eval_shape(f, *args, **modes),
    "make_jaxpr": lambda lib, f, *args, **modes: lib.make_jaxpr(
        f, **{**modes, "graph_updates": False}
    )(*args),
    "remat": lambda lib, f, *args, **modes: lib.remat(f, **modes)(*args),
}


def each(*calls, modes=MODES):
    """Run a test with each of these transforms in each of these modes."""
    return pytest.mark.parametrize(
        ("call", "modes"),
        [
            pytest.param(CALLS[call], MODES[mode], id=f"{call}-{mode}")
            for call in calls
            for mode in modes
            if (call, mode) != ("make_jaxpr", "graph")  # NNX has it without graph updates only
        ],
    )


@both
@each("checkify", "remat", modes=["graph"])
def test_structure_and_identity_pass_through(lib, call, modes):
    model = pair(lib)
    first = model.layers[0]

    def step(m):
        m.layers[0], m.layers[1] = m.layers[1], m.layers[0]
        m.new = lib.Param(jnp.ones(2))
        m.layers[1].mode = "eval"
        return m, m.layers[1].kernel, counter(lib)

    same, kernel, new = call(lib, step, model, **modes)
    assert (same is model, model.layers[1] is first, kernel is first.kernel) == (True,) * 3
    assert (first.mode, numbers(model.new[...])) == ("eval", [1, 1])
    assert same_contents(lib, new, counter(lib))


@both
@each("checkify", "remat", modes=["graph", "fixed"])
def test_a_model_may_be_two_arguments(lib, call, modes):
    model = counter(lib)

    def step(a, b):
        assert a is b
        return bump(b)

    call(lib, step, model, model, **modes)
    assert count_of(model) == 1
    with pytest.raises(ValueError, match=r"(?ms)(\[0\]|^ +a$).*(\[1\]|^ +b$)"):
        call(lib, step, model, model, graph=False)


@both
@each(*CALLS, modes=["fixed", "tree"])
def test_without_updates_an_input_must_not_come_out(lib, call, modes):
    with pytest.raises(ValueError, match="count"):
        call(lib, lambda m: m, counter(lib), **modes)


WRAPPERS = {
    "shard_map": lambda f: nnx.shard_map(
        f, mesh=jax.make_mesh((1,), ("data",)), in_specs=P(), out_specs=P()
    ),
    **{
        name: getattr(nnx, name)
        for name in (
            *("checkify", "custom_vjp", "grad", "jit", "make_jaxpr", "pmap", "remat", "scan"),
            *("value_and_grad", "vmap"),
        )
    },
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_transformed_function_keeps_the_names_of_the_function(wrap):
    def step(model):
        """Say what it does."""
        return model

    wrapped = wrap(step)
    assert (wrapped.__name__, wrapped.__doc__) == ("step", "Say what it does.")
    assert (wrapped.__wrapped__, wrapped.__module__) == (step, step.__module__)
