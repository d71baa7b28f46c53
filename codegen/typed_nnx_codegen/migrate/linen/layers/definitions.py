"""Small functions for the top level of migrated files, where the two APIs differ by one."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.layers.answers import Helper

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
