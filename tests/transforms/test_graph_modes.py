"""What each combination of `graph=` and `graph_updates=` lets through, transform by transform."""

from __future__ import annotations

import contextlib
import threading

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P

from tests.core.libraries import both
from tests.transforms.library import nnx
from tests.transforms.modes import MODES, Before, all_modes, counter, fixed_modes, gradient, number
from typed_nnx.errors import SharedReferenceError, StructureChangedError

MESH = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


def with_rule(lib, f, **mode):
    made = lib.custom_vjp(f, **mode)
    made.defvjp(lambda *models: (f(*models), None), lambda *_: None)
    return made


def vjp(lib, f, model, **mode):
    return lib.vjp(lambda m: (m.w[...].sum(), f(m)), model, has_aux=True, **mode)[2]


def jvp(lib, f, model, **mode):
    ones = jax.tree.map(jnp.ones_like, model)
    return lib.jvp(lambda m: (m.w[...].sum(), f(m)), (model,), (ones,), has_aux=True, **mode)[2]


#: Transforms of a function of models; mapped ones take a model of size 3.
LIFTS = {
    "jit": lambda lib, f, **mode: lib.jit(f, **mode),
    "remat": lambda lib, f, **mode: lib.remat(f, **mode),
    "vmap": lambda lib, f, **mode: lib.vmap(f, **mode),
    "pmap": lambda lib, f, **mode: (
        lambda model: lib.pmap(lambda m, _: f(m), in_axes=(None, 0), **mode)(model, jnp.zeros(1))
    ),
    "scan": lambda lib, f, **mode: lib.scan(f, in_axes=0, out_axes=0, **mode),
    "shard_map": lambda lib, f, **mode: lib.shard_map(
        f, mesh=MESH, in_specs=P(), out_specs=P(), **mode
    ),
    "cond": lambda lib, f, **mode: lambda *models: lib.cond(True, f, f, *models, **mode),
    "switch": lambda lib, f, **mode: lambda *models: lib.switch(1, [f, f], *models, **mode),
    "checkify": lambda lib, f, **mode: lambda *models: lib.checkify(f, **mode)(*models)[1],
    "custom_vjp": with_rule,
    "grad": lambda lib, f, **mode: (
        lambda model: lib.grad(lambda m: (m.w[...].sum(), f(m)), has_aux=True, **mode)(model)[1]
    ),
    "vjp": lambda lib, f, **mode: lambda model: vjp(lib, f, model, **mode),
    "jvp": lambda lib, f, **mode: lambda model: jvp(lib, f, model, **mode),
    "eval_shape": lambda lib, f, **mode: lambda *models: lib.eval_shape(f, *models, **mode),
    "make_jaxpr": lambda lib, f, **mode: lib.make_jaxpr(f, **{"graph_updates": False, **mode}),
}
#: These compute nothing.
ABSTRACT = ("eval_shape", "make_jaxpr")


def lifts(names):
    return pytest.mark.parametrize("lift", [LIFTS[name] for name in names], ids=names)


every_lift = lifts(list(LIFTS))
every_run = lifts([name for name in LIFTS if name not in ABSTRACT])


def sized(lib):
    return counter(lib, 1.0, 2.0, 3.0, size=(3,))


def doubles(model):
    model.n[...] += 1
    model.w[...] *= 2
    return 0.0


@both
@all_modes
@every_run
def test_values_come_out_in_every_mode(lib, mode, lift):
    if lib is not nnx and not mode and lift in (LIFTS["vjp"], LIFTS["jvp"]):
        pytest.skip("NNX has neither where structures may change")
    model = sized(lib)
    weights, count = model.w, model.n
    lift(lib, doubles, **mode)(model)
    assert number(model.n) == [1.0, 1.0, 1.0]
    assert number(model.w) == [2.0, 4.0, 6.0]
    assert model.w is weights
    assert model.n is count


@both
@fixed_modes
@every_lift
def test_without_graph_updates_an_argument_may_not_be_returned(lib, mode, lift):
    model = sized(lib)
    before = Before(model)
    for part in (lambda model: model, lambda model: model.w):
        with pytest.raises(ValueError, match=r"\b[wn]\b"):
            lift(lib, part, **mode)(model)
    assert before.is_still_so()


