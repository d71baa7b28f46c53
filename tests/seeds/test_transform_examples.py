"""The examples of the seed documents that are about transforms.

Results are those that the documents print, or those of a loop, of jax or of flax.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from typed_nnx import BatchNorm, Dropout, Linear, Optimizer

from .models import Count, CounterLinear, assert_ensemble

# -- module_and_pytree_guide.txt -------------------------------------------------------------------


# -- graph_api_reference.txt -----------------------------------------------------------------------


def train_step(model: tp.Any, optimizer: tp.Any, x: jax.Array, y: jax.Array) -> jax.Array:
    library = nnx if isinstance(model, nnx.Module) else flax_nnx

    def loss_fn(model: tp.Any) -> jax.Array:
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = library.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return tp.cast("jax.Array", loss)


@pytest.mark.thorough
def test_a_cached_partial_of_a_train_step_prints_what_the_document_says() -> None:
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    optimizer = Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
    cached_train_step = nnx.cached_partial(nnx.jit(train_step), model, optimizer)
    x, y = jnp.ones((10, 2)), jnp.ones((10, 3))
    losses = [cached_train_step(x, y) for _ in range(2)]
    assert [f"{loss:.3f}" for loss in losses] == ["2.669", "2.660"]

    theirs = flax_nnx.Linear(2, 3, rngs=flax_nnx.Rngs(0))
    their_optimizer = flax_nnx.Optimizer(theirs, optax.adamw(1e-3), wrt=flax_nnx.Param)
    expected = [train_step(theirs, their_optimizer, x, y) for _ in range(2)]
    np.testing.assert_allclose(losses, expected, rtol=1e-6)
    np.testing.assert_allclose(model.kernel[...], theirs.kernel[...], rtol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # as above, for `sow`
def test_a_cached_partial_allows_temporary_mutations_and_refuses_those_that_stay() -> None:
    @nnx.jit
    def cleaned_up(model: tp.Any, x: jax.Array) -> tp.Any:
        model.sow(nnx.Intermediate, "seen", x)
        return nnx.pop(model, nnx.Intermediate)

    @nnx.jit
    def left_behind(model: tp.Any, x: jax.Array) -> None:
        model.sow(nnx.Intermediate, "seen", x)

    model = Linear(2, 3, rngs=nnx.Rngs(0))
    popped = nnx.cached_partial(cleaned_up, model)(jnp.array(3.0))
    assert popped["seen"].get_value() == (3.0,)
    with pytest.raises(nnx.errors.StructureChangedError, match=r"model.seen was added"):
        nnx.cached_partial(left_behind, model)(jnp.array(3.0))
    assert not hasattr(model, "seen")


# -- filters_guide.txt -----------------------------------------------------------------------------


class Noisy(nnx.Module):
    """Parameters, a dropout stream, statistics and another stream, which the filters take apart."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = Linear(3, 3, rngs=rngs)
        self.dropout = Dropout(0.5, rngs=rngs)
        self.noise = rngs["noise"].fork()
        self.norm = BatchNorm(3, rngs=rngs)
        self.norm.use_running_average = True

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dropout(self.norm(self.linear(x))) + self.noise.normal(x.shape)


@pytest.mark.thorough
def test_state_axes_map_parameters_and_dropout_and_broadcast_the_rest() -> None:
    state_axes = nnx.StateAxes({(nnx.Param, "dropout"): 0, ...: None})

    @nnx.vmap(in_axes=(state_axes, 0))
    def forward(model: Noisy, x: jax.Array) -> jax.Array:
        return model(x)

    parts = [Noisy(nnx.Rngs(params=n, dropout=10 + n, noise=5)) for n in range(4)]
    mapped = [nnx.state(part, (nnx.Param, "dropout")) for part in parts]
    model = nnx.clone(parts[0])
    nnx.update(model, jax.tree.map(lambda *leaves: jnp.stack(leaves), *mapped))
    x = jax.random.normal(jax.random.key(0), (4, 2, 3))

    y = forward(model, x)
    expected = [part(own) for part, own in zip(parts, x, strict=True)]
    np.testing.assert_allclose(y, jnp.stack(expected), rtol=1e-5, atol=1e-6)
    assert model.dropout.rngs is not None
    assert model.dropout.rngs.count[...].tolist() == [1, 1, 1, 1]
    assert model.noise.count[...] == 1  # it was broadcast, and counts once


# -- why_nnx.txt -----------------------------------------------------------------------------------


AXES = nnx.StateAxes({nnx.Param: 0, Count: None})


class LinearEnsemble(nnx.Module):
    """Vectorise over `num_models` CounterLinear models, as the document does with jax.vmap."""

    def __init__(self, din: int, dout: int, *, num_models: int, rngs: nnx.Rngs) -> None:
        @nnx.split_rngs(splits=num_models)
        @nnx.vmap(out_axes=AXES)
        def create(rngs: nnx.Rngs) -> CounterLinear:
            return CounterLinear(din, dout, rngs=rngs)

        self.models = create(rngs)

    @nnx.jit
    def __call__(self, x: jax.Array) -> jax.Array:
        return nnx.vmap(CounterLinear.__call__, in_axes=(AXES, None))(self.models, x)


@pytest.mark.thorough
def test_a_lifted_module_is_vmap_over_its_models() -> None:
    assert_ensemble(LinearEnsemble(4, 4, num_models=8, rngs=nnx.Rngs(0)))
