"""A decoder in the shape of the models of google-tunix, in our own words: it imports flax.nnx.

An unfrozen dataclass as ``self.config``, sharding metadata, einsum modules, key-value caches, experts,
remat by an unbound method, layers in a list and layers in a scan. ``python decoder_of_others.py
OUT.npz`` trains each variant for two steps, decodes with the cache, and writes every array.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from typing import Any

import flax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.nnx import statelib

flax.config.update("flax_always_shard_variable", False)

TOKENS = jnp.arange(16).reshape(2, 8) % 11


class Remat(enum.Enum):
    NONE = enum.auto()
    BLOCK = enum.auto()


@dataclasses.dataclass(slots=True, frozen=True)
class Axes:
    embedding: tuple[str | None, ...] = ("tensor", "data")
    kernel: tuple[str | None, ...] = ("data", "tensor")
    heads: tuple[str | None, ...] = ("tensor", "data", None)


@dataclasses.dataclass(slots=True)
class Config:
    layers: int = 2
    words: int = 11
    width: int = 8
    heads: int = 2
    experts: int = 0
    scanned: bool = False
    remat: Remat = Remat.NONE
    axes: Axes = dataclasses.field(default_factory=Axes)


class Einsum(nnx.Module):
    def __init__(self, form: str, shape: tuple[int, ...], axes: Any, *, rngs: nnx.Rngs):
        self.form = form
        self.shape = shape
        init = nnx.initializers.normal(0.2)
        self.w = nnx.Param(init(rngs.params(), shape), sharding=axes)

    @jax.named_scope("einsum")
    def __call__(self, x: Any) -> Any:
        return jnp.einsum(self.form, x, self.w.value)


class Norm(nnx.Module):
    def __init__(self, size: int, *, rngs: nnx.Rngs):
        self.scale = nnx.Param(nnx.initializers.ones_init()(rngs.params(), (size,)))

    def __call__(self, x: Any) -> Any:
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * self.scale[...]


class Attention(nnx.Module):
    def __init__(self, config: Config, *, rngs: nnx.Rngs):
        self.config = config
        width, heads = config.width, config.heads
        shape = (heads, width, width // heads)
        self.query = Einsum("btd,ndh->btnh", shape, config.axes.heads, rngs=rngs)
        self.key_value = Einsum(
            "btd,cndh->cbtnh", (2, *shape), (None, *config.axes.heads), rngs=rngs
        )
        self.out = Einsum("btnh,nhd->btd", (heads, width // heads, width), None, rngs=rngs)

    def block(self, x: Any, cache: dict[str, Any] | None, mask: Any) -> Any:
        query, (key, value) = self.query(x), self.key_value(x)
        if cache is not None:
            at = (0, cache["end"][0], 0, 0)
            key = jax.lax.dynamic_update_slice(cache["k"], key, at)
            value = jax.lax.dynamic_update_slice(cache["v"], value, at)
            cache = {"k": key, "v": value, "end": cache["end"] + x.shape[1]}
        weights = jnp.einsum("btnh,bsnh->btns", query, key)
        weights = jax.nn.softmax(jnp.where(mask[:, :, None], weights, -1e9), axis=-1)
        return cache, self.out(jnp.einsum("btns,bsnh->btnh", weights, value))

    def __call__(self, x: Any, cache: Any, mask: Any) -> Any:
        if self.config.remat is Remat.BLOCK:
            return nnx.remat(self.block.__func__)(self, x, cache, mask)  # type: ignore[attr-defined]  # of a bound method
        return self.block(x, cache, mask)

    @property
    def head_size(self) -> int:
        return self.query.shape[2]


class Dense(nnx.Module):
    def __init__(self, config: Config, *, rngs: nnx.Rngs):
        init = nnx.with_partitioning(nnx.initializers.normal(0.2), config.axes.kernel)
        width = config.width
        self.up = nnx.Linear(width, 2 * width, use_bias=False, kernel_init=init, rngs=rngs)
        self.down = nnx.Linear(2 * width, width, use_bias=False, kernel_init=init, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.down(nnx.silu(self.up(x)))


class Experts(nnx.Module):
    def __init__(self, config: Config, *, rngs: nnx.Rngs):
        self.config = config
        init, width = nnx.initializers.normal(0.2), config.width
        self.router = nnx.Linear(width, config.experts, use_bias=False, rngs=rngs)
        self.up = nnx.Param(init(rngs.params(), (config.experts, width, width)))
        self.down = nnx.Param(init(rngs.params(), (config.experts, width, width)))

    def __call__(self, x: Any) -> Any:
        scores, chosen = jax.lax.top_k(jax.nn.softmax(self.router(x)), 2)
        self.sow(
            nnx.Intermediate, "load", jax.nn.one_hot(chosen, self.config.experts).sum((0, 1, 2))
        )
        gates = (jax.nn.one_hot(chosen, self.config.experts) * scores[..., None]).sum(-2)
        hidden = nnx.silu(jnp.einsum("btd,edf->btef", x, self.up.value))
        return jnp.einsum("btef,efd,bte->btd", hidden, self.down.value, gates)


class Layer(nnx.Module):
    def __init__(self, config: Config, *, rngs: nnx.Rngs):
        self.norms = nnx.List([Norm(config.width, rngs=rngs) for _ in range(2)])
        self.attention = Attention(config, rngs=rngs)
        self.feed = (Experts if config.experts else Dense)(config, rngs=rngs)

    def __call__(self, x: Any, cache: Any, mask: Any) -> Any:
        cache, attended = self.attention(self.norms[0](x), cache, mask)
        x = x + attended
        return cache, x + self.feed(self.norms[1](x))


class Decoder(nnx.Module):
    def __init__(self, config: Config, *, rngs: nnx.Rngs):
        self.config = config
        shape = (config.words, config.width)
        self.table = nnx.Param(
            nnx.initializers.normal(1.0)(rngs.params(), shape), sharding=config.axes.embedding
        )
        if config.scanned:
            split = nnx.split_rngs(splits=config.layers)
            self.stack = split(nnx.vmap(lambda rngs: Layer(config, rngs=rngs)))(rngs)
        else:
            self.layers = nnx.List([Layer(config, rngs=rngs) for _ in range(config.layers)])
        self.norm = Norm(config.width, rngs=rngs)

    def __call__(self, tokens: Any, cache: dict[str, Any] | None, mask: Any) -> Any:
        x = self.table.value[tokens]
        if self.config.scanned:

            @nnx.scan(in_axes=(0, nnx.Carry), out_axes=nnx.Carry)
            def run(layer: Any, x: Any) -> Any:
                return layer(x, None, mask)[1]

            x = run(self.stack, x)
        else:
            after: dict[str, Any] = {}
            for number, layer in enumerate(self.layers):
                name = f"layer_{number}"
                after[name], x = layer(x, cache[name] if cache else None, mask)
            cache = after if cache else None
        return self.norm(x) @ self.table.value.T, cache

    def empty_cache(self, batch: int, length: int) -> dict[str, Any]:
        config = self.config
        shape = (batch, length, config.heads, self.layers[0].attention.head_size)
        one = {"k": jnp.zeros(shape), "v": jnp.zeros(shape), "end": jnp.zeros((batch,), jnp.int32)}
        return {f"layer_{number}": dict(one) for number in range(config.layers)}


VARIANTS = {
    "plain": Config(),
    "experts": Config(layers=1, experts=4, remat=Remat.BLOCK),
    "scanned": Config(scanned=True),
}


def run(name: str, config: Config) -> dict[str, Any]:
    """Train a variant; return its parameters before and after, losses, what it decodes."""
    found: dict[str, Any] = {}

    def keep(when: str, state: Any) -> None:
        for path, variable in statelib.to_flat_state(state):
            found["/".join(map(str, (name, when, *path)))] = variable.value

    model = Decoder(config, rngs=nnx.Rngs(0))
    abstract = nnx.eval_shape(lambda: Decoder(config, rngs=nnx.Rngs(0)))
    keep("initial", nnx.state(model, nnx.Param))
    found[f"{name}/shapes"] = str(
        jax.tree.map(lambda x: x.shape, nnx.to_pure_dict(nnx.state(abstract)))
    )
    found[f"{name}/axes"] = str(sorted(model.table.get_metadata().items()))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    mask = jnp.tril(jnp.ones((8, 8), bool))[None]

    @nnx.jit
    def step(model: Any, optimizer: Any, tokens: Any) -> Any:
        def loss_of(model: Any) -> Any:
            logits, _ = model(tokens, None, mask)
            loss = optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:])
            return loss.mean()

        loss, grads = nnx.value_and_grad(loss_of)(model)
        optimizer.update(model, grads)
        return loss

    found[f"{name}/losses"] = jnp.stack([step(model, optimizer, TOKENS) for _ in range(2)])
    if config.experts:
        keep("load", nnx.pop(model, nnx.Intermediate))
    keep("trained", nnx.state(model, nnx.Param))
    graphdef, state = nnx.split(model)
    again = nnx.merge(graphdef, nnx.State.from_flat_path(dict(statelib.to_flat_state(state))))
    found[f"{name}/again"] = again(TOKENS, None, mask)[0]
    if name == "plain":
        decode = nnx.jit(lambda model, tokens, cache, mask: model(tokens, cache, mask))
        cache = model.empty_cache(2, 8)
        for at in range(3):
            seen = (jnp.arange(8) <= at)[None, None]
            logits, cache = decode(model, TOKENS[:, at : at + 1], cache, seen)
            found[f"{name}/decoded/{at}"] = logits
    return found


if __name__ == "__main__":
    results = {"library": nnx.__name__}
    for each, of_it in VARIANTS.items():
        results |= run(each, of_it)
    np.savez(
        sys.argv[1],
        allow_pickle=False,
        **{key: np.asarray(value) for key, value in results.items()},
    )
