"""Example calls for sbx/sac/sac.py of sbx_rl 0.28.0."""

from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [Example(Build("EntropyCoef")), Example(Build("ConstantEntropyCoef"))]
