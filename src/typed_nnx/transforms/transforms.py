"""The other transforms under the name of their module."""

from typed_nnx._core.modules import MA as MA
from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import B as B
from typed_nnx._core.modules import C as C
from typed_nnx._core.modules import F as F
from typed_nnx._core.modules import G as G
from typed_nnx._core.modules import M as M
from typed_nnx._core.modules import Module as Module
from typed_nnx._core.modules import N as N
from typed_nnx._core.modules import StrInt as StrInt
from typed_nnx._transforms.conditionals import cond as cond
from typed_nnx._transforms.conditionals import switch as switch
from typed_nnx._transforms.eval_shape import eval_shape as eval_shape
from typed_nnx._transforms.make_jaxpr import checkify as checkify
from typed_nnx._transforms.make_jaxpr import make_jaxpr as make_jaxpr
