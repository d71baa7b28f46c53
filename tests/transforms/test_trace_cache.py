"""An eager `scan`, `cond` and the like runs the user's function once, and again after any change of what it reads."""

from __future__ import annotations

import gc
import os
import types
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.transforms.calls import CALLS

RUNS = "TYPED_NNX_RUNS"
FACTOR: Any = 2.0
FACTORS = {"by": 2.0}
OFFSET: ContextVar[float] = ContextVar("OFFSET", default=0.0)
helpers = types.ModuleType("helpers")


def hit() -> None:
    """Count where no trace looks: a counter in a closure would be one more thing that it reads."""
    os.environ[RUNS] = str(int(os.environ[RUNS]) + 1)


@pytest.fixture(autouse=True)
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often the function has run since the last question."""
    monkeypatch.setenv(RUNS, "0")

    def count() -> int:
        found = int(os.environ[RUNS])
        os.environ[RUNS] = "0"
        return found

    return count


class Cell(nnx.Module):
    by = 2.0

    def __init__(self, weight: float = 1.0, act: Any = None) -> None:
        self.w = nnx.Param(jnp.array(weight))
        self.seen = nnx.BatchStat(jnp.array(0.0))
        self.act = act

    def __call__(self, x: Any) -> Any:
        hit()
        self.seen[...] += 1.0
        return self.w * x


X = jnp.array(3.0)
Body = Callable[[Any, Any], Any]
Run = Callable[[Body, Any], Any]


def at_x(name: str) -> Run:
    """Run a body once on a model and X, with functions that are defined anew at each call."""

    def run(body: Body, model: Any) -> Any:
        return CALLS[name](nnx, body, model, X)

    run.__name__ = name
    return run


def _cond_closing(body: Body, model: Any) -> Any:
    return nnx.cond(True, lambda x: body(model, x), lambda x: x * 0.0, X)


class _Recurrent(nnx.RNNCellBase):
    num_feature_axes = 1

    def __init__(self, model: Any, body: Body) -> None:
        self.model, self.body = model, body

    def initialize_carry(self, *_: Any, **__: Any) -> Any:
        return jnp.zeros(1)

    def __call__(self, carry: Any, x: Any) -> Any:
        return carry, self.body(self.model, x)


def _rnn(body: Body, model: Any) -> Any:
    return nnx.RNN(_Recurrent(model, body))(X[None, None, None])[0, 0, 0]


TRACED = ("scan", "remat", "cond", "switch", "while_loop", "fori_loop")
every = pytest.mark.parametrize(
    "run",
    [*map(at_x, TRACED), _cond_closing, _rnn],
    ids=lambda run: run.__name__.strip("_"),
)


def plain(model: Any, x: Any) -> Any:
    return model(x)


@every
def test_a_structure_of_another_kind_is_another_trace(run: Run, runs: Callable[[], int]) -> None:
    model = Cell(act=f"of another kind {run.__name__}")
    run(plain, model)
    model.more = nnx.Param(jnp.ones(2))  # type: ignore[attr-defined]  # another structure
    for _ in range(2):
        run(plain, model)
    assert runs() == 2
    model.act = f"of a third kind {run.__name__}"
    run(plain, model)
    assert runs() == 1


def by_global(model: Any, x: Any) -> Any:
    return model(x) * FACTOR


def _twice(x: Any) -> Any:
    return x * FACTOR


def by_helper(model: Any, x: Any) -> Any:
    return _twice(model(x))


def by_container(model: Any, x: Any) -> Any:
    return model(x) * FACTORS["by"]


def by_module(model: Any, x: Any) -> Any:
    return model(x) * helpers.FACTOR


def by_function_of_module(model: Any, x: Any) -> Any:
    return helpers.scaled(model(x))


def by_attribute_of_class(model: Any, x: Any) -> Any:
    return model(x) * model.by


class Times:
    @staticmethod
    def factor(x: Any) -> Any:
        return x * FACTOR


def through(kind: Any) -> Body:
    return lambda model, x: kind.factor(model(x))


class Scaling(Cell):
    def __call__(self, x: Any) -> Any:
        return super().__call__(x) * FACTOR


class Acting(Cell):
    def __call__(self, x: Any) -> Any:
        return self.act(super().__call__(x))


@pytest.fixture(autouse=True)
def _helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    exec("def scaled(x): return x * FACTOR", vars(helpers))
    monkeypatch.setattr(helpers, "FACTOR", 2.0, raising=False)


def set_global(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(globals(), "FACTOR", 5.0)


CHANGES: dict[str, tuple[Body, Callable[[], Any], Callable[[pytest.MonkeyPatch], None]]] = {
    "global": (by_global, Cell, set_global),
    "global_array": (by_global, Cell, lambda p: p.setitem(globals(), "FACTOR", jnp.array(5.0))),
    "global_of_a_helper": (by_helper, Cell, set_global),
    "helper": (by_helper, Cell, lambda p: p.setitem(globals(), "_twice", lambda x: x * 5.0)),
    "global_container": (by_container, Cell, lambda p: p.setitem(FACTORS, "by", 5.0)),
    "module": (by_module, Cell, lambda p: p.setattr(helpers, "FACTOR", 5.0)),
    "module_function": (by_function_of_module, Cell, lambda p: p.setattr(helpers, "FACTOR", 5.0)),
    "class": (by_attribute_of_class, Cell, lambda p: p.setattr(Cell, "by", 5.0)),
    "global_of_a_method": (plain, Scaling, set_global),
    "global_of_a_captured_class": (through(Times), Cell, set_global),
    "global_of_a_static_function": (plain, lambda: Acting(act=_twice), set_global),
    "method": (
        plain,
        Scaling,
        lambda p: p.setattr(Scaling, "__call__", lambda self, x: Cell.__call__(self, x) * 5.0),
    ),
}


@every
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_the_function_reads_is_seen(
    run: Run, change: str, runs: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    body, make, apply = CHANGES[change]
    model = make()
    before = [float(run(body, model)) for _ in range(2)]
    assert (before, runs()) == ([6.0, 6.0], 1)
    apply(monkeypatch)
    after = [float(run(body, model)) for _ in range(2)]
    assert (after, runs()) == ([15.0, 15.0], 1)


@every
@pytest.mark.parametrize("kind", [float, str, jnp.asarray], ids=["float", "static", "array"])
def test_another_value_in_a_closure_is_seen(run: Run, kind: Any, runs: Callable[[], int]) -> None:
    def scaled(factor: Any) -> Body:
        return lambda model, x: model(x) * (float(factor) if kind is str else factor)

    model = Cell()
    for number in (2.0, 5.0):
        body = scaled(kind(number))
        assert [float(run(body, model)) for _ in range(2)] == [3.0 * number] * 2
    assert runs() <= 4 if kind is jnp.asarray else 2


@every
def test_settings_and_context_variables_count(run: Run, runs: Callable[[], int]) -> None:
    def body(model: Any, x: Any) -> Any:
        return model(x) + OFFSET.get()

    model = Cell()
    for offset in (0.0, 1.0):
        token = OFFSET.set(offset)
        assert [float(run(body, model)) for _ in range(2)] == [3.0 + offset] * 2
        OFFSET.reset(token)
    assert runs() == 2
    with nnx.use_eager_sharding(False):
        run(plain, model)
    assert runs() == 1
    run(plain, model)
    assert runs() == 1


@every
def test_a_name_that_is_bound_anew_and_a_captured_dict_are_seen(run: Run) -> None:
    factor, more, model = jnp.array(2.0), {"by": 1.0}, Cell()

    def body(model: Any, x: Any) -> Any:
        return model(x) * factor * more["by"]

    assert float(run(body, model)) == 6.0
    factor = jnp.array(5.0)
    assert float(run(body, model)) == 15.0
    more["by"] = 2.0
    assert float(run(body, model)) == 30.0


def test_a_transformed_function_that_is_bound_anew_is_seen() -> None:
    doubles, halves = (nnx.jit(lambda x, by=by: x * by) for by in (2.0, 0.5))
    inner = doubles
    step = nnx.remat(lambda x: inner(x))
    assert [float(step(X)) for _ in range(2)] == [6.0, 6.0]
    inner = halves
    assert float(step(X)) == 1.5


@pytest.mark.parametrize("transform", [nnx.scan, nnx.remat])
def test_what_the_function_changes_itself_costs_no_trace(transform: Any) -> None:
    count = 0
    seen: list[None] = []

    @transform
    def step(carry: Any, x: Any) -> Any:
        nonlocal count
        count += 1
        seen.append(None)
        return carry, x

    for _ in range(3):
        step(jnp.array(0.0), jnp.ones(2))
    assert count == len(seen) == 1


SCALE = nnx.Param(jnp.array(1.0))


@every
def test_a_variable_that_is_a_global_is_read_as_it_is_now(run: Run) -> None:
    model = Cell()
    for value in (2.0, 3.0, 3.0, 4.0):
        SCALE[...] = jnp.array(value)
        assert float(run(lambda m, x: m(x) * SCALE[...], model)) == 3.0 * value


class Trainer:
    """An object of a class that is unknown here: it changes unseen."""

    def __init__(self) -> None:
        self.factor = np.ones((), np.float32)

    def __call__(self, model: Any, x: Any) -> Any:
        return model(x) * self.factor


TRAINER = Trainer()


@every
def test_an_object_that_cannot_be_watched_is_read_at_each_call(run: Run) -> None:
    trainer, model = TRAINER, Cell()
    for factor in (1.0, 2.0):
        trainer.factor[...] = factor
        for body in (trainer, lambda m, x: trainer(m, x), lambda m, x: TRAINER(m, x)):
            assert float(run(body, model)) == 3.0 * factor


@pytest.mark.thorough
@every
def test_nothing_of_a_call_is_kept(run: Run) -> None:
    def references() -> Iterator[Any]:
        scale = jnp.array(2.0)

        def body(model: Any, x: Any) -> Any:
            return model(x) * scale

        for function in (plain, body):
            model = Cell()
            run(function, model)
            yield from map(weakref.ref, (model, model.w, model.w.get_raw_value()))
        if run is not _rnn:  # there it is a static value of the model
            yield weakref.ref(body)

    found = list(references())
    for _ in range(3):  # what jax keeps for a function goes after the function
        gc.collect()
    assert [ref() for ref in found] == [None] * len(found)


def test_branches_that_do_not_match_are_an_error_at_each_call() -> None:
    model = Cell()
    for _ in range(2):
        with pytest.raises(nnx.errors.BranchMismatchError):
            nnx.cond(True, lambda m: m.w[...], lambda m: jnp.ones(2), model)


def test_gradients_and_jit_go_through_the_traces(runs: Callable[[], int]) -> None:
    def loss(model: Any) -> Any:
        return at_x("scan")(plain, model) + at_x("cond")(plain, model)

    model = Cell(act="through jit")
    for function in (loss, nnx.jit(loss), loss, nnx.jit(loss)):
        assert float(function(model)) == 6.0
    assert float(nnx.grad(loss)(model).w[...]) == 6.0
    assert float(model.seen[...]) == 10.0
    assert runs() == 2


def test_threads_use_the_objects_of_their_own_calls() -> None:
    models = [Cell(float(n)) for n in range(32)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda m: float(at_x("cond")(plain, m)), models))
    assert found == [3.0 * n for n in range(32)]
    assert [float(m.seen[...]) for m in models] == [1.0] * 32


@pytest.mark.parametrize("run", ["vmap", "grad"])
def test_vmap_and_grad_run_the_function_at_each_call_as_in_jax(
    run: str, runs: Callable[[], int]
) -> None:
    """Values that are not mapped or differentiated may decide what the function does."""

    def body(model: Any, x: Any, factor: Any) -> Any:
        return model(x) * (factor if factor > 1 else 0.0)

    transformed = {
        "vmap": nnx.vmap(body, in_axes=(None, None, None), axis_size=1),
        "grad": lambda *args: nnx.grad(body)(*args).w[...][None],
    }[run]
    assert [float(transformed(Cell(), X, jnp.array(f))[0]) for f in (2.0, 0.5)] == [6.0, 0.0]
    assert runs() == 2
