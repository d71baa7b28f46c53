"""The classes of the corpus that are left to a person in part, and examples that are not compared."""

from __future__ import annotations

from typing import Final

MARKED: Final[dict[str, set[str]]] = {
    "blocks_by_name": {"BlocksByName"},
    "branches": {"Ternaries", "UnnamedTrainBranch"},
    "builders": {
        "Options",
    },
    "changed_settings": {
        "ChangedByCall",
        "ChangedSettings",
        "ChangedWidths",
        "Forwarded",
    },
    "built_before_loops": {"BetweenLoops"},
    "left_loops": {
        "AroundLeaving",
        "LeavesBefore",
        "LeavesLayersOfSetup",
        "LeavesOnSize",
        "LeavesOtherwise",
    },
    "chosen_classes": {
        "ChangedLater",
        "ChosenFunction",
        "ChosenNorms",
        "FromDict",
        "MadeInSetup",
        "NeverSeen",
        "OneNameForTwo",
        "ReturnedToName",
    },
    "chosen_functions": {"ChosenByCall", "ExtractorBefore"},
    "configs": {
        "KeywordConfigured",
        "TextEncoder",
        "TranslationModel",
    },
    "containers": {"MultiModal", "NestedContainers"},
    "detached_layers": {"Fixed", "OnlyKernel"},
    "diffusion": {"ScoreMLP"},
    "ends_of_lists": {"BeforeTheEnd", "OtherLast"},
    "fields_3d": {"EncodedField"},
    "filled_lists": {"NamedPairs"},
    "first_calls": {"BeginsWithNone", "GrowingBuffer"},
    "flows": {
        "ActNorm",
        "MADE",
        "MaskedDense",
        "RealNVP",
    },
    "graph_networks": {"EncodeProcessDecode"},
    "grown_sequences": {
        "AppendedListsInSetup",
        "FilledByFunctions",
        "ListsInSetup",
        "NamedItems",
        "SharedByTwo",
    },
    "hard_cases": {
        "FromRegistry",
        "FromTable",
        "GenericCaller",
        "MappedBuilds",
        "OpaqueInput",
        "OpaqueOutput",
        "PooledToken",
        "RewrittenVariables",
        "SamePlainMethods",
        "SharedDefaultTwice",
        "StateInParams",
        "WalrusAndStar",
        "WhileByShape",
    },
    "held_shapes": {"Templates"},
    "inheritance": {
        "ExtendedDense",
        "ExtendedUser",
    },
    "inner_apply": {"ParamOfModule"},
    "input_dtypes": {"ReboundBeforeTheCall"},
    "items_of_lists": {
        "AnyItem",
        "FirstItem",
        "NamedItems",
    },
    "kept_arrays": {"ChangedInPlace"},
    "latent_models": {"VQVAE", "VectorQuantizer"},
    "lifted_functions": {"ChunkedBlock"},
    "lifted_transforms": {"EnsembleSetup", "FunctionBody"},
    "lists_in_setup": {
        "MiscountedParts",
        "PlacesAfterAHead",
        "SequentialInCall",
        "SequentialOfSums",
        "UnpackedActivations",
        "UnpackedByField",
    },
    "lists_of_arrays": {
        "HeadsChanged",
        "Odd",
        "SharedHeadLoop",
        "UpsFirst",
    },
    "local_functions": {"BoundBehind"},
    "loops": {
        "FeaturePyramid",
        "PairLoop",
        "SetupUNet",
        "UntilBreak",
        "WhileLoop",
    },
    "mapped_functions": {"UnsureRank"},
    "masks_and_states": {"GrowsMean", "ParamListLoop"},
    "methods": {
        "ConstantsAndProperties",
        "NamedScopes",
        "Reshapes",
        "TwoRounds",
        "TwoWays",
    },
    "modes": {
        "AsksInSetup",
        "HasModeField",
        "ModeGiven",
    },
    "module_fields": {
        "CopiedField",
        "FactoryField",
        "InstanceField",
    },
    "names": {
        "NamePassedOn",
        "SetattrNames",
        "Unused",
    },
    "optional_arrays": {"Before", "EitherArgument"},
    "optional_parts": {"Stages"},
    "outputs": {
        "DictInput",
        "GaussianUser",
        "ManyArguments",
    },
    "passed_options": {"ConfiguredConv"},
    "project_b/flat_derived": {"ReadsTheOther"},
    "recurrent": {"RunsCell", "UnrolledLSTM"},
    "returned_values": {
        "DrawnTwice",
        "SetupTableTwice",
    },
    "setup_helpers": {"ParametersIfTrained", "UsedElsewhere"},
    "sizes_of_first_values": {"ByRank", "RankOfAnother"},
    "skip_lists": {
        "Handed",
        "Literal",
        "OnCall",
    },
    "typed_fields": {"OtherWindow"},
    "unfinished_parts": {
        "BeginsWithInput",
        "ByMode",
        "CenteredByStats",
        "HoldsByMode",
        "HoldsTheHolder",
    },
    "unknown_indices": {"TurnedAxis"},
    "unread_parts": {"Lends", "Passed"},
    "untaken_sides": {
        "Chosen",
        "ChosenElse",
        "EndOfCall",
    },
    "uses_of_classes": {
        "AroundKeeping",
        "Described",
        "KeepsByProperty",
        "WithConfig",
    },
    "variables": {"SownActivations"},
    "zipped_names": {"ZippedSizes"},
}
# They fail loudly or cannot be compared as they stand; none of them computes something else unnoticed.
LEFT_OUT: Final[dict[str, dict[str, str]]] = {
    "attention": {
        "MixedAttention": "keys and values of different widths: the weights do not load",
    },
    "methods": {
        "ConstantsAndProperties.small": "a class method constructs the class: marked there",
    },
    "module_fields": {
        "ClassField 2": "a class that the project does not have in that place",
        "TorsoAndHead 2": "Linen's init does not call the field",
    },
    "hard_cases": {
        "GlobalTemplate": "a module in a global variable: marked there",
        "StateInParams": "statistics that nothing reads change also where Linen has them fixed",
    },
}
# They are compared in typed_nnx, where a mapped function takes keywords.
LEFT_OUT_OF_FLAX: Final[dict[str, str]] = {
    "FieldOfCall": "flax: keyword arguments could not be resolved to positions",
    "FieldOfCall 2": "the same",
}

# Classes that a setting decides to build under `nn.remat`, for which Linen has another name, and
# layers whose variables are called in Linen by the path of the weight that they normalise.
NAMED_OTHERWISE: Final[dict[str, set[str]]] = {
    "lifted_transforms": {"RematLoop", "MaybeRemat"},
    "normalisation": {"SpectralMLP", "WeightNormed", "NormedEnsemble"},
}
# The examples whose call creates less in Linen than its class has: one of its methods, a mode, inputs of a size.
FILLED_IN_PART: Final[dict[str, set[str]]] = {
    "agents": {"one head"},
    "course_models": {"weights"},
    "diffusion": {"UNet", "UNet num_res_blocks=2 num_classes=5"},
    "methods": {"SeveralMethods 2", "SeveralMethods 3"},
    "names_of_classes": {"NotGlued 2"},
    "pretrained_style": {
        *("TiedHead 2", "TiedLanguageModel", "TiedLanguageModel init_cache=True"),
        "FunctionalWholeTree",
    },
    "settings_and_outputs": {"no summary"},
}
