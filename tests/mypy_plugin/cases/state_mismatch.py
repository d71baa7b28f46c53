from __future__ import annotations

from typing import Generic, TypeVar

import jax
import jax.numpy as jnp
import typed_nnx as nnx

H = TypeVar("H", bound=nnx.Module)


class Encoder(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.out = nnx.Linear(3, 3, rngs=rngs)


class Twin(nnx.Module):
    """Another class of the same structure."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.out = nnx.Linear(3, 3, rngs=rngs)


class Half(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)


class OtherHalf(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.out = nnx.Linear(3, 3, rngs=rngs)


class Decoder(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(3, 2, rngs=rngs)
        self.out = nnx.Linear(3, 3, rngs=rngs)


class Big(Encoder):
    def __init__(self, rngs: nnx.Rngs) -> None:
        super().__init__(rngs)
        self.more = nnx.Linear(3, 3, rngs=rngs)


class Scale(nnx.Module):
    def __init__(self) -> None:
        self.scale = nnx.Param(jnp.ones(3))


class Bare(nnx.Module):
    def __init__(self) -> None:
        self.scale = nnx.Param(jnp.ones(3))


class Headed(nnx.Module, Generic[H]):
    def __init__(self, head: H) -> None:
        self.head = head


encoder, decoder, twin, half = (
    Encoder(nnx.Rngs(0)),
    Decoder(nnx.Rngs(0)),
    Twin(nnx.Rngs(0)),
    Half(nnx.Rngs(0)),
)

# -- reports
graphdef, state = nnx.split(encoder)
nnx.merge(graphdef, nnx.state(decoder))  # E: merge: the GraphDef is of Encoder, the State of Decoder with `dense.kernel`  [nnx-state-mismatch]
nnx.merge(graphdef, nnx.state(half))  # E: the GraphDef is of Encoder, the State of Half without `out.kernel`. Fix: give it a State of Encoder  [nnx-state-mismatch]
graphdef.apply(nnx.state(decoder))  # E: [nnx-state-mismatch]
nnx.update(encoder, nnx.state(decoder))  # E: update: the State is of Decoder and holds `dense.kernel`  [nnx-state-mismatch]
nnx.update(half, nnx.state(encoder))  # E: for which Half has no place. Fix: give it a State of Half  [nnx-state-mismatch]
nnx.update(Scale(), nnx.state(half))  # E: [nnx-state-mismatch]
nnx.update(half, nnx.state(Scale()))  # E: holds `scale`, for which Half has no place  [nnx-state-mismatch]
nnx.update(half, nnx.state(nnx.BatchNorm(2, rngs=nnx.Rngs(0))))  # E: holds `mean`, `var`, for which Half has no place  [nnx-state-mismatch]
of_scale, of_half = Headed(Scale()), Headed(Half(nnx.Rngs(0)))
nnx.merge(nnx.graphdef(of_scale), nnx.state(of_half))  # E: the GraphDef is of Headed[Scale], the State of Headed[Half] with `head.linear.kernel`  [nnx-state-mismatch]
big, small = Big(nnx.Rngs(0)), Encoder(nnx.Rngs(1))
nnx.merge(nnx.graphdef(big), nnx.state(small))  # E: Big has `more.kernel`, which no given State holds  [nnx-state-missing]


def mixed(encoder: Encoder, decoder: Decoder) -> Encoder:
    graphdef, params, rest = nnx.split(encoder, nnx.Param, ...)
    _, others = nnx.split(decoder)
    zeros = jax.tree.map(jnp.zeros_like, others)
    return nnx.merge(graphdef, zeros, rest)  # E: [nnx-state-mismatch]


# -- correct
nnx.merge(graphdef, state)
nnx.merge(graphdef, nnx.state(twin))
nnx.merge(graphdef, nnx.state(half), nnx.state(OtherHalf(nnx.Rngs(0))))
nnx.update(encoder, state)
nnx.update(encoder, nnx.state(twin))
nnx.update(encoder, nnx.state(half))
nnx.update(encoder, nnx.state(half), nnx.state(OtherHalf(nnx.Rngs(0))))
nnx.update(Big(nnx.Rngs(0)), state)
nnx.update(encoder, {"linear": {"bias": jnp.zeros(3)}})
nnx.update(state, nnx.state(half))


class Copies(nnx.Module):
    """A base class of models with more."""

    def copy_from(self, half: Half) -> None:
        nnx.update(self, nnx.state(half))


class CopyingHalf(Copies):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)


def copied(copying: CopyingHalf, half: Half) -> None:
    copying.copy_from(Half(nnx.Rngs(0)))


def must_fail() -> None:
    try:
        nnx.update(encoder, nnx.state(decoder))
    except ValueError:
        print("as expected")


# -- unsure
def of_any_head(model: Headed[H], other: Headed[nnx.Module]) -> None:
    nnx.merge(nnx.graphdef(of_scale), nnx.state(model))
    nnx.merge(nnx.graphdef(of_scale), nnx.state(other))


def any_model(model: nnx.Module, state: nnx.State, states: list[nnx.State]) -> None:
    nnx.update(model, nnx.state(encoder))
    nnx.update(encoder, nnx.state(model))
    nnx.update(encoder, state)
    nnx.merge(graphdef, *states)
    nnx.merge(graphdef, state)


def maybe_big(encoder: Encoder, big: Big) -> None:
    nnx.update(encoder, nnx.state(big))
    nnx.merge(nnx.graphdef(big), nnx.state(encoder))


class Open(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        for name in ("linear", "out", "dense"):
            setattr(self, name, nnx.Linear(3, 3, rngs=rngs))


def open_model(encoder: Encoder, model: Open) -> None:
    nnx.update(model, nnx.state(encoder))
    nnx.merge(nnx.graphdef(encoder), nnx.state(model))
    graphdef, _ = nnx.split(encoder)
    nnx.merge(graphdef, nnx.state(model))
    other, _ = nnx.split(model)
    nnx.merge(other, nnx.state(encoder))


def adds_an_attribute(half: Half) -> None:
    class WithScale(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.linear = nnx.Linear(2, 3, rngs=rngs)
            self.scale = nnx.Param(jnp.ones(3))

    nnx.update(half, nnx.state(WithScale(nnx.Rngs(0))))


class Loose(nnx.Module):
    def __init__(self) -> None:
        self.scale = nnx.Param(jnp.ones(3))


class Tight(Loose):
    def __init__(self, rngs: nnx.Rngs) -> None:
        super().__init__()
        self.linear = nnx.Linear(2, 3, rngs=rngs)


def maybe_tight(model: Loose, half: Half) -> None:
    nnx.update(model, nnx.state(half))


def extended(bare: Bare, half: Half, rngs: nnx.Rngs) -> None:
    bare.linear = nnx.Linear(2, 3, rngs=rngs)  # type: ignore[attr-defined]
    nnx.update(bare, nnx.state(half))
