"""Functions and classes that a setting chooses by name: from tables, modules and functions."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

_BY_NAME = {"relu": nn.relu, "sine": jnp.sin, "none": lambda x: x}
_TANH = "tanh"
_NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}


class Narrow(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Twofold(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2 * self.width)(x)


_BLOCKS = {"narrow": Narrow, "twofold": Twofold}


def _checked(name):
    if name not in _BY_NAME:
        raise ValueError(f"{name}: {', '.join(sorted(_BY_NAME))}")
    return _BY_NAME[name]


def _or_itself(function):
    return function if callable(function) else _BY_NAME[function.lower()]


@functools.lru_cache(maxsize=None)
def _kept(name):
    return {"relu": nn.relu, "sine": jnp.sin}[name]


def _of_module(name):
    found = getattr(nn, name, None)
    if found is None:
        raise ValueError(name)
    return found


def _leaky(name):
    if name == "relu":
        return functools.partial(nn.leaky_relu, negative_slope=0.1)
    elif name in ("none", None):
        return lambda x: x
    return jnp.sin


class FunctionOfTable(nn.Module):
    f: str = "relu"

    @nn.compact
    def __call__(self, x):
        x = _BY_NAME[self.f](nn.Dense(3)(x))
        x = _BY_NAME.get(self.f, nn.tanh)(nn.Dense(4)(x))
        x = nn.Sequential([nn.Dense(5), _checked(self.f)])(x)
        return nn.Dense(2)(jax.tree.map(_BY_NAME[self.f.lower()], x))


class FunctionOfFunction(nn.Module):
    f: str = "relu"

    @nn.compact
    def __call__(self, x):
        x = _leaky(self.f)(nn.Dense(3)(x))
        x = _kept(self.f)(nn.Dense(4)(x))
        x = jax.vmap(_checked(self.f))(nn.Dense(5)(x))
        return nn.Dense(2)(_or_itself(self.f)(x))


class FunctionOfModule(nn.Module):
    f: str = "relu"

    @nn.compact
    def __call__(self, x):
        x = _of_module(self.f)(nn.Dense(3)(x))
        x = getattr(jax.nn, self.f, jnp.sin)(nn.Dense(4)(x))
        x = getattr(jnp, _TANH)(nn.Dense(5)(x))
        x = jax.lax.switch(1, [nn.relu, jnp.sin], nn.Dense(6)(x))
        return nn.Dense(2)(jax.lax.cond(x.sum() > 0, jnp.tanh, lambda y: y, x))


class ClassOfTable(nn.Module):
    norm: str = "layer"
    block: str = "narrow"

    @nn.compact
    def __call__(self, x):
        x = _NORMS[self.norm](epsilon=1e-3)(x)
        for i in range(2):
            x = _BLOCKS[self.block](3, name=f"block{i}")(x)
        return nn.Dense(2)(_NORMS[self.norm]()(x))


class TablesOfTheClass(nn.Module):
    FUNCTIONS = {"relu": nn.relu, "sine": jnp.sin}
    NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}
    f: str = "sine"
    norm: str = "rms"

    @nn.compact
    def __call__(self, x):
        x = self.FUNCTIONS[self.f](nn.Dense(3)(x))
        return nn.Dense(2)(self.NORMS[self.norm]()(x))


class ClassOfTableInSetup(nn.Module):
    norm: str = "rms"
    block: str = "twofold"

    def setup(self):
        self.normed = _NORMS.get(self.norm, nn.LayerNorm)()
        self.inner = _BLOCKS[self.block](4)
        self.head = nn.Dense(2)

    def __call__(self, x):
        return self.head(self.inner(self.normed(x)))


X = jnp.sin(jnp.arange(12.0)).reshape(3, 4)

EXAMPLES = [
    Example(Build("FunctionOfTable"), X),
    Example(Build("FunctionOfTable", "sine"), X),
    Example(Build("FunctionOfTable", "none"), X),
    Example(Build("FunctionOfFunction"), X),
    Example(Build("FunctionOfFunction", "sine"), X),
    Example(Build("FunctionOfModule"), X),
    Example(Build("FunctionOfModule", "silu"), X),
    Example(Build("ClassOfTable"), X),
    Example(Build("ClassOfTable", "rms", "twofold"), X),
    Example(Build("TablesOfTheClass"), X),
    Example(Build("TablesOfTheClass", "relu", "layer"), X),
    Example(Build("ClassOfTableInSetup"), X),
    Example(Build("ClassOfTableInSetup", "layer", "narrow"), X),
]
