"""Models of google-tunix, which import flax.nnx: what they are trained to, and how fast.

``python -m benchmarks.tunix_models OUT.npz`` trains each model of `MODELS` for two adam steps with flax;
``typed-nnx run -m benchmarks.tunix_models OUT.npz`` does so with typed_nnx; the same arrays are written.
``python -m benchmarks.tunix_models --compare`` times a llama3 of 16 layers: two processes, with flax and with
typed_nnx, take turns, step by step. Only google-tunix is needed, and what its models import; not what the
package itself does.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

SIZES = {
    "num_layers": 2,
    "embed_dim": 16,
    "hidden_dim": 32,
    "num_heads": 2,
    "head_dim": 8,
    "num_kv_heads": 1,
}
BATCH, LENGTH, WORDS = 2, 8, 32
STEPS = 30


def without_init(package: str) -> None:
    """Make a package importable without what its ``__init__`` imports: trainers, data, services."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise SystemExit(f"{package} is not installed.\n  Fix: pip install --no-deps google-tunix")
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(package, None))
    module.__path__ = list(spec.submodule_search_locations or ())
    sys.modules[package] = module


def _module(name: str) -> Any:
    return importlib.import_module(f"tunix.models.{name}.model")


def _rngs() -> Any:
    return importlib.import_module("flax.nnx").Rngs(0)


def _llama(name: str, cls: str, **more: Any) -> Any:
    module = _module(name)
    if "remat_config" in more:
        more["remat_config"] = module.RematConfig[more["remat_config"]]
    sizes = {"vocab_size": WORDS, "rope_theta": 10_000, "norm_eps": 1e-5, **SIZES, **more}
    return getattr(module, cls)(module.ModelConfig(**sizes), rngs=_rngs())


def _gemma(name: str, cls: str, **more: Any) -> Any:
    module = _module(name)
    if "remat_config" in more:
        more["remat_config"] = module.RematConfig[more["remat_config"]]
    if name == "gemma":
        kinds = module.AttentionType
        more |= {
            "final_logit_softcap": None,
            "use_post_attn_norm": True,
            "use_post_ffw_norm": True,
            "attention_types": (kinds.GLOBAL, kinds.LOCAL_SLIDING),
        }
    else:
        more["param_dtype"] = jnp.float32
    sizes = {"num_embed": WORDS, "sliding_window_size": 4, **SIZES, **more}
    return getattr(module, cls)(module.ModelConfig(**sizes), rngs=_rngs())


EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2}
MODELS: dict[str, Callable[[], Any]] = {
    "llama3": lambda: _llama("llama3", "Llama3"),
    "llama3 tied": lambda: _llama("llama3", "Llama3", weight_tying=True),
    "llama3 remat of blocks": lambda: _llama("llama3", "Llama3", remat_config="BLOCK"),
    "llama3 remat of layers": lambda: _llama("llama3", "Llama3", remat_config="DECODER"),
    "qwen2": lambda: _llama("qwen2", "Qwen2"),
    "qwen2 tied": lambda: _llama("qwen2", "Qwen2", use_tied_embedding=True),
    "qwen2 remat": lambda: _llama("qwen2", "Qwen2", remat_config="BLOCK"),
    "qwen3": lambda: _llama("qwen3", "Qwen3"),
    "qwen3 experts": lambda: _llama("qwen3", "Qwen3", **EXPERTS),
    "qwen3 remat": lambda: _llama("qwen3", "Qwen3", remat_config="BLOCK"),
    "qwen3 experts remat": lambda: _llama("qwen3", "Qwen3", remat_config="DECODER", **EXPERTS),
    "gemma": lambda: _gemma("gemma", "Gemma"),
    "gemma remat": lambda: _gemma("gemma", "Gemma", remat_config="BLOCK"),
    "gemma3": lambda: _gemma("gemma3", "Gemma3"),
    "gemma3 remat": lambda: _gemma("gemma3", "Gemma3", remat_config="BLOCK"),
    "gemma4": lambda: _gemma("gemma4", "Gemma4", global_key_size=8),
    "gemma4 remat": lambda: _gemma("gemma4", "Gemma4", global_key_size=8, remat_config="BLOCK"),
    "gemma4 experts": lambda: _gemma(
        "gemma4",
        "Gemma4",
        global_key_size=8,
        enable_moe=True,
        expert_dim=16,
        moe_dense_hidden_dim=32,
        **EXPERTS,
    ),
}


