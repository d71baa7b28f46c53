"""The type variables that NNX offers under their letters, for annotations such as ``nnx.Variable[nnx.A]``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar

from typed_nnx._core.module import Module
from typed_nnx._core.variable import Variable

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
R = TypeVar("R")
T = TypeVar("T")
Node = TypeVar("Node")
Leaf = TypeVar("Leaf")
AuxData = TypeVar("AuxData")
StrInt = TypeVar("StrInt", str, int)
F = TypeVar("F", bound=Callable[..., Any])
G = TypeVar("G", bound=Callable[..., Any])
HA = TypeVar("HA", bound=Hashable)
HB = TypeVar("HB", bound=Hashable)
KeyT = TypeVar("KeyT", bound=Hashable)
M = TypeVar("M", bound=Module)
MA = TypeVar("MA", bound=Module)
N = TypeVar("N", bound=Module)
V = TypeVar("V", bound=Variable[Any])
P = ParamSpec("P")
Fargs = ParamSpec("Fargs")