@both
@lifts(["jit", "remat", "vmap", "scan", "cond", "checkify"])
def test_a_model_may_be_two_arguments(lib, lift):
    model = sized(lib)

    def step(a, b):
        assert a is b
        b.n[...] += 1
        return 0.0

    for mode in ({}, MODES["no_updates"]):
        lift(lib, step, **mode)(model, model)
    assert number(model.n) == [2.0] * 3
    with pytest.raises(ValueError, match=r"(?ms)(\[0\]|^ +a$).*(\[1\]|^ +b$)"):
        lift(lib, step, graph=False)(model, model)


@both
@all_modes
@lifts(["jit", "remat", "eval_shape"])
@pytest.mark.parametrize("value", ["text", object(), lambda: 0], ids=["str", "object", "function"])
def test_values_that_are_no_arrays_are_errors(lib, mode, lift, value):
    with pytest.raises(TypeError):
        lift(lib, lambda x: 0, **mode)(value)
    with pytest.raises(TypeError, match="not a valid JAX type"):
        lift(lib, lambda: value, **mode)()


@both
@every_lift
def test_in_tree_mode_a_new_module_may_not_be_returned_twice(lib, lift):
    def inside(model):
        made = counter(lib, 7.0)
        return [made, made]

    with pytest.raises(ValueError, match=r"(?s)Duplicate.*paths.*0.*1"):
        lift(lib, inside, graph=False)(sized(lib))


@lifts(["jit", "remat", "cond", "checkify", "eval_shape"])
def test_tree_mode_takes_no_object_that_is_no_pytree(lift):
    class Apart(nnx.Pytree, pytree=False):  # type: ignore[call-arg]  # not known to checkers
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones(3))

    with pytest.raises(nnx.errors.GraphError, match="pytree=False"):
        lift(nnx, lambda model: model.w[...], graph=False)(Apart())


@both
@every_run
def test_tree_mode_never_allows_graph_updates(lib, lift):
    model = sized(lib)
    before = Before(model)

    def inside(model):
        model.mode = "trained"
        return 0.0

    with contextlib.suppress(ValueError):
        lift(lib, inside, graph=False, graph_updates=True)(model)
    assert before.is_still_so()


WRAPPERS = (
    "checkify",
    "custom_vjp",
    "grad",
    "jit",
    "make_jaxpr",
    "pmap",
    "remat",
    "scan",
    "shard_map",
)


@pytest.mark.parametrize("name", [*WRAPPERS, "value_and_grad", "vmap"])
def test_a_transformed_function_keeps_the_names_of_the_function(name):
    def step(model):
        """Say what it does."""
        return model

    options = {"mesh": MESH, "in_specs": P(), "out_specs": P()} if name == "shard_map" else {}
    wrapped = getattr(nnx, name)(step, **options)
    assert (wrapped.__name__, wrapped.__doc__) == ("step", "Say what it does.")
    assert (wrapped.__wrapped__, wrapped.__module__) == (step, step.__module__)


# -- gradients -------------------------------------------------------------------------------------


def squares(model):
    return jnp.square(model.w[...]).sum()


@both
@all_modes
def test_an_integer_variable_is_passed_over_with_graph_updates_only(lib, mode):
    model = counter(lib, 1.0, 2.0)
    model.steps = lib.Variable(jnp.array(0, jnp.int32))
    if not mode:
        assert gradient(lib.grad(squares)(model), "w") == [2.0, 4.0]
        return
    with pytest.raises(TypeError, match="real- or complex-valued"):
        lib.grad(squares, **mode)(model)


# -- setting a mode --------------------------------------------------------------------------------


def marks(model):
    model.mode = "trained"


def is_marked(call, model):
    with contextlib.suppress(ValueError):
        call(model)
    return hasattr(model, "mode")


