"""Runs a page in processes of its own: one that says what jax or flax.nnx is can not share one.

``python -m tests.support.page_processes PAGE [ADDRESS PROCESSES PROCESS]`` prints what the blocks
printed, and what they should print, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import jax

from tests.support.code_blocks import Printed, run_blocks
from tests.support.processes import free_address, run_together

REPOSITORY = Path(__file__).parents[2]
DEVICES = re.compile(r'(?<="jax_num_cpu_devices", )\d+')
FLAX_NNX = re.compile(r"^\w+\.install_as_flax_nnx\(\)$", re.MULTILINE)


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
    settings = {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY), "RUN_FOLDER": str(folder)}
    command = [sys.executable, "-m", "tests.support.page_processes", str(copy)]
    joining = [[address, str(count), str(number)] if count > 1 else [] for number in range(count)]
    commands = [[*command, *words] for words in joining]
    said = run_together(commands, folder, cwd=REPOSITORY, env=os.environ | settings)
    return [Printed(*one) for one in json.loads(said[0].splitlines()[-1])]


def main(page: str, address: str = "", processes: str = "1", process: str = "0") -> None:
    """Join the other processes, if any, and run the page."""
    if address:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(address, int(processes), int(process))
    with jax.numpy_dtype_promotion("standard"):
        print(json.dumps(run_blocks(Path(page))))


if __name__ == "__main__":
    main(*sys.argv[1:])
