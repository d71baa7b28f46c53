"""Runs a page in processes of its own: one that says what jax or flax.nnx is can not share one.

``python -m tests.support.page_processes PAGE [ADDRESS PROCESSES PROCESS]`` prints what the blocks
printed, and what they should print, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax

from examples.digits.processes import free_address, join
from tests.support.code_blocks import Printed, run_blocks
from tests.support.processes import finished

REPOSITORY = Path(__file__).parents[2]
DEVICES = re.compile(r'(?<="jax_num_cpu_devices", )\d+')
FLAX_NNX = re.compile(r"^\w+\.install_as_flax_nnx\(\)$", re.MULTILINE)
PATIENCE = 240.0  # seconds


def sets_up_process(document: str) -> bool:
    """Tell whether a page says how many devices there are, or what `flax.nnx` is."""
    return bool(DEVICES.search(document) or FLAX_NNX.search(document))


def printed_by_processes(page: Path, count: int, folder: Path) -> list[Printed]:
    """Run a page in processes that share its devices; return what the first of them printed.

    Args:
        page: The document.
        count: The number of processes; with 1 they are not joined.
        folder: For a copy of the page, the checkpoints of the page, and what processes say.
    """
    copy = folder / page.name
    text = page.read_text(encoding="utf-8")
    copy.write_text(DEVICES.sub(lambda found: str(int(found[0]) // count), text), encoding="utf-8")
    address = free_address()
    started = [_start(copy, number, count, address) for number in range(count)]
    codes = finished(started, PATIENCE)
    assert codes == [0] * count, "\n".join(each.read_text() for each in folder.glob("*.err"))
    said = (folder / "0.out").read_text(encoding="utf-8").splitlines()[-1]
    return [Printed(*one) for one in json.loads(said)]


def _start(page: Path, number: int, count: int, address: str) -> subprocess.Popen[bytes]:
    joining = [address, str(count), str(number)] if count > 1 else []
    settings = {
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(REPOSITORY),
        "RUN_FOLDER": str(page.parent),
    }
    with (
        (page.parent / f"{number}.out").open("w") as output,
        (page.parent / f"{number}.err").open("w") as errors,
    ):
        return subprocess.Popen(
            [sys.executable, "-m", "tests.support.page_processes", str(page), *joining],
            env=os.environ | settings,
            cwd=REPOSITORY,
            stdout=output,
            stderr=errors,
        )


def main(page: str, address: str = "", processes: str = "1", process: str = "0") -> None:
    """Join the other processes, if any, and run the page."""
    if address:
        join(address, int(processes), int(process))
    with jax.numpy_dtype_promotion("standard"):
        print(json.dumps(run_blocks(Path(page))))


if __name__ == "__main__":
    main(*sys.argv[1:])
