from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar
from typing import ClassVar, Final, Generic, TypeVar

import jax
import jax.numpy as jnp

import typed_nnx as nnx

T = TypeVar("T")
array = jnp.ones(2)
linear = nnx.Linear(1, 2, rngs=nnx.Rngs(0))


# -- reports
@nnx.dataclass
class WrongDefaults(nnx.Pytree):
    a: int = nnx.static(default="a")  # E: expression has type "str", variable has type "int"  [assignment]
    b: int = nnx.static(default=None)  # E: expression has type "None"  [assignment]
    c: jax.Array = nnx.data(default=1.0)  # E: variable has type "Array"  [assignment]
    d: list[int] = nnx.data(default_factory=dict)  # E: "Callable[[], list[int]]"  [arg-type]
    e: list[int] = nnx.data(default_factory=lambda: [""])  # E: "str"; expected "int"  [list-item]
    f: Callable[[int], int] = nnx.static(default=len)  # E: "Callable[[Sized], int]"  [assignment]
    g: int = nnx.static(default=1, default_factory=int)  # E: No overload variant  [call-overload]
    h: int = nnx.static(default=1, kw_only=bool(1))  # E: must be a boolean literal  [misc]


@nnx.dataclass
class Required(nnx.Pytree):
    a: int = nnx.static()
    b: jax.Array = nnx.data()


Required()  # E: Missing positional arguments "a", "b"  [call-arg]
Required(1)  # E: Missing positional argument "b"  [call-arg]
Required("", array)  # E: incompatible type "str"; expected "int"  [arg-type]
Required(1, array, 3)  # E: Too many arguments  [call-arg]
Required(1, array).a = ""  # E: variable has type "int"  [assignment]
Required(1, array) < Required(1, array)  # E: Unsupported left operand type  [operator]
dataclasses.replace(Required(1, array), a="")  # E: expected "int"  [arg-type]
dataclasses.replace(Required(1, array), z=3)  # E: Unexpected keyword argument "z"  [call-arg]


@nnx.dataclass
class Ordering(nnx.Pytree):
    a: int = nnx.static(default=1)
    b: jax.Array = nnx.data()  # E: without a default cannot follow  [misc]
    c: int  # E: without a default cannot follow  [misc]
    d: int = nnx.static(kw_only=True)


Ordering(1, array, 2)  # E: Missing named argument "d"  [call-arg]


@nnx.dataclass(kw_only=True)
class KeywordOnly(nnx.Pytree):
    a: int = nnx.static(default=1)
    b: jax.Array = nnx.data()
    c: int = nnx.static(kw_only=False)


KeywordOnly(1, 2, b=array)  # E: Too many positional arguments  [call-arg]
KeywordOnly(3)  # E: Missing named argument "b"  [call-arg]


@nnx.dataclass
class KeywordMarker(nnx.Pytree):
    a: int = nnx.static(default=1)
    _: KW_ONLY
    b: jax.Array = nnx.data()


KeywordMarker(1, array)  # E: Too many positional arguments  [call-arg]
KeywordMarker(1)  # E: Missing named argument "b"  [call-arg]


@nnx.dataclass
class NoInit(nnx.Pytree):
    a: int = nnx.static()
    b: int = nnx.static(init=False, default=2)


NoInit(1, 2)  # E: Too many arguments  [call-arg]
NoInit(1, b=2)  # E: Unexpected keyword argument "b"  [call-arg]


@nnx.dataclass
class Base(nnx.Pytree):
    a: int = nnx.static()
    b: int = nnx.static(default=1)


@nnx.dataclass
class NoDefaultInDerived(Base):
    c: str = nnx.static()  # E: without a default cannot follow  [misc]


@nnx.dataclass
class OtherType(Base):
    a: str = nnx.static()  # E: base class "Base" defined the type as "int"  [assignment]


@dataclasses.dataclass
class Plain:
    a: int
    b: int = dataclasses.field(default=2)


@nnx.dataclass
class OfPlain(Plain, nnx.Pytree):
    c: int = nnx.static(default=3)


OfPlain()  # E: Missing positional argument "a"  [call-arg]
OfPlain(1, 2, "")  # E: expected "int"  [arg-type]


@nnx.dataclass
class InitOnly(nnx.Pytree):
    a: InitVar[int]
    b: ClassVar[int] = 3
    c: int = nnx.static(init=False)
    d: Final[int] = nnx.static()

    def __post_init__(self, a: int) -> None:
        self.c = a


InitOnly("", 1)  # E: expected "int"  [arg-type]
InitOnly(1, 2).a  # E: has no attribute "a"  [attr-defined]
InitOnly(1, 2).d = 3  # E: Cannot assign to final attribute "d"  [misc]


@nnx.dataclass
class WrongPostInit(nnx.Pytree):
    a: InitVar[int]

    def __post_init__(self, a: str) -> None: ...  # E: as "int"  [override]


@nnx.dataclass(eq=False, order=True)  # E: "eq" must be True if "order" is True  [misc]
class OrderWithoutEq(nnx.Pytree):
    a: int = nnx.static()


