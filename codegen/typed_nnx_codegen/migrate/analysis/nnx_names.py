"""The public names of flax.nnx and of typed_nnx, by module.

Written by ``python -m typed_nnx_codegen.migrate.name_tables --write`` from flax 0.12.8. Do not edit.
"""

from __future__ import annotations

from typing import Final

NAMES: Final[dict[str, dict[str, str]]] = {
    "flax.nnx": {
        "": (
            "All Any BatchNorm BatchStat Bidirectional Cache Carry Conv ConvTranspose Data Dict "
            "DiffState Dropout EMA Einsum Embed Everything FlatState GRUCell GraphDef GraphState "
            "GroupNorm Initializer InstanceNorm Intermediate LSTMCell LayerNorm Linear "
            "LinearGeneral List LoRA LoRALinear LoRAParam MergeContext Metric ModelAndOptimizer "
            "Module MultiHeadAttention MultiMetric NodeStates Not Nothing Object OfType OptArray "
            "OptState OptVariable OptimizedLSTMCell Optimizer PARTITION_NAME PReLU Param "
            "PathContains Perturbation PureState Pytree RMSNorm RNN RNNCellBase RngCount RngKey "
            "RngState RngStream Rngs Sequential SimpleCell SpectralNorm SplitContext State "
            "StateAxes StateSharding Static TrainState UpdateContext Variable VariableMetadata "
            "WeightNorm WithTag abstract_with_sharding as_abstract as_pure avg_pool cached_partial "
            "call capture celu check_pytree checkify clone combine_masks cond "
            "current_update_context custom_vjp data dataclass display dot_product_attention elu "
            "eval_shape filter_state find_duplicates flatten fori_loop fork_rngs from_flat_state "
            "from_tree gelu get_abstract_model get_named_sharding get_partition_spec glu grad "
            "graphdef hard_sigmoid hard_silu hard_swish hard_tanh has_data identity is_data "
            "iter_children iter_graph iter_module_children iter_modules jit jit_partial jvp "
            "leaky_relu log_sigmoid log_softmax logical_axis_rules logsumexp make_attention_mask "
            "make_causal_mask make_jaxpr map map_state max_pool merge merge_context merge_state "
            "min_pool one_hot pmap pool pop prefix pure recursive_map register_data_type "
            "register_variable_name relu relu6 remat replace_by_pure_dict reseed restore_int_paths "
            "restore_rngs scan selu set_graph_mode set_graph_updates set_metadata shard_map "
            "sigmoid silu soft_sign softmax softplus split split_context split_rngs split_state "
            "standardize state static swish switch tabulate tanh to_flat_state to_pure_dict "
            "to_tree transform_metadata unflatten unpack update update_context use_eager_sharding "
            "using_eager_sharding value_and_grad var_defaults variable_name_from_type "
            "variable_type_from_name variables vars_as view view_info vjp vmap while_loop "
            "with_attributes with_metadata with_partitioning with_rngs with_vars"
        ),
        "bridge": (
            "AttrPriority Functional Module NNXMeta Scope ToLinen ToNNX compact current_context "
            "current_module functional lazy_init linen_in_bridge_mdl nnx_in_bridge_mdl to_linen "
            "with_partitioning"
        ),
        "bridge.interop": "linen_in_bridge_mdl nnx_eval_shape nnx_in_bridge_mdl nnx_jit",
        "bridge.module": (
            "AttrPriority Module ModuleBase ModuleContext ModuleMeta ModuleStackEntry ModuleState "
            "Pytree Scope compact current_context current_module has_setup register_data_type"
        ),
        "bridge.variables": (
            "NNXMeta get_col_name is_vanilla_variable linen_vars_to_nnx_attrs "
            "nnx_attrs_to_linen_vars sort_variable_types to_linen_var to_nnx_var with_partitioning"
        ),
        "bridge.wrappers": (
            "Functional Module Pytree Rngs State ToLinen ToNNX current_linen_module functional "
            "lazy_init linen_rngs_dict to_linen to_linen_class"
        ),
        "compat": (
            "backup_keys cached_partial checkify clone cond custom_vjp eval_shape flatten "
            "fori_loop fork_rngs get_abstract_model grad graphdef iter_children iter_graph "
            "iter_modules jit jvp pmap recursive_map remat reseed scan shard_map split split_rngs "
            "state switch value_and_grad view view_info vjp vmap while_loop"
        ),
        "deprecations": "deprecated",
        "extract": (
            "ExtractIndex GraphDefState Mask NodeStates Opaque OrderedDict PrefixMapping Pytree "
            "State TreeState Updates apply_updates broadcast_prefix broadcast_prefix2 "
            "broadcast_prefix_map check_consistent_aliasing check_consistent_aliasing2 "
            "check_no_aliases check_prefix check_same_variables clear_non_graph_nodes "
            "copy_var_structure default_split_fn extract filter_kwargs find from_tree from_tree2 "
            "get_updates insert is_tree_node labeled mask_at merge_tree_node prefix replace_at "
            "slice_at snapshot to_masked to_tree to_tree2 treemap_copy_args update_carry_variables "
            "variable_changed"
        ),
        "filterlib": (
            "All Any Everything Filter HasTag Not Nothing OfType PathContains PathIn Predicate "
            "WithTag filters_to_predicates to_predicate"
        ),
        "graph": (
            "ApplyCaller ArrayRefDef ArrayRefOutput CallableProxy DataElem DelayedAccessor "
            "FlatState GenericPytree GraphContext GraphDef GraphFlatState GraphNodeImpl GraphState "
            "IndexMap IndexesPytreeDef Key LeafAttr MergeContext NoUpdate NodeAttr NodeDef "
            "NodeImplBase NodeRef PathParts PythonRefMap PytreeNodeImpl RefMap Repeated "
            "SplitContext State Static StaticCache StaticElem TreeNodeDef UpdateContext "
            "UpdateContextManager Variable VariableDef as_pure cached_partial call clone "
            "current_update_context deprecated find_duplicates flatten get_node_impl "
            "get_node_impl_for_type graph_pop graphdef is_array_ref is_graph_node is_node "
            "is_node_leaf is_node_module is_node_type is_pytree_node iter_children iter_graph "
            "iter_module_children jax_to_nnx_path map map_state merge merge_context pop pure "
            "recursive_map register_graph_node_type register_pytree_node_type set_graph_mode "
            "set_graph_updates set_metadata split split_context state static_cache unflatten "
            "unpack update update_context variables vars_as with_vars"
        ),
        "graphlib": (
            "ApplyCaller ArrayRefDef ArrayRefOutput CallableProxy DataElem DelayedAccessor "
            "FlatState GenericPytree GraphContext GraphDef GraphFlatState GraphNodeImpl GraphState "
            "IndexMap IndexesPytreeDef Key LeafAttr MergeContext NoUpdate NodeAttr NodeDef "
            "NodeImplBase NodeRef PathParts PythonRefMap PytreeNodeImpl RefMap Repeated "
            "SplitContext State Static StaticCache StaticElem TreeNodeDef UpdateContext "
            "UpdateContextManager Variable VariableDef as_pure cached_partial call clone "
            "current_update_context deprecated find_duplicates flatten get_node_impl "
            "get_node_impl_for_type graph_pop graphdef is_array_ref is_graph_node is_node "
            "is_node_leaf is_node_module is_node_type is_pytree_node iter_children iter_graph "
            "iter_module_children jax_to_nnx_path map map_state merge merge_context pop pure "
            "recursive_map register_graph_node_type register_pytree_node_type set_graph_mode "
            "set_graph_updates set_metadata split split_context state static_cache unflatten "
            "unpack update update_context variables vars_as with_vars"
        ),
        "helpers": (
            "ApplyCaller Dict GraphDef List Module ModuleDefApply Rngs Sequential State TrainState "
            "Variable has_keyword_arg"
        ),
        "ids": "UUID UUIDManager uuid",
        "module": (
            "Module ModuleMeta Pytree PytreeMeta State capture first_from iter_children "
            "iter_module_children iter_modules split_state tuple_init tuple_reduce view view_info "
            "with_attributes"
        ),
        "nn": "",
        "nn.activations": (
            "PReLU celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh identity "
            "leaky_relu log_sigmoid log_softmax logsumexp one_hot relu relu6 selu sigmoid silu "
            "soft_sign softmax softplus standardize swish tanh"
        ),
        "nn.attention": (
            "LayerNorm LinearGeneral Module MultiHeadAttention combine_masks dot_product_attention "
            "dot_product_attention_weights first_from make_attention_mask make_causal_mask"
        ),
        "nn.dtypes": "canonicalize_dtype promote_dtype",
        "nn.initializers": (
            "Initializer constant delta_orthogonal glorot_normal glorot_uniform he_normal "
            "he_uniform kaiming_normal kaiming_uniform lecun_normal lecun_uniform normal ones "
            "ones_init orthogonal truncated_normal uniform variance_scaling xavier_normal "
            "xavier_uniform zeros zeros_init"
        ),
        "nn.linear": (
            "Conv ConvTranspose Einsum Embed Linear LinearGeneral Module canonicalize_padding "
            "first_from"
        ),
        "nn.lora": "Linear LoRA LoRALinear LoRAParam Module",
        "nn.normalization": (
            "BatchNorm GroupNorm InstanceNorm LayerNorm Module RMSNorm SpectralNorm WeightNorm "
            "first_from"
        ),
        "nn.recurrent": (
            "Bidirectional GRUCell LSTMCell Linear Module OptimizedLSTMCell RNN RNNBase "
            "RNNCellBase SimpleCell flip_sequences modified_orthogonal"
        ),
        "nn.stochastic": "Dropout Module first_from",
        "proxy_caller": "ApplyCaller CallableProxy DelayedAccessor GetAttr GetItem",
        "pytreelib": (
            "ArrayRepr AttributeStatus Data MutableArrayRepr Object ObjectContext ObjectMeta "
            "Pytree PytreeMeta PytreeState Static Variable VariableRepr check_pytree data "
            "dataclass has_data is_data register_data_type static"
        ),
        "reprlib": (
            "Attr Color MappingReprMixin Object PrettyMapping PrettySequence ReprContext "
            "Representable SequenceReprMixin colorized get_repr supports_color"
        ),
        "rnglib": (
            "KeylessInitializer NotKey Pytree RngCount RngKey RngState RngStream Rngs SplitBackups "
            "StreamBackup Variable backup_keys fork_rngs reseed restore_rngs split_rngs with_rngs"
        ),
        "spmd": (
            "PARTITION_NAME abstract_with_sharding add_axis as_abstract deprecated eval_shape "
            "get_abstract_model get_named_sharding get_partition_spec get_var_pspec remove_axis "
            "with_partitioning"
        ),
        "statelib": (
            "FlatState NestedStateRepr State create_path_filters diff filter_state from_flat_state "
            "map_state merge_state replace_by_pure_dict restore_int_paths split_state "
            "to_flat_state to_pure_dict"
        ),
        "summary": (
            "ArrayRepr CallInfo NoneDumper ObjectInfo SimpleObjectRepr SizeBytes "
            "filter_rng_streams tabulate"
        ),
        "tracers": "TraceState current_jax_trace",
        "training": "",
        "training.ema": "EMA",
        "training.metrics": (
            "Accuracy Average Metric MetricState MultiMetric Pytree Statistics Variable Welford"
        ),
        "training.optimizer": (
            "ModelAndOptimizer OptArray OptState OptVariable Optimizer Param Pytree Variable "
            "to_opt_state"
        ),
        "transforms": "",
        "transforms.autodiff": (
            "BwdFn CustomVjp CustomVjpFnWrapper DiffState FwdFn GradFn SimpleBwdFn SimpleCustomVjp "
            "SimpleCustomVjpFn SimpleFwdFn SimpleGradFn SimpleJvpFn SimpleRematFn SimpleVjpFn "
            "State custom_vjp grad jvp labeled remat resolve_kwargs value_and_grad vjp"
        ),
        "transforms.compilation": (
            "Compiled JitFn JitWrapped Lowered ShardMapFn SimpleCompiled SimpleJitFn "
            "SimpleJitPartialFn SimpleJitPartialWrapped SimpleJitWrapped SimpleLowered "
            "SimplePartialCompiled SimplePartialLowered SimplePartialTraced SimpleShardMapFn "
            "SimpleTraced Stage StateSharding Traced jit jit_partial labeled shard_map"
        ),
        "transforms.general": "merge_inputs split_inputs",
        "transforms.iteration": (
            "Broadcasted Carry ForiLoopBodyFn Module PmapFn ScanFn SimpleForiLoopBodyFn "
            "SimplePmapFn SimpleScanFn SimpleVmapFn SimpleWhileLoopBodyFn SimpleWhileLoopCondFn "
            "State StateAxes VmapFn WhileLoopBodyFn WhileLoopCondFn fori_loop labeled pmap "
            "resolve_kwargs scan transform_metadata vmap while_loop"
        ),
        "transforms.transforms": (
            "CallableProxy CheckifyFn DelayedAccessor LiftedModule Module SimpleCheckifyFn "
            "SimpleCondFn SimpleEvalShapeFn SimpleMakeJaxprFn ValueMetadata checkify cond "
            "eval_shape labeled make_jaxpr resolve_kwargs switch"
        ),
        "traversals": "empty_node flatten_mapping flatten_to_sequence unflatten_mapping",
        "variablelib": (
            "AbstractVariable BatchStat Cache GetVariable HijaxVariable HijaxVariableMeta "
            "Intermediate NewVariable Param Perturbation SetVariable VarDefaults "
            "VarDefaultsContext Variable VariableContext VariableEffect VariableMeta "
            "VariableMetadata VariableQDD VariableState is_array_ref register_variable_name "
            "use_eager_sharding using_eager_sharding var_defaults variable_name_from_type "
            "variable_type_from_name with_metadata"
        ),
        "visualization": "display render_object_constructor",
    },
    "typed_nnx": {
        "": (
            "All Any ArrayRef BatchNorm BatchStat Bidirectional Cache Carry Conv ConvTranspose "
            "Data Dict DiffState Dropout EMA Einsum Embed Everything FlatState GRUCell GraphDef "
            "GraphState GroupNorm Initializer InstanceNorm Intermediate JitWrapped LSTMCell "
            "LayerNorm Linear LinearGeneral List LoRA LoRALinear LoRAParam MergeContext Metric "
            "MetricState ModelAndOptimizer Module MultiHeadAttention MultiMetric NodeStates Not "
            "Nothing Object OfType OptArray OptState OptVariable OptimizedLSTMCell Optimizer "
            "PARTITION_NAME PReLU Param PathContains PathIn Perturbation PureState Pytree RMSNorm "
            "RNN RNNCellBase RngCount RngKey RngState RngStream Rngs Sequential SimpleCell "
            "SpectralNorm SplitBackups SplitContext State StateAxes StateSharding Static "
            "StreamBackup SupportsState TrainState UpdateContext Variable VariableMetadata "
            "WeightNorm WithTag abstract_with_sharding array_ref as_abstract as_pure avg_pool "
            "backup_keys backup_rngs cached_partial call capture celu check_pytree checkify clone "
            "combine_masks cond current_update_context custom_vjp data dataclass diff display "
            "dot_product_attention elu eval_shape export filter_state find_duplicates flatten "
            "fori_loop fork_rngs from_flat_state from_tree gelu get_abstract_model "
            "get_named_sharding get_partition_spec glu grad graphdef hard_sigmoid hard_silu "
            "hard_swish hard_tanh has_data identity install_as_flax_nnx invalidate is_array_ref "
            "is_data iter_children iter_graph iter_module_children iter_modules jit jit_partial "
            "jvp leaky_relu log_sigmoid log_softmax logical_axis_rules logsumexp "
            "make_attention_mask make_causal_mask make_jaxpr map map_state max_pool merge "
            "merge_context merge_state min_pool named_arrays one_hot pmap pool pop prefix pure "
            "recursive_map register_data_type register_variable_name relu relu6 remat "
            "replace_by_pure_dict reseed restore_int_paths restore_rngs scan selu set_graph_mode "
            "set_graph_updates set_metadata set_verify_records shard_map sigmoid silu soft_sign "
            "softmax softplus split split_context split_rngs split_state standardize state static "
            "swish switch tabulate tanh to_arrays to_flat_state to_predicate to_pure_dict to_refs "
            "to_tree transform_metadata unflatten unpack update update_context use_eager_sharding "
            "using_eager_sharding value_and_grad var_defaults variable_name_from_type "
            "variable_type_from_name variables vars_as view view_info vjp vmap while_loop "
            "with_attributes with_metadata with_partitioning with_rngs with_vars"
        ),
        "bridge": (
            "AttrPriority Functional Module NNXMeta Scope ToLinen ToNNX compact current_context "
            "current_module functional lazy_init linen_in_bridge_mdl nnx_in_bridge_mdl to_linen "
            "with_partitioning"
        ),
        "bridge.interop": "linen_in_bridge_mdl nnx_in_bridge_mdl",
        "bridge.module": (
            "AttrPriority Module ModuleContext ModuleMeta ModuleStackEntry ModuleState Pytree "
            "Scope compact current_context current_module has_setup register_data_type"
        ),
        "bridge.variables": (
            "NNXMeta get_col_name is_vanilla_variable linen_vars_to_nnx_attrs "
            "nnx_attrs_to_linen_vars sort_variable_types to_linen_var to_nnx_var with_partitioning"
        ),
        "bridge.wrappers": (
            "Functional Module Pytree Rngs State ToLinen ToNNX current_linen_module functional "
            "lazy_init linen_rngs_dict to_linen to_linen_class"
        ),
        "compat": (
            "backup_keys cached_partial checkify clone cond custom_vjp eval_shape flatten "
            "fori_loop fork_rngs get_abstract_model grad graphdef iter_children iter_graph "
            "iter_modules jit jvp pmap recursive_map remat reseed scan shard_map split split_rngs "
            "state switch value_and_grad view view_info vjp vmap while_loop"
        ),
        "filterlib": (
            "All Any Everything Filter Not Nothing OfType PathContains PathIn Predicate WithTag "
            "filters_to_predicates to_predicate"
        ),
        "graph": (
            "FlatState GraphDef GraphState IndexMap Key MergeContext NodeDef NodeRef PathParts "
            "RefMap SplitContext State TreeNodeDef UpdateContext UpdateContextManager Variable "
            "VariableDef as_pure cached_partial call clone current_update_context find_duplicates "
            "flatten graphdef is_array_ref is_graph_node is_node iter_children iter_graph "
            "iter_module_children jax_to_nnx_path map map_state merge merge_context pop pure "
            "recursive_map set_graph_mode set_graph_updates set_metadata split split_context state "
            "unflatten unpack update update_context variables vars_as with_vars"
        ),
        "graphlib": (
            "FlatState GraphDef GraphState IndexMap Key MergeContext NodeDef NodeRef PathParts "
            "RefMap SplitContext State TreeNodeDef UpdateContext UpdateContextManager Variable "
            "VariableDef as_pure cached_partial call clone current_update_context find_duplicates "
            "flatten graphdef is_array_ref is_graph_node is_node iter_children iter_graph "
            "iter_module_children jax_to_nnx_path map map_state merge merge_context pop pure "
            "recursive_map set_graph_mode set_graph_updates set_metadata split split_context state "
            "unflatten unpack update update_context variables vars_as with_vars"
        ),
        "helpers": (
            "Dict GraphDef List Module Rngs Sequential State TrainState Variable has_keyword_arg"
        ),
        "module": (
            "Module ModuleMeta Pytree PytreeMeta State capture iter_children iter_module_children "
            "iter_modules split_state tuple_init tuple_reduce view view_info with_attributes"
        ),
        "nn": "",
        "nn.activations": (
            "PReLU celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh identity "
            "leaky_relu log_sigmoid log_softmax logsumexp one_hot relu relu6 selu sigmoid silu "
            "soft_sign softmax softplus standardize swish tanh"
        ),
        "nn.attention": (
            "LayerNorm LinearGeneral Module MultiHeadAttention combine_masks dot_product_attention "
            "dot_product_attention_weights make_attention_mask make_causal_mask"
        ),
        "nn.dtypes": "canonicalize_dtype promote_dtype",
        "nn.initializers": (
            "Initializer constant delta_orthogonal glorot_normal glorot_uniform he_normal "
            "he_uniform kaiming_normal kaiming_uniform lecun_normal lecun_uniform normal ones "
            "ones_init orthogonal truncated_normal uniform variance_scaling xavier_normal "
            "xavier_uniform zeros zeros_init"
        ),
        "nn.linear": (
            "Conv ConvTranspose Einsum Embed Linear LinearGeneral Module canonicalize_padding"
        ),
        "nn.lora": "Linear LoRA LoRALinear LoRAParam Module",
        "nn.normalization": (
            "BatchNorm GroupNorm InstanceNorm LayerNorm Module RMSNorm SpectralNorm WeightNorm"
        ),
        "nn.recurrent": (
            "Bidirectional GRUCell LSTMCell Linear Module OptimizedLSTMCell RNN RNNBase "
            "RNNCellBase SimpleCell flip_sequences modified_orthogonal"
        ),
        "nn.stochastic": "Dropout Module",
        "pytreelib": (
            "Data Object ObjectMeta Pytree PytreeMeta Static Variable check_pytree data dataclass "
            "has_data is_data register_data_type static"
        ),
        "rnglib": (
            "Pytree RngCount RngKey RngState RngStream Rngs SplitBackups StreamBackup Variable "
            "backup_keys fork_rngs reseed restore_rngs split_rngs with_rngs"
        ),
        "spmd": (
            "PARTITION_NAME abstract_with_sharding add_axis as_abstract eval_shape "
            "get_abstract_model get_named_sharding get_partition_spec get_var_pspec remove_axis "
            "with_partitioning"
        ),
        "statelib": (
            "FlatState State diff filter_state from_flat_state map_state merge_state "
            "replace_by_pure_dict restore_int_paths split_state to_flat_state to_pure_dict"
        ),
        "summary": "ArrayRepr CallInfo filter_rng_streams tabulate",
        "training": "",
        "training.ema": "EMA",
        "training.metrics": (
            "Accuracy Average Metric MetricState MultiMetric Pytree Statistics Variable Welford"
        ),
        "training.optimizer": (
            "ModelAndOptimizer OptArray OptState OptVariable Optimizer Param Pytree Variable "
            "to_opt_state"
        ),
        "transforms": "",
        "transforms.autodiff": "DiffState State custom_vjp grad jvp remat value_and_grad vjp",
        "transforms.compilation": (
            "Compiled JitWrapped Lowered Stage StateSharding Traced jit jit_partial shard_map"
        ),
        "transforms.general": "merge_inputs split_inputs",
        "transforms.iteration": (
            "Carry Module State StateAxes fori_loop pmap scan transform_metadata vmap while_loop"
        ),
        "transforms.transforms": "Module checkify cond eval_shape make_jaxpr switch",
        "traversals": "empty_node flatten_mapping flatten_to_sequence unflatten_mapping",
        "variablelib": (
            "BatchStat Cache HijaxVariable Intermediate Param Perturbation VarDefaults "
            "VarDefaultsContext Variable VariableMetadata VariableState is_array_ref "
            "register_variable_name use_eager_sharding using_eager_sharding var_defaults "
            "variable_name_from_type variable_type_from_name with_metadata"
        ),
        "visualization": "display",
    },
}
"""The names of each module, which is named below the package; the package itself is empty."""

