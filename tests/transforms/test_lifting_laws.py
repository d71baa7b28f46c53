"""What `checkify`, `eval_shape`, `make_jaxpr` and `remat` share: they lift a function and its models."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from tests.core.libraries import both
from tests.transforms.jit_models import (
    MODES,
    bump,
    contents,
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


@both
@each(*CALLS)
def test_an_exception_inside_leaves_the_model(lib, call, modes):
    model = pair(lib)
    before = contents(lib, lib.clone(model))

    def fail(m):
        bump(m.layers[0])
        m.layers[0].mode = "eval"
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        call(lib, fail, model, **modes)
    assert contents(lib, model) == before
