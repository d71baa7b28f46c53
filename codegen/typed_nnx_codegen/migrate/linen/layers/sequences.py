"""Attention, recurrent cells, and containers that run layers in turn."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.code import operand
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    UNKNOWN,
    Array,
    Seq,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers.layer import (
    ACCEPTED_ARGUMENTS,
    ATTENTION_IN_ITS_DTYPE,
    KEEP_DTYPES,
    Added,
    Argument,
    Building,
    Helper,
    Inputs,
    Layer,
    LayerVariable,
    MissingWidth,
    Refused,
    Settings,
    Widths,
    argument,
    is_single_precision,
    last_axis,
    literal,
    literal_of,
    parsed,
    shape_of,
    size_of,
    with_last,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of, wanted_shape

_USUAL: Final = re.compile(r"(?:nn|nnx|(?:flax\.)?(?:linen|nnx))\.(?:\w+\.)?dot_product_attention")


@dataclass(frozen=True, kw_only=True)
class AttentionLayer(Layer):
    """`nn.MultiHeadDotProductAttention`, which is `nnx.MultiHeadAttention`."""

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse keys and values of different widths, and decoding always."""
        if literal(given, "decode", False) is True:
            return Refused(
                f"`{self.name}(decode=True)` makes its cache where it is initialized; NNX has the "
                "method `init_cache` for it.",
                "Construct with `decode=True` and call `init_cache(shape)` before decoding.",
            )
        key, value = last_axis(inputs, "inputs_k"), last_axis(inputs, "inputs_v")
        if key is None or value is None or not _surely_differ(key, value):
            return None  # NNX raises an error where they are not equal
        return Refused(
            f"Keys have {key.constant} features and values {value.constant}; NNX has one "
            "`in_kv_features` for both.",
            "Bring both to one width, or keep the layer with `nnx.bridge.ToNNX`.",
        )

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
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

    def added(self, given: Settings, inputs: Inputs | None) -> Added:
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

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array like the queries, with `out_features` along its last axis."""
        shape = shape_of(inputs, "inputs_q")
        if literal(given, "out_features") is None:
            return Array(shape)
        return Array(with_last(shape, dim_of(given["out_features"].value)))

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
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


def _surely_differ(first: Dim, second: Dim) -> bool:
    """Whether two sizes are numbers, and not the same; others are equal as far as can be seen."""
    return first != second and first.constant is not None and second.constant is not None


def _is_passed(inputs: Inputs | None, name: str) -> bool:
    return inputs is not None and name in inputs.arguments


def _attention_fn(given: Settings) -> tuple[str, Helper] | None:
    """Return code for the function of attention, and the helper in it; None for that of NNX."""
    own = given["attention_fn"].code.strip() if "attention_fn" in given else ""
    if own and _USUAL.fullmatch(own) is None:
        return f"{ACCEPTED_ARGUMENTS.name}({own})", ACCEPTED_ARGUMENTS
    single = is_single_precision(given, "dtype") and is_single_precision(given, "param_dtype")
    if single and literal(given, "precision") is None:
        return None
    # That of NNX ignores the precision, and has softmax in float32 where nothing is dropped.
    return ATTENTION_IN_ITS_DTYPE.name, ATTENTION_IN_ITS_DTYPE


_ZEROS: Final = re.compile(r"(?:[\w.]+\.)?(?:zeros|zeros_init\(\))")
_FIXED: Final = re.compile(r"(?:[\w.]+\.)?(?:ones|ones_init\(\)|constant\(.*\))")


@dataclass(frozen=True, kw_only=True)
class CellLayer(Layer):
    """A cell of a recurrent network.

    Attributes:
        arrays: How many arrays the carry is: 1, or 2 in a tuple.
        gates: The layers in it: the path in Linen, the attribute in NNX, and the names of their
            parameters.
    """

    arrays: int = 1
    gates: tuple[tuple[str, str, tuple[str, ...]], ...]

    def build(self, given: Settings, inputs: Inputs | None) -> Building:
        """Return how the cell is constructed; its first carry is zeros by default."""
        kept = dict(given)
        if "carry_init" in kept and _ZEROS.fullmatch(kept["carry_init"].code):
            del kept["carry_init"]
        return super().build(kept, inputs)

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse a random first carry, and a carry of another width."""
        if "carry_init" in given and not _FIXED.fullmatch(given["carry_init"].code):
            return Refused(
                f"`{self.name}(carry_init={given['carry_init'].code})`: NNX draws the first carry "
                "with another key, so its numbers would differ.",
                "Pass the first carry to the call as `initial_carry`.",
            )
        carry = argument(inputs, "carry")
        if isinstance(carry, Seq) and carry.items:
            carry = carry.items[-1]
        shape = carry.shape if isinstance(carry, Array) else ANY_SHAPE
        width, features = shape.axis(-1), size_of(given, "features")
        if width is None or features is None or not _surely_differ(width, features):
            return None  # the product fails where they are not equal
        return Refused(
            f"`{self.name}` has {features.constant} features and a carry of {width.constant}; "
            "Linen takes the width of the carry, NNX the features.",
            "Construct the cell with the width of the carry.",
        )

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the size of the last axis of the inputs of a step."""
        width = last_axis(inputs, "inputs")
        if width is None:
            width = wanted_shape(argument(inputs, "input_shape")).axis(-1)
        return MissingWidth("in_features") if width is None else (Argument("", width),)

    def call(
        self, given: Settings, arguments: Settings, method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return the arguments of a step, or of `initialize_carry` in the order of NNX."""
        if method != "initialize_carry":
            return super().call(given, arguments, method)
        if not arguments.keys() >= {"rng", "input_shape"}:
            return Refused(
                "`initialize_carry` is called without `rng` and `input_shape`.",
                "Call it as flax 0.12 has it: `cell.initialize_carry(rng, input_shape)`.",
            )
        shape, key = arguments["input_shape"], arguments["rng"]
        return (Argument("", shape.code), Argument("", f"nnx.Rngs(carry={key.code})"))

    def first_carry(self, given: Settings, input_shape: str) -> str | None:
        """Return an expression for what `initialize_carry` returns, which needs no cell.

        Args:
            given: The arguments of the Linen constructor.
            input_shape: The code of the shape of the inputs.

        Returns:
            Code in terms of ``jnp``; None where the carry is not zeros.
        """
        if "features" not in given:
            return None
        if "carry_init" in given and not _ZEROS.fullmatch(given["carry_init"].code):
            return None
        dtype = f", {given['param_dtype'].code}" if "param_dtype" in given else ""
        zeros = f"jnp.zeros((*({input_shape})[:-1], {given['features'].code}){dtype})"
        return zeros if self.arrays == 1 else f"({zeros}, {zeros})"

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return the carry and, of a step, the output."""
        features = size_of(given, "features")
        of_carry = method == "initialize_carry"
        shape = (
            wanted_shape(argument(inputs, "input_shape"))
            if of_carry
            else shape_of(inputs, "inputs")
        )
        array = Array(with_last(shape, features))
        carry: Value = array if self.arrays == 1 else Seq((array,) * self.arrays)
        return carry if of_carry else Seq((carry, array))

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return the parameters of the gates."""
        off = literal(given, "use_bias", True) is False
        return tuple(
            LayerVariable(f"params/{linen}/{part}", f"{nnx}.{part}")
            for linen, nnx, parts in self.gates
            for part in parts
            if not (off and part == "bias")
        )


