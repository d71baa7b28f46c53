"""The examples of the seed documents that are about transforms.

Results are those that the documents print, or those of a loop, of jax or of flax. What a document
says about closures is in `test_closure_proposal.py`.
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

from .models import Count, CounterLinear, Parent, assert_ensemble
from .printed import assert_printed

# -- module_and_pytree_guide.txt -------------------------------------------------------------------


def test_nnx_jit_preserves_shared_references(capsys: pytest.CaptureFixture[str]) -> None:
    m = given = Parent()
    print(f"Before: {m.left is m.right = }")

    @nnx.jit
    def f(m: Parent) -> Parent:
        print(f"Inside: {m.left is m.right = }")
        return m

    m = f(m)
    print(f"After: {m.left is m.right = }")
    assert_printed(
        capsys.readouterr().out,
        """
        Before: m.left is m.right = True
        Inside: m.left is m.right = True
        After: m.left is m.right = True
        """,
    )
    assert m is given


class Unregistered(nnx.Pytree, pytree=False):
    def __init__(self) -> None:
        self.a = [jnp.array(1), jnp.array(2)]  # no checks
        self.b: tp.Any = "hello"
        self.b = jnp.array(3)  # no checks


class AnObject(nnx.Object):  # instead of AnObject(nnx.Pytree, pytree=False)
    def __init__(self) -> None:
        self.a = [jnp.array(1), jnp.array(2)]  # no checks
        self.b: tp.Any = "hello"
        self.b = jnp.array(3)  # no checks


@pytest.mark.parametrize("kind", [Unregistered, AnObject])
def test_what_nnx_jit_does_to_an_object_is_seen_outside(
    kind: type[Unregistered | AnObject],
) -> None:
    foo = kind()

    @nnx.jit  # can use in NNX transformations
    def double(foo: tp.Any) -> None:
        foo.a = [x * 2 for x in foo.a]
        foo.b *= 2

    double(foo)
    assert_printed(
        f"{nnx.state(foo) = }\n{jax.tree_util.all_leaves([foo]) = }",
        """
        nnx.state(foo) = State({
          'a': {
            0: Array(2, dtype=int32, weak_type=True),
            1: Array(4, dtype=int32, weak_type=True)
          },
          'b': Array(6, dtype=int32, weak_type=True)
        })
        jax.tree_util.all_leaves([foo]) = True
        """,
    )


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear1 = Linear(2, 3, rngs=rngs)
        self.linear2 = Linear(3, 4, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = jax.nn.gelu(self.linear1(x))
        x = self.perturb("xgrad", x)
        return self.linear2(x)


# flax 0.12.8 would have `perturb` inside `nnx.capture`; the document's spelling goes on working.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_train_step_gives_the_gradient_of_a_perturbation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rngs = nnx.Rngs(0)
    model = Model(rngs)
    optimizer = Optimizer(model, tx=optax.sgd(1e-1), wrt=nnx.Param)
    x, y = rngs.uniform((1, 2)), rngs.uniform((1, 4))
    model(x)  # initialize perturbations

    @nnx.jit
    def train_step(model: Model, optimizer: Optimizer, x: jax.Array, y: jax.Array) -> tp.Any:
        graphdef, params, perturbations = nnx.split(model, nnx.Param, nnx.Perturbation)

        def loss_fn(params: tp.Any, perturbations: tp.Any) -> jax.Array:
            model = nnx.merge(graphdef, params, perturbations)
            return jnp.mean((model(x) - y) ** 2)

        loss, (grads, iterm_grads) = nnx.value_and_grad(loss_fn, argnums=(0, 1))(
            params, perturbations
        )
        optimizer.update(model, grads)
        return loss, iterm_grads

    for step in range(2):
        loss, iterm_grads = train_step(model, optimizer, x, y)
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


# -- graph_api_reference.txt -----------------------------------------------------------------------


def test_update_takes_a_step_along_the_gradient_that_nnx_grad_gives() -> None:
    x = jnp.ones((1, 2))
    y = jnp.ones((1, 3))
    model = Linear(2, 3, rngs=nnx.Rngs(0))

    def loss_fn(model: tp.Any, x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.mean((y - model(x)) ** 2)

    prev_loss = loss_fn(model, x, y)
    kernel, error = model.kernel[...], model(x) - y

    grads = nnx.grad(loss_fn)(model, x, y)
    new_state = jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model), grads)
    nnx.update(model, new_state)
    assert loss_fn(model, x, y) < prev_loss
    # The slope of mean((x k + b - y)^2): 2/3 of the error, times x for the kernel.
    assert model.bias is not None
    assert model.bias[...] == pytest.approx(np.asarray(-0.1 * 2 / 3 * error[0]), rel=1e-5)
    expected = kernel - 0.1 * 2 / 3 * x.T @ error
    assert model.kernel[...] == pytest.approx(np.asarray(expected), rel=1e-5)


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


def test_the_forward_function_under_jit_needs_no_split_and_merge() -> None:
    model = CounterLinear(4, 4, rngs=nnx.Rngs(0))
    x = jnp.ones((2, 4))
    expected = x @ model.linear.kernel[...]

    @nnx.jit
    def forward(model: CounterLinear, x: jax.Array) -> jax.Array:
        return model(x)

    y = forward(model, x)
    assert_printed(
        f"{y.shape = }\n{model.count = }",
        """
        y.shape = (2, 4)
        model.count = Count( # 1 (4 B)
          value=Array(1, dtype=int32)
        )
        """,
    )
    np.testing.assert_allclose(y, expected, rtol=1e-5)


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


def test_modules_keep_the_references_that_they_share_and_jit_is_no_asymmetry() -> None:
    class Holder(nnx.Module):
        def __init__(self, shared: nnx.Module) -> None:
            self.shared = shared

    def f(m1: Holder, m2: Holder) -> tp.Any:
        seen.append(m1.shared is m2.shared)
        return m1, m2

    seen: list[bool] = []
    shared = Linear(2, 2, rngs=nnx.Rngs(0))
    m1, m2 = Holder(shared), Holder(shared)
    for run in (f, nnx.jit(f)):
        n1, n2 = run(m1, m2)
        assert n1 is m1
        assert n2 is m2
        assert n1.shared is n2.shared is shared
    assert seen == [True, True]