@dataclasses.dataclass(frozen=True)
class Frozen(nnx.Pytree):
    a: int = nnx.static()
    b: int = nnx.static(default="")  # E: variable has type "int"  [assignment]
    c: jax.Array = nnx.data(kw_only=True)


Frozen(1, c=array).a = 2  # E: Property "a" defined in "Frozen" is read-only  [misc]
Frozen(1)  # E: Missing named argument "c"  [call-arg]


@nnx.dataclass
class OfFrozen(Frozen):  # E: Non-frozen dataclass cannot inherit from a frozen dataclass  [misc]
    d: int = nnx.static(default=1)


@nnx.dataclass
class Box(nnx.Pytree, Generic[T]):
    a: T = nnx.data()
    b: list[T] = nnx.data(default_factory=list)


Box[int]("")  # E: expected "int"  [arg-type]


@nnx.dataclass
class Annotated(nnx.Pytree):
    a: nnx.Data[list[int]]  # E: (TN128)  [nnx-deprecated]
    b: nnx.Static[int] = 3  # E: (TN128)  [nnx-deprecated]
    c: list[int] = nnx.data(default_factory=dict)  # E: list[int]]"  [arg-type]


Annotated([""])  # E: expected "int"  [list-item]


@nnx.dataclass
class Model(nnx.Module):
    linear: nnx.Linear
    layers: list[nnx.Linear] = nnx.data()
    scale: nnx.Param[jax.Array] = nnx.data(default_factory=lambda: nnx.Param(array))
    act: Callable[[int], int] = nnx.static(default=abs)


Model()  # E: Missing positional arguments "linear", "layers"  [call-arg]
Model(linear, [array])  # E: expected "Linear"  [list-item]
Model(linear, []).act("")  # E: expected "int"  [arg-type]


def local() -> None:
    @nnx.dataclass
    class Local(nnx.Pytree):
        a: int = nnx.static(default="")  # E: variable has type "int"  [assignment]

    Local("")  # E: expected "int"  [arg-type]


# -- correct
@nnx.dataclass
class Defaults(nnx.Pytree):
    a: int | None = nnx.static(default=None)
    b: float = nnx.data(default=1)
    c: jax.Array = nnx.data(default_factory=lambda: jnp.zeros(3))
    d: Callable[[int], int] = nnx.static(default=lambda x: x, repr=False, hash=None, compare=False)
    e: dict[str, list[int]] = nnx.data(default_factory=dict, metadata={"x": 1})
    f: type[nnx.Module] = nnx.static(default=nnx.Linear)


Defaults()
Defaults(None, 1, c=array, d=abs)
reveal_type(Required.__init__)  # R: def (self: Required, a: int, b: Array)
reveal_type(KeywordOnly.__match_args__)  # R: tuple[Literal['c']]
reveal_type(KeywordMarker.__match_args__)  # R: tuple[Literal['a']]
KeywordOnly(3, b=array)
KeywordMarker(b=array)
OfPlain(1, 2, 3)
reveal_type(OfPlain(1).b)  # R: int
reveal_type(NoInit(1).b)  # R: int
InitOnly(1, d=2)
reveal_type(Box(1))  # R: Box[int]
reveal_type(Box("").b)  # R: list[str]
reveal_type(Annotated([1]).a)  # R: list[int]
reveal_type(Annotated([1]).b)  # R: int
reveal_type(Model(linear, []).act)  # R: def (int) -> int
dataclasses.replace(Required(1, array), a=3)


@nnx.dataclass(order=True)
class Ordered(nnx.Pytree):
    a: int = nnx.static()


reveal_type(Ordered(1) < Ordered(2))  # R: bool


@nnx.dataclass
class DefaultsInDerived(Base):
    c: str = nnx.static(default="")
    d: int = nnx.static(kw_only=True)


DefaultsInDerived(1, 2, "", d=3)


@dataclasses.dataclass
class OfStandard(nnx.Pytree):
    a: int = nnx.static()
    b: jax.Array
    c: int = nnx.static(default=3)


OfStandard(1, array).c = 3


def matched(given: Required) -> None:
    match given:
        case Required(a, b):
            reveal_type(a)  # R: int
            reveal_type(b)  # R: Array


class InMethods(nnx.Module):
    def __init__(self) -> None:
        self.a = nnx.data([1])
        self.b: list[int] = nnx.data([])
        self.c = nnx.static("x")
        reveal_type(self.a)  # R: list[int]
        reveal_type(self.b)  # R: list[int]
        reveal_type(nnx.static("x"))  # R: str


# -- unsure
# Neither runtime takes it, so it means nothing.
@nnx.dataclass(frozen=True)  # E: dataclass: there is no argument `frozen`  [nnx-call]
class FrozenPytree(nnx.Pytree):
    a: int = nnx.static()


FrozenPytree(1).a = 2


# What the factory makes is not known.
def unknown(make):  # type: ignore[no-untyped-def]  # the case
    @nnx.dataclass
    class Unknown(nnx.Pytree):
        a: int = nnx.data(default_factory=make)
        b: int = nnx.data(default=make())

    return Unknown()
