"""`tabulate` with models and arguments of all kinds; what it leaves as it was; its errors and layout."""

from __future__ import annotations

import sys
import threading
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import typed_nnx as nnx
from tests.summary import models
from tests.summary.tables import Parsed, Terminal, parse
from typed_nnx.errors import MethodNotFoundError
from typed_nnx.summary import CallInfo, filter_rng_streams, tabulate

PLAIN: dict[str, Any] = {"console_kwargs": {"width": 300}}
COSTS: dict[str, Any] = {"compute_flops": True, "compute_vjp_flops": True}


def x() -> jax.Array:
    return jnp.ones((2, 4))


def shape(*sizes: int, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(sizes, dtype)


class Dense(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.ones((4, 4)))

    def __call__(self, x: jax.Array) -> jax.Array:
        return lax.dot(x, self.kernel[...])


def table(obj: Any, *args: Any, **options: Any) -> Parsed:
    return parse(tabulate(obj, *args, **{**PLAIN, **options}))


# -- what can be tabulated ---------------------------------------------------------------------


def test_shapes_stand_for_the_model_and_its_inputs() -> None:
    class Huge(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.zeros((1 << 20, 1 << 20)))

        def __call__(self, x: jax.Array, *, more: Any = None) -> jax.Array:
            return lax.dot(x, self.w[...])

    found = table(nnx.eval_shape(Huge), shape(3, 1 << 20), more=[shape(2)], compute_flops=True)
    assert found.column("outputs") == ["float32[3,1048576]"]
    assert found.column("inputs") == ["- float32[3,1048576]|more:|- float32[2]"]
    assert found.column("flops") == [str(2 * 3 * (1 << 40))]
    assert found.caption == "Total Parameters: 1,099,511,627,776 (4,398.0 GB)"


def test_a_jitted_method_shows_the_calls_in_it_each_time() -> None:
    class Jitted(nnx.Module):
        def __init__(self) -> None:
            self.dense = Dense()

        @nnx.jit
        def __call__(self, x: jax.Array) -> jax.Array:
            return self.dense(x)

    model = Jitted()
    model(x())
    for _ in range(2):
        assert table(model, x(), **COSTS).column("path") == ["", "dense"]


def test_modules_are_arguments_and_results() -> None:
    class Takes(nnx.Module):
        def __init__(self) -> None:
            self.dense = Dense()

        def __call__(self, other: Dense, x: jax.Array) -> tuple[Dense, jax.Array]:
            return other, self.dense(other(x))

    for model, other in [(Takes(), Dense()), ((shared := Takes()), shared.dense)]:
        found = table(model, other, x(), compute_flops=True)
        assert found.column("inputs")[0] == "- Dense|- float32[2,4]"
        assert found.column("outputs")[0] == "- kernel:|    value: float32[4,4]|- float32[2,4]"
        assert found.column("path") == ["", "dense"]


def test_variables_and_states_are_arguments() -> None:
    class Uses(nnx.Module):
        def __init__(self) -> None:
            self.dense = Dense()

        def __call__(self, kernel: Any, state: Any, x: jax.Array) -> jax.Array:
            assert kernel is self.dense.kernel
            return lax.dot(x, kernel[...] + state["dense"]["kernel"][...])

    model = Uses()
    found = table(model, model.dense.kernel, nnx.state(model), x(), compute_flops=True)
    inputs = "- float32[4,4]|- dense:|    kernel: float32[4,4]|- float32[2,4]"
    assert found.column("inputs") == [inputs]


def test_a_cycle_ends() -> None:
    class Cycle(nnx.Module):
        def __init__(self) -> None:
            self.dense, self.me = Dense(), self

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.me.dense(x)

    assert table(Cycle(), x(), compute_flops=True).column("path") == ["", "dense"]


def test_objects_that_are_no_pytrees_are_tabulated() -> None:
    class Plain(nnx.Object):
        def __init__(self) -> None:
            self.layers = [Dense(), Dense()]

        def __call__(self, x: jax.Array) -> jax.Array:
            for layer in self.layers:
                x = layer(x)
            return x

    assert table(Plain(), x()).column("path") == ["", "layers/0", "layers/1"]


def test_layers_made_in_the_call_and_functions_of_the_class_have_no_rows() -> None:
    class Makes(nnx.Module):
        def __init__(self) -> None:
            self.dense = Dense()

        @staticmethod
        def double(x: jax.Array) -> jax.Array:
            return 2 * x

        @classmethod
        def triple(cls, x: jax.Array) -> jax.Array:
            return 3 * x

        @property
        def half(self) -> float:
            return 0.5

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.double(self.triple(Dense()(self.dense(x)))) * self.half

    assert table(Makes(), x()).column("path") == ["", "dense"]


def test_a_method_of_a_base_that_is_called_by_super_is_no_row_of_its_own() -> None:
    class Derived(Dense):
        def __call__(self, x: jax.Array) -> jax.Array:
            return super().__call__(x) + 1

    class Pair(nnx.Module):
        def __init__(self) -> None:
            self.a, self.b = Dense(), Derived()

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.b(self.a(x))

    assert table(Pair(), x()).column("type") == ["Pair", "Dense", "Derived"]


def test_values_that_are_no_arrays_and_results_that_are_no_floats() -> None:
    class Odd(nnx.Module):
        def __init__(self) -> None:
            self.rate, self.none, self.name = nnx.Param(3.0), nnx.Param(None), nnx.Variable("s")
            self.w, self.options = nnx.Param(jnp.ones((4, 4))), nnx.static({"a": [1]})

        def __call__(self, x: jax.Array, function: Any) -> Any:
            y = function(lax.dot(x, self.w[...]) * self.rate[...])
            return y, y.argmax(), jax.random.key(0), None, 3, "text"

    found = table(Odd(), x(), jnp.tanh, **COSTS)
    outputs = "- float32[2,4]|- int32[]|- key<fry>[]|- None|- int32[]|- text"
    assert found.column("outputs") == [outputs]
    assert found.column("inputs") == ["- float32[2,4]|- tanh"]
    assert found.column("Param") == ["w: float32[4,4]||16 (64 B)"]


@pytest.mark.thorough
def test_a_row_filter_sees_everything_about_a_call() -> None:
    net = models.net(nnx)
    seen: list[CallInfo] = []

    def look(row: CallInfo) -> bool:
        seen.append(row)
        return True

    table(net, x(), row_filter=look, **COSTS)
    assert [row.call_order for row in seen] == list(range(len(seen)))
    block = next(row for row in seen if row.path == ("block",))
    assert block.object_id == id(net.block)
    assert block.type is type(net.block)
    assert block.inputs_repr == "float32[2,4]"
    assert str(block.outputs) == "float32[2,8]"
    assert block.flops is not None
    assert block.vjp_flops is not None
    assert block.vjp_flops > block.flops > 0
    streams = [row for row in seen if not filter_rng_streams(row)]
    assert [row.path for row in streams] == [("block", "noise", "rngs")]


# -- what stays as it was ----------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("options", [{}, COSTS], ids=["shapes", "costs"])
def test_the_model_and_its_classes_stay_as_they_were(options: Any) -> None:
    for model in (models.net(nnx), models.sowing(nnx), models.drawing(nnx), models.tied(nnx)):
        graphdef, state = nnx.split(model)
        before = jax.tree.leaves(state)
        classes = {type(module) for _, module in nnx.iter_modules(model)}
        methods = {cls: dict(vars(cls)) for cls in classes}
        with jax.checking_leaks():
            tabulate(model, x(), **options)
        assert nnx.graphdef(model) == graphdef
        after = jax.tree.leaves(nnx.state(model))
        assert all(a is b for a, b in zip(before, after, strict=True))
        assert {cls: dict(vars(cls)) for cls in classes} == methods


def test_nothing_is_computed() -> None:
    class Sees(nnx.Module):
        def __call__(self, x: jax.Array) -> jax.Array:
            assert isinstance(x, jax.core.Tracer)
            return x

    assert table(Sees(), x()).column("outputs") == ["float32[2,4]"]


def test_an_error_in_the_model_comes_out_and_leaves_everything_as_it_was() -> None:
    class Fails(nnx.Module):
        def __init__(self) -> None:
            self.dense = Dense()

        def __call__(self, x: jax.Array) -> jax.Array:
            self.dense(x)
            raise RuntimeError("stop")

    Dense()  # the first one notes what its class declares
    before = dict(vars(Dense))
    with pytest.raises(RuntimeError, match="stop"):
        tabulate(Fails(), x())
    assert dict(vars(Dense)) == before
    assert table(Dense(), x()).column("path") == [""]


def test_a_table_can_be_made_inside_a_model_that_is_tabulated_and_inside_jit() -> None:
    inner: list[str] = []

    class Nested(nnx.Module):
        def __init__(self) -> None:
            self.dense = Dense()

        def __call__(self, x: jax.Array) -> jax.Array:
            inner.append(tabulate(Dense(), x, **PLAIN))
            return self.dense(x)

    assert table(Nested(), x()).column("path") == ["", "dense"]
    assert parse(inner[0]).column("path") == [""]
    jax.jit(lambda x: inner.append(tabulate(Dense(), x, **PLAIN)))(x())
    assert inner[-1] == inner[0]


def test_other_threads_use_the_classes_meanwhile() -> None:
    tables: list[str] = []

    def work() -> None:
        for _ in range(5):
            Dense()(x())
            tables.append(tabulate(models.twice(nnx), x(), **PLAIN))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tables) == 15
    assert len(set(tables)) == 1