@both
def test_a_mode_counts_where_a_function_is_transformed_not_where_it_is_called(lib):
    outside = lib.jit(marks)
    with lib.set_graph_updates(False):
        inside = lib.jit(marks)
        assert is_marked(outside, counter(lib))
    assert not is_marked(inside, counter(lib))
    with lib.set_graph_mode(False):
        assert not is_marked(lib.jit(marks), counter(lib))


@both
def test_a_call_of_cond_takes_the_mode_that_is_set(lib):
    def run(model):
        lib.cond(True, marks, marks, model)

    assert is_marked(run, counter(lib))
    with lib.set_graph_updates(False):
        assert not is_marked(run, counter(lib))


@both
def test_an_argument_counts_more_than_the_mode_that_is_set(lib):
    model = counter(lib)
    with lib.set_graph_mode(False):
        assert type(lib.grad(squares)(model)) is type(model)
        assert type(lib.grad(squares, graph=True)(model)) is lib.State
    with lib.set_graph_updates(False):
        assert type(lib.grad(squares)(model)) is type(model)
        assert type(lib.grad(squares, graph_updates=True)(model)) is lib.State


@both
def test_a_block_restores_the_mode_and_other_threads_keep_theirs(lib):
    seen = []

    def look():
        seen.append(lib.set_graph_mode.current_value())

    def fails():
        with lib.set_graph_mode(False):
            look()
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    look()
    assert seen == [False, True, True]


@both
def test_an_inner_transform_has_its_own_mode(lib):
    seen = []

    def outer(model, **mode):
        lib.jit(marks, **mode)(model)
        seen.append(hasattr(model, "mode"))

    model = counter(lib)
    lib.jit(outer)(model)
    assert seen == [True]
    assert model.mode == "trained"
    is_marked(lib.jit(lambda model: outer(model), **MODES["no_updates"]), counter(lib))
    assert seen == [True, True]


# -- errors without graph updates ------------------------------------------------------------------


def adds(model):
    model.z = nnx.Variable(model.w[...] * 3)


def removes(model):
    del model.n


def sets(model):
    model.mode = "trained"


def replaces(model):
    model.n = nnx.Variable(model.n[...])


def exchanges(model):
    model.n = nnx.Param(model.n[...])


@fixed_modes
@every_lift
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (adds, r"inner\.z was added"),
        (removes, r"inner\.n was removed"),
        (sets, r"inner\.mode was added .*'trained'"),
        (replaces, r"inner\.n"),
        (exchanges, r"inner\.n was a Variable, is a Param"),
    ],
    ids=["adds", "removes", "sets", "replaces", "exchanges"],
)
def test_the_error_names_what_changed_and_where(mode, lift, change, message):
    inner = sized(nnx)
    model = nnx.Dict(inner=inner, w=nnx.Param(jnp.ones(3)))
    before = Before(inner)

    def inside(model):
        change(model.inner)
        return 0.0

    with pytest.raises(StructureChangedError, match=rf"(?s){message}.*Fix:"):
        lift(nnx, inside, **mode)(model)
    assert before.is_still_so()


@every_lift
def test_in_tree_mode_the_error_names_both_paths(lift):
    model = sized(nnx)
    pair = nnx.Dict(first=model, second=model, w=model.w)
    with pytest.raises(SharedReferenceError, match=r"(?s)first.*second.*Fix:"):
        lift(nnx, lambda pair: 0.0, graph=False)(pair)


@fixed_modes
@every_run
def test_a_structure_that_is_as_it_was_at_the_end_is_no_change(mode, lift):
    model = sized(nnx)

    def inside(model):
        model.helper = nnx.Variable(model.w[...] * 2)
        model.n[...] += model.helper[...]
        del model.helper
        return 0.0

    lift(nnx, inside, **mode)(model)
    assert number(model.n) == [2.0, 4.0, 6.0]


@fixed_modes
def test_a_plain_array_is_a_value_and_not_structure(mode):
    model = counter(nnx)
    model.plain = nnx.data(jnp.zeros(2))

    @nnx.jit(**mode)
    def inside(model):
        model.plain = model.plain + 1

    inside(model)
    assert number(model.plain) == [1.0, 1.0]
