"""What `repr` and `print` show of whole objects, against flax: the same program, the same text."""

from __future__ import annotations

import dataclasses
import re
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.shown import Registered

from .shown import bag, pair, shown

Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}

Pair = namedtuple("Pair", ["left", "right"])


def program(function: Program) -> Program:
    """Register a program: given an nnx, it returns an object to show."""
    PROGRAMS[function.__name__] = function
    return function


@program
def metadata_in_order(lib: Any) -> Any:
    return lib.Param(pair(), b=1, a="x", eager_sharding=False, out_sharding=("x", None))


@program
def metadata_with_objects(lib: Any) -> Any:
    inner = bag(lib, w=lib.Param(pair()))
    return bag(lib, p=lib.Param(1, m=lib.Param(pair()), n=inner, d={"z": pair(), "a": 1}))


@program
def variable_of_a_variable(lib: Any) -> Any:
    return bag(lib, p=lib.Param([lib.Param(pair()), lib.BatchStat(1)]))


@program
def variable_of_a_module(lib: Any) -> Any:
    return lib.Param(bag(lib, w=lib.Param(pair())))


@program
def variable_of_a_state(lib: Any) -> Any:
    return lib.Param(lib.State({"z": pair(), "a": lib.Param(pair())}))


@program
def references(lib: Any) -> Any:
    return [
        lib.Param(pair(), ref=True),
        bag(lib, v=lib.Param(pair(), ref=True), s=lib.Param(jnp.float32(1.0), ref=True)),
        bag(lib, r=lib.data(jax.new_ref(pair())), s=lib.data(jax.new_ref(jnp.float32(1.0)))),
    ]


# -- Modules -----------------------------------------------------------------------------------


@program
def empty(lib: Any) -> Any:
    return bag(lib)


@program
def nested_with_two_types(lib: Any) -> Any:
    inner = bag(lib, w=lib.Param(jnp.ones((2, 3))), s=lib.BatchStat(pair()))
    return bag(lib, a=inner, b=lib.Param(pair()), n=3, t="x")


@program
def a_type_without_elements_is_not_counted(lib: Any) -> Any:
    return bag(lib, a=lib.Param(jnp.ones(0)), b=lib.BatchStat(pair()), c=lib.Cache(1))


@program
def every_variable_type(lib: Any) -> Any:
    names = "LoRAParam BatchStat Cache Intermediate Perturbation Param Variable OptState"
    kinds = {name.lower(): getattr(lib, name)(pair()) for name in names.split()}
    return bag(lib, key=lib.RngKey(jax.random.key(0), tag="x"), **kinds)


@program
def subclasses_of_variable_types(lib: Any) -> Any:
    class Mine(lib.Param):
        pass

    class MineToo(Mine):
        pass

    class Stream(lib.RngState):
        pass

    values = {"z": Mine(pair()), "y": MineToo(pair()), "x": Stream(pair(), tag="t")}
    return bag(lib, **values, w=lib.RngCount(jnp.uint32(0), tag="t"))


@program
def arrays_in_plain_containers(lib: Any) -> Any:
    return bag(
        lib,
        a=lib.data([pair(), {"z": pair(), "a": (np.ones(3), 1)}]),
        b=lib.data({"z": lib.Param(1), "a": [bag(lib, w=lib.Param(pair()))]}),
        c={"z": 1, "a": {"y": 2, "b": 3}},
        d=lib.data(OrderedDict(z=pair(), a=1)),
        e=lib.data(Pair(pair(), 1)),
    )


@program
def private_attributes(lib: Any) -> Any:
    return bag(lib, _s=1, _t="x", _a=lib.data(pair()), _p=lib.Param(pair()), _m=bag(lib, x=1), b=2)


@program
def private_attributes_of_no_pytree(lib: Any) -> Any:
    class Plain(lib.Pytree, pytree=False):  # type: ignore[call-arg]  # of one of two libraries
        def __init__(self) -> None:
            self._p = lib.Param(pair())
            self._l = [lib.Param(pair())]
            self.a = lib.BatchStat(pair())
            self.l = [lib.Param(pair()), pair()]

    return Plain()


@program
def optimizer_state(lib: Any) -> Any:
    state = optax.adam(1e-3).init({"w": pair()})
    return bag(lib, state=lib.data(state), tx=optax.adam(1e-3))


@program
def foreign_dataclasses(lib: Any) -> Any:
    module = bag(lib, w=lib.Param(pair()))
    return bag(lib, a=Plain(module), b=Plain(lib.Param(pair())), c=Plain((1, int)), d=module)


@program
def registered_dataclasses(lib: Any) -> Any:
    return bag(
        lib, a=lib.data(Registered(pair(), lib.Param(pair()))), b=lib.data([Registered(pair(), 1)])
    )


@dataclasses.dataclass
class Plain:
    a: Any


@program
def dataclass_inside_a_module(lib: Any) -> Any:
    @dataclasses.dataclass
    class Block(lib.Module):
        n: int
        w: Any

    return bag(lib, block=Block(1, lib.Param(pair())))


