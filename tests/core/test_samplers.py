"""The samplers and initializers of streams, compared with flax.nnx in the same process."""

from __future__ import annotations

import inspect
import re
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

from typed_nnx import Rngs
from typed_nnx._core.samplers import Samplers

SHAPE = (2, 3)

# The arguments of one call of every sampler; each is called twice to see the count go on.
SAMPLERS: dict[str, tuple[tuple[tp.Any, ...], dict[str, tp.Any]]] = {
    "ball": ((3,), {"shape": (2,)}),
    "bernoulli": ((0.3, SHAPE), {}),
    "beta": ((0.5, 2.0), {"shape": SHAPE}),
    "binomial": ((10.0, 0.3), {"shape": SHAPE}),
    "bits": ((SHAPE,), {}),
    "categorical": ((jnp.log(jnp.array([0.2, 0.3, 0.5])),), {"shape": (4,)}),
    "cauchy": ((SHAPE,), {}),
    "chisquare": ((3.0,), {"shape": SHAPE}),
    "choice": ((5,), {"shape": (3,), "replace": False}),
    "dirichlet": ((jnp.ones(3),), {"shape": (2,)}),
    "double_sided_maxwell": ((0.0, 1.0), {"shape": SHAPE}),
    "exponential": ((SHAPE, jnp.bfloat16), {}),
    "f": ((2.0, 3.0), {"shape": SHAPE}),
    "gamma": ((2.0,), {"shape": SHAPE}),
    "generalized_normal": ((1.5,), {"shape": SHAPE}),
    "geometric": ((0.4,), {"shape": SHAPE}),
    "gumbel": ((SHAPE,), {"mode": "low"}),
    "laplace": ((SHAPE,), {}),
    "loggamma": ((2.0,), {"shape": SHAPE}),
    "logistic": ((SHAPE,), {}),
    "lognormal": ((), {"shape": SHAPE}),
    "maxwell": ((SHAPE,), {}),
    "multinomial": ((10.0, jnp.array([0.2, 0.3, 0.5])), {}),
    "multivariate_normal": ((jnp.zeros(2), jnp.eye(2)), {"method": "eigh"}),
    "normal": ((), {"shape": SHAPE, "dtype": jnp.float16}),
    "orthogonal": ((3,), {"shape": (2,)}),
    "pareto": ((2.0,), {"shape": SHAPE}),
    "permutation": ((6,), {"independent": True}),
    "poisson": ((3.0,), {"shape": SHAPE}),
    "rademacher": ((SHAPE,), {}),
    "randint": ((SHAPE, -5, 5), {}),
    "rayleigh": ((1.5,), {"shape": SHAPE}),
    "t": ((3.0,), {"shape": SHAPE}),
    "triangular": ((0.0, 0.25, 1.0), {"shape": SHAPE}),
    "truncated_normal": ((-1.0, 1.0), {"shape": SHAPE}),
    "uniform": ((SHAPE,), {"minval": -1.0, "maxval": 2.0}),
    "wald": ((1.5,), {"shape": SHAPE}),
    "weibull_min": ((1.0, 2.0), {"shape": SHAPE}),
}

INITIALIZERS: dict[str, tuple[tuple[tp.Any, ...], dict[str, tp.Any]]] = {
    "delta_orthogonal": ((), {"scale": 2.0}),
    "glorot_normal": ((), {}),
    "glorot_uniform": ((-1, -2), {}),
    "he_normal": ((), {"dtype": jnp.bfloat16}),
    "he_uniform": ((), {}),
    "kaiming_normal": ((), {"batch_axis": 0}),
    "kaiming_uniform": ((), {}),
    "lecun_normal": ((), {}),
    "lecun_uniform": ((), {}),
    "variance_scaling": ((2.0, "fan_avg", "uniform"), {}),
    "xavier_normal": ((), {}),
    "xavier_uniform": ((), {}),
}

# delta_orthogonal makes kernels of convolutions; the others take any shape of at least two axes.
KERNEL_SHAPE = (3, 2, 4)


