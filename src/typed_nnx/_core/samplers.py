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

    def _sampler(
        function: Callable[Concatenate[Any, P], Any],
    ) -> Callable[[Callable[..., object]], Method[P, jax.Array]]: ...
    def _initializer(
        function: Callable[P, jax.nn.initializers.Initializer],
    ) -> Callable[[Callable[..., object]], Method[P, KeylessInitializer]]: ...


class Samplers(KeySource):
    """The functions of `jax.random` and `jax.nn.initializers`; each draw takes the next key.

    The methods have the parameters of the jax function of the same name without its key. A method
    named after an initializer returns an initializer that takes its key when it is called.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @_sampler(jax.random.ball)
        def ball(self) -> object: ...
        @_sampler(jax.random.bernoulli)
        def bernoulli(self) -> object: ...
        @_sampler(jax.random.beta)
        def beta(self) -> object: ...
        @_sampler(jax.random.binomial)
        def binomial(self) -> object: ...
        @_sampler(jax.random.bits)
        def bits(self) -> object: ...
        @_sampler(jax.random.categorical)
        def categorical(self) -> object: ...
        @_sampler(jax.random.cauchy)
        def cauchy(self) -> object: ...
        @_sampler(jax.random.chisquare)
        def chisquare(self) -> object: ...
        @_sampler(jax.random.choice)
        def choice(self) -> object: ...
        @_sampler(jax.random.dirichlet)
        def dirichlet(self) -> object: ...
        @_sampler(jax.random.double_sided_maxwell)
        def double_sided_maxwell(self) -> object: ...
        @_sampler(jax.random.exponential)
        def exponential(self) -> object: ...
        @_sampler(jax.random.f)
        def f(self) -> object: ...
        @_sampler(jax.random.gamma)
        def gamma(self) -> object: ...
        @_sampler(jax.random.generalized_normal)
        def generalized_normal(self) -> object: ...
        @_sampler(jax.random.geometric)
        def geometric(self) -> object: ...
        @_sampler(jax.random.gumbel)
        def gumbel(self) -> object: ...
        @_sampler(jax.random.laplace)
        def laplace(self) -> object: ...
        @_sampler(jax.random.loggamma)
        def loggamma(self) -> object: ...
        @_sampler(jax.random.logistic)
        def logistic(self) -> object: ...
        @_sampler(jax.random.lognormal)
        def lognormal(self) -> object: ...
        @_sampler(jax.random.maxwell)
        def maxwell(self) -> object: ...
        @_sampler(jax.random.multinomial)
        def multinomial(self) -> object: ...
        @_sampler(jax.random.multivariate_normal)
        def multivariate_normal(self) -> object: ...
        @_sampler(jax.random.normal)
        def normal(self) -> object: ...
        @_sampler(jax.random.orthogonal)
        def orthogonal(self) -> object: ...
        @_sampler(jax.random.pareto)
        def pareto(self) -> object: ...
        @_sampler(jax.random.permutation)
        def permutation(self) -> object: ...
        @_sampler(jax.random.poisson)
        def poisson(self) -> object: ...
        @_sampler(jax.random.rademacher)
        def rademacher(self) -> object: ...
        @_sampler(jax.random.randint)
        def randint(self) -> object: ...
        @_sampler(jax.random.rayleigh)
        def rayleigh(self) -> object: ...
        @_sampler(jax.random.t)
        def t(self) -> object: ...
        @_sampler(jax.random.triangular)
        def triangular(self) -> object: ...
        @_sampler(jax.random.truncated_normal)
        def truncated_normal(self) -> object: ...
        @_sampler(jax.random.uniform)
        def uniform(self) -> object: ...
        @_sampler(jax.random.wald)
        def wald(self) -> object: ...
        @_sampler(jax.random.weibull_min)
        def weibull_min(self) -> object: ...
        @_initializer(jax.nn.initializers.delta_orthogonal)
        def delta_orthogonal(self) -> object: ...
        @_initializer(jax.nn.initializers.glorot_normal)
        def glorot_normal(self) -> object: ...
        @_initializer(jax.nn.initializers.glorot_uniform)
        def glorot_uniform(self) -> object: ...
        @_initializer(jax.nn.initializers.he_normal)
        def he_normal(self) -> object: ...
        @_initializer(jax.nn.initializers.he_uniform)
        def he_uniform(self) -> object: ...
        @_initializer(jax.nn.initializers.kaiming_normal)
        def kaiming_normal(self) -> object: ...
        @_initializer(jax.nn.initializers.kaiming_uniform)
        def kaiming_uniform(self) -> object: ...
        @_initializer(jax.nn.initializers.lecun_normal)
        def lecun_normal(self) -> object: ...
        @_initializer(jax.nn.initializers.lecun_uniform)
        def lecun_uniform(self) -> object: ...
        @_initializer(jax.nn.initializers.variance_scaling)
        def variance_scaling(self) -> object: ...
        @_initializer(jax.nn.initializers.xavier_normal)
        def xavier_normal(self) -> object: ...
        @_initializer(jax.nn.initializers.xavier_uniform)
        def xavier_uniform(self) -> object: ...


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
            try:
                signature = inspect.signature(value)
            except ValueError:  # a type that is no class, such as `jax.random.Key`
                continue
            yield name, signature


_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
for _made, _name, _signature in _methods():
    _made.__name__, _made.__qualname__ = _name, f"Samplers.{_name}"
    _parameters = [_SELF, *_signature.parameters.values()]
    vars(_made)["__signature__"] = _signature.replace(parameters=_parameters)  # inspect reads it
    setattr(Samplers, _name, _made)
