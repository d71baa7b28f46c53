"""``nnx.pytreelib``: `Pytree`, and what is data and static in one, under the name of the module."""

from typing import TypeVar

from typed_nnx._core.fields import Data as Data
from typed_nnx._core.fields import Static as Static
from typed_nnx._core.fields import data as data
from typed_nnx._core.fields import dataclass as dataclass
from typed_nnx._core.fields import has_data as has_data
from typed_nnx._core.fields import is_data as is_data
from typed_nnx._core.fields import register_data_type as register_data_type
from typed_nnx._core.fields import static as static
from typed_nnx._core.modules import A as A
from typed_nnx._core.pytree import Object as Object
from typed_nnx._core.pytree import Pytree as Pytree
from typed_nnx._core.pytree import PytreeMeta as PytreeMeta
from typed_nnx._core.pytree import check_pytree as check_pytree
from typed_nnx._core.variable import Variable as Variable

ObjectMeta = PytreeMeta  # its older name
P = TypeVar("P", bound=Pytree)
T = TypeVar("T", bound=type)
