"""One file for each check, or for those that look at the same calls. Importing this package registers them all."""

from typed_nnx_mypy.checks import argnums as argnums
from typed_nnx_mypy.checks import attribute as attribute
from typed_nnx_mypy.checks import axes as axes
from typed_nnx_mypy.checks import branches as branches
from typed_nnx_mypy.checks import carry as carry
from typed_nnx_mypy.checks import deprecated as deprecated
from typed_nnx_mypy.checks import filter_order as filter_order
from typed_nnx_mypy.checks import jax_mutation as jax_mutation
from typed_nnx_mypy.checks import lost_arguments as lost_arguments
from typed_nnx_mypy.checks import lost_update as lost_update
from typed_nnx_mypy.checks import lost_writes as lost_writes
from typed_nnx_mypy.checks import misplaced_mark as misplaced_mark
from typed_nnx_mypy.checks import optimizer_wrt as optimizer_wrt
from typed_nnx_mypy.checks import plain_container as plain_container
from typed_nnx_mypy.checks import state_mismatch as state_mismatch
from typed_nnx_mypy.checks import static_args as static_args
from typed_nnx_mypy.checks import static_data as static_data
from typed_nnx_mypy.checks import wrong_calls as wrong_calls
