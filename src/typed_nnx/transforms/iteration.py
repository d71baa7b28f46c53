"""`vmap`, `scan` and loops under the name of their module."""

from typed_nnx._core.module import Module as Module
from typed_nnx._core.state import State as State
from typed_nnx._core.type_variables import MA as MA
from typed_nnx._core.type_variables import A as A
from typed_nnx._core.type_variables import B as B
from typed_nnx._core.type_variables import C as C
from typed_nnx._core.type_variables import F as F
from typed_nnx._core.type_variables import G as G
from typed_nnx._core.type_variables import M as M
from typed_nnx._core.type_variables import N as N
from typed_nnx._core.type_variables import StrInt as StrInt
from typed_nnx._core.type_variables import T as T
from typed_nnx._transforms.loops import fori_loop as fori_loop
from typed_nnx._transforms.loops import while_loop as while_loop
from typed_nnx._transforms.pmap import pmap as pmap
from typed_nnx._transforms.prefixes import Carry as Carry
from typed_nnx._transforms.prefixes import StateAxes as StateAxes
from typed_nnx._transforms.scan import scan as scan
from typed_nnx._transforms.transform_metadata import transform_metadata as transform_metadata
from typed_nnx._transforms.vmap import vmap as vmap
