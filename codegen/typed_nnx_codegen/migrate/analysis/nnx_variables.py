"""Variables and the streams of random numbers."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.analysis.nnx_class import EVERY_OTHER, NnxClass

_PYTREE: Final = ("Pytree",)
_VARIABLE: Final = ("Variable",)

# Rngs and RngStream draw with the functions of `jax.random`.
_SAMPLERS: Final = dict.fromkeys(
    (
        *("ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare"),
        *("choice", "dirichlet", "double_sided_maxwell", "exponential", "f", "gamma"),
        *("generalized_normal", "geometric", "gumbel", "laplace", "loggamma", "logistic"),
        *("lognormal", "maxwell", "multinomial", "multivariate_normal", "normal", "orthogonal"),
        *("pareto", "permutation", "poisson", "rademacher", "randint", "rayleigh", "t"),
        *("triangular", "truncated_normal", "uniform", "wald", "weibull_min"),
    ),
    "array",
)
_INITIALIZERS: Final = dict.fromkeys(
    (
        *("delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform"),
        *("kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform"),
        *("variance_scaling", "xavier_normal", "xavier_uniform"),
    ),
    "callable",
)
RANDOM: Final = {
    "Rngs": NnxClass(
        _PYTREE,
        {EVERY_OTHER: "RngStream"},
        {
            **_SAMPLERS,
            **_INITIALIZERS,
            "__call__": "array",
            "__getitem__": "RngStream",
            "__iter__": "list[str]",
            "broadcast": "Rngs",
            "copy": "Rngs",
            "fork": "Rngs",
            "items": "list[tuple[str, RngStream]]",
            "make_rng": "array",
            "split": "Rngs",
        },
    ),
    "RngStream": NnxClass(
        _PYTREE,
        {"tag": "str", "key": "RngKey", "count": "RngCount"},
        {
            **_SAMPLERS,
            **_INITIALIZERS,
            "__call__": "array",
            "broadcast": "RngStream",
            "fork": "RngStream",
            "split": "RngStream",
        },
    ),
    "SplitBackups": NnxClass((), {"backups": "list[unknown]"}, {"__iter__": "list[unknown]"}),
}
"""Rngs and streams by name."""

VARIABLES: Final = {
    "Variable": NnxClass(
        (),
        {
            # What a Variable holds is an array nearly always.
            "value": "array",
            "raw_value": "array",
            "T": "array",
            "at": "unknown",
            "dtype": "unknown",
            "hijax": "bool",
            "ndim": "int",
            "out_sharding": "unknown",
            "ref": "bool",
            "required_metadata": "unknown",
            "shape": "tuple[int, ...]",
            "sharding": "unknown",
            "sharding_names": "unknown",
            "size": "int",
            "type": "type[Variable]",
            "var_type": "type[Variable]",
        },
        {
            "__call__": "unknown",
            "__getitem__": "array",
            "__iter__": "list[array]",
            "add_axis": "None",
            "astype": "array",
            "copy": "self",
            "copy_from": "None",
            "create_value": "array",
            "del_metadata": "None",
            "flatten": "array",
            "from_metadata": "self",
            "get_metadata": "unknown",
            "get_raw_value": "array",
            "get_value": "array",
            "has_metadata": "bool",
            "max": "array",
            "mean": "array",
            "min": "array",
            "prod": "array",
            "remove_axis": "None",
            "replace": "self",
            "reshape": "array",
            "set_metadata": "None",
            "set_raw_value": "None",
            "set_value": "None",
            "std": "array",
            "sum": "array",
            "to_state": "self",
            "transpose": "array",
            "update_from_state": "None",
            "var": "array",
        },
    ),
    "Param": NnxClass(_VARIABLE),
    "LoRAParam": NnxClass(("Param",)),
    "BatchStat": NnxClass(_VARIABLE),
    "Cache": NnxClass(_VARIABLE),
    "Intermediate": NnxClass(_VARIABLE),
    "Perturbation": NnxClass(("Intermediate",)),
    "RngState": NnxClass(_VARIABLE),
    "RngKey": NnxClass(("RngState",)),
    "RngCount": NnxClass(("RngState",)),
    "OptState": NnxClass(_VARIABLE),
    "OptArray": NnxClass(("OptState",)),
    "OptVariable": NnxClass(("OptState",)),
    "MetricState": NnxClass(_VARIABLE),
    "VariableMetadata": NnxClass((), {"value": "unknown", "metadata": "unknown"}),
}
"""The types of Variables by name."""
