"""The rules, one file each; importing this package registers all."""

from typed_nnx_codegen.migrate.rules import (
    array_references as array_references,
)
from typed_nnx_codegen.migrate.rules import (
    clone as clone,
)
from typed_nnx_codegen.migrate.rules import (
    constructors as constructors,
)
from typed_nnx_codegen.migrate.rules import (
    conv_mask as conv_mask,
)
from typed_nnx_codegen.migrate.rules import (
    data_annotations as data_annotations,
)
from typed_nnx_codegen.migrate.rules import (
    fork as fork,
)
from typed_nnx_codegen.migrate.rules import (
    fork_split as fork_split,
)
from typed_nnx_codegen.migrate.rules import (
    fork_states as fork_states,
)
from typed_nnx_codegen.migrate.rules import (
    grad_filters as grad_filters,
)
from typed_nnx_codegen.migrate.rules import (
    graph_node as graph_node,
)
from typed_nnx_codegen.migrate.rules import (
    imports as imports,
)
from typed_nnx_codegen.migrate.rules import (
    is_data_type as is_data_type,
)
from typed_nnx_codegen.migrate.rules import (
    iter_modules as iter_modules,
)
from typed_nnx_codegen.migrate.rules import (
    jit_states as jit_states,
)
from typed_nnx_codegen.migrate.rules import (
    keep_rngs as keep_rngs,
)
from typed_nnx_codegen.migrate.rules import (
    make_rng as make_rng,
)
from typed_nnx_codegen.migrate.rules import (
    merge as merge,
)
from typed_nnx_codegen.migrate.rules import (
    module_def as module_def,
)
from typed_nnx_codegen.migrate.rules import (
    optimizer_update as optimizer_update,
)
from typed_nnx_codegen.migrate.rules import (
    optimizer_wrt as optimizer_wrt,
)
from typed_nnx_codegen.migrate.rules import (
    out_sharding as out_sharding,
)
from typed_nnx_codegen.migrate.rules import (
    plain_containers as plain_containers,
)
from typed_nnx_codegen.migrate.rules import (
    pure_and_variables as pure_and_variables,
)
from typed_nnx_codegen.migrate.rules import (
    raw_value as raw_value,
)
from typed_nnx_codegen.migrate.rules import (
    removed_names as removed_names,
)
from typed_nnx_codegen.migrate.rules import (
    sequence as sequence,
)
from typed_nnx_codegen.migrate.rules import (
    sharding_constraint as sharding_constraint,
)
from typed_nnx_codegen.migrate.rules import (
    sow as sow,
)
from typed_nnx_codegen.migrate.rules import (
    split as split,
)
from typed_nnx_codegen.migrate.rules import (
    state_axes as state_axes,
)
from typed_nnx_codegen.migrate.rules import (
    state_methods as state_methods,
)
from typed_nnx_codegen.migrate.rules import (
    states as states,
)
from typed_nnx_codegen.migrate.rules import (
    transform_classes as transform_classes,
)
from typed_nnx_codegen.migrate.rules import (
    tree_leaves as tree_leaves,
)
from typed_nnx_codegen.migrate.rules import (
    update as update,
)
from typed_nnx_codegen.migrate.rules import (
    variable_hooks as variable_hooks,
)
from typed_nnx_codegen.migrate.rules import (
    variable_names as variable_names,
)
from typed_nnx_codegen.migrate.rules import (
    variable_ref as variable_ref,
)
from typed_nnx_codegen.migrate.rules import (
    variable_state as variable_state,
)
from typed_nnx_codegen.migrate.rules import (
    variable_value as variable_value,
)
