"""What functions, methods and operators make of symbolic shapes."""

from typed_nnx_codegen.migrate.linen.shapes.axes import broadcast as broadcast
from typed_nnx_codegen.migrate.linen.shapes.contractions import conv_output as conv_output
from typed_nnx_codegen.migrate.linen.shapes.function_table import attribute as attribute
from typed_nnx_codegen.migrate.linen.shapes.function_table import function_result as function_result
from typed_nnx_codegen.migrate.linen.shapes.function_table import method_result as method_result
from typed_nnx_codegen.migrate.linen.shapes.indexing import subscript as subscript
from typed_nnx_codegen.migrate.linen.shapes.indexing import unpack as unpack
from typed_nnx_codegen.migrate.linen.shapes.operands import Starred as Starred
from typed_nnx_codegen.migrate.linen.shapes.operators import binary as binary
from typed_nnx_codegen.migrate.linen.shapes.operators import unary as unary