def equal(ours: tp.Any, theirs: tp.Any) -> bool:
    """Whether two arrays agree in dtype, shape and every bit that `==` sees."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return ours.dtype == theirs.dtype and np.array_equal(ours, theirs)


class Fixed(Samplers):
    """A source that gives the same key every time."""

    def __init__(self, key: jax.Array) -> None:
        self.key = key

    def __call__(self) -> jax.Array:
        return self.key


def traced(draw: tp.Callable[[jax.Array], jax.Array]) -> str:
    """What is computed from a key, as text; nothing is compiled."""
    return re.sub(r"0x[0-9a-f]+", "address", str(jax.make_jaxpr(draw)(jax.random.key(0))))


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_sampler_computes_what_the_jax_function_computes_from_the_key(name: str) -> None:
    arguments, keywords = SAMPLERS[name]
    function = getattr(jax.random, name)
    ours = traced(lambda key: getattr(Fixed(key), name)(*arguments, **keywords))
    assert ours == traced(lambda key: function(key, *arguments, **keywords))


@pytest.mark.parametrize("name", INITIALIZERS)
def test_an_initializer_computes_what_the_one_of_jax_computes_from_the_key(name: str) -> None:
    arguments, keywords = INITIALIZERS[name]
    initializer = getattr(jax.nn.initializers, name)(*arguments, **keywords)
    ours = traced(lambda key: getattr(Fixed(key), name)(*arguments, **keywords)(KERNEL_SHAPE))
    assert ours == traced(lambda key: initializer(key, KERNEL_SHAPE))


@pytest.mark.parametrize("name", ["normal", "randint"])
def test_a_sampler_gives_inside_jit_what_it_gives_outside(name: str) -> None:
    arguments, keywords = SAMPLERS[name]

    def draw(key: jax.Array) -> jax.Array:
        sample: jax.Array = getattr(Rngs(key), name)(*arguments, **keywords)
        return sample

    key = jax.random.key(3)
    assert equal(jax.jit(draw)(key), draw(key))


def test_an_initializer_takes_its_key_when_it_is_called() -> None:
    rngs = Rngs(0)
    initializer = rngs.lecun_normal()
    assert rngs.default.count[...] == 0
    expected = jax.nn.initializers.lecun_normal()
    assert equal(initializer((2, 3)), expected(jax.random.fold_in(jax.random.key(0), 0), (2, 3)))
    assert equal(initializer((2, 3)), expected(jax.random.fold_in(jax.random.key(0), 1), (2, 3)))


def test_an_initializer_called_without_a_dtype_keeps_the_dtype_it_was_made_with() -> None:
    initializer = Rngs(0).lecun_normal(dtype=jnp.bfloat16)
    assert initializer((2, 3)).dtype == jnp.bfloat16
    assert initializer((2, 3), None).dtype == jnp.bfloat16


@pytest.mark.parametrize("name", [*SAMPLERS, *INITIALIZERS])
def test_a_method_has_the_parameters_of_the_jax_function_without_its_key(name: str) -> None:
    module = jax.random if name in SAMPLERS else jax.nn.initializers
    theirs = list(inspect.signature(getattr(module, name)).parameters.values())
    ours = list(inspect.signature(getattr(Samplers, name)).parameters.values())
    expected = [(p.name, p.kind, p.default) for p in theirs if p.name != "key"]
    assert [(p.name, p.kind, p.default) for p in ours[1:]] == expected


def test_the_methods_are_those_of_flax() -> None:
    methods = {name for name in vars(Samplers) if not name.startswith("_")}
    assert methods == {*SAMPLERS, *INITIALIZERS}
    own = {"fork", "split", "broadcast", "items"}
    flax = {name for name in vars(flax_nnx.Rngs) if not name.startswith("_")}
    assert methods == flax - own


def test_type_checkers_see_the_methods_that_there_are() -> None:
    declared = re.findall(
        r"@_(?:sampler|initializer)\(.*\)\s+def (\w+)", inspect.getsource(Samplers)
    )
    assert sorted(declared) == sorted([*SAMPLERS, *INITIALIZERS])


def test_a_layout_that_is_not_asked_for_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases of jax before 0.10.2 have samplers that do not know the keyword."""
    given: list[dict[str, tp.Any]] = []
    monkeypatch.setattr(jax.random, "beta", lambda *positional, **named: given.append(named))
    place = jax.sharding.PartitionSpec()
    Rngs(0).beta(1.0, 2.0)
    Rngs(0).beta(1.0, 2.0, out_sharding=place)
    assert given == [{}, {"out_sharding": place}]
