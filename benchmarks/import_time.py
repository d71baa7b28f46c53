"""Import time of typed_nnx against what it cannot do without: ``import jax, optax``.

Run ``python -m benchmarks.import_time``. The goal is a ratio of at most 1.15. Each measurement is a
fresh interpreter; the two statements take turns, so that a machine that slows down slows both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

BASE = "import jax, optax"
OURS = "import typed_nnx"
GOAL = 1.15


def seconds_to(statement: str) -> float:
    """Return the seconds that a fresh interpreter spends on the statement, start-up excluded.

    It reads compiled files, as after an installation, whatever the shell's environment says.
    """
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="")
    program = (
        "import time\n"
        "start = time.perf_counter()\n"
        f"{statement}\n"
        "print(time.perf_counter() - start)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    )
    return float(done.stdout)


def measure(rounds: int) -> tuple[float, float]:
    """Return the median seconds of the base and of ours, after one round that warms the disk."""
    base, ours = [], []
    for number in range(rounds + 1):
        a, b = seconds_to(BASE), seconds_to(OURS)
        if number:
            base.append(a)
            ours.append(b)
    return statistics.median(base), statistics.median(ours)


def main() -> None:
    """Print both medians and their ratio."""
    parser = argparse.ArgumentParser(description="Import time against `import jax, optax`.")
    parser.add_argument("--rounds", type=int, default=15, help="measured rounds (default: 15)")
    rounds = parser.parse_args().rounds
    base, ours = measure(rounds)
    print(f"{BASE:20} {base:7.3f} s   median of {rounds}")
    print(f"{OURS:20} {ours:7.3f} s   median of {rounds}")
    print(f"ratio {ours / base:.3f}   goal: at most {GOAL}")


if __name__ == "__main__":
    main()
