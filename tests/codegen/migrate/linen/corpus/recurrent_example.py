"""How the recurrent models are built and called."""

import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

SEQ = jnp.sin(jnp.arange(2 * 4 * 5.0)).reshape(2, 4, 5)
TOKENS = jnp.arange(8).reshape(2, 4)
MASK = jnp.array([[1, 1, 1, 0], [1, 1, 0, 0]], bool)
ZEROS = jnp.zeros((2, 6))
ONE_HOT = jax.nn.one_hot(TOKENS, 9)

EXAMPLES = [
    Example(Build("SimpleLSTM", 6), (ZEROS, ZEROS), SEQ),
    Example(Build("SimpleBiLSTM", 3), SEQ),
    Example(Build("ClassScan", 4), SEQ),
    Example(Build("FunctionScan", 4), SEQ),
    Example(Build("RNNStack", (4, 3)), SEQ),
    Example(Build("RNNStack", (4,)), SEQ, lengths=jnp.array([2, 4])),
    Example(Build("TextClassifier", 9, 3), TOKENS, MASK),
    Example(Build("UnrolledLSTM", 6), SEQ),
    Example(Build("UnrolledLSTM", 6, layers=2), SEQ, [(ZEROS, ZEROS), (ZEROS, ZEROS)]),
    Example(Build("Seq2SeqDecoderCell", 9, 6, True), ((ZEROS, ZEROS), ONE_HOT[:, 0]), ONE_HOT),
    Example(Build("Seq2Seq", 9, 4), ONE_HOT, ONE_HOT),
    Example(Build("Seq2Seq", 9, 4, teacher_force=False), ONE_HOT, ONE_HOT),
    Example(
        Build("ConvRecurrent", 3), jnp.sin(jnp.arange(2 * 3 * 4 * 4 * 2.0)).reshape(2, 3, 4, 4, 2)
    ),
]
