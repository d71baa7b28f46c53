"""What each layer of Linen is in NNX: its constructor, its calls, its outputs, its variables."""

from typed_nnx_codegen.migrate.linen.layers.layer import Argument as Argument
from typed_nnx_codegen.migrate.linen.layers.layer import Built as Built
from typed_nnx_codegen.migrate.linen.layers.layer import CallParameter as CallParameter
from typed_nnx_codegen.migrate.linen.layers.layer import Given as Given
from typed_nnx_codegen.migrate.linen.layers.layer import Helper as Helper
from typed_nnx_codegen.migrate.linen.layers.layer import Inputs as Inputs
from typed_nnx_codegen.migrate.linen.layers.layer import Layer as Layer
from typed_nnx_codegen.migrate.linen.layers.layer import LayerVariable as LayerVariable
from typed_nnx_codegen.migrate.linen.layers.layer import MissingWidth as MissingWidth
from typed_nnx_codegen.migrate.linen.layers.layer import Refused as Refused
from typed_nnx_codegen.migrate.linen.layers.layer import Template as Template
from typed_nnx_codegen.migrate.linen.layers.table import LAYERS as LAYERS
from typed_nnx_codegen.migrate.linen.layers.table import NO_COUNTERPART as NO_COUNTERPART
from typed_nnx_codegen.migrate.linen.layers.table import add_layers as add_layers
from typed_nnx_codegen.migrate.linen.layers.table import find_layer as find_layer
