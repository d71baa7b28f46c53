"""What the table of layers answers, and definitions that migrated files need at their top level."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Value


@dataclass(frozen=True)
class Given:
    """An argument of a constructor or a call, bound to the name of its parameter in Linen.

    Attributes:
        code: A Python expression for it, valid in the new constructor or in the method.
        value: What is known of it.
        keyword: Whether it was written with its name.
    """

    code: str
    value: Value = UNKNOWN
    keyword: bool = False


@dataclass(frozen=True)
class Inputs:
    """The arguments that a layer is called with.

    Attributes:
        arguments: What is known of each, by the name of its parameter in Linen.
    """

    arguments: Mapping[str, Value]


@dataclass(frozen=True)
class Template:
    """Code with sizes in it.

    Attributes:
        parts: Pieces of code and sizes, in order.
    """

    parts: tuple[str | Dim, ...]


@dataclass(frozen=True)
class Argument:
    """An argument of the new constructor or call.

    Attributes:
        keyword: The name of its parameter; empty where it is positional.
        code: The expression, or a size, or code with sizes in it.
    """

    keyword: str
    code: str | Dim | Template

    def spelled(self, size: Callable[[Dim], str] = Dim.code) -> str:
        """Return it as it is written in a call.

        Args:
            size: Gives the expression for a size.
        """
        parts = self.code.parts if isinstance(self.code, Template) else (self.code,)
        text = "".join(part if isinstance(part, str) else size(part) for part in parts)
        return f"{self.keyword}={text}" if self.keyword else text


@dataclass(frozen=True)
class Helper:
    """A function or class that migrated code needs at the top level of its file.

    Attributes:
        name: Its name.
        code: Its definition.
        imports: The modules that the definition needs, as import statements.
        after: The helpers that it needs itself.
    """

    name: str
    code: str
    imports: tuple[str, ...] = ()
    after: tuple[Helper, ...] = ()


@dataclass(frozen=True)
class Built:
    """How a layer is constructed.

    Attributes:
        cls: The public name of its class, ``nnx.Linear``, or the name of a helper.
        arguments: The arguments of the constructor without ``rngs``.
        takes_rngs: Whether ``rngs=rngs`` belongs at the end.
        moved: Arguments of the Linen constructor to give at each call instead, by keyword.
        methods: The methods that have another name now.
        helpers: What the code needs at the top level of the file.
    """

    cls: str
    arguments: tuple[Argument, ...]
    takes_rngs: bool = True
    moved: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    helpers: tuple[Helper, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Why there is no code that does the same; becomes a marker.

    Attributes:
        why: The reason, a sentence.
        fix: What to do, a sentence.
    """

    why: str
    fix: str


@dataclass(frozen=True)
class MissingWidth:
    """A width that the inputs do not tell.

    Attributes:
        parameter: The parameter of the new constructor that it is for.
    """

    parameter: str


@dataclass(frozen=True)
class LayerVariable:
    """Where a variable of the Linen layer is in the new one.

    Attributes:
        linen: Its path, collection first: ``params/kernel``; may be a whole subtree.
        nnx: The path of attributes: ``kernel``, ``query.kernel``.
        transpose: How its axes are permuted; None where they stay.
        reshape: The new shape; None where it stays.
    """

    linen: str
    nnx: str
    transpose: tuple[int, ...] | None = None
    reshape: tuple[int, ...] | None = None


KEEP_DTYPES: Final = Helper(
    "keep_dtypes",
    '''\
def keep_dtypes(arrays, *, dtype=None, inexact=True):
    """Return arrays as they are: like Linen, the layer brings only its result to its dtype."""
    return arrays
''',
)

IN_DTYPE_OF_INPUTS: Final = Helper(
    "in_dtype_of_inputs",
    '''\
def in_dtype_of_inputs(arrays, *, dtype=None, inexact=True):
    """Return arrays in the dtype of the first one: what a layer computes with its inputs in."""
    return nnx.nn.dtypes.promote_dtype(arrays, dtype=arrays[0].dtype, inexact=inexact)
''',
)

