"""Every sampler of jax as a typed method that needs no key.

Written by ``python -m typed_nnx_codegen.samplers --write`` from jax 0.10.2. Do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from jax.typing import ArrayLike, DTypeLike

from typed_nnx._core.key_source import KeylessInitializer, KeySource, keyless, layout

_FLOAT32_1_0 = np.float32(1.0)


class Samplers(KeySource):
    """The functions of `jax.random` and `jax.nn.initializers`; each draw takes the next key.

    The methods have the parameters of the jax function of the same name without its key. A method
    named after an initializer returns an initializer that takes its key when it is called.
    """

    __slots__ = ()

    def ball(
        self,
        d: int,
        p: float = 2,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.ball` and the next key."""
        samples: jax.Array = jax.random.ball(self(), d, p, shape, dtype, **layout(out_sharding))
        return samples

    def bernoulli(
        self,
        p: ArrayLike = 0.5,
        shape: Sequence[int] | None = None,
        mode: str = "low",
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.bernoulli` and the next key."""
        return jax.random.bernoulli(self(), p, shape, mode, **layout(out_sharding))

    def beta(
        self,
        a: ArrayLike,
        b: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.beta` and the next key."""
        return jax.random.beta(self(), a, b, shape, dtype, **layout(out_sharding))

    def binomial(
        self,
        n: ArrayLike,
        p: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.binomial` and the next key."""
        return jax.random.binomial(self(), n, p, shape, dtype)

    def bits(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.bits` and the next key."""
        return jax.random.bits(self(), shape, dtype, **layout(out_sharding))

    def categorical(
        self,
        logits: ArrayLike,
        axis: int = -1,
        shape: Sequence[int] | None = None,
        replace: bool = True,
        mode: str | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.categorical` and the next key."""
        return jax.random.categorical(
            self(),
            logits,
            axis,
            shape,
            replace,
            mode,
            **layout(out_sharding),
        )

    def cauchy(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.cauchy` and the next key."""
        return jax.random.cauchy(self(), shape, dtype, **layout(out_sharding))

    def chisquare(
        self,
        df: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.chisquare` and the next key."""
        return jax.random.chisquare(self(), df, shape, dtype, **layout(out_sharding))

    def choice(
        self,
        a: int | ArrayLike,
        shape: Sequence[int] = (),
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        mode: str | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.choice` and the next key."""
        return jax.random.choice(self(), a, shape, replace, p, axis, mode)

    def dirichlet(
        self,
        alpha: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.dirichlet` and the next key."""
        return jax.random.dirichlet(
            self(),
            alpha,
            shape,
            dtype,
            **layout(out_sharding),
        )

    def double_sided_maxwell(
        self,
        loc: ArrayLike,
        scale: ArrayLike,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.double_sided_maxwell` and the next key."""
        return jax.random.double_sided_maxwell(self(), loc, scale, shape, dtype)

    def exponential(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.exponential` and the next key."""
        return jax.random.exponential(self(), shape, dtype, **layout(out_sharding))

    def f(
        self,
        dfnum: ArrayLike,
        dfden: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.f` and the next key."""
        return jax.random.f(
            self(),
            dfnum,
            dfden,
            shape,
            dtype,
            **layout(out_sharding),
        )

    def gamma(
        self,
        a: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.gamma` and the next key."""
        return jax.random.gamma(self(), a, shape, dtype, **layout(out_sharding))

    def generalized_normal(
        self,
        p: float,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.generalized_normal` and the next key."""
        return jax.random.generalized_normal(
            self(),
            p,
            shape,
            dtype,
            **layout(out_sharding),
        )

    def geometric(
        self,
        p: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.geometric` and the next key."""
        return jax.random.geometric(self(), p, shape, dtype, **layout(out_sharding))

    def gumbel(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        mode: str | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.gumbel` and the next key."""
        return jax.random.gumbel(self(), shape, dtype, mode, **layout(out_sharding))

    def laplace(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.laplace` and the next key."""
        return jax.random.laplace(self(), shape, dtype, **layout(out_sharding))

    def loggamma(
        self,
        a: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.loggamma` and the next key."""
        return jax.random.loggamma(self(), a, shape, dtype, **layout(out_sharding))

    def logistic(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.logistic` and the next key."""
        return jax.random.logistic(self(), shape, dtype, **layout(out_sharding))

    def lognormal(
        self,
        sigma: ArrayLike = _FLOAT32_1_0,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.lognormal` and the next key."""
        return jax.random.lognormal(
            self(),
            sigma,
            shape,
            dtype,
            **layout(out_sharding),
        )

    def maxwell(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.maxwell` and the next key."""
        return jax.random.maxwell(self(), shape, dtype, **layout(out_sharding))

    def multinomial(
        self,
        n: ArrayLike,
        p: ArrayLike,
        *,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        unroll: int | bool = 1,
    ) -> jax.Array:
        """Draw with `jax.random.multinomial` and the next key."""
        samples: jax.Array = jax.random.multinomial(
            self(),
            n,
            p,
            shape=shape,
            dtype=dtype,
            unroll=unroll,
        )
        return samples

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        method: str = "cholesky",
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.multivariate_normal` and the next key."""
        return jax.random.multivariate_normal(
            self(),
            mean,
            cov,
            shape,
            dtype,
            method,
            **layout(out_sharding),
        )

    def normal(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.normal` and the next key."""
        return jax.random.normal(self(), shape, dtype, **layout(out_sharding))

    def orthogonal(
        self,
        n: int,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        m: int | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.orthogonal` and the next key."""
        return jax.random.orthogonal(
            self(),
            n,
            shape,
            dtype,
            m,
            **layout(out_sharding),
        )

    def pareto(
        self,
        b: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.pareto` and the next key."""
        return jax.random.pareto(self(), b, shape, dtype, **layout(out_sharding))

    def permutation(
        self,
        x: int | ArrayLike,
        axis: int = 0,
        independent: bool = False,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.permutation` and the next key."""
        return jax.random.permutation(
            self(),
            x,
            axis,
            independent,
            **layout(out_sharding),
        )

    def poisson(
        self,
        lam: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.poisson` and the next key."""
        return jax.random.poisson(self(), lam, shape, dtype, **layout(out_sharding))

    def rademacher(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.rademacher` and the next key."""
        return jax.random.rademacher(self(), shape, dtype, **layout(out_sharding))

    def randint(
        self,
        shape: Sequence[int],
        minval: ArrayLike,
        maxval: ArrayLike,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.randint` and the next key."""
        return jax.random.randint(
            self(),
            shape,
            minval,
            maxval,
            dtype,
            **layout(out_sharding),
        )

    def rayleigh(
        self,
        scale: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.rayleigh` and the next key."""
        return jax.random.rayleigh(
            self(),
            scale,
            shape,
            dtype,
            **layout(out_sharding),
        )

    def t(
        self,
        df: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.t` and the next key."""
        return jax.random.t(self(), df, shape, dtype, **layout(out_sharding))

    def triangular(
        self,
        left: ArrayLike,
        mode: ArrayLike,
        right: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.triangular` and the next key."""
        return jax.random.triangular(
            self(),
            left,
            mode,
            right,
            shape,
            dtype,
            **layout(out_sharding),
        )

    def truncated_normal(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.truncated_normal` and the next key."""
        return jax.random.truncated_normal(
            self(),
            lower,
            upper,
            shape,
            dtype,
            **layout(out_sharding),
        )

    def uniform(
        self,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
        minval: ArrayLike = 0.0,
        maxval: ArrayLike = 1.0,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.uniform` and the next key."""
        return jax.random.uniform(
            self(),
            shape,
            dtype,
            minval,
            maxval,
            **layout(out_sharding),
        )

    def wald(
        self,
        mean: ArrayLike,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        *,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.wald` and the next key."""
        return jax.random.wald(self(), mean, shape, dtype, **layout(out_sharding))

    def weibull_min(
        self,
        scale: ArrayLike,
        concentration: ArrayLike,
        shape: Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> jax.Array:
        """Draw with `jax.random.weibull_min` and the next key."""
        return jax.random.weibull_min(self(), scale, concentration, shape, dtype)

    def delta_orthogonal(
        self,
        scale: ArrayLike = 1.0,
        column_axis: int = -1,
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.delta_orthogonal`, taking the next key at each call."""
        initializer = jax.nn.initializers.delta_orthogonal(scale, column_axis, dtype)
        return keyless(self, initializer)

    def glorot_normal(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.glorot_normal`, taking the next key at each call."""
        initializer = jax.nn.initializers.glorot_normal(in_axis, out_axis, batch_axis, dtype)
        return keyless(self, initializer)

    def glorot_uniform(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.glorot_uniform`, taking the next key at each call."""
        initializer = jax.nn.initializers.glorot_uniform(
            in_axis,
            out_axis,
            batch_axis,
            dtype,
        )
        return keyless(self, initializer)

    def he_normal(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.he_normal`, taking the next key at each call."""
        initializer = jax.nn.initializers.he_normal(in_axis, out_axis, batch_axis, dtype)
        return keyless(self, initializer)

    def he_uniform(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.he_uniform`, taking the next key at each call."""
        initializer = jax.nn.initializers.he_uniform(in_axis, out_axis, batch_axis, dtype)
        return keyless(self, initializer)

    def kaiming_normal(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.kaiming_normal`, taking the next key at each call."""
        initializer = jax.nn.initializers.kaiming_normal(
            in_axis,
            out_axis,
            batch_axis,
            dtype,
        )
        return keyless(self, initializer)

    def kaiming_uniform(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.kaiming_uniform`, taking the next key at each call."""
        initializer = jax.nn.initializers.kaiming_uniform(
            in_axis,
            out_axis,
            batch_axis,
            dtype,
        )
        return keyless(self, initializer)

    def lecun_normal(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.lecun_normal`, taking the next key at each call."""
        initializer = jax.nn.initializers.lecun_normal(in_axis, out_axis, batch_axis, dtype)
        return keyless(self, initializer)

    def lecun_uniform(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.lecun_uniform`, taking the next key at each call."""
        initializer = jax.nn.initializers.lecun_uniform(in_axis, out_axis, batch_axis, dtype)
        return keyless(self, initializer)

    def variance_scaling(
        self,
        scale: ArrayLike,
        mode: Literal["fan_in", "fan_out", "fan_avg", "fan_geo_avg"],
        distribution: Literal["truncated_normal", "normal", "uniform"],
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.variance_scaling`, taking the next key at each call."""
        initializer = jax.nn.initializers.variance_scaling(
            scale,
            mode,
            distribution,
            in_axis,
            out_axis,
            batch_axis,
            dtype,
        )
        return keyless(self, initializer)

    def xavier_normal(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.xavier_normal`, taking the next key at each call."""
        initializer = jax.nn.initializers.xavier_normal(in_axis, out_axis, batch_axis, dtype)
        return keyless(self, initializer)

    def xavier_uniform(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> KeylessInitializer:
        """Return `jax.nn.initializers.xavier_uniform`, taking the next key at each call."""
        initializer = jax.nn.initializers.xavier_uniform(
            in_axis,
            out_axis,
            batch_axis,
            dtype,
        )
        return keyless(self, initializer)
