"""Example calls for fortuna/output_calibrator/classification.py of aws_fortuna 0.2.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("ClassificationTemperatureScaler"), wave(2, 8))]
