"""``nnx.nn.linear``: layers that are linear in their inputs."""

from typed_nnx._core.module import Module as Module
from typed_nnx.nn._conv import Conv as Conv
from typed_nnx.nn._conv_padding import canonicalize_padding as canonicalize_padding
from typed_nnx.nn._conv_transpose import ConvTranspose as ConvTranspose
from typed_nnx.nn._einsum import Einsum as Einsum
from typed_nnx.nn._embed import Embed as Embed
from typed_nnx.nn._embed import embedding_init
from typed_nnx.nn._linear import Linear as Linear
from typed_nnx.nn._linear_general import LinearGeneral as LinearGeneral
from typed_nnx.nn._parameters import bias_init, kernel_init
from typed_nnx.nn._typing import Initializer

default_kernel_init: Initializer = kernel_init
default_bias_init: Initializer = bias_init
default_embed_init: Initializer = embedding_init
