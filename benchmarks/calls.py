"""Calls of a compiled function with the model that it was called with before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.case import Case, of_flat
from benchmarks.linen_network import linen_model_of
from benchmarks.subjects import equinox_model_of, model_of, own_arrays, peers, variables_of
from benchmarks.timing import Alternative


class Planned(NamedTuple):
    """A case that is made only when it is its turn: models and compilation cost much.

    Attributes:
        name: What ``--only`` looks at.
        make: Returns the case.
    """

    name: str
    make: Callable[[], Case]


def waiting(acts: dict[str, Callable[[], Any]]) -> list[Alternative]:
    """Return alternatives whose result is waited for, untimed, after each call."""
    return [Alternative(name, act, finish=jax.block_until_ready) for name, act in acts.items()]


def call_cases(size: int) -> list[Planned]:
    """Return the cases for models with a number of Variables."""
    return [
        Planned("updating step", partial(_updating, size, donated=False)),
        Planned("updating step, donated", partial(_updating, size, donated=True)),
        Planned("jit_partial, updating step", partial(_partial, size, "jit_partial")),
        Planned("cached_partial, updating step", partial(_partial, size, "cached_partial")),
        Planned("read-only call", partial(_reading, size)),
        Planned("updating step and read-only call", partial(_updating_and_reading, size)),
        Planned("step through state and update", partial(_through_state, size)),
        Planned("call after train()/eval()", partial(_after_toggle, size)),
        Planned("train()/eval() and call", partial(_toggle_and_call, size)),
    ]


# -- functions of a model and float [] x; each returns something small to wait for ------------------


def updating_step(api: Any) -> Callable[[Any, Any], Any]:
    """Return a function that rewrites every Variable of a model."""

    def step(model: Any, x: Any) -> Any:
        for variable in variables_of(api, model):
            variable[...] = variable[...] + x
        return x + 1

    return step


def flat_step(values: list[Any], x: Any) -> Any:
    """Do what `updating_step` does, on the flat list."""
    return [value + x for value in values], x + 1


def reading(model: Any, x: Any) -> Any:
    """Read one Variable; the result depends on the mode of the first norm."""
    norm = model.stages[0].blocks[0].norm
    return x + norm.scale[...].sum() * (2 if norm.use_running_average else 1)


def flat_reading(values: list[Any], x: Any, running: bool = False) -> Any:
    """Do what `reading` does, on the flat list."""
    return x + values[0].sum() * (2 if running else 1)


def equinox_reading(model: Any, x: Any) -> Any:
    """Do what `reading` does, with equinox."""
    norm = model.blocks[0].norm
    return x + norm.scale.sum() * (2 if norm.use_running_average else 1)


def flat_loop(size: int, *, donated: bool = False) -> Callable[[], Any]:
    """Return the updating step of the floor: the values of a call go into the next one."""
    step = jax.jit(lambda values, x: flat_step(values, x), donate_argnums=(0,) if donated else ())
    values, x = own_arrays(size), jnp.ones(())

    def act() -> Any:
        nonlocal values
        values, result = step(values, x)
        return result

    return act


def _equinox_loop(size: int, *, donated: bool) -> Callable[[], Any]:
    def step(x: Any, model: Any) -> Any:
        return jax.tree.map(lambda leaf: leaf + x, model), x + 1

    call = eqx.filter_jit(step, donate="all-except-first" if donated else "none")
    model, x = equinox_model_of(size), jnp.ones(())

    def act() -> Any:
        nonlocal model
        model, result = call(x, model)
        return result

    return act


def _linen_loop(size: int, *, donated: bool) -> Callable[[], Any]:
    def step(variables: Any, x: Any) -> Any:
        return jax.tree.map(lambda leaf: leaf + x, variables), x + 1

    call = jax.jit(step, donate_argnums=(0,) if donated else ())
    (_, variables), x = linen_model_of(size), jnp.ones(())

    def act() -> Any:
        nonlocal variables
        variables, result = call(variables, x)
        return result

    return act


# -- the cases -----------------------------------------------------------------------------------------


def _updating(size: int, *, donated: bool) -> Case:
    x = jnp.ones(())

    def loop(api: Any) -> Callable[[], Any]:
        call = api.jit(updating_step(api), donate_argnums=(0,) if donated else None)
        return partial(call, model_of(api, size), x)

    acts = {label: loop(api) for label, api in peers("jit")}
    acts["linen"] = _linen_loop(size, donated=donated)
    acts["equinox"] = _equinox_loop(size, donated=donated)
    acts["flat"] = flat_loop(size, donated=donated)
    name = "updating step, donated" if donated else "updating step"
    return Case(name, waiting(acts), of_flat(1.1 if donated else 1.2))


def _partial(size: int, transform: str) -> Case:
    x = jnp.ones(())

    def loop(api: Any) -> Callable[[], Any]:
        step, model = updating_step(api), model_of(api, size)
        if transform == "jit_partial":
            # flax has it for structures that stay as they are only.
            return partial(api.jit_partial(step, model, graph_updates=False), x)
        return partial(api.cached_partial(api.jit(step), model), x)

    acts = {label: loop(api) for label, api in peers("jit", transform)}
    acts["flat"] = flat_loop(size)
    return Case(f"{transform}, updating step", waiting(acts), of_flat(1.05))


def _reading(size: int) -> Case:
    x = jnp.ones(())
    acts: dict[str, Callable[[], Any]] = {
        label: partial(api.jit(lambda model, x: reading(model, x)), model_of(api, size), x)
        for label, api in peers("jit")
    }
    network, variables = linen_model_of(size)
    linen = jax.jit(lambda variables, x: network.apply(variables, x, method="reading"))
    acts["linen"] = partial(linen, variables, x)
    equinox = eqx.filter_jit(lambda model, x: equinox_reading(model, x))
    acts["equinox"] = partial(equinox, equinox_model_of(size), x)
    acts["flat"] = partial(jax.jit(lambda vs, x: flat_reading(vs, x)), own_arrays(size), x)
    return Case("read-only call", waiting(acts), of_flat(1.1))


def _updating_and_reading(size: int) -> Case:
    """Time a loop that trains and evaluates: a call that writes, then one that reads, in turns."""
    x = jnp.ones(())

    def loop(api: Any) -> Callable[[], Any]:
        update, model = api.jit(updating_step(api)), model_of(api, size)
        read = api.jit(lambda model, x: reading(model, x))
        return lambda: (update(model, x), read(model, x))

    acts = {label: loop(api) for label, api in peers("jit")}
    acts["flat"] = _flat_updating_and_reading(size)
    return Case("updating step and read-only call", waiting(acts), of_flat(1.15))


def _flat_updating_and_reading(size: int) -> Callable[[], Any]:
    update = jax.jit(lambda values, x: flat_step(values, x))
    read = jax.jit(lambda values, x: flat_reading(values, x))
    values, x = own_arrays(size), jnp.ones(())

    def act() -> Any:
        nonlocal values
        values, result = update(values, x)
        return result, read(values, x)

    return act


def _through_state(size: int) -> Case:
    """Time a step over two models that goes through `state` and `update`, as an optimizer does."""
    x = jnp.ones(())

    def loop(api: Any) -> Callable[[], Any]:
        def step(model: Any, other: Any, x: Any) -> Any:
            for each in (model, other):
                api.update(each, jax.tree.map(lambda leaf: leaf + x, api.state(each)))
            return x + 1

        return partial(api.jit(step), model_of(api, size), model_of(api, size), x)

    acts = {label: loop(api) for label, api in peers("jit")}
    acts["flat"] = _flat_pair(size)
    return Case(
        "step through state and update", waiting(acts), of_flat(1.15 if size < 100 else 1.05)
    )


def _flat_pair(size: int) -> Callable[[], Any]:
    def step(values: list[Any], others: list[Any], x: Any) -> Any:
        return [value + x for value in values], [value + x for value in others], x + 1

    call = jax.jit(step)
    values, others, x = own_arrays(size), own_arrays(size), jnp.ones(())

    def act() -> Any:
        nonlocal values, others
        values, others, result = call(values, others, x)
        return result

    return act


class _Toggled:
    """A model that changes between train() and eval(), and the call; equinox has no such thing."""

    def __init__(self, api: Any, size: int) -> None:
        self.model = model_of(api, size)
        self.call: Any = api.jit(lambda model, x: reading(model, x))
        self.x = jnp.ones(())
        self.training = False

    def toggle(self) -> tuple[Any, ...]:
        self.training = not self.training
        if self.training:
            self.model.train()
        else:
            self.model.eval()
        return ()

    def run(self) -> Any:
        return self.call(self.model, self.x)

    def both(self) -> Any:
        self.toggle()
        return self.run()

    def warmed_up(self) -> tuple[Any, ...]:
        """Toggle, with the processor's caches as in a loop: the others' calls have emptied them."""
        for _ in range(3):
            jax.block_until_ready(self.both())
        return self.toggle()


class _FlatToggled(_Toggled):
    """The floor of it: a static argument changes."""

    def __init__(self, size: int) -> None:
        self.values, self.x = own_arrays(size), jnp.ones(())
        self.call = jax.jit(flat_reading, static_argnums=2)
        self.training = False

    def toggle(self) -> tuple[Any, ...]:
        self.training = not self.training
        return ()

    def run(self) -> Any:
        return self.call(self.values, self.x, not self.training)


def _toggled(size: int) -> dict[str, _Toggled]:
    found = {label: _Toggled(api, size) for label, api in peers("jit")}
    found["flat"] = _FlatToggled(size)
    for each in found.values():  # both modes are compiled before anything is timed
        each.both()
        each.both()
    return found


def _after_toggle(size: int) -> Case:
    """Time the call alone, not the train() or eval() before it."""
    alternatives = [
        Alternative(label, each.run, each.warmed_up) for label, each in _toggled(size).items()
    ]
    return Case("call after train()/eval()", alternatives, of_flat(3))


def _toggle_and_call(size: int) -> Case:
    """Time train() or eval() too, which walk through the modules; no goal is set for it."""
    acts: dict[str, Callable[[], Any]] = {
        label: each.both for label, each in _toggled(size).items()
    }
    return Case("train()/eval() and call", waiting(acts))
