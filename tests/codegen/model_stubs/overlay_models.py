"""`Models` made by hand: what the reader would find in the source that stands beside them."""

from __future__ import annotations

from typed_nnx_codegen.model_stubs.models import (
    ClassInfo,
    Kind,
    Models,
    Named,
    Parameter,
    Static,
    Tuple,
    Type,
    Union,
    Unknown,
)

# The application whose models `application` are.
SOURCE = """\
from __future__ import annotations
import abc
from typing import Any, Generic, TypeVar
import jax
import jax.numpy as jnp
{imported}

T = TypeVar("T")

class Scale(nnx.Param[jax.Array]): ...

class Block(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.ones(2))
        self.mean = nnx.BatchStat(jnp.ones(2))
        self.table = jnp.ones(2)

class Node(nnx.Module):
    value: nnx.Param[jax.Array]
    child: Node | None

class Box(nnx.Module, Generic[T]):
    def __init__(self, inner: T) -> None:
        self.inner = inner
        self.shelf = nnx.List([inner])

class MLP(nnx.Module):
    def __init__(self) -> None:
        self.layers = nnx.List([Block()])
        self.bias = nnx.Param(jnp.ones(2)) if jax.device_count() else None
        self.filter = nnx.Param(jnp.ones(2))
        self.box = Box(Block())
        self.var_box = Box(nnx.Param(jnp.ones(2)))
        self.node = Node()
        self.scale = Scale(jnp.ones(2))
        self.rngs = nnx.Rngs(0)
        self.heads = nnx.Dict(a=Block())
        self.width = 3
        self.odd: Any = 3

class Wide(MLP):
    def __init__(self) -> None:
        super().__init__()
        self.more = nnx.Cache(jnp.ones(2))

class Trio(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.ones(2))
        self.mean = nnx.BatchStat(jnp.ones(2))
        self.seen = nnx.Cache(jnp.ones(2))
        self.pair = nnx.data((nnx.Param(jnp.ones(2)), nnx.Cache(jnp.ones(2))))

# Bases with another base class: checkers compare what both define.
class Abstract(nnx.Module, abc.ABC): ...
class AbstractList(nnx.List[Block], abc.ABC): ...
class AbstractDict(nnx.Dict[Block], abc.ABC): ...
class AbstractObject(nnx.Object, abc.ABC): ...

class Open(nnx.Module):
    def __init__(self, name: str) -> None:
        self.kernel = nnx.Param(jnp.ones(2))
        setattr(self, name, Block())
"""

ARRAY = Named("jax:Array")


def attribute(name: str, found: Type) -> tuple[str, Type]:
    return name, found


def model(name: str, *attributes: tuple[str, Type], **more: object) -> ClassInfo:
    """A model of the user, if nothing else is said."""
    given: dict[str, object] = {"path": "app.py", "order": 1, **more}
    return ClassInfo(name, Kind.PYTREE, attributes=dict(attributes), **given)  # type: ignore[arg-type]


def models_of(*classes: ClassInfo) -> Models:
    """The classes, those of the user as roots."""
    roots = [each.name for each in classes if each.kind is Kind.PYTREE and each.path]
    return Models({each.name: each for each in classes}, tuple(roots))


class Library:
    """The names of a runtime, ``typed_nnx`` or ``flax.nnx``."""

    def __init__(self, module: str = "typed_nnx") -> None:
        self.module = module

    def __call__(self, name: str, *arguments: Type) -> Named:
        return Named(f"{self.module}:{name}", arguments)

    def variable(self, name: str, *bases: str, generic: bool = True) -> ClassInfo:
        lines = tuple(f"{self.module}:{base}" for base in (*bases, "Variable"))
        return ClassInfo(
            f"{self.module}:{name}", Kind.VARIABLE, ("A",) if generic else (), bases=lines
        )

    def classes(self) -> list[ClassInfo]:
        name = self.module
        stream = model(
            f"{name}:RngStream",
            attribute("key", self("RngKey")),
            attribute("count", self("RngCount")),
            path="",
        )
        return [
            ClassInfo(f"{name}:Variable", Kind.VARIABLE, ("A",)),
            *(self.variable(each) for each in ("Param", "BatchStat", "Cache", "Intermediate")),
            self.variable("LoRAParam", "Param"),
            self.variable("RngState", generic=False),
            self.variable("RngKey", "RngState", generic=False),
            self.variable("RngCount", "RngState", generic=False),
            ClassInfo("jax:Array", Kind.ARRAY),
            ClassInfo(f"{name}:List", Kind.LIST, ("A",)),
            ClassInfo(f"{name}:Dict", Kind.DICT, ("A",)),
            ClassInfo(f"{name}:Module", Kind.PYTREE),
            stream,
            ClassInfo(f"{name}:Rngs", Kind.DICT),
        ]


def application(module: str = "typed_nnx") -> Models:
    """The models of `SOURCE`."""
    nnx = Library(module)
    param = nnx("Param", ARRAY)
    block = Named("app:Block")
    inner = Parameter("T")
    attributes = (
        attribute("layers", nnx("List", block)),
        attribute("bias", Union((param, Static("None")))),
        attribute("filter", param),
        attribute("box", Named("app:Box", (block,))),
        attribute("var_box", Named("app:Box", (param,))),
        attribute("node", Named("app:Node")),
        attribute("scale", Named("app:Scale")),
        attribute("rngs", nnx("Rngs", nnx("RngStream"))),
        attribute("heads", nnx("Dict", block)),
        attribute("width", Static()),
        attribute("odd", Unknown("it is declared as Any")),
    )
    scale = (f"{module}:Param", f"{module}:Variable")
    return models_of(
        *nnx.classes(),
        ClassInfo("app:Scale", Kind.VARIABLE, bases=scale, path="app.py", order=9),
        model(
            "app:Block",
            attribute("kernel", param),
            attribute("mean", nnx("BatchStat", ARRAY)),
            attribute("table", ARRAY),
            order=11,
        ),
        model(
            "app:Node",
            attribute("value", param),
            attribute("child", Union((Named("app:Node"), Static("None")))),
            order=17,
        ),
        model(
            "app:Box",
            attribute("inner", inner),
            attribute("shelf", nnx("List", inner)),
            parameters=("T",),
            order=21,
        ),
        model("app:MLP", *attributes, order=26),
        model(
            "app:Wide",
            *attributes,
            attribute("more", nnx("Cache", ARRAY)),
            bases=("app:MLP",),
            order=40,
        ),
        model(
            "app:Trio",
            attribute("kernel", param),
            attribute("mean", nnx("BatchStat", ARRAY)),
            attribute("seen", nnx("Cache", ARRAY)),
            attribute("pair", Tuple((param, nnx("Cache", ARRAY)))),
            order=45,
        ),
        model("app:Open", attribute("kernel", param), order=51, is_open=True),
    )


def net(*names: str) -> Models:
    """Return the models of a project with one, ``Net``, that has a Param of each name."""
    library = Library()
    attributes = [attribute(name, library("Param", ARRAY)) for name in names]
    return models_of(*library.classes(), model("app:Net", *attributes, path="app/net.py"))
