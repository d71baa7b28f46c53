"""Multi-head attention, and `nn.SelfAttention`, which is the same with one input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typed_nnx_codegen.migrate.linen.layers.answers import (
    Argument,
    Given,
    Helper,
    Inputs,
    LayerVariable,
    MissingWidth,
    Refused,
)
from typed_nnx_codegen.migrate.linen.layers.definitions import (
    ACCEPTED_ARGUMENTS,
    ATTENTION_IN_ITS_DTYPE,
    KEEP_DTYPES,
)
from typed_nnx_codegen.migrate.linen.layers.known import (
    argument,
    is_single_precision,
    last_axis,
    literal,
    literal_of,
    shape_of,
    size_of,
    unless_none,
    with_last,
)
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.running.values import NONE, Array, Value

_USUAL: Final = re.compile(r"(?:nn|nnx|(?:flax\.)?(?:linen|nnx))\.(?:\w+\.)?dot_product_attention")


@dataclass(frozen=True, kw_only=True)
class AttentionLayer(Layer):
    """`nn.MultiHeadDotProductAttention`, which is `nnx.MultiHeadAttention`."""

    def refused(self, given: Mapping[str, Given], inputs: Inputs | None) -> Refused | None:
        """Refuse keys and values of different widths, and decoding always."""
        if literal(given, "decode", False) is True:
            return Refused(
                f"`{self.name}(decode=True)` makes its cache where it is initialized; NNX has the "
                "method `init_cache` for it.",
                "Construct with `decode=True` and call `init_cache(shape)` before decoding.",
            )
        key, value = last_axis(inputs, "inputs_k"), last_axis(inputs, "inputs_v")
        if key is None or value is None or key == value:
            return None
        if key.constant is None or value.constant is None:
            # Equal as far as can be seen; NNX raises an error where they are not.
            return None
        return Refused(
            f"Keys have {key.constant} features and values {value.constant}; NNX has one "
            "`in_kv_features` for both.",
            "Bring both to one width, or keep the layer with `nnx.bridge.ToNNX`.",
        )

    def widths(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[Argument, ...] | Refused | MissingWidth:
        """Return the number of heads and the widths of queries and keys."""
        width = last_axis(inputs, "inputs_q")
        if width is None:
            return MissingWidth("in_features")
        found = (
            Argument("num_heads", given["num_heads"].code),
            Argument("in_features", width),
        )
        names = [
            name
            for name in ("inputs_k", "inputs_kv", "inputs_v")
            if literal_of(argument(inputs, name) if _is_passed(inputs, name) else NONE) is not None
        ]
        if not names:
            return found
        widths = [last_axis(inputs, name) for name in names]
        known = [size for size in widths if size is not None]
        if not known:
            return MissingWidth("in_kv_features")
        return found if known[0] == width else (*found, Argument("in_kv_features", known[0]))

    def added(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[tuple[Argument, ...], tuple[Helper, ...]]:
        """Adapt the function of attention and the norms of queries and keys."""
        arguments: list[Argument] = []
        helpers: list[Helper] = []
        found = _attention_fn(given)
        if found is not None:
            arguments.append(Argument("attention_fn", found[0]))
            helpers.append(found[1])
        normalizes = literal(given, "normalize_qk", False) is not False
        if normalizes and not is_single_precision(given, "dtype"):
            arguments.append(Argument("ln_promote_dtype", KEEP_DTYPES.name))
            helpers.append(KEEP_DTYPES)
        return tuple(arguments), tuple(helpers)

    def call(
        self, given: Mapping[str, Given], arguments: Mapping[str, Given], method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return the arguments, with a stream in the place of a key."""
        key = arguments.get("dropout_rng")
        if key is not None and literal_of(key.value) is not None:
            stream = unless_none(key, f"nnx.Rngs(dropout={key.code})")
            arguments = {**arguments, "dropout_rng": Given(stream, key.value, key.keyword)}
        return super().call(given, arguments, method)

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array like the queries, with `out_features` along its last axis."""
        shape = shape_of(argument(inputs, "inputs_q"))
        if literal(given, "out_features") is None:
            return Array(shape)
        return Array(with_last(shape, size_of(given["out_features"].value)))

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return the projections, the norms and the cache."""
        parts = ["kernel"] if literal(given, "use_bias", True) is False else ["kernel", "bias"]
        layers = ("query", "key", "value", "out")
        names = [(f"params/{name}/{part}", f"{name}.{part}") for name in layers for part in parts]
        if literal(given, "normalize_qk", False) is not False:
            norms = ("query_ln", "key_ln")
            names += [(f"params/{name}/scale", f"{name}.scale") for name in norms]
        if literal(given, "decode", False) is not False:
            names += [
                (f"cache/{name}", name) for name in ("cached_key", "cached_value", "cache_index")
            ]
        return tuple(LayerVariable(*pair) for pair in names)


def _is_passed(inputs: Inputs | None, name: str) -> bool:
    return inputs is not None and name in inputs.arguments


def _attention_fn(given: Mapping[str, Given]) -> tuple[str, Helper] | None:
    """Return code for the function of attention, and the helper in it; None for that of NNX."""
    own = given["attention_fn"].code.strip() if "attention_fn" in given else ""
    if own and _USUAL.fullmatch(own) is None:
        return f"{ACCEPTED_ARGUMENTS.name}({own})", ACCEPTED_ARGUMENTS
    single = is_single_precision(given, "dtype") and is_single_precision(given, "param_dtype")
    if single and literal(given, "precision") is None:
        return None
    # That of NNX ignores the precision, and has softmax in float32 where nothing is dropped.
    return ATTENTION_IN_ITS_DTYPE.name, ATTENTION_IN_ITS_DTYPE
