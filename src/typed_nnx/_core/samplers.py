"""Every sampler and initializer of jax as a method that draws the next key.

The methods are made from the functions that jax has when this module is imported. The declarations
under ``TYPE_CHECKING`` are what type checkers and editors see.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

import jax
from jax.sharding import NamedSharding, PartitionSpec
from jax.typing import DTypeLike

P = ParamSpec("P")
R = TypeVar("R")


class KeySource:
    """Something that gives a fresh key on every call."""

    __slots__ = ()

    def __call__(self) -> jax.Array:
        """Return the next key: a typed PRNG key of shape ``()``."""
        raise NotImplementedError


class KeylessInitializer(Protocol):
    """An initializer that takes its key from a stream: call it with a shape and a dtype."""

    def __call__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike | None = None,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array: ...


if TYPE_CHECKING:

    class Method(Generic[P, R]):
        """A method with the parameters of a function of jax."""

        def __get__(self, source: object, owner: object = None, /) -> Callable[P, R]: ...

    def _sampler(function: Callable[Concatenate[Any, P], Any]) -> Method[P, jax.Array]: ...
    def _initializer(
        function: Callable[P, jax.nn.initializers.Initializer],
    ) -> Method[P, KeylessInitializer]: ...


class Samplers(KeySource):
    """The functions of `jax.random` and `jax.nn.initializers`; each draw takes the next key.

    The methods have the parameters of the jax function of the same name without its key. A method
    named after an initializer returns an initializer that takes its key when it is called.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        ball = _sampler(jax.random.ball)
        bernoulli = _sampler(jax.random.bernoulli)
        beta = _sampler(jax.random.beta)
        binomial = _sampler(jax.random.binomial)
        bits = _sampler(jax.random.bits)
        categorical = _sampler(jax.random.categorical)
        cauchy = _sampler(jax.random.cauchy)
        chisquare = _sampler(jax.random.chisquare)
        choice = _sampler(jax.random.choice)
        dirichlet = _sampler(jax.random.dirichlet)
        double_sided_maxwell = _sampler(jax.random.double_sided_maxwell)
        exponential = _sampler(jax.random.exponential)
        f = _sampler(jax.random.f)
        gamma = _sampler(jax.random.gamma)
        generalized_normal = _sampler(jax.random.generalized_normal)
        geometric = _sampler(jax.random.geometric)
        gumbel = _sampler(jax.random.gumbel)
        laplace = _sampler(jax.random.laplace)
        loggamma = _sampler(jax.random.loggamma)
        logistic = _sampler(jax.random.logistic)
        lognormal = _sampler(jax.random.lognormal)
        maxwell = _sampler(jax.random.maxwell)
        multinomial = _sampler(jax.random.multinomial)
        multivariate_normal = _sampler(jax.random.multivariate_normal)
        normal = _sampler(jax.random.normal)
        orthogonal = _sampler(jax.random.orthogonal)
        pareto = _sampler(jax.random.pareto)
        permutation = _sampler(jax.random.permutation)
        poisson = _sampler(jax.random.poisson)
        rademacher = _sampler(jax.random.rademacher)
        randint = _sampler(jax.random.randint)
        rayleigh = _sampler(jax.random.rayleigh)
        t = _sampler(jax.random.t)
        triangular = _sampler(jax.random.triangular)
        truncated_normal = _sampler(jax.random.truncated_normal)
        uniform = _sampler(jax.random.uniform)
        wald = _sampler(jax.random.wald)
        weibull_min = _sampler(jax.random.weibull_min)
        delta_orthogonal = _initializer(jax.nn.initializers.delta_orthogonal)
        glorot_normal = _initializer(jax.nn.initializers.glorot_normal)
        glorot_uniform = _initializer(jax.nn.initializers.glorot_uniform)
        he_normal = _initializer(jax.nn.initializers.he_normal)
        he_uniform = _initializer(jax.nn.initializers.he_uniform)
        kaiming_normal = _initializer(jax.nn.initializers.kaiming_normal)
        kaiming_uniform = _initializer(jax.nn.initializers.kaiming_uniform)
        lecun_normal = _initializer(jax.nn.initializers.lecun_normal)
        lecun_uniform = _initializer(jax.nn.initializers.lecun_uniform)
        variance_scaling = _initializer(jax.nn.initializers.variance_scaling)
        xavier_normal = _initializer(jax.nn.initializers.xavier_normal)
        xavier_uniform = _initializer(jax.nn.initializers.xavier_uniform)


# They take a key and give keys back: streams have their own `fork` and `split`.
_KEY_FUNCTIONS = frozenset({"clone", "fold_in", "split"})


def _sampling_method(name: str) -> Callable[..., jax.Array]:
    def method(self: KeySource, *args: Any, **kwargs: Any) -> jax.Array:
        if "out_sharding" in kwargs and kwargs["out_sharding"] is None:
            del kwargs["out_sharding"]  # before jax 0.10.2 some samplers do not take it
        samples: jax.Array = getattr(jax.random, name)(self(), *args, **kwargs)
        return samples

    method.__doc__ = f"Draw with `jax.random.{name}` and the next key."
    return method


def _initializing_method(name: str) -> Callable[..., KeylessInitializer]:
    def method(self: KeySource, *args: Any, **kwargs: Any) -> KeylessInitializer:
        initializer = getattr(jax.nn.initializers, name)(*args, **kwargs)

        def initialize(
            shape: Sequence[int],
            dtype: DTypeLike | None = None,
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array:
            # An explicit None would hide the dtype that the initializer was made with.
            given = {} if dtype is None else {"dtype": dtype}
            array: jax.Array = initializer(self(), shape, out_sharding=out_sharding, **given)
            return array

        return initialize

    method.__doc__ = f"Return `jax.nn.initializers.{name}`, taking the next key at each call."
    return method


def _methods() -> Iterator[tuple[Callable[..., Any], str, inspect.Signature]]:
    """Yield a method for each sampler and, if no sampler has its name, each initializer of jax."""
    samplers = set()
    for name, signature in _signatures(jax.random):
        first = next(iter(signature.parameters.values()), None)
        if first is not None and first.name == "key" and name not in _KEY_FUNCTIONS:
            samplers.add(name)
            parameters = list(signature.parameters.values())[1:]
            yield _sampling_method(name), name, signature.replace(parameters=parameters)
    for name, signature in _signatures(jax.nn.initializers):
        # `constant` draws nothing, so there is no key to leave out.
        if signature.return_annotation == "Initializer" and name not in {*samplers, "constant"}:
            yield _initializing_method(name), name, signature


def _signatures(module: object) -> Iterator[tuple[str, inspect.Signature]]:
    for name, value in vars(module).items():
        if callable(value) and not inspect.isclass(value) and not name.startswith("_"):
            yield name, inspect.signature(value)


_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
for _made, _name, _signature in _methods():
    _made.__name__, _made.__qualname__ = _name, f"Samplers.{_name}"
    _parameters = [_SELF, *_signature.parameters.values()]
    vars(_made)["__signature__"] = _signature.replace(parameters=_parameters)  # inspect reads it
    setattr(Samplers, _name, _made)
