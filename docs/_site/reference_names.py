"""What the API reference holds: its pages, and the names on each in their order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page of the reference.

    Attributes:
        file: Its name, without a suffix.
        title: Its heading.
        text: What stands above the names, as Markdown; links begin at the folder of the page.
        parts: Names below headings; without a heading where the key is "". A name without
            "typed_nnx" in front is one of that package.
    """

    file: str
    title: str
    text: str
    parts: dict[str, str]

    def names(self) -> list[str]:
        """Return the full names on the page."""
        return [full_name(name) for part in self.parts.values() for name in part.split()]


def full_name(name: str) -> str:
    """Return a name of the table with the package that it is in."""
    return name if name.startswith("typed_nnx") else f"typed_nnx.{name}"


PAGES = (
    Page(
        "variables",
        "Variables",
        "What holds the arrays of a model, and says what they are for. [The guide](../guides/variables.md).",
        {
            "The class": "Variable",
            "Kinds of Variables": """Param BatchStat Cache Intermediate Perturbation LoRAParam
                MetricState OptState OptVariable OptArray""",
            "Metadata": "with_metadata VariableMetadata",
            "Defaults": """var_defaults variablelib.VarDefaults variablelib.VarDefaultsContext
                use_eager_sharding using_eager_sharding""",
            "Names of kinds": """register_variable_name variable_name_from_type
                variable_type_from_name""",
            "Array references": "ArrayRef array_ref is_array_ref",
        },
    ),
    Page(
        "objects",
        "Pytrees and Modules",
        "Objects that hold data: attributes are data or static. [The guide](../guides/pytrees.md).",
        {
            "Classes": "Pytree Module Object",
            "Containers": "List Dict Sequential",
            "Data and static": "data static Data Static is_data has_data register_data_type",
            "Dataclasses": "dataclass",
            "Walks": "iter_modules iter_module_children iter_graph iter_children",
            "Checks": "check_pytree find_duplicates",
            "Metaclasses": "pytreelib.PytreeMeta",
        },
    ),
    Page(
        "rngs",
        "Random numbers",
        "Streams of keys. [The guide](../guides/rngs.md).",
        {
            "Streams": "Rngs RngStream RngState RngKey RngCount",
            "New keys": "reseed with_rngs",
            "Under transforms": """split_rngs fork_rngs backup_keys backup_rngs restore_rngs
                SplitBackups StreamBackup""",
        },
    ),
    Page(
        "filters",
        "Filters",
        "They choose leaves by type, tag and path. [The guide](../guides/filters.md).",
        {
            "Filters": "OfType PathContains PathIn WithTag",
            "Combinations": "All Any Not Everything Nothing",
            "From literals": """to_predicate filterlib.filters_to_predicates filterlib.Filter
                filterlib.Predicate""",
        },
    ),
    Page(
        "state",
        "State and GraphDef",
        "What a model is taken apart into. [The guide](../guides/state_and_graphdef.md), "
        "[types](../guides/types.md).",
        {
            "Values": "State FlatState GraphState PureState",
            "Structure": """GraphDef graphlib.VariableDef graphlib.NodeDef graphlib.NodeRef
                graphlib.NodeDefType graphlib.TreeNodeDef""",
            "Functions": """split_state merge_state filter_state map_state diff to_flat_state
                from_flat_state to_pure_dict replace_by_pure_dict restore_int_paths""",
            "Types": "SupportsState graphlib.Key graphlib.PathParts",
        },
    ),
    Page(
        "graph",
        "Objects to values and back",
        "From a model to its structure and States, and back. "
        "[The guide](../guides/state_and_graphdef.md), [the cached record](../guides/records.md).",
        {
            "Apart and together": "split merge update state graphdef variables unpack pop clone",
            "Calls and captures": "call capture",
            "Other forms of a model": """pure as_pure to_arrays to_refs vars_as with_vars view
                view_info with_attributes""",
            "Walks": "map recursive_map set_metadata",
            "Modes and records": "set_graph_mode set_graph_updates set_verify_records invalidate",
            "Flattening": """flatten unflatten graphlib.RefMap graphlib.IndexMap
                graphlib.GraphNode graphlib.is_node graphlib.is_graph_node
                graphlib.jax_to_nnx_path""",
            "Transforms of your own": """update_context current_update_context split_context
                merge_context UpdateContext SplitContext MergeContext
                graphlib.UpdateContextManager to_tree from_tree prefix NodeStates""",
            "Nested mappings": """traversals.flatten_mapping traversals.unflatten_mapping
                traversals.flatten_to_sequence traversals.empty_node
                traversals.IsLeafCallable""",
        },
    ),
    Page(
        "transforms",
        "Transforms",
        "The transforms of jax for functions of Modules. [The guide](../guides/transforms.md), "
        "[closures](../guides/closures.md).",
        {
            "Compilation": """jit jit_partial cached_partial shard_map JitWrapped
                transforms.compilation.Stage transforms.compilation.Traced
                transforms.compilation.Lowered transforms.compilation.Compiled StateSharding""",
            "Gradients": "grad value_and_grad vjp jvp custom_vjp remat DiffState",
            "Axes": "vmap pmap scan StateAxes Carry transform_metadata PARTITION_NAME",
            "Control flow": "cond switch while_loop fori_loop",
            "Shapes, programs and checks": "eval_shape make_jaxpr checkify export named_arrays",
        },
    ),
    Page(
        "layers",
        "Layers",
        "Modules with parameters. [The guide](../guides/layers.md) says what they have in common.",
        {
            "Linear": "Linear LinearGeneral Einsum Embed",
            "Convolutions": "Conv ConvTranspose nn.linear.canonicalize_padding",
            "Dropout": "Dropout",
            "Low rank": "LoRA LoRALinear",
            "Initializers that layers have": """nn.linear.default_kernel_init
                nn.linear.default_bias_init nn.linear.default_embed_init
                nn.lora.default_a_initializer nn.lora.default_b_initializer""",
        },
    ),
    Page(
        "normalization",
        "Normalization",
        "Layers that bring their inputs, or their kernels, to a known scale. "
        "[The guide](../guides/layers.md).",
        {"": "BatchNorm LayerNorm RMSNorm GroupNorm InstanceNorm SpectralNorm WeightNorm"},
    ),
    Page(
        "attention",
        "Attention",
        "[The guide](../guides/layers.md#attention).",
        {
            "The layer": "MultiHeadAttention",
            "Functions": "dot_product_attention nn.attention.dot_product_attention_weights",
            "Masks": "make_attention_mask make_causal_mask combine_masks",
        },
    ),
    Page(
        "recurrent",
        "Recurrent layers",
        "[The guide](../guides/layers.md#recurrent-layers).",
        {
            "Over sequences": "RNN Bidirectional nn.recurrent.flip_sequences",
            "Cells": "SimpleCell GRUCell LSTMCell OptimizedLSTMCell",
            "Cells of your own": """RNNCellBase nn.recurrent.RNNBase
                nn.recurrent.modified_orthogonal""",
        },
    ),
    Page(
        "pooling",
        "Pooling",
        "Windows over an array. [The guide](../guides/layers.md#convolutions-and-pooling).",
        {"": "avg_pool max_pool min_pool pool"},
    ),
    Page(
        "activations",
        "Activations",
        "Functions between layers. Those of jax are re-exported as they are; `PReLU` has a parameter.",
        {
            "With a parameter": "PReLU",
            "Rectifiers": """relu relu6 leaky_relu elu celu selu gelu silu swish softplus
                hard_silu hard_swish""",
            "Bounded": "sigmoid hard_sigmoid log_sigmoid tanh hard_tanh soft_sign",
            "Over an axis": "softmax log_softmax logsumexp standardize glu",
            "Others": "identity one_hot",
        },
    ),
    Page(
        "initializers",
        "Initializers",
        "Functions of a key, a shape and a dtype, for the parameters of layers. "
        "Those of jax are re-exported as they are.",
        {
            "The type": "Initializer",
            "Constants": """nn.initializers.zeros nn.initializers.ones nn.initializers.constant
                nn.initializers.zeros_init nn.initializers.ones_init""",
            "Distributions": """nn.initializers.normal nn.initializers.uniform
                nn.initializers.truncated_normal""",
            "Scaled by the shape": """nn.initializers.variance_scaling
                nn.initializers.lecun_normal nn.initializers.lecun_uniform
                nn.initializers.glorot_normal nn.initializers.glorot_uniform
                nn.initializers.xavier_normal nn.initializers.xavier_uniform
                nn.initializers.he_normal nn.initializers.he_uniform
                nn.initializers.kaiming_normal nn.initializers.kaiming_uniform""",
            "Orthogonal": "nn.initializers.orthogonal nn.initializers.delta_orthogonal",
        },
    ),
    Page(
        "dtypes",
        "Dtypes",
        "What a layer computes in. [The guide](../guides/layers.md#dtypes).",
        {"": "nn.dtypes.canonicalize_dtype nn.dtypes.promote_dtype"},
    ),
    Page(
        "training",
        "Training",
        "Optimizers, the state of a run, averages of parameters. [The guide](../guides/training.md).",
        {
            "Optimizers": """Optimizer ModelAndOptimizer training.optimizer.to_opt_state
                training.optimizer.Place""",
            "The state of a run": "TrainState",
            "Averages of parameters": "EMA",
        },
    ),
    Page(
        "metrics",
        "Metrics",
        "Values that are accumulated over batches and then computed. "
        "[The guide](../guides/training.md#metrics).",
        {
            "": """training.metrics.Average training.metrics.Accuracy training.metrics.Welford
                training.metrics.Statistics
                MultiMetric Metric"""
        },
    ),
    Page(
        "checkpoint",
        "Checkpoints",
        "`typed_nnx.training.checkpoint`: models, optimizers and States on disk. "
        "[The guide](../guides/checkpoints.md).",
        {
            "One checkpoint": "training.checkpoint.save training.checkpoint.restore "
            "training.checkpoint.load",
            "Those of a run": "training.checkpoint.CheckpointManager",
            "Files of other programs": """training.checkpoint.save_safetensors
                training.checkpoint.load_safetensors""",
            "Types": "training.checkpoint.Placement",
        },
    ),
    Page(
        "sharding",
        "Sharding",
        "Arrays over many devices. [The guide](../guides/sharding.md). "
        "`abstract_with_sharding` is the older name of `as_abstract`.",
        {
            "Layouts of a model": """get_partition_spec get_named_sharding with_partitioning
                spmd.get_var_pspec""",
            "Models without arrays": "get_abstract_model as_abstract",
            "Names of axes": """logical_axis_rules spmd.get_logical_axis_rules spmd.LogicalRules
                spmd.Sharding""",
            "Axes that transforms add": "spmd.add_axis spmd.remove_axis",
        },
    ),
    Page(
        "summaries",
        "Summaries",
        "A model as a table and in a notebook. [The guide](../guides/summaries.md).",
        {
            "": "tabulate display",
            "What rows are made of": """summary.CallInfo summary.ArrayRepr
                summary.filter_rng_streams""",
        },
    ),
    Page(
        "bridge",
        "Linen modules",
        "`nnx.bridge`: `flax.linen` and Modules in one model. [The guide](../guides/bridge.md). "
        "[Programs that import flax.nnx](../guides/as-flax-nnx.md).",
        {
            "In the place of flax.nnx": "install_as_flax_nnx",
            "Wrappers": """bridge.ToNNX bridge.ToLinen bridge.to_linen
                bridge.wrappers.to_linen_class bridge.lazy_init bridge.functional
                bridge.Functional""",
            "Modules in the style of Linen": """bridge.Module bridge.compact
                bridge.current_module bridge.current_context bridge.Scope bridge.AttrPriority
                bridge.nnx_in_bridge_mdl bridge.linen_in_bridge_mdl bridge.module.has_setup
                bridge.module.MODULE_CONTEXT bridge.module.ModuleContext
                bridge.module.ModuleStackEntry bridge.module.ModuleState
                bridge.module.ModuleMeta""",
            "Variables of both": """bridge.with_partitioning bridge.NNXMeta
                bridge.variables.to_linen_var bridge.variables.to_nnx_var
                bridge.variables.linen_vars_to_nnx_attrs bridge.variables.nnx_attrs_to_linen_vars
                bridge.variables.get_col_name bridge.variables.is_vanilla_variable
                bridge.variables.sort_variable_types bridge.wrappers.current_linen_module
                bridge.wrappers.linen_rngs_dict""",
        },
    ),
    Page(
        "migrated",
        "For migrated code",
        "What [`typed-nnx migrate --linen`](../migrating-linen.md) and"
        " [`--haiku`](../migrating-haiku.md) write `from typed_nnx.migrated import ...` for.",
        {
            "A model apart from its variables": """migrated.variables_of migrated.bound_to migrated.init_like
                migrated.init_with migrated.apply_with migrated.apply_of migrated.init_with_output
                migrated.KnownSizes migrated.with_parameters
                migrated.made_once migrated.OwnParameters""",
            "What constructs a model": """migrated.with_input_sizes migrated.field_of
                migrated.constructs migrated.construct_later migrated.not_built""",
            "Functions as of Haiku": """migrated.haiku_transform
                migrated.haiku_transform_with_state migrated.HaikuTransformed""",
            "Layers as in Haiku": """migrated.HaikuBatchNorm migrated.HaikuMovingAverage
                migrated.HaikuMultiHeadAttention migrated.HaikuMLP migrated.HaikuLSTM
                migrated.HaikuLSTMState migrated.HaikuGRU migrated.HaikuVanillaRNN
                migrated.haiku_kernel migrated.haiku_dropout migrated.haiku_zeros""",
            "Layers as in Linen": """migrated.LinenWeightNorm migrated.LinenSpectralNorm
                migrated.LinenGRUCell migrated.LinenMGUCell migrated.LinenConvLSTMCell
                migrated.attention_in_its_dtype migrated.with_accepted_arguments
                migrated.keep_dtypes migrated.in_dtype_of_inputs""",
        },
    ),
    Page(
        "older-code",
        "For older code",
        "What code for earlier releases of NNX asks for. [Migrating](../migrating.md) rewrites it.",
        {
            "Older names": """compat.older_name helpers.has_keyword_arg
                module.tuple_init module.tuple_reduce transforms.general.split_inputs
                transforms.general.merge_inputs variablelib.HijaxVariable"""
        },
    ),
    Page(
        "tools",
        "Tools",
        "What can be imported of the command and of the mypy plugin. "
        "[The command](../command.md), [the plugin](../mypy-plugin.md).",
        {
            "Weights of Linen checkpoints": """typed_nnx_codegen.migrate.weights.load
                typed_nnx_codegen.migrate.weights.read typed_nnx_codegen.migrate.weights.Loaded
                typed_nnx_codegen.migrate.weights.WeightsError""",
            "Examples of `typed-nnx verify`": """typed_nnx_codegen.verify.examples.Example
                typed_nnx_codegen.verify.examples.Build typed_nnx_codegen.verify.examples.Ref""",
            "Settings of the mypy plugin": """typed_nnx_mypy.config.Config
                typed_nnx_mypy.config.ConfigError""",
        },
    ),
)
"""The pages; that of the exceptions and that of the modules are made of the source."""
