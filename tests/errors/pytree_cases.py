"""What goes wrong with the attributes of Pytrees and Modules."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.errors.case import Bag, Case, assign
from typed_nnx import errors


class LateLayers(nnx.Pytree):
    """Puts a Variable into a static list, which only a check after ``__init__`` can find."""

    def __init__(self) -> None:
        self.layers: list[Any] = []
        self.layers.append(nnx.Param(jnp.ones(2)))


class Counter(nnx.Pytree):
    """Has an attribute that its class declares to be static."""

    count: nnx.Static[Any]

    def __init__(self, count: Any) -> None:
        self.count = count


def write_inside_jit() -> None:
    """Assign an attribute of a captured Module inside jax.jit."""
    model = Bag(layer=Bag(rate=0.5))
    jax.jit(lambda: assign(model.layer, "rate", 0.1))()


ARRAY_TYPE = type(jnp.ones(2))
REMEDIES = (
    "2. Wrap the value with nnx.data on assignment:",
    "3. Annotate the class attribute with nnx.Data:",
    "4. If the container is a list or dict, try using nnx.List(...) or nnx.Dict(...) instead.",
    "5. Disable pytree for this class:",
)

CASES = [
    Case(
        "a Module of flax.nnx in an attribute",
        errors.ForeignAttributeError,
        lambda: Bag(layer=nnx.data([flax_nnx.Linear(2, 2, rngs=flax_nnx.Rngs(0))])),
        ("Bag.layer", "holds, a Linear of flax.nnx", "would leave it out"),
        "call nnx.install_as_flax_nnx() before that is imported",
        TypeError,
    ),
    Case(
        "an attribute written under another trace",
        errors.TraceLevelError,
        write_inside_jit,
        (
            "Cannot mutate 'Bag' from different trace level",
            "attribute 'rate' of the Bag at Bag.layer",
        ),
        "pass the object to the transformed function as an argument",
        Exception,
    ),
    Case(
        "an array annotated as static",
        errors.StaticMarkError,
        lambda: Bag(scale=nnx.static(jnp.ones(2))),
        (f"Found data in value of type '{ARRAY_TYPE}'", "nnx.static(...)", "'scale'", "Bag"),
        "_.scale = nnx.data(...)",
    ),
    Case(
        "an array assigned to a static attribute",
        errors.StaticAttributeError,
        lambda: assign(Bag(name="a"), "name", jnp.ones(2)),
        (f"Cannot assign data value of type '{ARRAY_TYPE}'", "static attribute 'name'", "Bag"),
        None,
    ),
    Case(
        "a list of arrays assigned to an attribute",
        errors.DataInStaticError,
        lambda: Bag(layers=[jnp.ones(2)]),
        (
            "Found data on value of type '<class 'list'>' assigned to static attribute 'layers'",
            "Bag",
            "1. If the attribute is meant to be static, remove the data values of type(s): "
            f"{ARRAY_TYPE.__name__}",
            *REMEDIES[:2],
            "class Bag(Module):\n    layers: nnx.Data[list]",
            *REMEDIES[2:],
            "class Bag(Pytree, pytree=False):",
        ),
        None,
    ),
    Case(
        "an array in a static list after __init__",
        errors.UnexpectedDataError,
        LateLayers,
        (
            "Found unexpected data on value of type <class 'list'> in static attribute 'layers'",
            "LateLayers",
            "1. If the attribute is meant to be static, either remove the data value or wrap it in "
            "a static container.",
            REMEDIES[0],
            "_.layers = nnx.data(...)",
            REMEDIES[1],
            "class LateLayers(Pytree):\n    layers: nnx.Data[list]",
            *REMEDIES[2:],
            "class LateLayers(Pytree, pytree=False):",
        ),
        None,
    ),
    Case(
        "an array in an attribute that the class declares static",
        errors.UnexpectedDataError,
        lambda: Counter(jnp.ones(2)),
        (f"unexpected data on value of type {ARRAY_TYPE}", "'count'", "Counter", *REMEDIES),
        None,
    ),
    Case(
        "an annotation inside a container",
        errors.MisplacedMarkError,
        lambda: Bag(layers=[nnx.data(1), 2]),
        (
            "Found unexpected tags {'data'} on attribute 'Bag.layers'",
            "should be assigned to nnx.Pytree attributes directly",
            "Got value of type '<class 'list'>'",
        ),
        "_.layers = nnx.data(...)",
    ),
    Case(
        "a static value without a hash where one is needed",
        errors.UnhashableStaticError,
        lambda: hash(nnx.graphdef(Bag(sizes=bytearray(b"a")))),
        (
            "unhashable type: 'bytearray'",
            "static attribute 'sizes' of Bag",
            "b'a'",
            "hash is needed",
        ),
        "_.sizes = ...",
        TypeError,
    ),
    Case(
        "a value sown over a number",
        errors.VariableTypeError,
        lambda: Bag(w=1).sow(nnx.Intermediate, "w", 1),
        ("Expected 'w' to be a Variable", "got 'int'", "attribute of Bag"),
        "record the value under another name",
        ValueError,
    ),
    Case(
        "a value sown over another type",
        errors.VariableTypeError,
        lambda: Bag(w=nnx.Param(1)).sow(nnx.Intermediate, "w", 1),
        ("Expected 'w' to be of type 'Intermediate'", "got 'Param'", "attribute of Bag"),
        "record the value under another name",
    ),
    Case(
        "a perturbation over another type",
        errors.VariableTypeError,
        lambda: Bag(w=nnx.Param(1)).perturb("w", jnp.ones(2)),
        ("Expected 'w' to be of type 'Perturbation'", "got 'Param'", "attribute of Bag"),
        "record the value under another name",
    ),
    Case(
        "an attribute to set that no Module has",
        errors.AttributesNotFoundError,
        lambda: Bag(rate=0.5).set_attributes(rat=0.1),
        ("set_attributes: ", "at least one instance of the following attributes: ['rat']", "Bag"),
        "correct the names or the filters",
    ),
    Case(
        "an attribute to replace that no Module has",
        errors.AttributesNotFoundError,
        lambda: nnx.with_attributes(Bag(rate=0.5), rat=0.1),
        ("with_attributes: ", "at least one instance of the following attributes: ['rat']", "Bag"),
        "correct the names or the filters",
    ),
    Case(
        "an argument of view that no Module takes",
        errors.AttributesNotFoundError,
        lambda: nnx.view(Bag(rate=0.5), rat=0.1),
        ("Unused keys found in nnx.view: ['rat']", "Bag"),
        "pass raise_if_not_found=False",
    ),
]
