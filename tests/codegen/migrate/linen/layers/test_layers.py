"""Each layer, migrated by the table, computes in both runtimes what it computes in Linen."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx
from flax import traverse_util

import typed_nnx
from tests.codegen.migrate.linen.layers.arrays import NAMES
from tests.codegen.migrate.linen.layers.cases import (
    ATTENTION,
    CELLS,
    CONTAINERS,
    CONVOLUTIONS,
    DENSE,
    ELEMENTWISE,
    NORMS,
    WRAPPERS,
    Case,
)
from tests.codegen.migrate.linen.layers.filling import at_path, check_equal, check_shape, fill
from tests.codegen.migrate.linen.layers.migrated_calls import (
    Migrated,
    migrate,
    value_of,
    value_of_array,
)
from tests.codegen.migrate.linen.weights.perturbed import perturbed
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.layers import LAYERS, Given, Inputs, Refused

CASES = [
    *DENSE,
    *CONVOLUTIONS,
    *NORMS,
    *ELEMENTWISE,
    *ATTENTION,
    *CELLS,
    *CONTAINERS,
    *WRAPPERS,
]
RUNTIMES = {"typed_nnx": typed_nnx, "flax.nnx": flax_nnx}


def evaluate(code: str, **names: Any) -> Any:
    """Return what an expression of a case says."""
    return eval(code, {**NAMES, **names})


def node_of(code: str) -> ast.Call:
    """Return a call as a tree."""
    node = ast.parse(code, mode="eval").body
    assert isinstance(node, ast.Call)
    return node


def in_linen(case: Case) -> tuple[Any, Callable[..., Any]]:
    """Return perturbed variables of the Linen layer, and what calls it with variables."""
    layer = evaluate(case.layer)
    node = node_of(f"f({case.call})")
    args = tuple(evaluate(ast.unparse(arg)) for arg in node.args)
    kwargs = {str(one.arg): evaluate(ast.unparse(one.value)) for one in node.keywords}
    if case.method == "attend":
        variables = layer.init(jax.random.key(0), jnp.zeros((), int))
    else:
        variables = layer.init(jax.random.key(0), *args, **kwargs)
    kept = {name: one for name, one in variables.items() if name != "intermediates"}
    method = None if case.method == "__call__" else getattr(layer, case.method)

    def apply(variables: Any, mutable: Any = False) -> Any:
        return layer.apply(variables, *args, **kwargs, method=method, mutable=mutable)

    return perturbed(kept), apply


def by_table(
    case: Case, symbolic: bool = False, size: Callable[[Dim], str] = Dim.code
) -> tuple[Migrated, str]:
    """Return the constructor and the call in NNX."""
    node = node_of(case.layer)
    assert isinstance(node.func, ast.Attribute)
    layer = LAYERS[f"flax.linen.{node.func.attr}"]
    call = node_of(f"f({case.call})")
    parameters = [one.linen for one in layer.calls.get(case.method, ())] or ["args"]
    written: list[tuple[str, ast.expr, bool]] = [
        *((name, one, False) for name, one in zip(parameters, call.args, strict=False)),
        *((str(one.arg), one.value, True) for one in call.keywords),
    ]
    arguments: dict[str, Given] = {}
    for parameter, one, keyword in written:
        code = ast.unparse(one)
        value = value_of(one)
        if not isinstance(one, ast.Constant):
            value = value_of_array(evaluate(code), code, symbolic)
        arguments[parameter] = Given(code, value, keyword)
    inputs = Inputs({parameter: one.value for parameter, one in arguments.items()})
    found = migrate(node, inputs, case.method, size)
    answer = found.layer.call(found.given, arguments, case.method)
    assert not isinstance(answer, Refused)
    return found, ", ".join(argument.spelled(size) for argument in answer)


def construct(found: Migrated, nnx: Any) -> Any:
    """Run the new constructor."""
    names = {**NAMES, "nnx": nnx, "rngs": nnx.Rngs(0)}
    for helper in dict.fromkeys(found.helpers):
        exec("\n".join((*helper.imports, helper.code)), names)
    return eval(found.code, names)


@pytest.fixture(autouse=True)
def _as_users_run_it() -> Iterator[None]:
    with (
        warnings.catch_warnings(),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        # Linen warns of attention that is called the old way.
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.layer}({case.call})")
def test_a_migrated_layer_computes_what_linen_does(case: Case, runtime: str) -> None:
    variables, apply = in_linen(case)
    found, call = by_table(case)
    nnx = RUNTIMES[runtime]
    model = construct(found, nnx)
    fill(model, variables, found.variables)
    state = nnx.state(model, nnx.Any(nnx.Param, nnx.BatchStat))
    assert len(jax.tree.leaves(state)) == len(jax.tree.leaves(variables))

    expected, updated = apply(variables, mutable=["batch_stats"])
    method = "" if case.method == "__call__" else f".{case.method}"
    output = evaluate(f"model{method}({call})", model=model, nnx=nnx)

    check_equal(output, expected, case.tolerance)
    places = {place.linen: place.nnx for place in found.variables}
    for path, leaf in traverse_util.flatten_dict(updated, sep="/").items():
        check_equal(at_path(model, places[path])[...], leaf, case.tolerance)
    check_shape(found.output, expected, NAMES)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.one_batch_axis and "RNN" not in case.layer],
    ids=lambda case: f"{case.layer}({case.call})",
)
def test_sizes_that_are_read_off_the_inputs_make_the_same_layer(case: Case) -> None:
    def number(dim: Dim) -> str:
        return str(evaluate(dim.code()))

    by_symbols, call = by_table(case, symbolic=True, size=number)

    by_numbers, same_call = by_table(case)
    assert (by_symbols.code, call) == (by_numbers.code, same_call)
    variables, apply = in_linen(case)
    shapes = jax.eval_shape(lambda one: apply(one, mutable=["batch_stats"])[0], variables)
    check_shape(by_symbols.output, shapes, NAMES)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    "case",
    [*WRAPPERS, *(one for one in CELLS if "bfloat16" not in one.layer + one.call)],
    ids=lambda case: f"{case.layer}({case.call})",
)
def test_a_class_for_the_migrated_file_has_the_gradients_of_linen(case: Case, runtime: str) -> None:
    variables, apply = in_linen(case)
    found, call = by_table(case)
    nnx = RUNTIMES[runtime]
    if not found.helpers:
        pytest.skip("the class is one of NNX")
    model = construct(found, nnx)
    fill(model, variables, found.variables)

    def squares(output: Any) -> Any:
        return sum(jnp.sum(leaf.astype(jnp.float32) ** 2) for leaf in jax.tree.leaves(output))

    def of_linen(params: Any) -> Any:
        return squares(apply({**variables, "params": params}, mutable=["batch_stats"])[0])

    expected = jax.grad(of_linen)(variables["params"])
    gradients = nnx.grad(lambda one: squares(evaluate(f"one({call})", one=one)))(model)

    places = {place.linen: place.nnx for place in found.variables}
    for path, leaf in traverse_util.flatten_dict(expected, sep="/").items():
        gradient = gradients
        for part in places[f"params/{path}"].split("."):
            gradient = gradient[part]
        check_equal(gradient[...], leaf, 1e-5 if leaf.dtype == jnp.float32 else 1e-2)
