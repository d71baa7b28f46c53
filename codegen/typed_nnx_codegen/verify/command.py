"""The command ``typed-nnx verify``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

import click
import jax
from rich.console import Console

from typed_nnx_codegen.migrate.weight_map import WeightMapError, map_path
from typed_nnx_codegen.migrate.weights.class_maps import ClassMaps, class_maps
from typed_nnx_codegen.verify.differences import Tolerance
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.example_files import read_examples
from typed_nnx_codegen.verify.examples import Example
from typed_nnx_codegen.verify.results import Result
from typed_nnx_codegen.verify.running import Verifier
from typed_nnx_codegen.verify.sides import import_side
from typed_nnx_codegen.verify.table import print_results

EQUAL: Final = 0
DIFFERENT: Final = 1
WRONG_USE: Final = 2

_LOG_WIDTH: Final = 140
_QUICK: Final = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

_FILE = click.Path(path_type=Path)


class _Given(TypedDict):
    """What the command line gives."""

    old: Path
    new: Path
    example: Path
    maps: tuple[Path, ...]
    rtol: float
    atol: float
    only: tuple[str, ...]
    json_file: Path | None


@click.command(name="verify", short_help="Compare Linen code with its migration.")
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
@click.option("--example", type=_FILE, required=True, help="A Python file with EXAMPLES.")
@click.option(
    "--map",
    "maps",
    type=_FILE,
    multiple=True,
    help="The map of the weights; NEW.migration.json if absent. Repeatable.",
)
@click.option("--rtol", default=1e-5, show_default=True, help="Tolerance relative to each number.")
@click.option(
    "--atol",
    default=1e-5,
    show_default=True,
    help="Tolerance, absolute or relative to the largest number of the array, whichever is more.",
)
@click.option("--only", metavar="CLASS", multiple=True, help="Only the examples of this class.")
@click.option("--json", "json_file", metavar="FILE", type=_FILE, help="Write all of it; - to show.")
def verify(**given: Unpack[_Given]) -> None:
    """Compare the Linen modules of OLD with their migration in NEW.

    Both files and the example file are imported, that is, run. Each example is built on both sides,
    Linen's weights are moved by random noise and loaded into the new model; then outputs, updated
    collections and gradients are compared. The tolerances are those of 32 bits; where Linen
    computes with 16 bits, four steps of that dtype are allowed as well.

    Status 0: all that was compared is equal.

    Status 1: something differs, or an example could not be run to its end.

    Status 2: wrong use: files that are not there or cannot be imported, no examples, a bad map.
    """
    with _quick_compilation():
        status = _verify(given)
    sys.exit(status)


def _verify(given: _Given) -> int:
    # The tolerances are those of 32 bits, also where the environment asks for 64.
    jax.config.update("jax_enable_x64", False)  # type: ignore[no-untyped-call]  # jax does not type it
    to_output = str(given["json_file"]) == "-"
    console = Console(stderr=to_output)
    if not console.is_terminal:
        # A log has no width of its own.
        console = Console(stderr=to_output, width=_LOG_WIDTH)
    try:
        results = _results(given)
        if given["json_file"] is not None:
            _write(results, given["json_file"])
    except (BadUse, WeightMapError) as error:
        click.echo(f"typed-nnx verify: {error}", err=True)
        return WRONG_USE
    print_results(console, results)
    return EQUAL if all(result.is_equal for result in results) else DIFFERENT


@contextmanager
def _quick_compilation() -> Iterator[None]:
    """Let XLA compile quickly where nobody said otherwise: every program runs but a few times."""
    if "XLA_FLAGS" in os.environ:
        yield
        return
    os.environ["XLA_FLAGS"] = _QUICK
    try:
        yield
    finally:
        del os.environ["XLA_FLAGS"]


def _results(given: _Given) -> list[Result]:
    old = import_side(given["old"])
    new = import_side(given["new"], old)
    examples = _chosen(read_examples(given["example"], old), given["only"])
    tolerance = Tolerance(given["rtol"], given["atol"])
    verifier = Verifier(old, new, _maps(given), given["example"].absolute(), tolerance)
    return [verifier.verified(example) for example in examples]


def _maps(given: _Given) -> ClassMaps:
    if given["maps"]:
        return class_maps(given["maps"])
    beside = map_path(given["new"])
    if not beside.is_file():
        raise BadUse(
            f"{beside}: there is no map of the weights.\n"
            "  Fix: --map with the file that `typed-nnx migrate --linen` wrote"
        )
    return class_maps(beside)


def _chosen(examples: Sequence[Example], only: Sequence[str]) -> list[Example]:
    chosen = [each for each in examples if not only or each.build.class_name in only]
    if not chosen:
        known = sorted({each.build.class_name for each in examples})
        raise BadUse(f"--only {', '.join(only)}: no example is of it.\n  Fix: one of {known}")
    return chosen


def _write(results: Sequence[Result], path: Path) -> None:
    said: dict[str, Any] = {
        "version": 1,
        "equal": all(result.is_equal for result in results),
        "examples": [result.as_json() for result in results],
    }
    text = json.dumps(said, indent=2) + "\n"
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadUse(f"--json {path}: it cannot be written: {error.strerror}") from error
