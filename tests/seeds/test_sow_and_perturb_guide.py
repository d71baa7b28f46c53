"""Sow and perturb in the seed document ``module_and_pytree_guide.txt``."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import optax
import pytest

import typed_nnx as nnx

from .printed import assert_printed

pytestmark = pytest.mark.filterwarnings(
    # flax 0.12.8 would have both inside `nnx.capture`; the document's spelling goes on working.
    "ignore::DeprecationWarning"
)


def mlp_of(nnx_: tp.Any) -> type:
    """Define the MLP of the document in either library, with its layers."""

    class Block(nnx_.Module):
        def __init__(self, din: int, dout: int, rngs: tp.Any) -> None:
            self.linear = nnx_.Linear(din, dout, rngs=rngs)
            self.bn = nnx_.BatchNorm(dout, rngs=rngs)
            self.dropout = nnx_.Dropout(0.1, rngs=rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            y = jax.nn.relu(self.dropout(self.bn(self.linear(x))))
            self.sow(nnx_.Intermediate, "y_mean", jnp.mean(y))
            return y

    class MLP(nnx_.Module):
        def __init__(self, num_layers: int, dim: int, rngs: tp.Any) -> None:
            self.blocks = nnx_.List([Block(dim, dim, rngs) for _ in range(num_layers)])

        def __call__(self, x: jax.Array) -> jax.Array:
            for block in self.blocks:
                x = block(x)
            return x

    return MLP


@pytest.mark.thorough
def test_pop_takes_the_sown_values_out_of_every_block() -> None:
    model = mlp_of(nnx)(num_layers=3, dim=20, rngs=nnx.Rngs(0))
    model(jnp.ones((10, 20)))
    intermediates = nnx.pop(model, nnx.Intermediate)  # extract intermediate values
    # A batch of equal rows leaves rounding noise only: its size is the machine's (next test).
    assert_printed(
        str(intermediates),
        """
        State({
          'blocks': {
            0: {
              'y_mean': Intermediate( # 1 (4 B)
                value=(Array(4.659754e-06, dtype=float32),)
              )
            },
            1: {
              'y_mean': Intermediate( # 1 (4 B)
                value=(Array(0.00025933, dtype=float32),)
              )
            },
            2: {
              'y_mean': Intermediate( # 1 (4 B)
                value=(Array(0.05561922, dtype=float32),)
              )
            }
          }
        })
        """,
        abs_=0.1,
    )
    assert jax.tree.leaves(nnx.state(model, nnx.Intermediate)) == []


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear1 = nnx.Linear(2, 3, rngs=rngs)
        self.linear2 = nnx.Linear(3, 4, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = jax.nn.gelu(self.linear1(x))
        x = self.perturb("xgrad", x)
        return self.linear2(x)


def test_perturb_creates_a_perturbation_of_zeros_on_the_first_run() -> None:
    rngs = nnx.Rngs(0)
    model = Model(rngs)
    model(rngs.uniform((1, 2)))  # initialize perturbations
    assert_printed(
        f"{nnx.state(model, nnx.Perturbation) = !s}",
        """
        nnx.state(model, nnx.Perturbation) = State({
          'xgrad': Perturbation( # 3 (12 B)
            value=Array([[0., 0., 0.]], dtype=float32)
          )
        })
        """,
    )


def test_the_gradient_of_a_perturbation_is_that_of_the_intermediate_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rngs = nnx.Rngs(0)
    model = Model(rngs)
    x, y = rngs.uniform((1, 2)), rngs.uniform((1, 4))
    model(x)  # initialize perturbations
    tx = optax.sgd(1e-1)
    opt_state = tx.init(nnx.state(model, nnx.Param))

    @jax.jit
    def train_step(model: Model, opt_state: optax.OptState) -> tp.Any:
        graphdef, params, perturbations = nnx.split(model, nnx.Param, nnx.Perturbation)

        def loss_fn(params: tp.Any, perturbations: tp.Any) -> jax.Array:
            model = nnx.merge(graphdef, params, perturbations)
            return jnp.mean((model(x) - y) ** 2)

        loss, (grads, iterm_grads) = jax.value_and_grad(loss_fn, argnums=(0, 1))(
            params, perturbations
        )
        updates, opt_state = tx.update(grads, opt_state)
        return loss, iterm_grads, optax.apply_updates(params, updates), opt_state

    for step in range(2):
        loss, iterm_grads, params, opt_state = train_step(model, opt_state)
        nnx.update(model, params)
        print(f"{step = }, {loss = }, {iterm_grads = !s}")
    assert_printed(
        capsys.readouterr().out,
        """
        step = 0, loss = Array(0.7326511, dtype=float32), iterm_grads = State({
          'xgrad': Perturbation( # 3 (12 B)
            value=Array([[-0.430146 , -0.14356601, 0.2935633 ]], dtype=float32)
          )
        })
        step = 1, loss = Array(0.65039134, dtype=float32), iterm_grads = State({
          'xgrad': Perturbation( # 3 (12 B)
            value=Array([[-0.38535568, -0.11745065, 0.24441527]], dtype=float32)
          )
        })
        """,
    )
