"""Cells for the top level of migrated files, where NNX has none with the same parameters."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.layers.answers import Helper

_IMPORTS: Final = ("import jax", "import jax.numpy as jnp")
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