MODULES: Final[dict[str, dict[str, str]]] = {
    "flax.nnx": {
        "initializers": "nn.initializers",
        "metrics": "training.metrics",
        "object": "pytreelib",
        "optimizer": "training.optimizer",
        "wrappers": "bridge.wrappers",
    },
    "typed_nnx": {
        "errors": "errors",
        "initializers": "nn.initializers",
        "metrics": "training.metrics",
        "migrated": "migrated",
        "object": "pytreelib",
        "optimizer": "training.optimizer",
        "wrappers": "bridge.wrappers",
    },
}
"""Attributes of the package that are modules of another name, or ours alone."""

DEPRECATED: Final[dict[str, str]] = {
    "flax.nnx": "VariableState",
    "typed_nnx": (
        "ModuleDef ModuleList MutableArray Sequence VariableState freeze mutable mutable_array"
    ),
}
"""The names of the package that warn when they are looked up."""

APART: Final[dict[str, str]] = {
    "flax.nnx": (
        "bridge.Module bridge.module.Module bridge.variables.with_partitioning "
        "bridge.with_partitioning compat.cached_partial compat.checkify compat.clone compat.cond "
        "compat.custom_vjp compat.eval_shape compat.flatten compat.fori_loop compat.fork_rngs "
        "compat.get_abstract_model compat.grad compat.graphdef compat.iter_children "
        "compat.iter_graph compat.iter_modules compat.jit compat.jvp compat.pmap "
        "compat.recursive_map compat.remat compat.reseed compat.scan compat.shard_map compat.split "
        "compat.split_rngs compat.state compat.switch compat.value_and_grad compat.view "
        "compat.view_info compat.vjp compat.vmap compat.while_loop extract.extract graph.Static "
        "graphlib.Static reprlib.Object"
    ),
    "typed_nnx": (
        "bridge.Module bridge.module.Module bridge.variables.with_partitioning "
        "bridge.with_partitioning compat.backup_keys compat.cached_partial compat.checkify "
        "compat.clone compat.cond compat.custom_vjp compat.eval_shape compat.flatten "
        "compat.fori_loop compat.fork_rngs compat.get_abstract_model compat.grad compat.graphdef "
        "compat.iter_children compat.iter_graph compat.iter_modules compat.jit compat.jvp "
        "compat.pmap compat.recursive_map compat.remat compat.reseed compat.scan compat.shard_map "
        "compat.split compat.split_rngs compat.state compat.switch compat.value_and_grad "
        "compat.view compat.view_info compat.vjp compat.vmap compat.while_loop"
    ),
}
"""Names of modules that the package has too, where the objects are not the same."""
