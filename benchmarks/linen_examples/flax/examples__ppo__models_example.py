"""Example calls for examples/ppo/models.py of flax 0.12.8."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("ActorCritic", num_outputs=3), wave(2, 16, 16, 3))]
