"""``nnx.transforms``: the transforms under the names of their modules."""

from typed_nnx.transforms import autodiff as autodiff
from typed_nnx.transforms import compilation as compilation
from typed_nnx.transforms import general as general
from typed_nnx.transforms import iteration as iteration
from typed_nnx.transforms import transforms as transforms
