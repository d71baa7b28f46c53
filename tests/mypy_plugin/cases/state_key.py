from __future__ import annotations

import dataclasses
from typing import Any

import jax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(2, 3, rngs=rngs)])
        self.named = nnx.Dict(a=nnx.Linear(2, 3, rngs=rngs))
        self.pair = nnx.data((nnx.Param(jax.numpy.ones(3)), nnx.Param(jax.numpy.ones(3))))


class Child(Model):
    def __init__(self, rngs: nnx.Rngs) -> None:
        super().__init__(rngs)
        self.head = nnx.Linear(2, 3, rngs=rngs)


class Sows(nnx.Module):
    def __call__(self, x: jax.Array) -> jax.Array:
        self.sow(nnx.Intermediate, "features", x)
        return x


class Recording(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        y = self.perturb("hidden", self.linear(x))
        self.sow(nnx.Intermediate, "features", y)
        return y


class SowsByName(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)

    def __call__(self, x: jax.Array, name: str) -> jax.Array:
        self.sow(nnx.Intermediate, name, x)
        return x


class Changed(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)


class Dynamic(nnx.Module):
    def __init__(self, names: list[str], rngs: nnx.Rngs) -> None:
        for name in names:
            setattr(self, name, nnx.Linear(2, 3, rngs=rngs))


@dataclasses.dataclass(frozen=True)
class Config:
    size: int = 2


class Configured(nnx.Module):
    def __init__(self, config: Config, rngs: nnx.Rngs) -> None:
        self.config = config
        self.linear = nnx.Linear(config.size, 3, rngs=rngs)


def is_on(path: tuple[str, ...]) -> bool:
    return "krnel" in path  # is no test of a State


model = Model(nnx.Rngs(0))
child = Child(nnx.Rngs(0))
state = nnx.state(model)
recorded = nnx.state(Recording(nnx.Rngs(0)))

# -- reports
# E: State of Model has no key 'linaer'; its keys are: linear, layers, named, pair. Fix: did you mean 'linear'?  [nnx-state-key]
state.linaer
# E: State of Recording has no key 'linaer'; its keys are: linear, hidden, features. Fix: did you mean 'linear'?  [nnx-state-key]
recorded.linaer
nnx.state(Configured(Config(), nnx.Rngs(0))).lin  # E: its keys are: linear. Fix  [nnx-state-key]
state["linaer"]  # E: did you mean 'linear'?  [nnx-state-key]
state.linear.weight  # E: State of Linear has no key 'weight'  [nnx-state-key]
state["linear"]["weight"]  # E: has no key 'weight'  [nnx-state-key]
state.layers["0"]  # E: its keys are of type int. Fix: index it with 0  [nnx-state-key]
state.layers.first  # E: its keys are of type int. Fix: index it with a number  [nnx-state-key]
state.layers[0].weight  # E: State of Linear has no key 'weight'  [nnx-state-key]
state["named"][0]  # E: its keys are of type str. Fix: index it with '0'  [nnx-state-key]
state["pair"][2]  # E: its keys are: 0, 1  [nnx-state-key]
nnx.state(model, nnx.Param).liner  # E: did you mean 'linear'?  [nnx-state-key]
_, params, rest = nnx.split(model, nnx.Param, ...)
params["hidden"]  # E: State of Model has no key 'hidden'  [nnx-state-key]
params["linear"]["krnel"]  # E: did you mean 'kernel'?  [nnx-state-key]
state.head  # E: State of Model has no key 'head'  [nnx-state-key]
nnx.state(child).heda  # E: did you mean 'head'?  [nnx-state-key]
doubled = jax.tree.map(lambda leaf: leaf * 2, params)
for each in range(2):
    doubled = jax.tree.map(jax.numpy.add, doubled, params)
doubled.linaer  # E: did you mean 'linear'?  [nnx-state-key]


def in_a_loop(steps: int) -> None:
    _, current, others = nnx.split(model, nnx.Param, ...)
    for _step in range(steps):
        current = jax.tree.map(lambda leaf: leaf * 2, current)
    print(others["hidn"])  # E: has no key 'hidn'  [nnx-state-key]


def loss_of(model: Model, x: jax.Array) -> jax.Array:
    return model.linear(x).sum()


def loss_of_child(child: Child, x: jax.Array) -> jax.Array:
    return child.head(x).sum()


def step(model: Model, optimizer: nnx.Optimizer[Model], x: jax.Array) -> None:
    grads = nnx.grad(loss_of)(model, x)
    grads.linaer  # E: did you mean 'linear'?  [nnx-state-key]
    loss, of_loss = nnx.value_and_grad(loss_of)(model, x)
    of_loss.layers[0].kernal  # E: did you mean 'kernel'?  [nnx-state-key]
    optimizer.update(model, grads)


def declared(state: nnx.State[str, Any, Model, Any]) -> None:
    state["linaer"]  # E typed_nnx: did you mean 'linear'?  [nnx-state-key]


def in_a_row() -> None:
    for each in (state.linear, state.layers[0]):
        each.weight  # E: State of Linear has no key 'weight'  [nnx-state-key]

# What a function without annotations gives an optimizer has no keys.
def unannotated(model, optimizer, x):
    grads = nnx.grad(lambda m: m.linear(x).sum())(model)
    optimizer.update(model, grads)


def of_made_models() -> None:
    _, abstract = nnx.split(nnx.eval_shape(lambda: Model(nnx.Rngs(0))))
    abstract.liner  # E: did you mean 'linear'?  [nnx-state-key]
    new, other = Changed(nnx.Rngs(0)), Changed(nnx.Rngs(1))
    nnx.state(new).later  # E: State of Changed has no key 'later'  [nnx-state-key]
    nnx.state(Changed(nnx.Rngs(0))).later  # E: State of Changed has no key 'later'  [nnx-state-key]
    other.later = nnx.Linear(2, 3, rngs=nnx.Rngs(0))  # type: ignore[attr-defined]


def of_pairs(model: Model) -> None:
    pair = (nnx.state(model), nnx.graphdef(model))
    pair[0].liner  # E: did you mean 'linear'?  [nnx-state-key]
    both = nnx.split(model)
    both[1].liner  # E: did you mean 'linear'?  [nnx-state-key]


# -- correct
state.linear.kernel
state["layers"][0].kernel
state["named"]["a"].kernel
state["named"].a
state["pair"][1]
nnx.state(child).linear
nnx.state(child)["head"]["kernel"]
state.get("nothing")
state.pop("linear", None)
features = nnx.state(Sows())
print(recorded.features, recorded.hidden, recorded.linear.kernel)
print(nnx.state(SowsByName(nnx.Rngs(0))).anything)
print(features.split)


def added_keys() -> None:
    grown = nnx.state(model)
    grown["extra"] = jax.numpy.ones(3)
    grown.more = jax.numpy.ones(3)
    print(grown["extra"], grown.more, grown["more"])


def tested_keys() -> None:
    tested = nnx.state(model)
    if "bonus" in tested:
        print(tested["bonus"])
    try:
        print(tested["missing"])
    except KeyError:
        pass
    if hasattr(tested, "gone"):
        print(tested.gone)


def one_variable_for_two() -> None:
    shared = nnx.state(model)
    print(shared.linear)
    shared = nnx.state(child)
    print(shared.head)


def one_of_two(flag: bool) -> None:
    either = nnx.state(model) if flag else nnx.state(child)
    if not flag:
        print(either.head)
    for each, name in zip([nnx.state(model), nnx.state(child)], ["linear", "head"]):
        print(each[name], each.linear)
    both = [nnx.state(model), nnx.state(child)]
    print(both[1].head)


def gradients_of_two(flag: bool, x: jax.Array) -> None:
    grads = nnx.grad(loss_of)(model, x)
    grads.linear.kernel
    if flag:
        grads = nnx.grad(loss_of_child)(child, x)
    grads.head


def computed_keys() -> None:
    filled = nnx.state(model)
    for name in ("one", "two"):
        filled[name] = jax.numpy.ones(3)
    print(filled["one"])


class Trainer:
    def __init__(self) -> None:
        self.state = nnx.state(model)

    def change(self) -> None:
        self.state = nnx.state(child)

    def use(self) -> Any:
        return self.state["head"]


class Named(nnx.Module):
    norm: nnx.Module | None = None

    def __init__(self) -> None:
        self.__own = nnx.Param(jax.numpy.zeros(1))


class WithNorm(Named):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nnx.LayerNorm(2, rngs=nnx.Rngs(0))


@dataclasses.dataclass(frozen=True)
class Frozen(nnx.Pytree):
    array: jax.Array
    size: int = nnx.static(default=1)


class Holder(nnx.Module):
    def __init__(self, model: Model, cell: nnx.RNNCellBase) -> None:
        self.model = model
        self.cell = cell


nnx.state(WithNorm()).norm.scale
nnx.state(WithNorm())["_Named__own"]
nnx.state(Frozen(jax.numpy.zeros(2))).array
holder = Holder(child, nnx.LSTMCell(2, 2, rngs=nnx.Rngs(0)))
nnx.state(holder).model.head.kernel
nnx.state(holder).cell.ii.kernel


def of_child(given: Model) -> None:
    nnx.state(given).head.kernel


of_child(child)
child.later = nnx.Param(jax.numpy.zeros(1))  # type: ignore[attr-defined]
nnx.state(child).later


# -- unsure
for part in (state.linear, nnx.state(child)):
    part.weight
for part in (state.linear, *state.values()):
    part.weight
nnx.pop(Sows(), nnx.Intermediate)["features"]
nnx.state(Dynamic(["a"], nnx.Rngs(0))).a
nnx.state(nnx.Rngs(0))["default"]


def unknown(some: nnx.Module, given: nnx.State, anything: Any, key: str) -> None:
    print(nnx.state(some)["x"], given["x"], given.y, nnx.state(anything).x, state[key])


def of_changed_models() -> None:
    changed = Changed(nnx.Rngs(0))
    changed.later = nnx.Linear(2, 3, rngs=nnx.Rngs(0))  # type: ignore[attr-defined]
    nnx.state(changed).later
    handed = Changed(nnx.Rngs(0))
    nnx.jit(of_any)(handed)
    nnx.state(handed).later


def of_any(model: Changed) -> None:
    model.later = nnx.Linear(2, 3, rngs=nnx.Rngs(0))  # type: ignore[attr-defined]
