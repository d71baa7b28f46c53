"""`vmap`, `scan` and loops under the name of their module."""

from typed_nnx._transforms.loops import fori_loop as fori_loop
from typed_nnx._transforms.loops import while_loop as while_loop
from typed_nnx._transforms.pmap import pmap as pmap
from typed_nnx._transforms.prefixes import Carry as Carry
from typed_nnx._transforms.prefixes import StateAxes as StateAxes
from typed_nnx._transforms.scan import scan as scan
from typed_nnx._transforms.transform_metadata import transform_metadata as transform_metadata
from typed_nnx._transforms.vmap import vmap as vmap
