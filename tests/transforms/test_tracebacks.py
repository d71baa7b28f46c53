"""Tracebacks of errors in users' functions: under every transform they name the user's lines only."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flax
import flax.nnx
import jax
import jax.numpy as jnp
import pytest

import typed_nnx
from tests.transforms.calls import CALLS

FLAX, OURS = Path(flax.__file__).parent, Path(typed_nnx.__file__).parent
ROWS = jnp.ones((1, 2))


def contract(model: Any, x: Any) -> Any:
    """Fail with a shape error of jax."""
    return model.kernel[...] @ jnp.ones(7)


def with_rule(nnx: Any, function: Any, fwd: Any, bwd: Any) -> Any:
    """Return a function with a rule."""
    made = nnx.custom_vjp(function)
    made.defvjp(fwd, bwd)
    return made


def total(model: Any, x: Any) -> Any:
    """Return a scalar."""
    return model.kernel[...].sum() * x.sum()


def forward(model: Any, x: Any) -> Any:
    """Return the result and the residuals."""
    return total(model, x), (model, x)


Run = Callable[[Any, Any, Any], Any]


def contracting(name: str) -> Run:
    return lambda nnx, m, x: CALLS[name](nnx, contract, m, x)


RUNS: dict[str, Run] = {
    **{name: contracting(name) for name in CALLS},
    "a layer": lambda nnx, m, x: m(jnp.ones((1, 7))),
    "jit by keyword": lambda nnx, m, x: nnx.jit(contract)(model=m, x=x),
    "jit of a capture": lambda nnx, m, x: nnx.jit(lambda x: contract(m, x))(x),
    "lower": lambda nnx, m, x: nnx.jit(contract).lower(m, x),
    "grad": lambda nnx, m, x: nnx.grad(contract)(m, x),
    "value_and_grad": lambda nnx, m, x: nnx.value_and_grad(contract)(m, x),
    "eval_shape": lambda nnx, m, x: nnx.eval_shape(contract, m, x),
    "while_loop of a capture": lambda nnx, m, x: nnx.while_loop(
        lambda c: True, lambda c: contract(m, c), x
    ),
    "custom_vjp": lambda nnx, m, x: with_rule(nnx, contract, forward, forward)(m, x),
    "fwd": lambda nnx, m, x: nnx.grad(with_rule(nnx, total, contract, forward))(m, x),
    "bwd": lambda nnx, m, x: nnx.grad(
        with_rule(nnx, total, forward, lambda residuals, _: contract(*residuals))
    )(m, x),
    "vjp": lambda nnx, m, x: nnx.vjp(contract, m, x, graph=False, graph_updates=False),
    "jvp": lambda nnx, m, x: nnx.jvp(contract, (m, x), (m, x), graph=False, graph_updates=False),
    "jit, grad, remat": lambda nnx, m, x: nnx.jit(nnx.grad(nnx.remat(contract)))(m, x),
}


def error_of(nnx: Any, run: Run) -> Exception:
    """Return what a run raises."""
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    try:
        run(nnx, model, ROWS)
    except Exception as error:  # noqa: BLE001 -- whatever it is
        return error
    raise AssertionError("it did not fail")


def frames(error: Exception, package: Path) -> list[str]:
    """Return the frames of a traceback that lie in a package."""
    entries = traceback.extract_tb(error.__traceback__)
    return [str(entry) for entry in entries if Path(entry.filename).is_relative_to(package)]


@pytest.mark.parametrize("name", [name for name in RUNS if name != "a layer"])
def test_a_shape_error_of_jax_shows_the_lines_of_the_user_alone(name: str) -> None:
    error = error_of(typed_nnx, RUNS[name])
    assert frames(error, OURS) == []
    entries = traceback.extract_tb(error.__traceback__)
    assert [entry.name for entry in entries if entry.filename == __file__][-1] == "contract"


def test_an_error_of_our_own_shows_the_line_of_the_user_alone() -> None:
    error = error_of(typed_nnx, lambda nnx, m, x: nnx.jit(total, static_argnums=1)(m, [1]))
    assert type(error).__module__ == "typed_nnx.errors"
    assert frames(error, OURS) == []
    assert not getattr(error, "__notes__", [])


def test_an_exception_of_the_user_is_the_same_object_with_a_note_on_hidden_frames() -> None:
    mine = KeyError("mine")

    def fail(model: Any, x: Any) -> Any:
        raise mine

    error = error_of(typed_nnx, lambda nnx, m, x: nnx.cond(True, fail, fail, m, x))
    assert error is mine
    assert "JAX_TRACEBACK_FILTERING=off" in "".join(error.__notes__)


@pytest.mark.parametrize("mode", ["off", "tracebackhide"])
def test_the_switch_of_jax_shows_all_frames(mode: str) -> None:
    before = jax.config.jax_traceback_filtering  # type: ignore[attr-defined]  # without types
    jax.config.update("jax_traceback_filtering", mode)
    try:
        error = error_of(typed_nnx, RUNS["jit"])
    finally:
        jax.config.update("jax_traceback_filtering", before)
    assert frames(error, OURS)


def test_a_leaked_tracer_is_reported_without_lines_of_the_library() -> None:
    leaked = []

    @typed_nnx.jit
    def leak(model: Any, x: Any) -> None:
        leaked.append(model(x))

    leak(typed_nnx.Linear(2, 2, rngs=typed_nnx.Rngs(0)), ROWS)
    with pytest.raises(jax.errors.UnexpectedTracerError) as raised:
        leaked[0] + 1
    assert f"{__file__}:{leak.nnx_function().__code__.co_firstlineno + 2}" in str(raised.value)
    assert f"{OURS}/" not in str(raised.value).split("created on line", 1)[1]
