"""The command ``typed-nnx sarif``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

import click

from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.writing import write_text
from typed_nnx_codegen.sarif.installed import NoMypy, project_here
from typed_nnx_codegen.sarif.log import log_of
from typed_nnx_codegen.sarif.options import log_options
from typed_nnx_codegen.sarif.reports import BadReport, read_reports

_EXAMPLES = (
    ("mypy --output json | typed-nnx sarif > mypy.sarif", "From one program to the other."),
    (
        "typed-nnx sarif mypy.json --out mypy.sarif --root ..",
        "From a file; paths in the log begin at the folder above.",
    ),
)


def checked_address(address: str) -> str:
    """Return the address of a web page, or end with what is wrong with it."""
    if address and not urlsplit(address).scheme:
        raise click.UsageError(
            f"--docs is {address!r}, which is not a URL.\n  Fix: begin it by https://"
        )
    return address


@click.command(
    name="sarif",
    cls=TaughtCommand,
    examples=_EXAMPLES,
    statuses={
        0: "the log is written, whatever mypy reports",
        2: "FILE is not what mypy writes, or wrong use",
    },
)
@click.argument(
    "reports", metavar="[FILE]", type=click.File(encoding="utf-8", lazy=True), default="-"
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="The file of the log; by default standard output.",
)
@log_options
def sarif(reports: TextIO, out: Path | None, root: Path, docs: str) -> None:
    """Convert the output of `mypy --output json`, from FILE or standard input, to SARIF 2.1.0.

    Run it in the folder where mypy ran. `typed-nnx check --sarif FILE` runs mypy itself and adds
    the other checks.
    """
    checked_address(docs)
    if reports.isatty():
        raise click.UsageError(
            "standard input is a terminal.\n  Fix: mypy --output json | typed-nnx sarif"
        )
    try:
        project = project_here(root, docs)
    except NoMypy as error:
        raise click.UsageError(str(error)) from error
    try:
        log = log_of(read_reports(reports.read()), project)
    except (BadReport, UnicodeDecodeError) as error:
        raise click.UsageError(f"{reports.name}: {error}") from error
    write_text(out, json.dumps(log, indent=2, ensure_ascii=False) + "\n")
