"""What functions, methods and operators make of symbolic shapes."""

from typed_nnx_codegen.migrate.linen.shapes.arguments import Starred as Starred
from typed_nnx_codegen.migrate.linen.shapes.broadcasting import assumptions as assumptions
from typed_nnx_codegen.migrate.linen.shapes.broadcasting import broadcast as broadcast
from typed_nnx_codegen.migrate.linen.shapes.calls import function_result as function_result
from typed_nnx_codegen.migrate.linen.shapes.methods import attribute as attribute
from typed_nnx_codegen.migrate.linen.shapes.methods import method_result as method_result
from typed_nnx_codegen.migrate.linen.shapes.operators import binary as binary
from typed_nnx_codegen.migrate.linen.shapes.operators import unary as unary
from typed_nnx_codegen.migrate.linen.shapes.segments import segments as segments
from typed_nnx_codegen.migrate.linen.shapes.subscripts import refined as refined
from typed_nnx_codegen.migrate.linen.shapes.subscripts import subscript as subscript
from typed_nnx_codegen.migrate.linen.shapes.subscripts import unpack as unpack
from typed_nnx_codegen.migrate.linen.shapes.windows import conv_output as conv_output
from typed_nnx_codegen.migrate.linen.shapes.windows import (
    conv_transpose_output as conv_transpose_output,
)
