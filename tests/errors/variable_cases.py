"""What goes wrong with Variables."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Bag, Case, assign, delete
from typed_nnx import errors


class Nameless(nnx.Variable[jax.Array]):
    """A Variable type that is never registered."""


def tagged() -> nnx.Param[jax.Array]:
    """Return a Variable with one item of metadata."""
    return nnx.Param(jnp.ones(2), tag="a")


CASES = [
    Case(
        "a reference as the value of a new Variable",
        errors.RefInVariableError,
        lambda: nnx.Param(jax.new_ref(jnp.ones(2))),
        ("Param: ", "the value is an array reference", "expected an array"),
        "Param(array, ref=True)",
    ),
    Case(
        "a copy from another type",
        errors.IncompatibleVariableError,
        lambda: tagged().copy_from(nnx.BatchStat(jnp.ones(2))),
        ("copy_from: ", "expected a Param", "got a BatchStat"),
        "variable[...] = other[...]",
    ),
    Case(
        "metadata that is not there",
        errors.VariableAttributeError,
        lambda: tagged().get_metadata("axis"),
        ("Param: ", "cannot read 'axis'", "there is tag, hijax, ref, eager_sharding"),
        "variable.get_metadata('axis', default)",
        AttributeError,
    ),
    Case(
        "metadata to delete that is not there",
        errors.VariableAttributeError,
        lambda: tagged().del_metadata("axis"),
        ("Param: ", "cannot delete 'axis'", "there is tag, hijax, ref, eager_sharding"),
        "variable.set_metadata(axis=value)",
        AttributeError,
    ),
    Case(
        "metadata set as an attribute",
        errors.VariableAttributeError,
        lambda: assign(tagged(), "tag", "b"),
        ("Param: ", "cannot set 'tag'", "not set by attribute"),
        "variable.set_metadata(tag=value)",
        AttributeError,
    ),
    Case(
        "metadata deleted as an attribute",
        errors.VariableAttributeError,
        lambda: delete(tagged(), "tag"),
        ("Param: ", "cannot delete attribute 'tag'", "not deleted by attribute"),
        "variable.del_metadata('tag')",
        AttributeError,
    ),
    Case(
        "metadata set that says how the value is stored",
        errors.FixedMetadataError,
        lambda: tagged().set_metadata(ref=True),
        ("Param: ", "metadata 'ref'", "cannot be changed or deleted"),
        "nnx.with_vars(node, ref=True)",
    ),
    Case(
        "metadata deleted that says how the value is stored",
        errors.FixedMetadataError,
        lambda: tagged().del_metadata("hijax"),
        ("Param: ", "metadata 'hijax'", "cannot be changed or deleted"),
        "nnx.with_vars(node, hijax=True)",
    ),
    Case(
        "a name that no type has",
        errors.VariableNameError,
        lambda: nnx.variable_type_from_name("nobody"),
        ("Variable names: ", "no Variable type has the name 'nobody'"),
        "nnx.register_variable_name('nobody', YourVariable)",
    ),
    Case(
        "a type without a name",
        errors.VariableNameError,
        lambda: nnx.variable_name_from_type(Nameless),
        ("Variable names: ", "the Variable type Nameless has no registered name"),
        "allow_register=True",
    ),
    Case(
        "a name that another type has",
        errors.VariableNameError,
        lambda: nnx.register_variable_name("params", Nameless),
        ("Variable names: ", "the name 'params' already belongs to Param"),
        "overwrite=True",
    ),
    Case(
        "sharding without a mesh",
        errors.MeshRequiredError,
        lambda: nnx.Param(jnp.ones((2, 2)), out_sharding=("data", "model")),
        ("Variable: ", "no mesh for out_sharding=", "'data', 'model'", "expected a mesh in force"),
        "`with jax.set_mesh(mesh):` around the construction of the Variable",
    ),
    Case(
        "metadata without a hash where one is needed",
        errors.UnhashableMetadataError,
        lambda: hash(nnx.graphdef(Bag(w=nnx.Param(jnp.ones(2), names=["x"])))),
        ("Variable metadata: ", "'names' (list) has no hash", "a hash is needed here"),
        "variable.set_metadata(names=tuple(...))",
        TypeError,
    ),
]
