"""What NNX cannot do in the same way is left to a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import migrated

_HEAD = """\
import functools
import flax.linen as nn
import jax
import jax.numpy as jnp


def run(module, x):
    return module(x)


class Part(nn.Module):
    @nn.compact
    def __call__(self, x, other=None):
        return nn.Dropout(0.5)(nn.Dense(5)(x), deterministic=False), None


class Steps(nn.Module):
    @functools.partial(nn.scan, variable_broadcast="params", split_rngs={"params": False}, length=2)
    @nn.compact
    def __call__(self, carry, xs):
        return nn.Dense(5)(carry), None


class Whole(nn.Module):
    number: int = 2

    @nn.compact
    def __call__(self, x):
"""
_CASES = {
    "variables_that_a_function_changes": (
        "return nn.map_variables(Part, 'params', lambda v: v)()(x)",
        "`nn.map_variables` is not migrated",
    ),
    "axes_that_are_computed": (
        "return nn.vmap(Part, variable_axes=axes_of(0), split_rngs={'params': True},"
        " in_axes=None, axis_size=2)()(x)",
        "`variable_axes` of `nn.vmap` is not known",
    ),
    "a_function_of_the_module": (
        "def body(mdl, c, s):\n            return nn.Dense(5)(c), s\n"
        "        return nn.scan(body, variable_axes={'params': 0}, split_rngs={'params': True})"
        "(self, x, jnp.arange(1.0, 2.0 + x.shape[0]))",
        "`nn.scan` of a function stacks variables: write it as a module",
    ),
    "statistics_that_a_function_does_not_get": (
        "def body(norm, c, s):\n            return c, norm(s)\n"
        "        norm = nn.BatchNorm(use_running_average=True)\n"
        "        return nn.scan(body, variable_broadcast='params', split_rngs={})(norm, x, x)",
        "`nn.scan` leaves out the collection `batch_stats`",
    ),
    "a_function_without_a_module": (
        "return nn.remat(lambda *args: args)(*x)",
        "a function under a transform is called with something unknown",
    ),
    "what_is_no_function": (
        "return nn.remat(x.sum)(self)",
        "`flax.linen.remat` of something that is no module is not migrated",
    ),
    "keys_that_all_steps_share": (
        "return nn.scan(Part, variable_broadcast='params', split_rngs={'params': False,"
        " 'dropout': False}, length=3)()(x, None)",
        "each step draws the same random numbers",
    ),
    "collections_that_a_remat_leaves_out": (
        "return nn.remat(Part, variables='params')()(x)",
        "`variables` of `nn.remat` has no counterpart in NNX",
    ),
    "settings_by_method": (
        "return nn.remat(Part, methods={'__call__': {}})()(x)",
        "`methods` of `nn.remat` has no counterpart in NNX",
    ),
    "inputs_that_scan_changes": (
        "return nn.scan(Part, variable_axes={'params': 0}, split_rngs={'params': True},"
        " data_transform=lambda v: v, length=2)()(x, None)",
        "`data_transform` of `nn.scan` has no counterpart in NNX",
    ),
    "branches_that_build": (
        "return nn.cond(x.sum() > 0, lambda mdl, z: nn.Dense(3, name='a')(z),"
        " lambda mdl, z: nn.Dense(3, name='a')(z), self, x)",
        "`nn.cond` is not migrated",
    ),
    "derivatives_of_variables": (
        "return nn.vjp(lambda mdl, z: nn.Dense(3)(z), self, x)[0]",
        "`nn.vjp` is not migrated",
    ),
    "arguments_by_name_of_a_scanned_method": (
        "return Steps()(x, xs=None)[0]",
        "Linen ignores the arguments that are given by name here",
    ),
    "members_handed_to_another_module": (
        "many = nn.vmap(nn.Dense, variable_axes={'params': 0}, split_rngs={'params': True},"
        " in_axes=None, axis_size=2)(3)\n"
        "        return nn.Sequential([many, nn.relu])(x)",
        "a module under a transform is called outside of the module that has it",
    ),
    "members_called_by_a_function": (
        "many = nn.vmap(nn.Dense, variable_axes={'params': 0}, split_rngs={'params': True},"
        " in_axes=None, axis_size=2)(3)\n"
        "        return run(many, x)",
        "a module under a transform is called outside of the module that has it",
    ),
    "members_that_jax_calls": (
        "many = nn.vmap(nn.Embed, variable_axes={'params': 0}, split_rngs={'params': True},"
        " in_axes=None, axis_size=2)(3, 4)\n"
        "        return list(map(many, x))",
        "it is not seen where this module under a transform is called",
    ),
    "metadata_alone": (
        "return nn.add_metadata_axis(Part, variable_axes={'params': 0})()(x)",
        "`nn.add_metadata_axis` is not migrated",
    ),
}


@pytest.mark.parametrize("case", _CASES)
def test_a_transform_that_nnx_does_not_have_gets_a_marker(tmp_path: Path, case: str) -> None:
    code, message = _CASES[case]
    result = migrated(tmp_path / "model.py", f"{_HEAD}        {code}\n")

    (plan,) = [one for one in result.plans if one.cls.name == "Whole"]
    assert any(message in mark.message for mark in plan.marks), plan.marks
    assert message in result.after


_OWNERS = """\
import flax.linen as nn


class Maker:
    def make(self, x):
        return nn.Dense(3)(x)


class Part(nn.Module):
    @nn.compact
    def __call__(self, x):
        PART


class Owner(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Part()(x)


class Whole(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Owner()(x)
"""


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("return Maker().make(x)", 1),  # it fails
        ("return nn.Dense(3, name=str(x.ndim))(x)", 1),  # it runs
        ("return nn.Dense(3)(unknown(x))", 0),  # a size
        ("return nn.Dense(3)(x)", 0),
    ],
)
def test_what_builds_a_module_that_is_left_to_a_person_has_a_marker_too(
    tmp_path: Path, code: str, count: int
) -> None:
    result = migrated(tmp_path / "model.py", _OWNERS.replace("PART", code))
    _, owner, whole = result.plans
    for plan, name in ((owner, "Part"), (whole, "Owner")):
        said = f"`{name}` is left to a person in part: see its markers"
        assert [mark.message for mark in plan.marks].count(said) == count
