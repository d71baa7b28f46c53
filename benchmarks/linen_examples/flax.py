"""Example calls for the modules of flax 0.12.8, by file."""

from typing import Any

import jax
import jax.numpy as jnp
import jraph  # type: ignore[import-not-found]  # only the sweep installs it
import numpy as np
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["examples/imagenet/models.py"] = [
    Example(
        Build(
            "ResNetBlock",
            filters=8,
            conv=Build.ref("flax.linen.Conv"),
            norm=Build.ref("flax.linen.LayerNorm"),
            act=nn.relu,
            strides=(2, 2),
        ),
        wave(2, 8, 8, 4),
    ),
    Example(
        Build(
            "BottleneckResNetBlock",
            filters=8,
            conv=Build.ref("flax.linen.Conv"),
            norm=Build.ref("flax.linen.LayerNorm"),
            act=nn.relu,
            strides=(2, 2),
        ),
        wave(2, 8, 8, 4),
    ),
    Example(
        Build(
            "ResNet",
            stage_sizes=(1, 2),
            block_cls=Build.ref("ResNetBlock"),
            num_classes=5,
            num_filters=8,
        ),
        wave(2, 32, 32, 3),
        train=False,
    ),
    Example(
        Build(
            "ResNet",
            stage_sizes=(1, 2),
            block_cls=Build.ref("BottleneckResNetBlock"),
            num_classes=5,
            num_filters=8,
        ),
        wave(2, 32, 32, 3),
        train=False,
        name="bottleneck",
    ),
]

EXAMPLES["examples/linen_design_test/attention_simple.py"] = [
    Example(Build("Dense", features=8), wave(2, 8)),
    Example(Build("Dense", features=8, use_bias=False), wave(2, 8)),
    Example(Build("SoftmaxAttn"), wave(6, 5)),
    Example(Build("Dropout", rate=0.1), wave(2, 8), deterministic=True),
    Example(Build("SoftmaxAttnWDropout"), wave(6, 5)),
    Example(Build("RawDotProductAttention"), wave(6, 8), wave(5, 8), wave(5, 8)),
    Example(Build("DotProductAttention"), wave(6, 8), wave(5, 8)),
]

EXAMPLES["examples/linen_design_test/dense.py"] = [
    Example(Build("Dense", features=8), wave(2, 8)),
    Example(Build("Dense", features=8, use_bias=False), wave(2, 8)),
]

EXAMPLES["examples/linen_design_test/mlp_inline.py"] = [
    Example(Build("MLP", sizes=(8, 8)), wave(2, 8))
]

EXAMPLES["examples/linen_design_test/mlp_lazy.py"] = [Example(Build("MLP"), wave(2, 8))]


def tokens(*shape):
    """Return whole numbers from 0 to 4."""
    return jnp.arange(np.prod(shape, dtype=int)).reshape(shape) % 5


SMALL: dict[str, Any] = {
    "vocab_size": 11,
    "output_vocab_size": 11,
    "emb_dim": 8,
    "num_heads": 2,
    "num_layers": 2,
    "qkv_dim": 8,
    "mlp_dim": 16,
    "max_len": 16,
    "deterministic": True,
}

TRANSFORMER_CONFIG = Build("TransformerConfig", **SMALL)

