"""Gradients under the name of their module."""

from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import F as F
from typed_nnx._core.state import State as State
from typed_nnx._transforms.custom_vjp import custom_vjp as custom_vjp
from typed_nnx._transforms.engine.prefixes import DiffState as DiffState
from typed_nnx._transforms.grad import grad as grad
from typed_nnx._transforms.grad import value_and_grad as value_and_grad
from typed_nnx._transforms.remat import remat as remat
from typed_nnx._transforms.vjp import jvp as jvp
from typed_nnx._transforms.vjp import vjp as vjp
