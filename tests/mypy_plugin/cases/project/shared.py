"""Between the models and their use: names what models.py defines."""

from __future__ import annotations

from models import Encoder, Head

import typed_nnx as nnx


def new_encoder() -> Encoder:
    return Encoder(4, rngs=nnx.Rngs(0))


class Pair(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.left = Head(4, rngs=rngs)
        self.right = new_encoder()


PAIR = Pair(nnx.Rngs(1))
ENCODER_STATE = nnx.state(PAIR.right, nnx.Param)
