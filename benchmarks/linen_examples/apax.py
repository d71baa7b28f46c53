"""Example calls for the modules of apax 0.14.0, by file."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES: dict[str, list[Example]] = {}


def call(number, features):
    """Return the arguments for some atoms."""
    places = jnp.sin(jnp.arange(3.0 * number) + 1).reshape(number, 3) * 2
    inputs = jnp.cos(jnp.arange(number * features) + 1.0).reshape(number, features)
    elements = jnp.arange(number) % 3 + 1
    pairs = jnp.array([(i, j) for i in range(number) for j in range(number) if i != j]).T
    return inputs, places, places[pairs[0]] - places[pairs[1]], elements, pairs, jnp.zeros(3)


EXAMPLES["apax/layers/properties.py"] = [
    Example(Build("PropertyHead", pname="charge"), *call(3, 5)),
    Example(Build("PropertyHead", pname="dipole", mode="l1", aggregation="sum"), *call(4, 6)),
]


def atoms(number):
    """Return positions, elements, pairs, the box and offsets of some atoms."""
    places = jnp.sin(jnp.arange(3.0 * number) + 1).reshape(number, 3) * 2
    elements = jnp.arange(number) % 3 + 1
    pairs = [(i, j) for i in range(number) for j in range(number) if i != j]
    return places, elements, jnp.array(pairs).T, jnp.zeros(3), jnp.zeros((len(pairs), 3))


def ensemble():
    """Return a model with three members."""
    return Build(
        "EnergyModel", readout=Build("apax.layers.readout.AtomisticReadout", n_shallow_ensemble=3)
    )


EXAMPLES["apax/nn/models.py"] = [
    Example(Build("FeatureModel"), *atoms(3)),
    Example(Build("FeatureModel", should_average=True), *atoms(4)),
    Example(Build("EnergyModel"), *atoms(3)),
    Example(Build("EnergyModel"), *atoms(4)),
    Example(Build("EnergyDerivativeModel"), *atoms(3)),
    Example(Build("EnergyDerivativeModel"), *atoms(4)),
    Example(Build("ShallowEnsembleModel", energy_model=ensemble()), *atoms(3)),
    Example(Build("ShallowEnsembleModel", energy_model=ensemble()), *atoms(4)),
]
