"""The command ``typed-nnx verify``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

import click

from typed_nnx_codegen.cli import leave_where_missing
from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.writing import json_option

_NEEDS: Final = ("flax", "jax", "libcst", "rich")
_FILE: Final = click.Path(path_type=Path)


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
    quiet: bool


@click.command(
    name="verify",
    cls=TaughtCommand,
    examples=(
        (
            "typed-nnx verify linen/model.py model.py --example model_example.py",
            "With the map that `typed-nnx migrate --linen` wrote beside model.py.",
        ),
        (
            "typed-nnx verify old.py new.py --example examples.py --only MLP --json",
            "The examples of one class; all numbers as JSON.",
        ),
    ),
    statuses={
        0: "all that was compared is equal",
        1: "something differs, or an example could not be run to its end",
        2: "wrong use: files that are not there or cannot be imported, no examples, a bad map",
    },
)
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
@click.option(
    "--example", metavar="FILE", type=_FILE, required=True, help="A Python file with EXAMPLES."
)
@click.option(
    "--map",
    "maps",
    metavar="FILE",
    type=_FILE,
    multiple=True,
    help="The map of the weights; by default NEW.migration.json. Repeatable.",
)
@click.option("--rtol", default=1e-5, show_default=True, help="Tolerance relative to each number.")
@click.option(
    "--atol",
    default=1e-5,
    show_default=True,
    help="Absolute tolerance, or relative to the largest number of the array, whichever is more.",
)
@click.option("--only", metavar="CLASS", multiple=True, help="Only the examples of this class.")
@json_option("all of it")
@click.option("-q", "--quiet", is_flag=True, help="Show only what differs.")
def verify(**given: Unpack[_Given]) -> None:
    """Compare the Linen modules of OLD with their migration in NEW.

    Imports, and so runs, both files and the example file. Builds each example on both sides, loads
    Linen's weights plus random noise into the new model, and compares outputs, updated collections
    and gradients. The tolerances are for 32-bit floats; where Linen computes with 16 bits, four
    steps of that dtype are allowed.
    """
    leave_where_missing(_NEEDS, "typed-nnx verify")
    # By name and only now: with it comes jax, which the help and a shell's completion do without.
    comparing: Any = importlib.import_module("typed_nnx_codegen.verify.comparing")
    tolerance = importlib.import_module("typed_nnx_codegen.verify.differences").Tolerance(
        given["rtol"], given["atol"]
    )
    asked = comparing.Asked(
        old=given["old"],
        new=given["new"],
        example=given["example"],
        maps=given["maps"],
        tolerance=tolerance,
        only=given["only"],
        json_file=given["json_file"],
        is_quiet=given["quiet"],
    )
    sys.exit(comparing.compare(asked))