def _step_of(nnx: Any, batch: int, length: int) -> Callable[[Any, Any], jax.Array]:
    """Return a compiled training step on fixed tokens."""
    tokens = jnp.arange(batch * length).reshape(batch, length) % WORDS
    positions = jnp.tile(jnp.arange(length)[None], (batch, 1))
    mask = jnp.tile(jnp.tril(jnp.ones((length, length), bool))[None], (batch, 1, 1))

    def loss_of(model: Any) -> jax.Array:
        logits, _ = model(tokens, positions, None, mask)
        losses = optax.softmax_cross_entropy_with_integer_labels(
            logits[:, :-1].astype(jnp.float32), tokens[:, 1:]
        )
        return losses.mean()

    @nnx.jit
    def step(model: Any, optimizer: Any) -> Any:
        loss, grads = nnx.value_and_grad(loss_of)(model)
        optimizer.update(model, grads)
        return loss

    return step


def trained(nnx: Any, build: Callable[[], Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the parameters before and after two steps, and the losses."""
    found: dict[str, np.ndarray[Any, Any]] = {}

    def keep(when: str) -> None:
        for path, param in nnx.to_flat_state(nnx.state(model, nnx.Param)):
            found[f"{when}/{'/'.join(map(str, path))}"] = np.asarray(param[...])

    model = build()
    keep("initial")
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    step = _step_of(nnx, BATCH, LENGTH)
    found["losses"] = np.asarray([step(model, optimizer) for _ in range(2)])
    keep("trained")
    return found


def serve(nnx: Any, layers: int, width: int) -> None:
    """Print the seconds that a llama3 takes to be built, and of a step for each line that comes in.

    Building and the first step are seconds of the processor: they are long, and other programs interfere.
    """
    clock = time.process_time

    def report(start: float) -> None:
        print(clock() - start, flush=True)

    start = clock()
    model = _llama("llama3", "Llama3", num_layers=layers, embed_dim=width, hidden_dim=2 * width)
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    jax.block_until_ready(jax.tree.leaves(nnx.state(optimizer)))
    step = _step_of(nnx, BATCH, LENGTH)
    report(start)
    for _ in sys.stdin:
        start = clock()
        step(model, optimizer).block_until_ready()
        report(start)
        clock = time.perf_counter


def compare(options: list[str], rounds: int) -> None:
    """Print medians and ratios of two processes that take turns."""
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(rounds):
        processes = {}
        for name, words in (
            ("flax", []),
            ("typed_nnx", ["-c", "from typed_nnx_codegen.cli import main; main()", "run"]),
        ):
            command = [sys.executable, *words, "-m", "benchmarks.tunix_models", "--serve", *options]
            processes[name] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
            )
            assert processes[name].stdout is not None
            found.setdefault(name, {}).setdefault("build", []).append(_answer(processes[name]))
        for number in range(STEPS + 1):
            what = "step" if number else "first step"
            for name, process in processes.items():
                found[name].setdefault(what, []).append(_answer(process, "\n"))
        for process in processes.values():
            process.communicate()
    for what in ("build", "first step", "step"):
        theirs, ours = found["flax"][what], found["typed_nnx"][what]
        ratio = statistics.median([a / b for a, b in zip(theirs, ours, strict=True)])
        medians = (
            f"flax {statistics.median(theirs):9.4f} s   typed_nnx {statistics.median(ours):9.4f} s"
        )
        print(f"{what:12}{medians}   flax / typed_nnx {ratio:5.2f}   ({len(ours)} pairs)")


def _answer(process: subprocess.Popen[str], question: str = "") -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(question)
    process.stdin.flush()
    return float(process.stdout.readline())


def main() -> None:
    """Read the command line, train or time, and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, help="where the arrays are written")
    parser.add_argument("--compare", action="store_true", help="print times, with both libraries")
    parser.add_argument("--serve", action="store_true", help="be one of the two processes")
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3, help="how often both are started")
    options = parser.parse_args()
    if options.compare:
        sizes = ["--layers", str(options.layers), "--width", str(options.width)]
        compare(sizes, options.rounds)
        return
    without_init("tunix")
    from flax import nnx  # the one that `typed-nnx run` puts here, or flax's own

    if options.serve:
        serve(nnx, options.layers, options.width)
        return
    arrays = {
        f"{name}: {key}": value
        for name, build in MODELS.items()
        for key, value in trained(nnx, build).items()
    }
    arrays["library"] = np.asarray(nnx.__name__)
    np.savez(options.out, allow_pickle=False, **arrays)


if __name__ == "__main__":
    main()
