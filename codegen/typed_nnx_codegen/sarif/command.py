"""The command ``typed-nnx sarif``."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TextIO, cast
from urllib.parse import urlsplit

import click

from typed_nnx_codegen.sarif.log import Project, log_of
from typed_nnx_codegen.sarif.reports import BadReport, read_reports


@click.command(name="sarif")
@click.argument("reports", metavar="[FILE]", type=click.File(encoding="utf-8"), default="-")
@click.option("--out", metavar="FILE", help="Where the log is written; standard output if absent.")
@click.option(
    "--root",
    default=".",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False),
    help="The root of the repository, where paths in the log begin; this folder if absent.",
)
@click.option("--docs", default="", metavar="URL", help="The web page of docs/mypy-plugin.md.")
def sarif(reports: TextIO, out: str | None, root: str, docs: str) -> None:
    """Turn what `mypy --output json` writes, from FILE or standard input, into SARIF 2.1.0.

    Run it in the folder where mypy ran. Status 0 whatever mypy reports; status 2: FILE is not what
    mypy writes, or wrong use.
    """
    if docs and not urlsplit(docs).scheme:
        raise click.UsageError(f"--docs is {docs!r}, which is no URL.\n  Fix: begin it by https://")
    project = Project(
        folder=Path.cwd(),
        root=Path(root).resolve(),
        mypy_version=_mypy_version(),
        descriptions=_descriptions(),
        docs=docs,
    )
    try:
        log = log_of(read_reports(reports.read()), project)
    except (BadReport, UnicodeDecodeError) as error:
        raise click.UsageError(f"{reports.name}: {error}") from error
    text = json.dumps(log, indent=2, ensure_ascii=False) + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        Path(out).write_text(text, encoding="utf-8")


def _descriptions() -> Mapping[str, str]:
    """Return what each error code checks, of mypy and of the plugin."""
    # By name and only here: with them comes mypy, which the other commands do without.
    importlib.import_module("typed_nnx_mypy.errorcodes")
    codes = importlib.import_module("mypy.errorcodes").error_codes
    return {name: cast("str", code.description) for name, code in codes.items()}


def _mypy_version() -> str:
    try:
        return version("mypy")
    except PackageNotFoundError as error:
        raise click.UsageError(
            "mypy is not installed.\n  Fix: pip install 'typed-nnx[tools]'"
        ) from error