@program
def nnx_dataclass(lib: Any) -> Any:
    @lib.dataclass
    class Block(lib.Pytree):
        n: int
        w: lib.Data[jax.Array]

    return Block(1, pair())


@program
def traced_values(lib: Any) -> Any:
    texts: list[str] = []

    @jax.jit
    def trace(x: jax.Array) -> jax.Array:
        texts.append(repr(lib.Param(x)))
        texts.append(repr(bag(lib, p=lib.Param(x), a=lib.data(x), s=lib.data(x[0]))))
        return x

    trace(pair())
    return re.sub(r"Tracer<[^>]*>", "Tracer", "\n".join(texts))


# -- shared objects and cycles -----------------------------------------------------------------


@program
def shared_variable(lib: Any) -> Any:
    p = lib.Param(pair())
    return bag(lib, a=p, b=p, c=bag(lib, d=p))


@program
def shared_variable_is_counted_in_sorted_order(lib: Any) -> Any:
    p = lib.Param(pair())
    return bag(lib, z=bag(lib, w=p), m=bag(lib, w=p), a=p)


@program
def shared_module(lib: Any) -> Any:
    m = bag(lib, w=lib.Param(pair()))
    return bag(lib, a=m, b=lib.List([m]), c=lib.data([m, m]), d=bag(lib, m=m))


@program
def shared_list(lib: Any) -> Any:
    items = lib.List([1])
    return bag(lib, a=items, b=items, c=lib.Dict(a=items))


@program
def shared_module_in_a_list(lib: Any) -> Any:
    m = bag(lib, w=lib.Param(pair()))
    return lib.List([m, m, bag(lib, m=m)])


@program
def shared_module_in_a_state(lib: Any) -> Any:
    p = lib.Param(pair())
    m = bag(lib, w=p)
    return lib.State({"a": m, "b": m, "c": bag(lib, w=p)})


@program
def cycle(lib: Any) -> Any:
    m = bag(lib, w=lib.Param(pair()))
    m.me = m
    m.items = lib.List([m])
    m.plain = lib.data([m])
    other = bag(lib, back=m, s=lib.BatchStat(pair()))
    m.other = other
    return m


# -- containers, random streams, states --------------------------------------------------------


@program
def containers(lib: Any) -> Any:
    return lib.List(
        [
            1,
            int,
            "a\nb",
            lib.Param(pair()),
            bag(lib, w=lib.Param(pair())),
            pair(),
            lib.List([lib.Param(pair()), pair()]),
            lib.Dict(z=lib.Param(pair()), a=lib.data({"y": 1, "b": pair()})),
        ]
    )


@program
def containers_in_a_module(lib: Any) -> Any:
    return bag(
        lib,
        a=lib.List([lib.Param(pair()), pair(), lib.List([pair()])]),
        b=lib.Dict(z=lib.Param(pair()), a=pair()),
        c=lib.data(lib.State({"z": 1, "a": lib.Param(pair()), "m": {"z": 1, "a": pair()}})),
        d=lib.data([lib.State({"b": pair()})]),
    )


@program
def empty_containers(lib: Any) -> Any:
    return [
        lib.List([]),
        lib.Dict(),
        lib.State({}),
        lib.Sequential(),
        lib.to_flat_state(lib.State({})),
    ]


@program
def sequential_with_a_shared_layer(lib: Any) -> Any:
    layer = bag(lib, w=lib.Param(pair()))
    return lib.Sequential(layer, layer)


@program
def random_streams(lib: Any) -> Any:
    rngs = lib.Rngs(0, params=1)
    return [rngs, rngs.default, bag(lib, a=rngs, b=rngs.default, c=lib.Rngs(0).split(2))]


@program
def state(lib: Any) -> Any:
    inner = bag(lib, w=lib.Param(jnp.ones((2, 3))))
    return lib.state(bag(lib, a=inner, b=lib.BatchStat(pair()), l=lib.List([lib.Param(1)])))


@program
def state_of_plain_values(lib: Any) -> Any:
    inner = {"z": 1, "b": pair(), "c": {}, "l": [{"z": 1, "y": pair()}]}
    return lib.State({"a": inner, 1: int, "s": "x\ny", "n": lib.State({"k": lib.State({})})})


@program
def flat_state(lib: Any) -> Any:
    return lib.to_flat_state(lib.State({"b": 1, "a": {"c": lib.Param(pair())}}))


@program
def pure_state(lib: Any) -> Any:
    return lib.as_pure(lib.state(bag(lib, a=lib.Param(pair()), b=bag(lib, c=lib.Param(1)))))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_program_shows_the_same_text(name: str) -> None:
    ours, theirs = PROGRAMS[name](nnx), PROGRAMS[name](flax_nnx)
    if not isinstance(ours, list | str):
        assert shown(ours) == shown(theirs)
    for our, their in (
        zip(ours, theirs, strict=True) if isinstance(ours, list) else [(ours, theirs)]
    ):
        assert shown(our) == shown(their) if not isinstance(our, str) else our == their
