"""Errors of sharding metadata."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType

import typed_nnx as nnx
from tests.errors.case import Case
from typed_nnx import spmd
from typed_nnx.errors import (
    InconsistentAxisRulesError,
    InvalidAxisRulesError,
    MissingPartitionNameError,
    UnknownMeshAxisError,
)


def _state() -> Any:
    rules = (("rows", "data"),)
    w = nnx.Param(jnp.zeros(2), out_sharding=("rows",), sharding_rules=rules, eager_sharding=False)
    return nnx.State({"layer": {"w": w}})


def _inconsistent() -> object:
    with spmd.logical_axis_rules((("rows", "model"),)):
        return spmd.get_partition_spec(_state())


def _unknown() -> object:
    mesh = jax.make_mesh((1,), ("model",), axis_types=(AxisType.Auto,))
    return spmd.get_named_sharding(_state(), mesh)


CASES = [
    Case(
        "rules for axes that are no pairs",
        InvalidAxisRulesError,
        lambda: spmd.logical_axis_rules("rows"),  # type: ignore[arg-type]  # the error
        ("logical_axis_rules", "'rows' (str)", "expected pairs"),
        "(('batch', 'data'), ('embed', None))",
    ),
    Case(
        "two rules for one axis",
        InconsistentAxisRulesError,
        _inconsistent,
        ("sharding_rules", "'rows'", "'data'", "'model'", "`logical_axis_rules` in force"),
        "leave 'rows' out of one of them",
    ),
    Case(
        "an axis that the mesh does not have",
        UnknownMeshAxisError,
        _unknown,
        ("Param ['layer']['w']", "'data'", "is not found in mesh", "('model',)"),
        "nnx.logical_axis_rules((('data', 'model'),))",
    ),
    Case(
        "a new axis without a name",
        MissingPartitionNameError,
        lambda: spmd.add_axis(_state(), 0, {"name": "layers"}),
        ("add_axis", '"partition_name" is not specified', "['name']", "expected the name"),
        "add_axis(tree, index, {nnx.PARTITION_NAME: 'layers'})",
    ),
]