@dataclass(frozen=True, kw_only=True)
class SequentialLayer(Layer):
    """`nn.Sequential`, whose layers NNX takes one by one."""

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the layers."""
        del inputs
        return tuple(Argument("", code) for code in _items(given["layers"].code))


@dataclass(frozen=True, kw_only=True)
class OverTimeLayer(Layer):
    """`nn.RNN` or `nn.Bidirectional`.

    Where the features of a cell are known, its `Given` has them as value, a `Size`.
    """

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return the outputs of all steps; after the carry where that is asked for."""
        total: Dim | None = None
        widths = [size_of(given, name) for name in self.leading]
        known = [width for width in widths if width is not None]
        if len(known) == len(widths) and "merge_fn" not in given:
            total = sum(known[1:], known[0])
        outputs = Array(with_last(shape_of(inputs, "inputs"), total))
        asked = literal_of(inputs.arguments.get("return_carry", UNKNOWN))
        if "return_carry" not in inputs.arguments or asked is None:
            asked = literal(given, "return_carry", False)
        if not isinstance(asked, bool):
            return UNKNOWN
        return Seq((UNKNOWN, outputs)) if asked else outputs


def _items(code: str) -> list[str]:
    """Return the items of a list or tuple that is written out; else its code with a star."""
    tree = parsed(code)
    if not isinstance(tree, ast.List | ast.Tuple):
        return [f"*{operand(code)}"]
    return [ast.unparse(item) for item in tree.elts]
