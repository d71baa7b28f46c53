"""The rules, one file each; importing this package registers all."""

from typed_nnx_codegen.migrate.rules import (
    imports as imports,
)
from typed_nnx_codegen.migrate.rules import (
    variable_state as variable_state,
)