EXAMPLES["examples/lm1b/models.py"] = [
    Example(Build("AddPositionEmbs", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(
        Build(
            "AddPositionEmbs",
            config=Build("TransformerConfig", **SMALL, posemb_init=nn.initializers.normal(0.5)),
        ),
        wave(2, 16, 8),
        name="learned",
    ),
    Example(Build("MlpBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(Build("EncoderDecoder1DBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(Build("Decoder", config=TRANSFORMER_CONFIG), tokens(2, 6)),
    Example(Build("TransformerLM", config=TRANSFORMER_CONFIG), tokens(2, 6)),
    Example(
        Build(
            "TransformerLM", config=Build("TransformerConfig", **SMALL, logits_via_embedding=True)
        ),
        tokens(2, 6),
        name="tied",
    ),
    Example(
        Build("TransformerLM", config=Build("TransformerConfig", **SMALL, decode=True)),
        tokens(2, 1),
        mutable=("cache",),
        name="decode",
    ),
]

NLP_SEQ_CONFIG = Build(
    "TransformerConfig",
    vocab_size=11,
    output_vocab_size=11,
    emb_dim=8,
    num_heads=2,
    num_layers=2,
    qkv_dim=8,
    mlp_dim=16,
    max_len=16,
)

EXAMPLES["examples/nlp_seq/models.py"] = [
    Example(Build("AddPositionEmbs", config=NLP_SEQ_CONFIG), wave(2, 6, 8)),
    Example(Build("MlpBlock", config=NLP_SEQ_CONFIG), wave(2, 6, 8)),
    Example(Build("Encoder1DBlock", config=NLP_SEQ_CONFIG), wave(2, 6, 8), deterministic=True),
    Example(Build("Transformer", config=NLP_SEQ_CONFIG), inputs=wave(2, 8), train=False),
]

GRAPHS = jraph.GraphsTuple(
    nodes=wave(5, 4),
    edges=wave(6, 3),
    globals=wave(2, 2),
    senders=jnp.array([0, 1, 2, 3, 4, 0]),
    receivers=jnp.array([1, 2, 0, 4, 3, 2]),
    n_node=jnp.array([3, 2]),
    n_edge=jnp.array([4, 2]),
)

GRAPH_NETWORK: dict[str, Any] = {
    "latent_size": 8,
    "num_mlp_layers": 2,
    "message_passing_steps": 2,
    "output_globals_size": 3,
}

EXAMPLES["examples/ogbg_molpcba/models.py"] = [
    Example(Build("MLP", feature_sizes=(8, 8)), wave(2, 8)),
    Example(Build("GraphNet", **GRAPH_NETWORK), GRAPHS),
    Example(Build("GraphNet", **GRAPH_NETWORK, layer_norm=False), GRAPHS),
    Example(
        Build("GraphNet", **GRAPH_NETWORK, skip_connections=False, layer_norm=False),
        GRAPHS,
        name="plain",
    ),
    Example(Build("GraphConvNet", **GRAPH_NETWORK), GRAPHS),
    Example(Build("GraphConvNet", **GRAPH_NETWORK, layer_norm=False), GRAPHS),
]

EXAMPLES["examples/ppo/models.py"] = [
    Example(Build("ActorCritic", num_outputs=3), wave(2, 16, 16, 3))
]

EXAMPLES["examples/sst2/models.py"] = [
    Example(Build("WordDropout", dropout_rate=0.1, unk_idx=8), tokens(2, 6), deterministic=True),
    Example(Build("Embedder", vocab_size=11, embedding_size=8), tokens(2, 6), deterministic=True),
    Example(Build("SimpleLSTM", hidden_size=8), (wave(2, 8), wave(2, 8)), wave(2, 6, 5)),
    Example(Build("SimpleBiLSTM", hidden_size=8), wave(2, 6, 5), jnp.array([6, 4])),
    Example(Build("MLP", hidden_size=8, output_size=3), wave(2, 8), deterministic=True),
    Example(
        Build("MLP", hidden_size=8, output_size=3, output_bias=True), wave(2, 8), deterministic=True
    ),
    Example(Build("KeysOnlyMlpAttention", hidden_size=8), wave(2, 6, 8), jnp.ones((2, 6), bool)),
    Example(
        Build("AttentionClassifier", hidden_size=8, output_size=3, dropout_rate=0.1),
        wave(2, 6, 5),
        jnp.array([6, 4]),
        deterministic=True,
    ),
    Example(
        Build(
            "TextClassifier",
            embedding_size=8,
            hidden_size=8,
            vocab_size=11,
            output_size=3,
            dropout_rate=0.1,
            word_dropout_rate=0.1,
            unk_idx=1,
        ),
        tokens(2, 6),
        jnp.array([6, 4]),
        deterministic=True,
    ),
]

EXAMPLES["examples/vae/models.py"] = [
    Example(Build("Encoder", latents=8), wave(2, 12)),
    Example(Build("Decoder"), wave(2, 8)),
    Example(Build("VAE"), wave(2, 784), jax.random.key(1)),
]

TRANSFORMER = Build("Transformer", config=TRANSFORMER_CONFIG)

EXAMPLES["examples/wmt/models.py"] = [
    Example(Build("AddPositionEmbs", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(
        Build(
            "AddPositionEmbs",
            config=Build("TransformerConfig", **SMALL, posemb_init=nn.initializers.normal(0.5)),
        ),
        wave(2, 16, 8),
        name="learned",
    ),
    Example(Build("MlpBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(Build("Encoder1DBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(
        Build("EncoderDecoder1DBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8), wave(2, 5, 8)
    ),
    Example(Build("Encoder", config=TRANSFORMER_CONFIG), tokens(2, 6)),
    Example(Build("Decoder", config=TRANSFORMER_CONFIG), wave(2, 6, 8), tokens(2, 6)),
    Example(TRANSFORMER, tokens(2, 6), tokens(2, 5)),
    Example(
        Build(
            "Transformer",
            config=Build(
                "TransformerConfig", **SMALL, share_embeddings=True, logits_via_embedding=True
            ),
        ),
        tokens(2, 6),
        tokens(2, 5),
        name="tied",
    ),
    Example(TRANSFORMER, tokens(2, 6), method="encode", name="encode"),
]
