"""Install the wheel as users do, into empty environments, and use it.

``python .ci/clean_installs.py [VERSION...]``, with the archives that ``make dist`` leaves in ``dist/``. For
each Python it makes an environment with the runtime alone, with ``[tools]``, and with every extra that
users install; the first Python gets the sdist too. Each environment trains a model for three steps, and
what its extras bring is used. Everything comes from the package index.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
SETS = ("", "[tools]", "[tools,checkpoint,notebook]")

TRAINING = """\
import jax.numpy as jnp
import optax
import typed_nnx as nnx

model = nnx.Sequential(nnx.Linear(2, 8, rngs=nnx.Rngs(0)), nnx.relu, nnx.Linear(8, 1, rngs=nnx.Rngs(1)))
optimizer = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)
x, y = jnp.ones((4, 2)), jnp.full((4, 1), 5.0)


@nnx.jit
def step(model, optimizer):
    loss, grads = nnx.value_and_grad(lambda model: ((model(x) - y) ** 2).mean())(model)
    optimizer.update(model, grads)
    return loss


losses = [float(step(model, optimizer)) for _ in range(3)]
assert losses[0] > losses[1] > losses[2], losses
"""
CHECKPOINT = """\
from pathlib import Path
import jax.numpy as jnp
import typed_nnx as nnx
from typed_nnx.training import checkpoint

model, other = nnx.Linear(2, 3, rngs=nnx.Rngs(0)), nnx.Linear(2, 3, rngs=nnx.Rngs(1))
checkpoint.save(Path("saved").absolute(), model)
checkpoint.restore(Path("saved").absolute(), other)
assert jnp.array_equal(other.kernel[...], model.kernel[...])
"""
# One mistake that only the plugin sees. The type of the step is known by the stub package alone.
TYPED = """\
import jax
import typed_nnx as nnx


class Net(nnx.Module):
    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.head = nnx.Linear(2, 2, rngs=rngs)


def loss_of(net: Net, x: jax.Array) -> jax.Array:
    return net.head(x).mean()


nnx.state(Net(rngs=nnx.Rngs(0))).tail
reveal_type(nnx.value_and_grad(loss_of))
"""


@dataclass(frozen=True)
class Environment:
    """An environment with pip.

    Attributes:
        folder: Where it is.
    """

    folder: Path

    def run(self, program: str, *arguments: str, status: int = 0) -> str:
        """Run one of its programs in its folder; return what it prints, or stop at another status."""
        bare = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [str(self.folder / "bin" / program), *arguments],
            cwd=self.folder,
            env={"JAX_PLATFORMS": "cpu", **bare},
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode != status:
            sys.exit(
                f"{program} {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    def size(self) -> int:
        """Return the size of its files in MB."""
        files = (
            path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()
        )
        return sum(path.stat().st_size for path in files) // 10**6


def use_runtime(environment: Environment) -> None:
    """Train, and look at what the runtime alone says of the command."""
    environment.run("python", "-c", TRAINING)
    environment.run("python", "-m", "pip", "check")


def use_tools(environment: Environment) -> None:
    """Ask for help, and have mypy check with the plugin and the stubs."""
    assert "migrate" in environment.run("typed-nnx", "--help")
    (environment.folder / "typed.py").write_text(TYPED, encoding="utf-8")
    settings = "[mypy]\nplugins = typed_nnx_mypy\n"
    (environment.folder / "mypy.ini").write_text(settings, encoding="utf-8")
    said = environment.run("mypy", "typed.py", status=1)
    assert "nnx-state-key" in said, said
    assert "Net" in said.partition("Revealed type is")[2], said


def try_one(python: str, archive: Path, extras: str) -> None:
    """Install an archive with extras into an empty environment and use it; print time and size."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(Path(folder))
        subprocess.run([python, "-m", "venv", folder], check=True)
        start = time.perf_counter()
        environment.run("python", "-m", "pip", "install", "--quiet", f"{archive}{extras}")
        seconds = time.perf_counter() - start
        size = environment.size()
        use_runtime(environment)
        if "tools" in extras:
            use_tools(environment)
        if "checkpoint" in extras:
            environment.run("python", "-c", CHECKPOINT)
        version = environment.run("python", "-V").split()[1]
        what = f"{archive.suffix.lstrip('.')}{extras}"
        print(f"{version:8} {what:34} {seconds:6.1f} s {size:6} MB", flush=True)


def only_archive(pattern: str) -> Path:
    """Return the one archive in ``dist/`` of a kind."""
    found = sorted((REPOSITORY / "dist").glob(pattern))
    if len(found) != 1:
        sys.exit(
            f"clean_installs: {len(found)} files dist/{pattern}, expected one.\n  Fix: make dist"
        )
    return found[0]


def main(versions: list[str]) -> None:
    """Try every set of extras on every Python of the list that is here."""
    wheel, sdist = only_archive("*.whl"), only_archive("*.tar.gz")
    archives = [(wheel, extras) for extras in SETS]
    for number, version in enumerate(versions):
        finder = [str(REPOSITORY / ".ci" / "find-python"), version]
        found = subprocess.run(finder, check=False, capture_output=True, text=True)
        if found.returncode != 0:
            print(f"{version:8} skipped, not on this machine", flush=True)
            continue
        for archive, extras in [*archives, (sdist, "")] if number == 0 else archives:
            try_one(found.stdout.strip(), archive, extras)


if __name__ == "__main__":
    main(sys.argv[1:] or list(VERSIONS))
