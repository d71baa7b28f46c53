"""A comparison from its beginning to its end: what `typed-nnx verify` does once it is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import jax

from typed_nnx_codegen.console.endings import message_of
from typed_nnx_codegen.console.statuses import COULD_NOT_RUN, FINDINGS, OK
from typed_nnx_codegen.console.terminal import console_of, working
from typed_nnx_codegen.console.writing import is_standard_output, write_text
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

_QUICK: Final = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


@dataclass(frozen=True)
class Asked:
    """What is to be compared.

    Attributes:
        old: The Linen code.
        new: Its migration.
        example: The file with EXAMPLES.
        maps: The maps of the weights; none for the one beside the migration.
        tolerance: How much numbers may differ.
        only: The classes whose examples count; none for all.
        json_file: Where all of it is written as JSON; None for nowhere.
        is_quiet: Whether only what differs is shown.
    """

    old: Path
    new: Path
    example: Path
    maps: tuple[Path, ...]
    tolerance: Tolerance
    only: tuple[str, ...]
    json_file: Path | None
    is_quiet: bool


def compare(asked: Asked) -> int:
    """Compare, show what was found, and return the status."""
    with _quick_compilation():
        return _compare(asked)


def _compare(asked: Asked) -> int:
    # The tolerances are those of 32 bits, also where the environment asks for 64.
    jax.config.update("jax_enable_x64", False)  # type: ignore[no-untyped-call]  # jax does not type it
    try:
        results = _results(asked)
        if asked.json_file is not None:
            _write(results, asked.json_file)
    except (BadUse, WeightMapError) as error:
        click.echo(f"typed-nnx verify: {error}", err=True)
        return COULD_NOT_RUN
    is_taken = asked.json_file is not None and is_standard_output(asked.json_file)
    print_results(console_of(to_errors=is_taken), results, is_quiet=asked.is_quiet)
    return OK if all(result.is_equal for result in results) else FINDINGS


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


def _results(asked: Asked) -> list[Result]:
    old = import_side(asked.old)
    new = import_side(asked.new, old)
    examples = _chosen(read_examples(asked.example, old), asked.only)
    verifier = Verifier(old, new, _maps(asked), asked.example.absolute(), asked.tolerance)
    results = []
    with working("comparing", len(examples), quiet=asked.is_quiet) as advance:
        for example in examples:
            results.append(verifier.verified(example))
            advance(1)
    return results


def _maps(asked: Asked) -> ClassMaps:
    if asked.maps:
        return class_maps(asked.maps)
    beside = map_path(asked.new)
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
    try:
        write_text(path, json.dumps(said, indent=2) + "\n")
    except OSError as error:
        raise BadUse(f"--json {message_of(error)}") from error
