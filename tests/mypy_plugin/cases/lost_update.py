from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import optax
import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.scale = nnx.Param(jnp.ones(3))


def double(x: jax.Array) -> jax.Array:
    """Return twice a value."""
    y = x * 2
    return y.astype(x.dtype)


def shout(x: jax.Array) -> jax.Array:
    print(x)
    return x


class Box:
    seen: object = None


BOX = Box()


def stored(x: jax.Array) -> jax.Array:
    BOX.seen = x
    return x


def shouted(state: nnx.State) -> nnx.State:
    print(state)
    return state


model = Model(nnx.Rngs(0))


# -- reports
for _ in range(2):
    jax.tree.map(jnp.zeros_like, nnx.state(model))  # E: jax.tree.map: the result is a new copy of the State  [nnx-lost-update]


def discarded(model: Model) -> None:
    state = nnx.state(model)
    jax.tree.map(lambda x: x * 0.5, state)  # E: the model does not change. Fix: nnx.update(model, jax.tree.map(...))  [nnx-lost-update]
    jax.tree.map(jax.lax.stop_gradient, state)  # E: nothing uses it  [nnx-lost-update]
    state.map(lambda path, x: x * 2)  # E: State.map: the result is a new copy of the State  [nnx-lost-update] # E: [nnx-deprecated]
    jax.tree.map(double, state)  # E: nothing uses it  [nnx-lost-update]
    jax.tree_util.tree_map(jnp.abs, state)  # E: nothing uses it  [nnx-lost-update]
    jax.tree.map(lambda x: jnp.clip(x, 0, 1), model)  # E: new copy of Model and nothing uses it  [nnx-lost-update]
    nnx.map_state(lambda path, x: x * 2, state)  # E: map_state: the result is a new copy of the State  [nnx-lost-update]
    nnx.map(lambda path, x: x * 2, model)  # E: map: the result is a new copy of Model  [nnx-lost-update]
    nnx.filter_state(state, nnx.Param)  # E: filter_state: the result is a new copy  [nnx-lost-update]
    nnx.clone(model)  # E: clone: the result is a new copy of Model  [nnx-lost-update]
    state.filter(nnx.Param)  # E: State.filter: the result is a new copy  [nnx-lost-update] # E: [nnx-deprecated]
    if model.scale.shape:
        optax.apply_updates(state, state)  # E: optax.apply_updates: the result is a new copy of the State and nothing uses it  [nnx-lost-update]


def never_used(model: Model) -> None:
    state = nnx.state(model)
    state = jax.tree.map(lambda x: x * 0.5, state)  # E: `state` is not used after this; the model does not change. Fix: write it back, nnx.update(model, state)  [nnx-lost-update]


def another_name(model: Model) -> None:
    state = nnx.state(model, nnx.Param)
    halved = nnx.map_state(lambda path, x: x.at[0].set(0), state)  # E: `halved` is not used after this  [nnx-lost-update]
    nnx.update(model, state)


def in_a_loop(model: Model, batches: list[jax.Array]) -> None:
    for batch in batches:
        params = nnx.state(model, nnx.Param)
        params = jax.tree.map(lambda x, y: x - y, params, params)  # E: `params` is not used after this  [nnx-lost-update]


def in_a_branch(model: Model, is_hot: bool) -> None:
    _, params = nnx.split(model)
    try:
        if is_hot:
            params = jax.tree.map(jnp.zeros_like, params)  # E: `params` is not used after this  [nnx-lost-update]
    finally:
        print("done")


def optax_step(model: Model, grads: nnx.State) -> None:
    params = nnx.state(model, nnx.Param)
    transformation = optax.sgd(0.1)
    updates, _ = transformation.update(grads, transformation.init(params), params)
    params = optax.apply_updates(params, updates)  # E: `params` is not used after this  [nnx-lost-update]


def key_written(model: Model) -> None:
    state = nnx.state(model)
    state["scale"] = nnx.Param(jnp.zeros(3))  # E: puts a value into the State `state` only  [nnx-lost-update]


def keys_written(model: Model) -> None:
    _, params = nnx.split(model, nnx.Param)
    print(params["scale"].shape)
    for key in ("a", "b"):
        params[key] = nnx.Param(jnp.zeros(3))
    params["scale"] = params["scale"] * 2  # E: the model does not change  [nnx-lost-update]


# -- correct
jax.tree.map(print, nnx.state(model))
halved = jax.tree.map(lambda x: x * 0.5, nnx.state(model))


def written_back(model: Model) -> None:
    state = nnx.state(model)
    state = jax.tree.map(lambda x: x * 0.5, state)
    nnx.update(model, state)


def of_shapes(model: Model) -> None:
    shapes = jax.tree.map(jnp.shape, nnx.as_pure(nnx.state(model)))


def returned(model: Model) -> nnx.State:
    return jax.tree.map(lambda x: x * 0.5, nnx.state(model))


def has_effects(model: Model) -> None:
    state = nnx.state(model)
    jax.tree.map(shout, state)
    jax.tree.map(stored, state)
    jax.tree.map(double, state, is_leaf=lambda x: bool(print(x)))
    jax.tree.map(lambda x: x.block_until_ready(), state)
    found: list[jax.Array] = []
    jax.tree.map(lambda x: found.append(x), state)
    jax.tree.map(
        lambda v: v.set_value(v[...] * 2), nnx.state(model, nnx.Param), is_leaf=lambda v: isinstance(v, nnx.Variable)
    )


def no_state() -> None:
    weights = {"a": jnp.ones(3)}
    jax.tree.map(jnp.zeros_like, weights)


