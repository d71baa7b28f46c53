"""The command ``typed-nnx doctor``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click

from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.statuses import FINDINGS, OK
from typed_nnx_codegen.console.terminal import console_of, working
from typed_nnx_codegen.console.writing import is_standard_output, json_option, write_text
from typed_nnx_codegen.doctor.backends import backend_findings
from typed_nnx_codegen.doctor.finding import FIX, Finding
from typed_nnx_codegen.doctor.plugin import plugin_findings
from typed_nnx_codegen.doctor.report import findings_as_json, print_findings
from typed_nnx_codegen.doctor.stubs import stub_findings
from typed_nnx_codegen.doctor.versions import version_findings

_LIMIT: Final = 60.0


@click.command(
    name="doctor",
    cls=TaughtCommand,
    examples=(
        ("typed-nnx doctor", "Check everything; run it in the folder of your project."),
        ("typed-nnx doctor --no-backend", "Without starting jax."),
        ("typed-nnx doctor --json", "As JSON, such as for a bug report."),
    ),
    statuses={0: "nothing to fix", 1: "something to fix", 2: "wrong use"},
)
@click.option(
    "--backend/--no-backend", default=True, help="Import jax in another process; on by default."
)
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=_LIMIT,
    show_default=True,
    help="Time limit of jax, and of mypy.",
)
@json_option("it")
@click.option("--fix", is_flag=True, help="Make the safe fixes in this project, then check again.")
@click.option("-q", "--quiet", is_flag=True, help="Show only what to fix.")
def doctor(
    backend: bool, time_limit: float, json_file: Path | None, fix: bool, quiet: bool
) -> None:
    """Check this installation and the project in this folder, and say what to fix.

    versions: what is installed, and whether it is compatible.

    backends: the devices of jax, found in another process with a time limit, in case the plugin of an
    accelerator hangs or crashes.

    mypy plugin: whether it loads, whether this project uses it, whether its settings are valid.

    stubs: whether typed_nnx-stubs matches the runtime; whether the overlay of your models is
    current and pyright finds it.

    Each line is `ok`, `note` (nothing is broken) or `fix`. Where it is `fix`, `--fix` adds the plugin
    to mypy's settings and updates the overlay; it installs no packages.
    """
    here = Path.cwd()
    looks: dict[str, Callable[[], Iterator[Finding]]] = {
        "versions": version_findings,
        "backends": lambda: backend_findings(time_limit),
        "mypy plugin": lambda: plugin_findings(here, time_limit),
        "stubs": lambda: stub_findings(here),
    }
    if not backend:
        del looks["backends"]
    findings: list[Finding] = []
    for name, look in looks.items():
        with working(f"looking at {name}"):
            looked = list(_looked(name, look))
            repairs = [each.repair for each in looked if each.state == FIX and each.repair]
            if fix and repairs:
                for repair in repairs:
                    repair()
                looked = list(_looked(name, look))
            findings += looked
    if json_file is not None:
        write_text(json_file, findings_as_json(findings))
    if json_file is None or not is_standard_output(json_file):
        print_findings(console_of(), findings, quiet=quiet)
    sys.exit(FINDINGS if any(each.state == FIX for each in findings) else OK)


def _looked(area: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield findings; what a broken installation raises while it is looked at is one of them."""
    try:
        yield from look()
    except Exception as error:  # noqa: BLE001  # half-installed packages raise anything
        first = (str(error).strip().splitlines() or [""])[0]
        said = f"the look ended early: {type(error).__name__}: {first}"
        remedy = "pip check, then pip install --force-reinstall what is named there or above"
        yield Finding(area, "the rest", FIX, said, remedy)