# -- errors ------------------------------------------------------------------------------------


def test_a_method_must_exist() -> None:
    with pytest.raises(MethodNotFoundError, match="its methods are __call__, double, encode"):
        tabulate(models.net(nnx), x(), method="decode")
    with pytest.raises(MethodNotFoundError, match="'__call__'"):
        tabulate(nnx.List([]))


def test_wrong_arguments_are_the_error_of_the_method() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        tabulate(Dense())


# -- layout ------------------------------------------------------------------------------------


def test_a_table_that_is_not_for_a_terminal_is_plain_and_as_wide_as_it_must_be() -> None:
    text = tabulate(models.kinds(nnx), x())
    assert "\x1b" not in text
    assert text == tabulate(models.kinds(nnx), x(), console_kwargs={"width": 1000}) or (
        max(map(len, text.splitlines())) > 80
    )
    assert parse(text)[1:] == table(models.kinds(nnx), x())[1:]


def test_a_table_for_a_terminal_has_colours_unless_they_are_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in tabulate(Dense(), x())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in tabulate(Dense(), x())


def test_options_reach_the_table_its_columns_and_the_console() -> None:
    text = tabulate(
        Dense(), x(),
        table_kwargs={"title": "Mine", "show_lines": False},
        column_kwargs={"justify": "right", "min_width": 20},
        console_kwargs={"width": 200, "force_terminal": True},
    )  # fmt: skip
    assert "Mine" in text
    assert "Summary" not in text
    assert "\x1b[" in text
    assert text.count("├") == 1  # above the total
    assert max(len(line) for line in text.splitlines()) >= 5 * 20
