"""What the functions of NNX give, by public name, in the language of `nnx_class.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ARRAYS: Final = (
    *("avg_pool", "celu", "dot_product_attention", "elu", "gelu", "glu", "hard_sigmoid"),
    *("hard_silu", "hard_swish", "hard_tanh", "leaky_relu", "log_sigmoid"),
    *("log_softmax", "make_attention_mask", "make_causal_mask", "max_pool"),
    *("min_pool", "one_hot", "pool", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign"),
    *("softmax", "softplus", "standardize", "swish", "tanh", "make_rng"),
)

# They give something of the class of their first argument: a function that gives what the wrapped
# one gives, or a copy of a Module, a State or another tree. As decorators with arguments
# (`@nnx.jit(static_argnums=0)`) they have no first argument and give `unknown`.
_LIKE_ARG0: Final = (
    *("abstract_with_sharding", "as_abstract", "clone", "identity", "map", "recursive_map"),
    *("view", "vars_as", "with_attributes", "with_vars"),
    *("jit", "jit_partial", "pmap", "remat", "scan", "shard_map", "vmap", "checkpoint"),
    *("get_named_sharding", "freeze", "mutable", "to_arrays", "to_refs"),
    *("transform_metadata", "with_rngs", "register_data_type"),
)

_NOTHING: Final = (
    *("check_pytree", "display", "invalidate", "replace_by_pure_dict", "reseed", "restore_rngs"),
    *("set_metadata", "update", "register_variable_name", "register_variable_name_type_pair"),
)

# What they give depends on how many filters they have, on their keywords or on a function.
_SPECIAL: Final = (
    *("capture", "custom_vjp", "filter_state", "grad", "merge", "pop", "split", "split_rngs"),
    *("fork_rngs", "fork", "split_state", "state", "unflatten", "unpack", "value_and_grad"),
    *("variables", "vjp", "jvp"),
)

_INITIALIZERS: Final = (
    *("constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform"),
    *("kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "ones_init"),
    *("orthogonal", "truncated_normal", "uniform", "variance_scaling", "xavier_normal"),
    *("xavier_uniform", "zeros_init"),
)

FUNCTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(_ARRAYS, "array"),
    **dict.fromkeys(_LIKE_ARG0, "arg0"),
    **dict.fromkeys(_NOTHING, "None"),
    **dict.fromkeys(_SPECIAL, "special"),
    **{f"initializers.{name}": "callable" for name in _INITIALIZERS},
    # These two are initialisers themselves.
    "initializers.ones": "array",
    "initializers.zeros": "array",
    "array_ref": "unknown",
    "as_pure": "unknown",
    "backup_keys": "list[unknown]",
    "backup_rngs": "list[unknown]",
    "bridge.compact": "arg0",
    "bridge.functional": "callable",
    "bridge.lazy_init": "arg0",
    "bridge.to_linen": "unknown",
    "cached_partial": "callable",
    "call": "callable",
    "checkify": "callable",
    "combine_masks": "array | None",
    "cond": "result(arg1)",
    "data": "arg0",
    "dataclass": "arg0",
    "diff": "State",
    "eval_shape": "result(arg0)",
    "export": "callable",
    "find_duplicates": "list[list[unknown]]",
    "flatten": "tuple[GraphDef, FlatState]",
    "fori_loop": "arg3",
    "from_flat_state": "State",
    "from_tree": "unknown",
    "get_abstract_model": "tuple[GraphDef, State]",
    "get_partition_spec": "arg0",
    "graphdef": "GraphDef",
    "has_data": "list[unknown]",
    "is_array_ref": "bool",
    "is_data": "bool",
    "is_data_type": "bool",
    # Children of all kinds, Variables too.
    "iter_children": "list[tuple[unknown, unknown]]",
    "iter_graph": "list[tuple[tuple[unknown, ...], unknown]]",
    "iter_module_children": "list[tuple[unknown, Module]]",
    "iter_modules": "list[tuple[tuple[unknown, ...], Module]]",
    "logsumexp": "unknown",
    "make_jaxpr": "callable",
    "map_state": "State",
    "merge_state": "State",
    "mutable_array": "unknown",
    "named_arrays": "dict[unknown, unknown]",
    "prefix": "unknown",
    "pure": "unknown",
    "restore_int_paths": "dict[unknown, unknown]",
    "static": "arg0",
    "switch": "unknown",
    "tabulate": "str",
    "to_flat_state": "FlatState",
    "to_pure_dict": "dict[unknown, unknown]",
    "to_tree": "unknown",
    "use_refs": "unknown",
    "using_eager_sharding": "bool",
    "variable_name_from_type": "str",
    "variable_type_from_name": "type[Variable]",
    "view_info": "str",
    "while_loop": "arg2",
    "with_metadata": "arg0",
    "with_partitioning": "arg0",
    "with_sharding_constraint": "arg0",
}
"""The functions by public name, dotted where they are in no package itself (``initializers.ones``)."""
