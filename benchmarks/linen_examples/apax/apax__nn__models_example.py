"""Example calls for apax/nn/models.py of apax 0.14.0."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


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


EXAMPLES = [
    Example(Build("FeatureModel"), *atoms(3)),
    Example(Build("FeatureModel", should_average=True), *atoms(4)),
    Example(Build("EnergyModel"), *atoms(3)),
    Example(Build("EnergyModel"), *atoms(4)),
    Example(Build("EnergyDerivativeModel"), *atoms(3)),
    Example(Build("EnergyDerivativeModel"), *atoms(4)),
    Example(Build("ShallowEnsembleModel", energy_model=ensemble()), *atoms(3)),
    Example(Build("ShallowEnsembleModel", energy_model=ensemble()), *atoms(4)),
]
