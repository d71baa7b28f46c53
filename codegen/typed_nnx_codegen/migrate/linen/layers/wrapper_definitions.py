"""Wrappers that normalize weights, for the top level of migrated files.

Those of NNX overwrite the weights of the layer at each call, which changes what is trained.
"""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.layers.answers import Helper

_IMPORTS: Final = ("import jax", "import jax.numpy as jnp")

WEIGHT_NORM: Final = Helper(
    "LinenWeightNorm",
    '''\
class LinenWeightNorm(nnx.Module):
    """Calls a layer with its weights scaled to a norm; like Linen's it keeps them as they are."""

    def __init__(
        self,
        layer_instance: nnx.Module,
        *,
        epsilon: float = 1e-12,
        dtype=None,
        param_dtype=jnp.float32,
        use_scale: bool = True,
        scale_init=nnx.initializers.ones_init(),
        feature_axes=-1,
        variable_filter=("kernel",),
        rngs: nnx.Rngs,
    ):
        self.layer_instance = layer_instance
        self.epsilon = epsilon
        self.dtype = dtype
        self.feature_axes = feature_axes
        self.variable_filter = None if variable_filter is None else tuple(variable_filter)
        self.scales = nnx.Dict()
        for path, weight in nnx.to_flat_state(nnx.state(layer_instance, nnx.Param)):
            if use_scale and self.normalizes(path):
                shape = tuple(weight.shape[axis] for axis in self.kept_axes(weight.ndim))
                scale = nnx.Param(scale_init(rngs.params(), shape, param_dtype))
                self.scales["_".join(map(str, path))] = scale

    def normalizes(self, path) -> bool:
        """Whether the weight at a path of the layer is normalized."""
        names = self.variable_filter
        return not names or any(name in "/".join(map(str, path)) for name in names)

    def kept_axes(self, rank: int):
        """Return the axes that have a norm for each element."""
        axes = () if self.feature_axes is None else self.feature_axes
        axes = (axes,) if isinstance(axes, int) else axes
        return tuple({axis % rank for axis in axes})

    def __call__(self, *args, **kwargs):
        """Call the layer with normalized weights."""
        layer = nnx.clone(self.layer_instance)
        for path, weight in nnx.to_flat_state(nnx.state(layer, nnx.Param)):
            if not self.normalizes(path):
                continue
            value = weight[...]
            kept = self.kept_axes(value.ndim)
            others = tuple(axis for axis in range(value.ndim) if axis not in kept)
            square = (value * value).sum(axis=others, keepdims=True)
            normalized = value * jax.lax.rsqrt(square + self.epsilon)
            dtypes = [value.dtype]
            name = "_".join(map(str, path))
            if name in self.scales:
                scale = self.scales[name][...]
                shape = [size if axis in kept else 1 for axis, size in enumerate(value.shape)]
                normalized = normalized * scale.reshape(shape)
                dtypes.append(scale.dtype)
            weight.set_value(jnp.asarray(normalized, self.dtype or jnp.result_type(*dtypes)))
        output = layer(*args, **kwargs)
        nnx.update(self.layer_instance, nnx.state(layer, nnx.Not(nnx.Param)))
        return output
''',
    _IMPORTS,
)

SPECTRAL_NORM: Final = Helper(
    "LinenSpectralNorm",
    '''\
class LinenSpectralNorm(nnx.Module):
    """Calls a layer with weights of spectral norm 1; like Linen's it keeps them as they are."""

    def __init__(
        self,
        layer_instance: nnx.Module,
        *,
        n_steps: int = 1,
        epsilon: float = 1e-12,
        dtype=None,
        param_dtype=jnp.float32,
        error_on_non_matrix: bool = False,
        rngs: nnx.Rngs,
    ):
        self.layer_instance = layer_instance
        self.n_steps = n_steps
        self.epsilon = epsilon
        self.dtype = dtype
        self.error_on_non_matrix = error_on_non_matrix
        self.u = nnx.Dict()
        self.sigma = nnx.Dict()
        for path, weight in nnx.to_flat_state(nnx.state(layer_instance, nnx.Param)):
            if weight.ndim > 1 and n_steps > 0:
                name = "_".join(map(str, path))
                start = jax.random.normal(rngs.params(), (1, weight.shape[-1]), param_dtype)
                self.u[name] = nnx.BatchStat(start)
                self.sigma[name] = nnx.BatchStat(jnp.ones((), param_dtype))

    def __call__(self, *args, update_stats: bool, **kwargs):
        """Call the layer with normalized weights."""
        layer = nnx.clone(self.layer_instance)
        for path, weight in nnx.to_flat_state(nnx.state(layer, nnx.Param)):
            name = "_".join(map(str, path))
            if name in self.u:
                weight.set_value(self.normalized(name, weight[...], update_stats))
        output = layer(*args, **kwargs)
        nnx.update(self.layer_instance, nnx.state(layer, nnx.Not(nnx.Param)))
        return output

    def normalized(self, name: str, weight, update_stats: bool):
        """Return a weight divided by its largest singular value, found by power iteration."""
        if weight.ndim > 2 and self.error_on_non_matrix:
            raise ValueError(f"{name} has {weight.ndim} axes, not 2")

        def unit(vector):
            return vector * jax.lax.rsqrt((vector * vector).sum(keepdims=True) + self.epsilon)

        matrix = weight.reshape(-1, weight.shape[-1])
        right = self.u[name][...]
        for _ in range(self.n_steps):
            left = unit(right @ matrix.T)
            right = unit(left @ matrix)
        left, right = jax.lax.stop_gradient((left, right))
        sigma = (left @ matrix @ right.T)[0, 0]
        result = (matrix / jnp.where(sigma != 0, sigma, 1)).reshape(weight.shape)
        if update_stats:
            self.u[name][...] = right
            self.sigma[name][...] = sigma
        return jnp.asarray(result, self.dtype or jnp.result_type(weight, left, right, sigma))
''',
    _IMPORTS,
)