WITHOUT_SHARDING: Final = Helper(
    "without_sharding",
    '''\
def without_sharding(function, default):
    """Return a function, the default for None, that takes and ignores ``out_sharding``."""
    if function is None:
        return default

    def call(*args, out_sharding=None, **kwargs):
        return function(*args, **kwargs)

    return call
''',
)

ACCEPTED_ARGUMENTS: Final = Helper(
    "with_accepted_arguments",
    '''\
def with_accepted_arguments(attention_fn):
    """Return an attention function that is called without the arguments that it does not name."""
    names = inspect.signature(attention_fn).parameters

    def attend(query, key, value, *, module=None, is_causal=False, **kwargs):
        kept = {name: given for name, given in kwargs.items() if name in names}
        if module is not None:
            kept["module"] = module
        return attention_fn(query, key, value, **kept)

    return attend
''',
    ("import inspect",),
)

ATTENTION_IN_ITS_DTYPE: Final = Helper(
    "attention_in_its_dtype",
    '''\
def attention_in_its_dtype(
    query,
    key,
    value,
    *,
    mask=None,
    broadcast_dropout=True,
    dropout_rng=None,
    dropout_rate=0.0,
    deterministic=False,
    dtype=None,
    precision=None,
    module=None,
    is_causal=False,
):
    """Attend like Linen: products and softmax are in the dtype of the layer, not in float32."""
    weights = nnx.nn.attention.dot_product_attention_weights(
        query,
        key,
        mask=mask,
        broadcast_dropout=broadcast_dropout,
        dropout_rng=dropout_rng,
        dropout_rate=dropout_rate,
        deterministic=deterministic,
        dtype=dtype,
        precision=precision,
        module=module,
        is_causal=is_causal,
    )
    return jnp.einsum("...hqk,...khd->...qhd", weights, value, precision=precision)
''',
    ("import jax.numpy as jnp",),
)


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


_CARRY: Final = '''\

    def initialize_carry(self, input_shape, rngs=None, carry_init=None):
        """Return the first carry."""
        key = jax.random.key(0) if rngs is None else getattr(rngs, "carry", rngs)()
        init = carry_init or self.carry_init
        return init(key, (*input_shape[:-1], self.hidden_features), self.param_dtype)

    @property
    def num_feature_axes(self):
        """How many of the last axes of the inputs are no batch axes."""
        return 1
'''

GRU_CELL: Final = Helper(
    "LinenGRUCell",
    '''\
class LinenGRUCell(nnx.RNNCellBase):
    """A gated recurrent unit with the parameters of Linen's: the candidate has a second bias."""

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        gate_fn=jax.nn.sigmoid,
        activation_fn=jnp.tanh,
        kernel_init=nnx.initializers.lecun_normal(),
        recurrent_kernel_init=nnx.initializers.orthogonal(),
        bias_init=nnx.initializers.zeros_init(),
        dtype=None,
        param_dtype=jnp.float32,
        carry_init=nnx.initializers.zeros_init(),
        rngs: nnx.Rngs,
    ):
        def gate(width, init, use_bias):
            return nnx.Linear(
                width,
                hidden_features,
                use_bias=use_bias,
                kernel_init=init,
                bias_init=bias_init,
                dtype=dtype,
                param_dtype=param_dtype,
                rngs=rngs,
            )

        self.hidden_features = hidden_features
        self.gate_fn = gate_fn
        self.activation_fn = activation_fn
        self.param_dtype = param_dtype
        self.carry_init = carry_init
        self.ir = gate(in_features, kernel_init, True)
        self.iz = gate(in_features, kernel_init, True)
        self.in_ = gate(in_features, kernel_init, True)
        self.hr = gate(hidden_features, recurrent_kernel_init, False)
        self.hz = gate(hidden_features, recurrent_kernel_init, False)
        self.hn = gate(hidden_features, recurrent_kernel_init, True)

    def __call__(self, carry, inputs):
        """Return the next carry, and it again as output."""
        reset = self.gate_fn(self.ir(inputs) + self.hr(carry))
        update = self.gate_fn(self.iz(inputs) + self.hz(carry))
        candidate = self.activation_fn(self.in_(inputs) + reset * self.hn(carry))
        carry = (1.0 - update) * candidate + update * carry
        return carry, carry
'''
    + _CARRY,
    _IMPORTS,
)

