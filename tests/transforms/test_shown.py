"""What jax says about functions under our transforms: the user's function, line and parameters."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec

import typed_nnx as nnx
from tests.transforms.test_tracebacks import with_rule

X = jnp.ones((1, 2))


class Model(nnx.Module):
    """Layers below a list, and a flag."""

    def __init__(self, *, bias: bool = True) -> None:
        linear = nnx.Linear(2, 2, use_bias=bias, rngs=nnx.Rngs(0))
        self.layers = nnx.List([linear])
        self.flag = nnx.BatchStat(jnp.array(True))


def by_flag(model: Any, x: Any, train: Any) -> Any:
    """Branch on an argument."""
    return x if train else -x


def by_model(model: Any, x: Any, train: Any) -> Any:
    """Branch on a value of a Module."""
    return x if model.flag[...] else -x


def by_tree(model: Any, x: Any, train: Any) -> Any:
    """Branch on a value in a container."""
    return x if train["now"][0] else -x


def blocks(function: Any) -> Any:
    """Return the function over the blocks of one device."""
    mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    whole: Any = PartitionSpec()
    return nnx.shard_map(function, mesh=mesh, in_specs=whole, out_specs=whole, check_vma=False)


def scanned(function: Any) -> Any:
    """Return the function over slices."""
    axes = (None, 0, None)
    return nnx.scan(function, in_axes=axes, out_axes=0)


TRANSFORMS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "jit": nnx.jit,
    "jit without structure": lambda f: nnx.jit(f, graph_updates=False),
    "jit with shardings": lambda f: nnx.jit(f, in_shardings=None, out_shardings=None),
    "cached_partial": lambda f: lambda m, *args: nnx.cached_partial(nnx.jit(f), m)(*args),
    "lower": lambda f: lambda *args: nnx.jit(f).lower(*args),
    "scan": scanned,
    "remat": nnx.remat,
    "shard_map in jit": lambda f: nnx.jit(blocks(f)),
    "eval_shape": lambda f: lambda *args: nnx.eval_shape(f, *args),
    "make_jaxpr": nnx.make_jaxpr,
    "cond": lambda f: lambda *args: nnx.cond(True, f, f, *args),
    "switch": lambda f: lambda *args: nnx.switch(0, [f, f], *args),
    "vmap in jit": lambda f: nnx.jit(nnx.vmap(f, in_axes=(None, 0, None))),
    "grad in jit": lambda f: nnx.jit(nnx.grad(f)),
    "custom_vjp in jit": lambda f: nnx.jit(with_rule(nnx, f, f, f)),
}


def failure(run: Callable[..., Any], *args: Any) -> str:
    """Return what jax says about a branch on a traced value."""
    with pytest.raises(jax.errors.TracerBoolConversionError) as raised:
        run(*args)
    return str(raised.value)


def named_in(text: str) -> tuple[str, str, str]:
    """Return function, place and argument that a text of jax names."""
    found = re.search(r"tracing the function (\S+) at (\S+) for .*of the argument (\S+)\.\n", text)
    assert found is not None, text
    return found[1], found[2], found[3]


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize(
    ("function", "flag", "argument"),
    [
        (by_flag, jnp.array(True), "train"),
        (by_model, jnp.array(True), "model.flag"),
        (by_tree, {"now": [jnp.array(True)]}, "train['now'][0]"),
    ],
    ids=["an array", "a Module", "a dict"],
)
def test_jax_names_function_and_argument(
    name: str, function: Any, flag: Any, argument: str
) -> None:
    text = failure(TRANSFORMS[name](function), Model(), X, flag)
    own, place, named = named_in(text)
    assert own == function.__name__
    assert place == f"{__file__}:{function.__code__.co_firstlineno}"
    assert named == ("unknown" if "custom_vjp" in name else argument)  # jax drops its names there


def test_loops_name_the_parameters_of_their_functions() -> None:
    def condition(state: Any) -> Any:
        return state[0].flag[...] and True

    def body(state: Any) -> Any:
        return state

    def step(i: Any, state: Any) -> Any:
        return state if state["m"].flag[...] else None

    def counted(i: Any, state: Any) -> Any:
        return state if i else None

    text = failure(nnx.while_loop, condition, body, (Model(), X))
    assert named_in(text)[::2] == ("condition", "state[0].flag")
    text = failure(nnx.fori_loop, 0, 3, step, {"m": Model()})
    assert named_in(text)[::2] == ("step", "state.m.flag")
    assert named_in(failure(nnx.fori_loop, 0, 3, counted, X))[::2] == ("counted", "i")


def test_static_arguments_and_keywords_keep_the_names_in_step() -> None:
    def function(kind: str, model: Any, mode: str, *rest: Any, train: Any = None) -> Any:
        return rest[1] if train else rest[0]

    run = nnx.jit(function, static_argnums=(0, 2))
    flag = jnp.array(True)
    assert named_in(failure(lambda: run("a", Model(), "b", X, X, train=flag)))[2] == "train"

    def other(kind: str, model: Any, mode: str, *rest: Any) -> Any:
        return rest[1] if rest[1] else rest[0]

    other_run = nnx.jit(other, static_argnums=(0, 2))
    assert named_in(failure(lambda: other_run("a", Model(), "b", X, flag)))[2] == "rest[1]"


def test_methods_classes_and_closures_are_named() -> None:
    class Layer(nnx.Module):
        def __init__(self, flag: Any) -> None:
            self.flag = nnx.BatchStat(flag)
            if flag:
                self.more = 1

        @nnx.jit
        def __call__(self, x: Any) -> Any:
            return x if self.flag[...] else -x

    layer = Layer(jnp.array(True))
    assert named_in(failure(layer, X))[::2] == ("__call__", "self.flag")
    own, place, argument = named_in(failure(nnx.jit(Layer), jnp.array(True)))
    assert (own, argument) == ("Layer", "flag")
    assert place == f"{__file__}:{Layer.__init__.__code__.co_firstlineno}"

    def closed(x: Any) -> Any:
        return x if layer.flag[...] else -x

    assert "argument captured Layer.flag" in failure(nnx.jit(closed), X)


def test_a_name_is_never_that_of_another_structure() -> None:
    @nnx.jit
    def step(model: Any, x: Any) -> Any:
        if x.ndim == 2:
            return x
        return x if any(leaf.sum() for leaf in jax.tree.leaves(nnx.state(model))) else -x

    one, other = nnx.Dict(a=nnx.Param(1.0)), nnx.Dict(b=nnx.Param(1.0))
    step(one, X)
    step(other, X)
    assert named_in(failure(step, one, X[0]))[2] == "model[0]"


def test_a_compiled_program_names_its_inputs_and_the_lines_of_the_user() -> None:
    def forward(model: Any, x: Any) -> Any:
        return model.layers[0](x["image"])

    text = nnx.jit(forward).lower(Model(), {"image": X}).as_text(debug_info=True)
    for name in ("model.layers[0].kernel", "model.layers[0].bias", "x['image']"):
        assert f'"{name}"' in text
    assert "jit(forward)" in text
    assert "test_shown.py" in text
    assert "typed_nnx/" not in text.replace("site-packages", "").replace("tests", "")


def test_names_cost_no_trace() -> None:
    traces = []

    @nnx.jit
    def step(model: Any, x: Any) -> Any:
        traces.append(x.shape)
        return model.layers[0](x)

    for bias in (True, False, True):
        for x in (X, X[0], X):
            step(Model(bias=bias), x)
    assert len(traces) == 4