def used_in_closure(model: Model) -> nnx.State:
    state = nnx.state(model)

    def get() -> nnx.State:
        return state

    state = jax.tree.map(jnp.zeros_like, state)
    return get()


def used_by_next_turn(model: Model) -> None:
    state = nnx.state(model)
    for _ in range(3):
        nnx.update(model, state)
        state = jax.tree.map(lambda x: x * 0.5, state)


def used_by_next_condition(model: Model) -> None:
    state = nnx.state(model)
    turns = 0
    while turns < 3 and state:
        turns += 1
        state = jax.tree.map(jnp.zeros_like, state)


def used_by_next_turn_sometimes(model: Model) -> None:
    state = nnx.state(model)
    for turn in range(3):
        if turn == 0:
            state = nnx.state(model)
        nnx.update(model, state)
        state = jax.tree.map(lambda x: x * 0.5, state)


def used_by_next_turn_first(model: Model) -> None:
    state = nnx.state(model)
    for _ in range(3):
        state = nnx.merge_state(state, nnx.state(model))
        nnx.update(model, state)
        state = jax.tree.map(lambda x: x * 0.5, state)


def used_by_next_turn_of_copy(model: Model, steps: int) -> None:
    state = nnx.state(model)
    for _ in range(steps):
        state = shouted(state)
        state = jax.tree.map(lambda x: x * 0.5, state)


def used_in_handler(model: Model) -> None:
    state = nnx.state(model)
    try:
        state = jax.tree.map(lambda x: x * 0.5, state)
        raise ValueError
    except ValueError:
        nnx.update(model, state)


def used_in_finally(model: Model) -> None:
    state = nnx.state(model)
    try:
        state = jax.tree.map(lambda x: x * 0.5, state)
    finally:
        nnx.update(model, state)


def used_in_comprehension(model: Model) -> list[object]:
    state = nnx.state(model)
    state = jax.tree.map(lambda x: x * 0.5, state)
    return [state[key] for key in ("linear", "scale")]


def used_in_text(model: Model) -> str:
    state = nnx.state(model)
    state = jax.tree.map(lambda x: x * 0.5, state)
    return f"{state}"


def used_by_generator(model: Model) -> Iterator[nnx.State]:
    state = nnx.state(model)
    state = jax.tree.map(lambda x: x * 0.5, state)
    yield state


def deleted(model: Model) -> None:
    state = nnx.state(model)
    state = jax.tree.map(lambda x: x * 0.5, state)
    del state


def measured(model: Model) -> None:
    state = nnx.state(model)
    for _ in range(3):
        out = jax.tree.map(lambda x: x * 0.5, state)


def thrown_away_by_name(model: Model) -> None:
    _ = jax.tree.map(lambda x: x * 0.5, nnx.state(model))


def must_raise(model: Model) -> None:
    try:
        jax.tree.map(lambda x, y: x + y, nnx.state(model), {})
    except ValueError:
        print("as expected")


def must_raise_by_name(model: Model) -> None:
    try:
        state = jax.tree.map(lambda x, y: x + y, nnx.state(model), {})
    except ValueError:
        print("as expected")


def test_that_it_runs() -> None:
    nnx.clone(model)
    jax.tree.map(lambda x: x * 0.5, nnx.state(model))


def by_name_of_the_frame(model: Model) -> dict[str, object]:
    state = nnx.state(model)
    state = jax.tree.map(lambda x: x * 0.5, state)
    return locals()


kept = nnx.state(model)


def keeps_globally(model: Model) -> None:
    global kept
    kept = jax.tree.map(lambda x: x * 0.5, nnx.state(model))


def optax_written_back(model: Model) -> None:
    params = nnx.state(model, nnx.Param)
    params = optax.apply_updates(params, params)
    nnx.update(model, params)


def variable_written(model: Model) -> None:
    state = nnx.state(model)
    state["scale"][...] = jnp.zeros(3)


def key_written_back(model: Model) -> None:
    state = nnx.state(model)
    state["scale"] = nnx.Param(jnp.zeros(3))
    nnx.update(model, state)


def key_printed(model: Model) -> None:
    state = nnx.state(model)
    state["scale"] = nnx.Param(jnp.zeros(3))
    print(state["scale"])


def key_written_in_loop(model: Model) -> None:
    state = nnx.state(model)
    for turn in range(2):
        if turn:
            print(state["scale"])
        state["scale"] = nnx.Param(jnp.zeros(3))


def key_of_argument(state: nnx.State) -> None:
    state["scale"] = nnx.Param(jnp.zeros(3))


def key_in_closure(model: Model) -> object:
    state = nnx.state(model)

    def get() -> object:
        return state

    state["scale"] = nnx.Param(jnp.zeros(3))
    return get()


def key_of_alias(model: Model) -> None:
    state = nnx.state(model)
    same = state
    state["scale"] = nnx.Param(jnp.zeros(3))
    nnx.update(model, same)


def key_then_variable(model: Model) -> nnx.Param[jax.Array]:
    state = nnx.state(model)
    scale = nnx.Param(jnp.zeros(3))
    state["scale"] = scale
    state["scale"][...] = jnp.ones(3)
    return scale


# -- unsure
def any_function(model: Model, function: object, tree: object) -> None:
    jax.tree.map(function, nnx.state(model))  # type: ignore[arg-type]
    jax.tree.map(jnp.zeros_like, tree)


def unannotated(model):
    state = model.get_state()
    jax.tree.map(jnp.zeros_like, state)


# The cell of a notebook.
jax.tree.map(jnp.zeros_like, nnx.state(model))