MGU_CELL: Final = Helper(
    "LinenMGUCell",
    '''\
class LinenMGUCell(nnx.RNNCellBase):
    """A minimal gated unit with the parameters of Linen's."""

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        gate_fn=jax.nn.sigmoid,
        activation_fn=jnp.tanh,
        kernel_init=nnx.initializers.lecun_normal(),
        recurrent_kernel_init=nnx.initializers.orthogonal(),
        forget_bias_init=nnx.initializers.ones_init(),
        activation_bias_init=nnx.initializers.zeros_init(),
        dtype=None,
        param_dtype=jnp.float32,
        carry_init=nnx.initializers.zeros_init(),
        reset_gate: bool = True,
        rngs: nnx.Rngs,
    ):
        def gate(width, init, use_bias, bias_init):
            return nnx.Linear(
                width,
                hidden_features,
                use_bias=use_bias,
                kernel_init=init,
                bias_init=bias_init,
                dtype=dtype,
                param_dtype=param_dtype,
                rngs=rngs,
            )

        self.hidden_features = hidden_features
        self.gate_fn = gate_fn
        self.activation_fn = activation_fn
        self.param_dtype = param_dtype
        self.carry_init = carry_init
        self.reset_gate = reset_gate
        self.if_ = gate(in_features, kernel_init, True, forget_bias_init)
        self.in_ = gate(in_features, kernel_init, True, activation_bias_init)
        self.hf = gate(hidden_features, recurrent_kernel_init, False, activation_bias_init)
        self.hn = gate(hidden_features, recurrent_kernel_init, reset_gate, activation_bias_init)

    def __call__(self, carry, inputs):
        """Return the next carry, and it again as output."""
        forget = self.gate_fn(self.if_(inputs) + self.hf(carry))
        hidden = self.hn(carry)
        if self.reset_gate:
            hidden = hidden * forget
        candidate = self.activation_fn(self.in_(inputs) + hidden)
        carry = (1.0 - forget) * candidate + forget * carry
        return carry, carry
'''
    + _CARRY,
    _IMPORTS,
)

CONV_LSTM_CELL: Final = Helper(
    "LinenConvLSTMCell",
    '''\
class LinenConvLSTMCell(nnx.RNNCellBase):
    """A convolutional long short-term memory with the parameters of Linen's."""

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        kernel_size,
        strides=None,
        padding="SAME",
        use_bias: bool = True,
        dtype=None,
        param_dtype=jnp.float32,
        carry_init=nnx.initializers.zeros_init(),
        rngs: nnx.Rngs,
    ):
        def gates(width):
            return nnx.Conv(
                width,
                4 * hidden_features,
                kernel_size,
                strides,
                padding=padding,
                use_bias=use_bias,
                dtype=dtype,
                param_dtype=param_dtype,
                rngs=rngs,
            )

        self.hidden_features = hidden_features
        self.param_dtype = param_dtype
        self.carry_init = carry_init
        self.spatial_axes = len(kernel_size)
        self.ih = gates(in_features)
        self.hh = gates(hidden_features)

    def __call__(self, carry, inputs):
        """Return the next carry, cell state and hidden state, and the latter as output."""
        cell, hidden = carry
        gates = self.ih(inputs) + self.hh(hidden)
        enter, candidate, forget, leave = jnp.split(gates, 4, axis=-1)
        cell = jax.nn.sigmoid(forget + 1) * cell + jax.nn.sigmoid(enter) * jnp.tanh(candidate)
        hidden = jax.nn.sigmoid(leave) * jnp.tanh(cell)
        return (cell, hidden), hidden

    def initialize_carry(self, input_shape, rngs=None, carry_init=None):
        """Return the first carry."""
        init = carry_init or self.carry_init
        shape = (*input_shape[:-1], self.hidden_features)
        stream = nnx.Rngs(0).carry if rngs is None else getattr(rngs, "carry", rngs)
        return tuple(init(stream(), shape, self.param_dtype) for _ in range(2))

    @property
    def num_feature_axes(self):
        """How many of the last axes of the inputs are no batch axes."""
        return self.spatial_axes + 1
''',
    _IMPORTS,
)
