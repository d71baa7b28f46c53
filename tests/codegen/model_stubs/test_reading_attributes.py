"""Each way to give an object an attribute, and what the reader takes it for."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.codegen.model_stubs.reading_project import attributes, library_cache
from tests.support.once import once
from typed_nnx_codegen.model_stubs.reading import read

_START = """
from __future__ import annotations
import dataclasses
from typing import Any, Callable, ClassVar, TYPE_CHECKING
import jax
import jax.numpy as jnp
import numpy as np
import typed_nnx as nnx
from typed_nnx import Data as Held

class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(2, 2, rngs=rngs)

class Gate(nnx.Module):
    pass

class Scale(nnx.Variable[jax.Array]):
    pass

def make_block() -> Block: ...
def make_anything(): return jax.make_anything()
flag: bool = True
"""

# The body of a class, and what each attribute is. An attribute that is not named is not there.
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "assigned in __init__": (
        """
        def __init__(self, rngs: nnx.Rngs):
            self.block = Block(rngs)
            self.weight = nnx.Param(jnp.zeros(3))
            self._hidden = nnx.BatchStat(jnp.zeros(3))
        """,
        {"block": "Block", "weight": "Param[Array]", "_hidden": "BatchStat[Array]"},
    ),
    "assigned in any method": (
        """
        def build(self):
            self.block = make_block()
        async def later(self):
            self.gate = Gate()
        @property
        def made(self):
            self.count = nnx.Param(jnp.zeros(3))
            return self.count
        """,
        {"block": "Block", "gate": "Gate", "count": "Param[Array]"},
    ),
    "from a function without annotations": (
        "def __init__(self): self.x = make_anything()",
        {"x": "?"},
    ),
    "from a parameter": (
        """
        def __init__(self, block: Block, other):
            self.block = block
            self.other = other
        """,
        {"block": "Block", "other": "?"},
    ),
    "annotated in a method": (
        """
        def __init__(self, given: Any):
            self.block: Block = given
            self.maybe: "Block | None" = given
        """,
        {"block": "Block", "maybe": "Block | None"},
    ),
    "annotated in the class": (
        """
        block: Block
        text: 'Block'
        size: int = 3
        kind: ClassVar[Block]
        shared = Gate()
        def __init__(self): pass
        """,
        {"block": "Block", "text": "Block"},
    ),
    "annotated in the class with a default, and assigned": (
        """
        block: Block | None = None
        def __init__(self): self.block = make_block()
        """,
        {"block": "Block | None"},
    ),
    "in two branches": (
        """
        def __init__(self, use_bias: bool):
            if use_bias:
                self.bias = nnx.Param(jnp.zeros(3))
            else:
                self.bias = None
        """,
        {"bias": "Param[Array] | None"},
    ),
    "of several types": (
        """
        def __init__(self, kind: str):
            match kind:
                case "block":
                    self.x = make_block()
                case _:
                    self.x = Gate()
            try:
                self.y = Gate()
            except ValueError:
                self.y = 3
        """,
        {"x": "Block | Gate", "y": "Gate | static"},
    ),
    "a conditional expression": (
        """
        def __init__(self, use: bool):
            self.x = Gate() if use else make_block()
            self.y = Gate() if use else None
        """,
        {"x": "Gate | Block", "y": "Gate | None"},
    ),
    "None first": (
        """
        def __init__(self): self.x = None
        def build(self): self.x = Gate()
        """,
        {"x": "None | Gate"},
    ),
    "several targets": (
        """
        def __init__(self):
            self.a, self.b = Gate(), make_block()
            self.c = self.d = Gate()
            (self.e, (self.f, *rest)) = Gate(), (make_block(), 1, 2)
            self.g, self.h = two()
        """,
        dict.fromkeys("acde", "Gate") | dict.fromkeys("bf", "Block") | dict.fromkeys("gh", "?"),
    ),
    "loops and contexts": (
        """
        def __init__(self):
            for self.gate in [Gate(), Gate()]:
                pass
            with open("f") as self.file:
                self.inside = Gate()
            while flag:
                self.again = Gate()
        """,
        {"gate": "Gate", "file": "static", "inside": "Gate", "again": "Gate"},
    ),
    "in a function of a method": (
        """
        def __init__(self):
            def build(value: Gate):
                self.gate = value
            build(Gate())
            class Local:
                def __init__(self): self.not_ours = Gate()
        """,
        {"gate": "Gate"},
    ),
    "what is no assignment of an attribute": (
        """
        def __init__(self, other: Block):
            other.x = Gate()
            setattr(self, "y", Gate())
            local = Gate()
            del self.z
        @property
        def prop(self) -> Gate: return Gate()
        @prop.setter
        def prop(self, value: Gate) -> None: pass
        def use(self): self.prop = Gate()
        @classmethod
        def make(cls): cls.w = Gate()
        @staticmethod
        def do(self): self.v = Gate()
        """,
        {},
    ),
    "arrays": (
        """
        def __init__(self, key: jax.Array):
            self.x = jnp.zeros(3)
            self.y = np.zeros(3)
            self.z = jax.random.normal(key, (3,))
        """,
        {"x": "Array", "y": "ndarray", "z": "Array"},
    ),
    "values of Variables": (
        """
        def __init__(self, key: jax.Array, rngs: nnx.Rngs):
            self.a = nnx.Param(nnx.initializers.lecun_normal()(key, (3, 3)))
            self.b = nnx.Param(jax.nn.initializers.zeros(key, (3, 3)))
            self.c = nnx.Param(rngs.params.normal((3,)))
            self.d = nnx.Param(jax.random.uniform(rngs(), (3,)))
            self.e = nnx.Variable({"x": jnp.ones(3)})
            self.f = nnx.Param(jax.nn.relu(jnp.ones(3)))
            self.g = nnx.Param(jax.numpy.linalg.norm(key) * 2)
            self.h = nnx.Param(whatever())
        """,
        dict.fromkeys("abcdf", "Param[Array]")
        | {"e": "Variable[dict[str, Array]]", "g": "Param[?]", "h": "Param[?]"},
    ),
    "static values": (
        """
        def __init__(self, n: int, act: Callable[[jax.Array], jax.Array]):
            self.n = n
            self.name = "x"
            self.act = act
            self.relu = jax.nn.relu
            self.sizes = (1, 2)
            self.kind = Gate
            self.dtype = jnp.float32
        """,
        dict.fromkeys(("n", "name", "act", "relu", "sizes", "kind"), "static")
        | {"dtype": "static"},
    ),
    "Variables of the user": (
        """
        def __init__(self):
            self.scale = Scale(jnp.zeros(3))
            self.step = nnx.Variable(0)
        """,
        {"scale": "Scale", "step": "Variable[int]"},
    ),
    "a List": (
        """
        def __init__(self):
            self.same = nnx.List([make_block() for _ in range(3)])
            self.mixed = nnx.List([Gate(), make_block()])
            self.given = nnx.List(blocks())
            self.functions = nnx.List([jax.nn.relu, Gate()])
        """,
        {
            "same": "List[Block]",
            "mixed": "List[Gate | Block]",
            "given": "List[?]",
            "functions": "List[? | Gate]",
        },
    ),
    "a List that is filled later": (
        """
        def __init__(self):
            self.layers = nnx.List([])
            self.more: nnx.List[Gate] = nnx.List()
            for _ in range(3):
                self.layers.append(make_block())
                self.more.append(Gate())
            self.layers.insert(0, Gate())
            self.empty = nnx.List([])
            local = []
            local.append(Gate())
            self.local = nnx.List(local)
        """,
        {
            "layers": "List[Block | Gate]",
            "more": "List[Gate]",
            "empty": "List[?]",
            "local": "List[Gate]",
        },
    ),
    "a Dict": (
        """
        def __init__(self):
            self.x = nnx.Dict(a=Gate(), b=make_block())
            self.y = nnx.Dict({"a": Gate()})
            self.z = nnx.Dict({})
            self.z["a"] = Gate()
        """,
        {"x": "Dict[Gate | Block]", "y": "Dict[Gate]", "z": "Dict[Gate]"},
    ),
    "plain containers": (
        """
        def __init__(self):
            self.held = nnx.data([Gate(), make_block()])
            self.by_name = nnx.data({"a": Gate()})
            self.pair = nnx.data((Gate(), 1.0))
            self.not_held = [1, 2, 3]
            self.forced = nnx.static([1, 2])
            self.number = nnx.data(1.0)
            self.thing = nnx.data(object())
        """,
        {
            "held": "list[Gate | Block]",
            "by_name": "dict[Gate]",
            "pair": "Tuple[Gate, float]",
            "not_held": "static",
            "forced": "static",
            "number": "float",
            "thing": "?",
        },
    ),
    "marks in annotations": (
        """
        a: nnx.Data[list[Gate]]
        b: nnx.Static[Any]
        c: Held[dict[str, Gate]]
        d: "nnx.Data[list[Gate]]"
        e: list[Gate]  # refused at run time, unless it is marked where it is assigned
        def __init__(self): self.f: nnx.Data[list[Gate]] = []  # not seen at run time
        """,
        {
            "a": "list[Gate]",
            "b": "static",
            "c": "dict[Gate]",
            "d": "list[Gate]",
            "e": "list[Gate]",
            "f": "list[Gate]",
        },
    ),
    "layers": (
        """
        def __init__(self, rngs):
            self.norm = nnx.BatchNorm(3, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(2, 4, rngs=rngs)
            self.dropout = nnx.Dropout(0.1, rngs=rngs)
            self.rngs = rngs
            self.other_rngs = nnx.Rngs(0)
            self.all = nnx.Sequential(Gate(), jax.nn.relu)
        """,
        {
            "norm": "BatchNorm",
            "attention": "MultiHeadAttention",
            "dropout": "Dropout",
            "rngs": "?",
            "other_rngs": "Rngs[RngStream]",
            "all": "Sequential",
        },
    ),
}


def _indented(body: str) -> str:
    return textwrap.indent(textwrap.dedent(body), "    ")


def _module(name: str) -> str:
    return "case_" + "".join(c if c.isalnum() else "_" for c in name)


def write_cases(folder: Path) -> None:
    """Write a file for each case, with its class: ``Model``."""
    for name, (body, _) in CASES.items():
        text = f"{_START}\nclass Model(nnx.Module):\n{_indented(body)}\n"
        (folder / f"{_module(name)}.py").write_text(text, encoding="utf-8")


def _read_all(folder: Path, shared: Path) -> dict[str, dict[str, str]]:
    write_cases(folder)
    models = read([str(folder)], cache=library_cache(shared))
    assert not models.problems
    return {_module(name): attributes(models.classes[f"{_module(name)}:Model"]) for name in CASES}


@pytest.fixture(scope="module")
def found(
    shared_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, str]]:
    folder = tmp_path_factory.mktemp("cases")
    read_all: dict[str, dict[str, str]] = once(
        "attributes of all cases", shared_folder, lambda: _read_all(folder, shared_folder)
    )
    return read_all


@pytest.mark.parametrize("name", CASES)
def test_an_attribute_is_what_it_is_at_run_time(
    name: str, found: dict[str, dict[str, str]]
) -> None:
    assert found[_module(name)] == CASES[name][1]
