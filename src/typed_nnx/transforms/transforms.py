"""The other transforms under the name of their module."""

from typed_nnx._core.module import Module as Module
from typed_nnx._core.type_variables import MA as MA
from typed_nnx._core.type_variables import A as A
from typed_nnx._core.type_variables import B as B
from typed_nnx._core.type_variables import C as C
from typed_nnx._core.type_variables import F as F
from typed_nnx._core.type_variables import G as G
from typed_nnx._core.type_variables import M as M
from typed_nnx._core.type_variables import N as N
from typed_nnx._core.type_variables import StrInt as StrInt
from typed_nnx._transforms.checkify import checkify as checkify
from typed_nnx._transforms.conditionals import cond as cond
from typed_nnx._transforms.conditionals import switch as switch
from typed_nnx._transforms.eval_shape import eval_shape as eval_shape
from typed_nnx._transforms.make_jaxpr import make_jaxpr as make_jaxpr
