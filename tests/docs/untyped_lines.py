"""Lines of pages that a type checker refuses for a good reason: they show what types do not allow.

A line stands here with its text, so that it is found wherever it moves. The reason says why neither
the page nor our types should change.
"""

from __future__ import annotations

from typing import NamedTuple


class Refused(NamedTuple):
    """A line of a page that at least one checker reports, and why that is right."""

    page: str
    line: str
    reason: str


UNDECLARED = "it shows that a transform brings out an attribute that no class declares"
OPTIONAL = "the attribute is None in some layers; a program would say `is not None`"
FLOAT = "a Python float where the signature says jax.Array; jax takes it, checkers do not"
SHARDING = "jax declares Sharding, and only NamedSharding has `spec`"

REFUSED = (
    Refused("docs/differences.md", "counter.itself = counter", "it makes a cycle, to be refused"),
    Refused("docs/differences.md", "nnx.jit(function)(1.0)", FLOAT),
    Refused("docs/differences.md", "steps(counter, 0.0, jnp.ones(4))", FLOAT),
    Refused("docs/differences.md", "model(1.0)", FLOAT),
    Refused("docs/guides/errors.md", "model.shape = value", "it shows an attribute refused"),
    Refused(
        "docs/guides/errors.md", 'model.shape = bytearray(b"ab")', "it shows an attribute refused"
    ),
    Refused(
        "docs/guides/layers.md",
        "print(bool((run(dropout, x) == run(dropout, x)).all()), dropout.rngs.count[...])",
        OPTIONAL,
    ),
    Refused(
        "docs/guides/layers.md",
        "print(bool((dropout(x, rngs=key) == dropout(x, rngs=key)).all()), "
        "dropout.rngs.count[...])",
        OPTIONAL,
    ),
    Refused(
        "docs/guides/layers.md",
        "print(decoder.cache_index[...], attention.cache_index)",
        OPTIONAL,
    ),
    Refused(
        "docs/guides/pytrees.md",
        "layers += [jnp.tanh]",
        "the List was made of Linear layers only, and gets a function",
    ),
    Refused(
        "docs/guides/export.md",
        "exported = export.export(nnx.jit(predict))(model, jnp.ones((2, 4)))",
        "jax declares its own Traced and Lowered, ours are not subclasses of them",
    ),
    Refused("docs/guides/sharding.md", "print(w[...].sharding.spec)", SHARDING),
    Refused(
        "docs/guides/sharding.md",
        "print(layer.kernel[...].sharding.spec, layer.bias[...].sharding.spec)",
        SHARDING,
    ),
    Refused(
        "docs/guides/training.md",
        'print(bool(values["accuracy"] > 0.9), optimizer.step[...])',
        "pyright does not know that a loop over range(3) runs",
    ),
    Refused(
        "docs/guides/training.md",
        "base.hidden = nnx.LoRA(2, 4, 32, base_module=base.hidden, rngs=rngs)",
        "it puts an adapter where the class declares the layer",
    ),
    Refused(
        "docs/guides/training.md",
        "grads, _ = grad(model, points, labels)",
        "the loss says Classifier and gets the adapted model, which has the same call",
    ),
    Refused("docs/guides/transforms.md", "model.bias = nnx.Param(jnp.zeros(1))", UNDECLARED),
    Refused(
        "docs/guides/transforms.md",
        "print(y.shape, model.calls[...], model.bias.shape)",
        UNDECLARED,
    ),
    Refused("docs/guides/transforms.md", "model.extra = nnx.Param(jnp.ones(1))", UNDECLARED),
    Refused("docs/guides/transforms.md", "model.offset = nnx.Param(jnp.zeros(1))", UNDECLARED),
    Refused(
        "docs/guides/transforms.md",
        "traces = []",
        "mypy cannot see from a decorated function what an empty list will hold",
    ),
    Refused(
        "docs/guides/transforms.md",
        "print(nnx.grad(clipped)(model, 7.0).kernel[...].tolist())",
        FLOAT,
    ),
    Refused(
        "docs/tutorial.md",
        "graphdef, rest, params = nnx.split(model, ..., nnx.Param)",
        "it shows `...` before the last filter, which pyright reports too",
    ),
)
