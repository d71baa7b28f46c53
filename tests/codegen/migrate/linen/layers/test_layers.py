"""Each layer, migrated by the table, computes in both runtimes what it computes in Linen."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx
from flax.core import meta

import typed_nnx
from tests.codegen.migrate.linen.layers.cases import (
    ATTENTION,
    CELLS,
    CONTAINERS,
    CONVOLUTIONS,
    DENSE,
    ELEMENTWISE,
    NORMS,
    Case,
)
from tests.codegen.migrate.linen.layers.migrated_calls import (
    Migrated,
    at_path,
    check_equal,
    check_shape,
    fill,
    migrate,
    value_of,
    value_of_array,
)
from tests.codegen.migrate.linen.weights.perturbed import perturbed
from typed_nnx_codegen.migrate.linen.layers import Given, Inputs, Refused

CASES = [*DENSE, *CONVOLUTIONS, *NORMS, *ELEMENTWISE, *ATTENTION, *CELLS, *CONTAINERS]
RUNTIMES = {"typed_nnx": typed_nnx, "flax.nnx": flax_nnx}


def _normal(seed: int, *shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(seed), shape)


def own_dot_general(lhs: Any, rhs: Any, axes: Any, precision: Any = None) -> Any:
    """Doubles the product, so that a call of another function would show."""
    return 2 * jax.lax.dot_general(lhs, rhs, axes, precision=precision)


def own_convolution(*args: Any, **kwargs: Any) -> Any:
    """Doubles the convolution."""
    assert "out_sharding" not in kwargs
    return 2 * jax.lax.conv_general_dilated(*args, **kwargs)


def own_promotion(*arrays: Any, dtype: Any = None, inexact: bool = True) -> Any:
    """Brings arrays to float16."""
    del dtype, inexact
    return [None if array is None else jnp.asarray(array, jnp.float16) for array in arrays]


def own_attention(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Returns something that depends on all of it."""
    assert mask is None
    return query * jnp.mean(key * value, axis=-3, keepdims=True)


NAMES: dict[str, Any] = {
    "nn": nn,
    "jax": jax,
    "jnp": jnp,
    "rows": _normal(0, 2, 6),
    "half": _normal(1, 2, 6).astype(jnp.bfloat16),
    "whole_numbers": jnp.arange(12).reshape(2, 6),
    "sequence": _normal(2, 2, 5, 6),
    "memory": _normal(3, 2, 4, 10),
    "image": _normal(4, 2, 9, 8, 3),
    "wide_image": _normal(5, 2, 9, 8, 6),
    "numbers": jnp.array([[0, 3, 6], [2, 4, 1]]),
    "key": jax.random.key(7),
    "carry": _normal(8, 2, 4),
    "pair": (_normal(9, 2, 4), _normal(10, 2, 4)),
    "picture_pair": (_normal(11, 2, 9, 8, 4), _normal(12, 2, 9, 8, 4)),
    "line_pair": (_normal(13, 2, 5, 4), _normal(14, 2, 5, 4)),
    "attention_mask": _normal(15, 2, 1, 5, 5) > -0.5,
    "lengths": jnp.array([3, 5]),
    "own_mask": (_normal(16, 3, 3, 3, 4) > 0).astype(jnp.float32),
    "own_dot_general": own_dot_general,
    "own_convolution": own_convolution,
    "own_promotion": own_promotion,
    "own_attention": own_attention,
}


def evaluate(code: str, **names: Any) -> Any:
    """Return what an expression of a case says."""
    return eval(code, {**NAMES, **names})


def in_linen(case: Case) -> tuple[Any, Any, tuple[Any, ...], dict[str, Any]]:
    """Return the Linen layer with perturbed variables, and the arguments of the call."""
    layer = evaluate(case.layer)
    node = _node(f"f({case.call})")
    args = tuple(evaluate(ast.unparse(arg)) for arg in node.args)
    kwargs = {str(one.arg): evaluate(ast.unparse(one.value)) for one in node.keywords}
    if case.method == "attend":
        variables = layer.init(jax.random.key(0), jnp.zeros((), int))
    else:
        variables = layer.init(jax.random.key(0), *args, **kwargs)
    variables = {name: one for name, one in variables.items() if name != "intermediates"}
    return layer, meta.unbox(perturbed(variables)), args, kwargs


def by_table(case: Case, symbolic: bool) -> tuple[Migrated, str]:
    """Return the constructor and the call in NNX."""
    node = _node(case.layer)
    name = node.func.attr  # type: ignore[attr-defined]  # `nn.Dense`
    from_table = __import__("typed_nnx_codegen.migrate.linen.layers", fromlist=["LAYERS"]).LAYERS
    layer = from_table[f"flax.linen.{name}"]
    call = _node(f"f({case.call})")
    parameters = [one.linen for one in layer.calls.get(case.method, ())] or ["args"]
    written = [*zip(parameters, ((one, False) for one in call.args), strict=False)]
    written += [(str(one.arg), (one.value, True)) for one in call.keywords]
    arguments: dict[str, Given] = {}
    for parameter, (one, keyword) in written:
        code = ast.unparse(one)
        value = value_of(one)
        if not isinstance(one, ast.Constant):
            value = value_of_array(evaluate(code), code, symbolic)
        arguments[parameter] = Given(code, value, keyword)
    inputs = Inputs({parameter: one.value for parameter, one in arguments.items()})
    found = migrate(node, inputs, case.method)
    if name == "Sequential":
        return found, case.call
    answer = found.layer.call(found.given, arguments, case.method)
    assert not isinstance(answer, Refused)
    return found, ", ".join(argument.spelled() for argument in answer)


def _node(code: str) -> ast.Call:
    node = ast.parse(code, mode="eval").body
    assert isinstance(node, ast.Call)
    return node


def construct(found: Migrated, nnx: Any) -> Any:
    """Run the new constructor."""
    names = {**NAMES, "nnx": nnx, "rngs": nnx.Rngs(0)}
    for helper in dict.fromkeys(found.helpers):
        exec("\n".join(helper.imports), names)
        exec(helper.code, names)
    return eval(found.code, names)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with (
        warnings.catch_warnings(),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "symbols"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.layer}({case.call})")
def test_a_migrated_layer_computes_what_linen_does(
    case: Case, symbolic: bool, runtime: str
) -> None:
    if symbolic and (not case.one_batch_axis or "RNN" in case.layer):
        pytest.skip("the rank says more than the symbols")
    layer, variables, args, kwargs = in_linen(case)
    found, call = by_table(case, symbolic)
    nnx = RUNTIMES[runtime]
    model = construct(found, nnx)
    assert fill(model, variables, found.variables) == len(jax.tree.leaves(variables))
    state = nnx.state(model, nnx.Any(nnx.Param, nnx.BatchStat))
    assert len(jax.tree.leaves(state)) == len(jax.tree.leaves(variables))

    method = None if case.method == "__call__" else getattr(layer, case.method)
    expected, updated = layer.apply(
        variables, *args, **kwargs, method=method, mutable=["batch_stats"]
    )
    method_code = "" if case.method == "__call__" else f".{case.method}"
    output = evaluate(f"model{method_code}({call})", model=model, nnx=nnx)

    check_equal(output, expected, case.tolerance)
    places = {place.linen: place for place in found.variables}
    from flax import traverse_util

    for path, leaf in traverse_util.flatten_dict(updated, sep="/").items():
        check_equal(at_path(model, places[path].nnx)[...], leaf, case.tolerance)
    check_shape(found.output, expected, NAMES)
