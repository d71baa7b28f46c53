"""The table knows every public class of Linen, its parameters, and where NNX cannot follow."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import libcst as cst
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx
from tests.codegen.migrate.linen.layers.migrated_calls import value_of
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Lead,
    Seq,
    Shape,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import (
    LAYERS,
    NO_COUNTERPART,
    Built,
    Given,
    Inputs,
    MissingWidth,
    Refused,
    find_layer,
)
from typed_nnx_codegen.migrate.linen.layers.products import CellLayer

_NO_LAYERS = {"Module", "RNNCellBase"}
_PUBLIC: dict[str, Any] = {
    name: cls
    for name, cls in vars(nn).items()
    if inspect.isclass(cls)
    and (issubclass(cls, nn.Module) or name == "BatchApply")
    and name not in _NO_LAYERS
}
_WITH_ROW = sorted(name for name in _PUBLIC if f"flax.linen.{name}" not in NO_COUNTERPART)
X = Array(Shape((), Lead("x", None)), origin="x")


def given_of(code: str) -> dict[str, Given]:
    """Return the arguments of a constructor, as they are written."""
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    names = LAYERS[f"flax.linen.{call.func.attr}"].parameters
    written = [*zip(names, call.args, strict=False)]
    written += [(str(one.arg), one.value) for one in call.keywords]
    return {name: Given(ast.unparse(node), value_of(node)) for name, node in written}


def built(code: str, **inputs: Value) -> Built | Refused | MissingWidth:
    """Return what the table answers for a constructor."""
    layer = LAYERS[f"flax.linen.{code.partition('(')[0].removeprefix('nn.')}"]
    return layer.build(given_of(code), Inputs(inputs) if inputs else None)


def written(answer: Any) -> str:
    """Return the constructor that the table answered."""
    assert isinstance(answer, Built), answer
    return f"{answer.cls}({', '.join(one.spelled() for one in answer.arguments)})"


def test_every_public_class_of_linen_is_in_the_table() -> None:
    assert {f"flax.linen.{name}" for name in _PUBLIC} == set(LAYERS)


@pytest.mark.parametrize("name", _WITH_ROW)
def test_the_parameters_are_the_fields_of_the_class_in_their_order(name: str) -> None:
    fields = [
        one.name
        for one in dataclasses.fields(_PUBLIC[name])
        if one.init and one.name not in ("name", "parent")
    ]
    assert list(LAYERS[f"flax.linen.{name}"].parameters) == fields


@pytest.mark.parametrize("name", _WITH_ROW)
def test_the_fields_without_default_are_required(name: str) -> None:
    required = [
        one.name
        for one in dataclasses.fields(_PUBLIC[name])
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    ]
    assert list(LAYERS[f"flax.linen.{name}"].required) == required


@pytest.mark.parametrize(
    ("name", "method"),
    [(name, method) for name in _WITH_ROW for method in LAYERS[f"flax.linen.{name}"].calls],
)
def test_the_parameters_of_calls_are_those_of_the_methods(name: str, method: str) -> None:
    parameters = list(inspect.signature(getattr(_PUBLIC[name], method)).parameters)[1:]
    known = [one.linen for one in LAYERS[f"flax.linen.{name}"].calls[method]]
    assert sorted(known) == sorted(parameters)
    by_position = [
        one.name
        for one in inspect.signature(getattr(_PUBLIC[name], method)).parameters.values()
        if one.kind is one.POSITIONAL_OR_KEYWORD and one.name != "self"
    ]
    assert known[: len(by_position)] == by_position


@pytest.mark.parametrize("nnx", [typed_nnx, flax_nnx], ids=["typed_nnx", "flax.nnx"])
@pytest.mark.parametrize(
    "name", [name for name in _WITH_ROW if "Linen" not in LAYERS[f"flax.linen.{name}"].nnx]
)
def test_the_new_names_are_parameters_of_the_class_of_nnx(name: str, nnx: Any) -> None:
    layer = LAYERS[f"flax.linen.{name}"]
    cls = getattr(nnx, layer.nnx.removeprefix("nnx."))
    parameters = inspect.signature(cls.__init__).parameters
    dropped = {*layer.leading, *layer.lacking, *layer.replaced}
    passed = {*layer.parameters} - dropped
    assert {*passed, *layer.explicit} <= set(parameters)
    assert layer.takes_rngs == ("rngs" in parameters and name not in ("RNN", "Bidirectional"))
    assert layer.movable <= set(inspect.signature(cls.__call__).parameters)


def test_a_layer_is_found_by_any_name_that_code_imports_it_by() -> None:
    dense = LAYERS["flax.linen.Dense"]
    assert find_layer("flax.linen.Dense") is dense
    assert find_layer("flax.linen.linear.Dense") is dense
    assert find_layer("flax.nnx.Dense") is None
    assert find_layer("flax.linen.relu") is None
    assert find_layer("Dense") is None


@pytest.mark.parametrize("name", sorted(NO_COUNTERPART))
def test_a_class_without_counterpart_is_refused_with_its_reason(name: str) -> None:
    answer = LAYERS[name].build({}, None)
    assert isinstance(answer, Refused)
    assert NO_COUNTERPART[name] in answer.why


@pytest.mark.parametrize(
    ("code", "inputs", "expected"),
    [
        ("nn.Dense(self.width)", {"inputs": X}, "nnx.Linear(x.shape[-1], self.width)"),
        (
            "nn.Dense(4, dtype=self.dtype, name='head')",
            {"inputs": X},
            "nnx.Linear(x.shape[-1], 4, dtype=self.dtype)",
        ),
        (
            "nn.Conv(8, self.kernel, strides=self.strides)",
            {"inputs": X},
            "nnx.Conv(x.shape[-1], 8, kernel_size=self.kernel, strides=self.strides)",
        ),
        ("nn.Embed(self.vocab, 8)", {}, "nnx.Embed(self.vocab, 8)"),
        ("nn.LayerNorm()", {"x": X}, "nnx.LayerNorm(x.shape[-1])"),
        (
            "nn.LayerNorm(dtype=self.dtype)",
            {"x": X},
            "nnx.LayerNorm(x.shape[-1], dtype=self.dtype, promote_dtype=keep_dtypes)",
        ),
        (
            "nn.LayerNorm(feature_axes=(-2, -1))",
            {"x": X},
            "nnx.LayerNorm(x.shape[-1] * x.shape[-2], feature_axes=(-2, -1))",
        ),
        (
            "nn.BatchNorm(momentum=0.9)",
            {"x": X},
            "nnx.BatchNorm(x.shape[-1], momentum=0.9, use_running_average=None)",
        ),
        ("nn.Dropout(0.1)", {}, "nnx.Dropout(0.1, deterministic=None)"),
        (
            "nn.Dropout(0.1, deterministic=not train)",
            {},
            "nnx.Dropout(0.1, deterministic=not train)",
        ),
        (
            "nn.DenseGeneral(self.shape, axis=(-1, -2))",
            {"inputs": X},
            "nnx.LinearGeneral((x.shape[-2], x.shape[-1]), self.shape, axis=(-1, -2))",
        ),
        (
            "nn.Einsum(self.shape, 'ab,bcd->acd', use_bias=self.bias)",
            {},
            "nnx.Einsum('ab,bcd->acd', self.shape, "
            "bias_shape=(self.shape[1], self.shape[2]) if self.bias else None)",
        ),
        ("nn.SimpleCell(4)", {"inputs": X}, "nnx.SimpleCell(x.shape[-1], 4, dtype=None)"),
        ("nn.OptimizedLSTMCell(4)", {"inputs": X}, "nnx.LSTMCell(x.shape[-1], 4)"),
        (
            "nn.MultiHeadDotProductAttention(8)",
            {"inputs_q": X},
            "nnx.MultiHeadAttention(num_heads=8, in_features=x.shape[-1], decode=False)",
        ),
        ("nn.RNN(self.cell)", {}, "nnx.RNN(self.cell)"),
        ("nn.Sequential(layers)", {}, "nnx.Sequential(*layers)"),
        ("nn.Sequential((a, f(b, c)))", {}, "nnx.Sequential(a, f(b, c))"),
    ],
)
def test_settings_are_written_as_they_are(
    code: str, inputs: dict[str, Value], expected: str
) -> None:
    assert written(built(code, **inputs)) == expected


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("nn.Dense()", "without `features`"),
        ("nn.Dense(4, width=3)", "no parameter `width`"),
        ("nn.Dense(4, dot_general=self.product)", "dot_general"),
        ("nn.Dense(4, dot_general_cls=nn.Fp8DotGeneralOp)", "dot_general_cls"),
        ("nn.Conv(4, (3,), conv_general_dilated_cls=self.conv)", "conv_general_dilated_cls"),
        ("nn.DenseGeneral(4, axis=self.axis)", "which axes"),
        ("nn.DenseGeneral(4, batch_dims=(0,))", "batch_axis"),
        ("nn.LayerNorm(feature_axes=self.axes)", "which axes"),
        ("nn.LayerNorm(force_float32_reductions=False)", "float32"),
        ("nn.RMSNorm(force_float32_reductions=self.high)", "float32"),
        ("nn.BatchNorm(axis=(1, 2))", "several axes"),
        ("nn.GroupNorm(2, reduction_axes=(-1,))", "wrong numbers"),
        ("nn.GroupNorm(2, reduction_axes=self.axes)", "wrong numbers"),
        ("nn.Einsum((3, 4))", "equation"),
        ("nn.Einsum((3, 4), self.equation)", "shape of its bias"),
        ("nn.Einsum((3, 4), 'a,...->a...')", "shape of its bias"),
        ("nn.MultiHeadDotProductAttention(2, decode=True)", "init_cache"),
        ("nn.MultiHeadDotProductAttention(2, force_fp32_for_softmax=True)", "softmax"),
        ("nn.GRUCell(4, carry_init=nn.initializers.normal())", "another key"),
        ("nn.LSTMCell()", "without `features`"),
        ("nn.RNN(cell, variable_axes={'cache': 0})", "state_axes"),
        ("nn.RNN(cell, split_rngs={'params': False, 'dropout': True})", "state_axes"),
        ("nn.SpectralNorm(layer, collection_name='spectral')", "batch statistics"),
    ],
)
def test_what_nnx_computes_otherwise_is_refused(code: str, reason: str) -> None:
    inputs = {"x": X, "inputs": X, "inputs_q": X}
    answer = built(code, **inputs)
    assert isinstance(answer, Refused), answer
    assert reason in answer.why
    assert answer.fix


@pytest.mark.parametrize(
    ("code", "inputs", "parameter"),
    [
        ("nn.Dense(4)", {}, "in_features"),
        ("nn.Dense(4)", {"inputs": UNKNOWN}, "in_features"),
        ("nn.Conv(4, (3, 3))", {"inputs": Array()}, "in_features"),
        ("nn.LayerNorm()", {"x": Array()}, "num_features"),
        ("nn.LayerNorm(feature_axes=(1, 2))", {"x": Array()}, "num_features"),
        ("nn.DenseGeneral(4, axis=(1, -1))", {"inputs": X}, "in_features"),
        ("nn.GRUCell(4)", {"carry": UNKNOWN}, "in_features"),
        ("nn.MultiHeadDotProductAttention(2)", {"inputs_k": X}, "in_features"),
        (
            "nn.MultiHeadDotProductAttention(2)",
            {"inputs_q": X, "inputs_k": UNKNOWN},
            "in_kv_features",
        ),
    ],
)
def test_a_width_that_the_inputs_do_not_tell_is_missing(
    code: str, inputs: dict[str, Value], parameter: str
) -> None:
    assert built(code, **inputs) == MissingWidth(parameter)


def test_attend_in_another_dtype_than_the_embedding_is_refused() -> None:
    layer = LAYERS["flax.linen.Embed"]
    given = given_of("nn.Embed(3, 4, param_dtype=jnp.bfloat16)")
    assert isinstance(layer.call(given, {"query": Given("x", X)}, "attend"), Refused)
    assert layer.call(given, {"inputs": Given("x", X)}) != ()


def test_keys_and_values_of_different_widths_are_refused() -> None:
    answer = built(
        "nn.MultiHeadDotProductAttention(2)",
        inputs_q=X,
        inputs_k=_array(3, 4),
        inputs_v=_array(3, 5),
    )
    assert isinstance(answer, Refused)


def test_a_carry_of_another_width_is_refused() -> None:
    assert isinstance(built("nn.GRUCell(4)", carry=_array(2, 5), inputs=_array(2, 3)), Refused)
    assert isinstance(built("nn.GRUCell(4)", carry=_array(2, 4), inputs=_array(2, 3)), Built)


def _array(*sizes: int) -> Array:
    value = value_of(ast.parse(str(sizes), mode="eval").body)
    assert isinstance(value, Seq)
    return Array(Shape(tuple(item.dim for item in value.items)))  # type: ignore[attr-defined]  # sizes


@pytest.mark.parametrize("nnx", [typed_nnx, flax_nnx], ids=["typed_nnx", "flax.nnx"])
@pytest.mark.parametrize("key", ["jax.random.key(0)", "jax.random.PRNGKey(0)"])
@pytest.mark.parametrize(
    ("code", "shape"),
    [
        ("nn.LSTMCell(4)", (2, 3)),
        (
            "nn.OptimizedLSTMCell(4, param_dtype=jnp.float16, recurrent_kernel_init=nn.initializers.ones)",
            (2, 3),
        ),
        ("nn.GRUCell(4)", (5, 2, 3)),
        ("nn.MGUCell(4)", (3,)),
        ("nn.SimpleCell(4, carry_init=nn.initializers.zeros_init())", (2, 3)),
        ("nn.GRUCell(4, carry_init=nn.initializers.ones_init())", (2, 3)),
        ("nn.ConvLSTMCell(4, (3, 3))", (2, 5, 5, 3)),
    ],
)
@pytest.mark.filterwarnings("ignore:carry_init is provided")
def test_the_first_carry_is_that_of_linen(
    code: str, shape: tuple[int, ...], key: str, nnx: Any
) -> None:
    names = {"nn": nn, "nnx": nnx, "jax": jax, "jnp": jnp, "rngs": nnx.Rngs(0)}
    expected = eval(code, names).initialize_carry(eval(key, names), shape)
    layer = LAYERS[f"flax.linen.{code.partition('(')[0].removeprefix('nn.')}"]
    assert isinstance(layer, CellLayer)
    given = given_of(code)
    shape_value = value_of(ast.parse(str(shape), mode="eval").body)
    inputs = Inputs({"input_shape": shape_value})
    answer = layer.build(given, inputs)
    assert isinstance(answer, Built)
    for helper in answer.helpers:
        exec("\n".join((*helper.imports, helper.code)), names)
    arguments = ", ".join([one.spelled() for one in answer.arguments])
    names["cell"] = eval(f"{answer.cls}({arguments}, rngs=rngs)", names)
    call = layer.call(
        given, {"rng": Given(key), "input_shape": Given(str(shape))}, "initialize_carry"
    )
    assert not isinstance(call, Refused)

    found = eval(f"cell.initialize_carry({', '.join(one.spelled() for one in call)})", names)

    _check_carry(found, expected)
    code_without_cell = layer.first_carry(given, cst.parse_expression(str(shape)))
    if "ones_init" in code:
        assert code_without_cell is None
    else:
        assert code_without_cell is not None
        _check_carry(eval(code_without_cell, names), expected)


def _check_carry(found: Any, expected: Any) -> None:
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_a_setting_that_depends_on_the_call_can_move_there() -> None:
    layer = LAYERS["flax.linen.Dropout"]
    assert "deterministic" in layer.movable
    arguments = {"inputs": Given("x", X), "deterministic": Given("not train")}
    answer = layer.call({"rate": Given("0.5")}, arguments)
    assert not isinstance(answer, Refused)
    assert [one.spelled() for one in answer] == ["x", "deterministic=not train"]
