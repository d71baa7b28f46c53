"""The other transforms under the name of their module."""

from typed_nnx._transforms.checkify import checkify as checkify
from typed_nnx._transforms.conditionals import cond as cond
from typed_nnx._transforms.conditionals import switch as switch
from typed_nnx._transforms.eval_shape import eval_shape as eval_shape
from typed_nnx._transforms.make_jaxpr import make_jaxpr as make_jaxpr
