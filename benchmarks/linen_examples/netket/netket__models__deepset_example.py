"""Example calls for netket/models/deepset.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave


def particles(number):
    """Return the space of some particles in a periodic plane."""
    box = Build("netket.experimental.geometry.Cell", 2, (2.0, 3.0))
    return Build("netket.experimental.hilbert.Particle", number, geometry=box)


EXAMPLES = [
    Example(Build("DeepSetMLP"), wave(2, 8)),
    Example(
        Build(
            "DeepSetRelDistance",
            particles(3),
            layers_phi=2,
            layers_rho=3,
            features_phi=(4, 5),
            features_rho=(6, 7, 1),
        ),
        wave(2, 6),
    ),
]
