"""`vmap`, `scan` and loops under the name of their module."""

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
from typed_nnx._core.modules import T as T
from typed_nnx._core.state import State as State
from typed_nnx._transforms.engine.prefixes import Carry as Carry
from typed_nnx._transforms.engine.prefixes import StateAxes as StateAxes
from typed_nnx._transforms.loops import fori_loop as fori_loop
from typed_nnx._transforms.loops import while_loop as while_loop
from typed_nnx._transforms.scan import scan as scan
from typed_nnx._transforms.vmap import pmap as pmap
from typed_nnx._transforms.vmap import transform_metadata as transform_metadata
from typed_nnx._transforms.vmap import vmap as vmap
