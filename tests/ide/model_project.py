"""A small project as a user has it: models, a training script, and the overlay of ``typed-nnx``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.once import locked
from tests.support.processes import run_process

# Kept from run to run and ignored by git.
_CACHES = Path(__file__).parents[2] / "build" / "stubs_cache"

MODELS = """\
import jax
import jax.numpy as jnp

{import_nnx}


class Block(nnx.Module):
    def __init__(self, width: int, *, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(width, width, rngs=rngs)
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dropout(nnx.relu(self.norm(self.linear(x))))


class MLP(nnx.Module):
    def __init__(self, width: int, depth: int, *, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([Block(width, rngs=rngs) for _ in range(depth)])
        self.head = nnx.Linear(width, 10, rngs=rngs)
        self.calls = nnx.BatchStat(jnp.zeros(()))
        self.width = width

    def __call__(self, x: jax.Array) -> jax.Array:
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
"""
NEW_FIELD = (
    "self.width = width\n",
    "self.width = width\n        self.tail = nnx.Param(jnp.ones(2))\n",
)

TRAIN = """\
import jax
import jax.numpy as jnp
import optax

import typed_nnx as nnx
from app.models import MLP


def loss(model: MLP, x: jax.Array, *, power: int = 2) -> jax.Array:
    \"\"\"How far the answers of the model are from zero.\"\"\"
    return (model(x) ** power).mean()


@nnx.jit
def train_step(model: MLP, x: jax.Array, *, scale: float = 1.0) -> jax.Array:
    \"\"\"The loss of the model, scaled.\"\"\"
    return scale * loss(model, x)


model = MLP(4, 2, rngs=nnx.Rngs(0))
x = jnp.ones((1, 4))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
state = nnx.state(model)
graphdef, params, rest = nnx.split(model, nnx.Param, ...)
stats = nnx.state(model, nnx.BatchStat)
merged = nnx.merge(graphdef, params, rest)
grads = nnx.grad(loss)(model, x)
value, grads_too = nnx.value_and_grad(loss)(model, x)
jitted_grads = nnx.jit(nnx.grad(loss))(model, x)
"""


# With flax the overlay has typed functions, which exist for checkers and editors only.
FLAX_TRAIN = """\
from typing import TYPE_CHECKING

from flax import nnx

from app.models import MLP

if TYPE_CHECKING:
    from typed_nnx_models import split, state
else:
    from flax.nnx import split, state

model = MLP(4, 2, rngs=nnx.Rngs(0))
whole = state(model)
stats = state(model, nnx.BatchStat)
graphdef, params, rest = split(model, nnx.Param, ...)
"""
_SCRIPTS = {"typed_nnx": TRAIN, "flax.nnx": FLAX_TRAIN}
_IMPORTS = {"typed_nnx": "import typed_nnx as nnx", "flax.nnx": "from flax import nnx"}


@dataclass(frozen=True)
class Project:
    """The files of the project.

    Attributes:
        folder: Where they are.
        runtime: What the project imports as ``nnx``.
    """

    folder: Path
    runtime: str = "typed_nnx"

    @property
    def models(self) -> Path:
        """The module with the models."""
        return self.folder / "app" / "models.py"

    @property
    def script(self) -> Path:
        """The file that the person edits."""
        return self.folder / "train.py"

    @property
    def overlays(self) -> list[Path]:
        """The files that ``typed-nnx stubs`` wrote."""
        return sorted((self.folder / "typings").rglob("*.pyi"))

    @property
    def training(self) -> str:
        """The text of the script, to which a question adds lines."""
        return _SCRIPTS[self.runtime]

    def write(self) -> None:
        """Write the sources; pyright's own defaults find the overlay in ``typings``."""
        self.models.parent.mkdir(parents=True)
        self.models.with_name("__init__.py").write_text("")
        self.models.write_text(MODELS.format(import_nnx=_IMPORTS[self.runtime]))
        self.script.write_text(self.training)
        settings = {"pythonVersion": "3.11", "typeCheckingMode": "standard"}
        (self.folder / "pyrightconfig.json").write_text(json.dumps(settings))

    def add_field(self) -> None:
        """Save the models with one more field, ``tail``."""
        text = self.models.read_text()
        assert NEW_FIELD[0] in text
        self.models.write_text(text.replace(*NEW_FIELD))

    def run_stubs(self) -> None:
        """Run ``typed-nnx stubs app`` as the person does, with what other runs found out of jax."""
        command = [str(Path(sys.executable).with_name("typed-nnx")), "stubs", "app"]
        if self.runtime != "typed_nnx":
            command += ["--runtime", self.runtime]
        cache = _CACHES / self.runtime
        with locked(_CACHES / f"{self.runtime}.lock"):
            done = run_process([*command, "--cache", str(cache)], cwd=self.folder, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
