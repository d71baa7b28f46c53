"""The commands ``typed-nnx migrate`` and ``typed-nnx rules``."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack

import click

from typed_nnx_codegen.completion.values import complete_paths, complete_rules
from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.writing import json_option, write_text
from typed_nnx_codegen.migrate.options import FLAX_NNX, TYPED_NNX, Options
from typed_nnx_codegen.migrate.report import FORMS
from typed_nnx_codegen.migrate.ruff import NO_RUFF, has_ruff
from typed_nnx_codegen.migrate.rule_info import RuleInfo, known_rules
from typed_nnx_codegen.migrate.rule_list import rules_as_json, rules_as_markdown, show_rules
from typed_nnx_codegen.migrate.screen import Screen
from typed_nnx_codegen.migrate.selection import BadSelection, codes_named, release_of, selected
from typed_nnx_codegen.migrate.session import WRONG_USE, Refused, ReportFile, Request, migrate_paths

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.session import LinenWork

_REPORT_NAME: Final = "typed-nnx-migration"
_RECORD_NAME: Final = ".typed_nnx_trace.json"


class _Given(TypedDict):
    """What the command line of ``migrate`` gives."""

    paths: tuple[Path, ...]
    write: bool
    check: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    target: Literal["typed_nnx", "flax.nnx"]
    from_release: str
    jobs: int | None
    report: tuple[str, ...]
    report_file: tuple[str, ...]
    json_file: Path | None
    allow_dirty: bool
    diff: bool | None
    quiet: bool
    keep_going: bool
    linen: bool
    haiku: bool
    output: Path | None
    example: Path | None
    trace: tuple[str, ...]
    trace_steps: int | None
    gradual: bool
    verify: bool


@click.command(
    name="migrate",
    cls=TaughtCommand,
    examples=(
        ("typed-nnx migrate src", "Show what would change; nothing is written."),
        ("typed-nnx migrate src --write", "Write it."),
        ("typed-nnx migrate src --check --quiet", "For CI: status 1 if something would change."),
        (
            "typed-nnx migrate --linen model.py -o new_model.py",
            "Modules of flax.linen; new_model.migration.json maps old checkpoints.",
        ),
        (
            "typed-nnx migrate --haiku src",
            "Modules of dm-haiku, with a map for trained parameters.",
        ),
        (
            'typed-nnx migrate --linen src --trace "python train.py --steps 1"',
            "Run the program once, to record sizes that are not in the code.",
        ),
    ),
    statuses={
        0: "done, or nothing to do",
        1: "with --check a file would change; or a file could not be migrated or written, and the "
        "others were (with --keep-going, files that are not valid Python do not count); or a report "
        "could not be written",
        2: "wrong use, or files to write have uncommitted changes",
    },
)
@click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--write", is_flag=True, help="Write the files; otherwise only show what would change."
)
@click.option("--check", is_flag=True, help="Write nothing; status 1 if a file would change.")
@click.option(
    "--select",
    metavar="CODES",
    multiple=True,
    shell_complete=complete_rules,
    help="Apply only these rules: TN101,TN12 (TN12 is all that start with it).",
)
@click.option(
    "--ignore",
    metavar="CODES",
    multiple=True,
    shell_complete=complete_rules,
    help="Skip these rules.",
)
@click.option(
    "--target",
    type=click.Choice([TYPED_NNX, FLAX_NNX]),
    default=TYPED_NNX,
    show_default=True,
    help="The runtime of the new code.",
)
@click.option(
    "--from",
    "from_release",
    metavar="RELEASE",
    default="",
    help="The release of flax that the code runs on, such as 0.8 or 0.10.2: skip older rules.",
)
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Number of processes; by default that of cores.",
)
@click.option(
    "--report", type=click.Choice(list(FORMS)), multiple=True, help="Write a report; repeatable."
)
@click.option(
    "--report-file",
    metavar="FILE",
    multiple=True,
    shell_complete=complete_paths,
    help=f"The file of the report, one for each --report; - is standard output. Default: {_REPORT_NAME}"
    ".FORM.",
)
@json_option("the report of --report json")
@click.option(
    "--allow-dirty", is_flag=True, help="Also write files with uncommitted changes in Git."
)
@click.option(
    "--diff/--no-diff",
    default=None,
    help="Show the diff or not; by default without --write and --quiet.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show only errors.")
@click.option(
    "--keep-going", is_flag=True, help="Skip files that are not valid Python, and list them."
)
@click.option(
    "--linen", is_flag=True, help="Migrate modules of flax.linen to NNX, with their weights."
)
@click.option(
    "--haiku", is_flag=True, help="Migrate modules of dm-haiku to NNX, with their weights."
)
@click.option(
    "-o",
    "--output",
    metavar="DST",
    type=click.Path(path_type=Path),
    help="With --linen or --haiku, for one file: write the new code to DST instead.",
)
@click.option(
    "--example",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --linen: get sizes that are not in the code from examples of calls. Imports, and so "
    "runs, FILE and the files whose classes it names.",
)
@click.option(
    "--trace",
    metavar="COMMAND",
    multiple=True,
    help="With --linen: get sizes that are not in the code from one run of COMMAND: python train.py, "
    "pytest tests, or a notebook. Ctrl-C ends it, and keeps what was recorded, in "
    f"{_RECORD_NAME}; COMMAND may be such a file. Repeatable.",
)
@click.option(
    "--trace-steps",
    metavar="N",
    type=click.IntRange(min=1),
    help="End the program of --trace after N calls of init or apply; under jit, those that jax traces.",
)
@click.option(
    "--gradual",
    is_flag=True,
    help="With --linen: keep modules in Linen that need manual work, so that the program still runs; "
    "modules that contain them wrap them in bridge.ToNNX.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="With --linen: import the new code, and compare the modules of --example with Linen. Files "
    "that fail to import are not written, modules that differ get a comment.",
)
def migrate(**given: Unpack[_Given]) -> None:
    """Rewrite older NNX code in the files and folders PATH or, with --linen and --haiku, their modules.

    Nothing is written without --write. Only --example, --trace and --verify run code. Where a rule is not
    sure, it leaves the code unchanged, with a comment, TODO[typed-nnx], that says what to decide.

    With --linen and --haiku, FILE.migration.json beside each file maps the weights of old checkpoints.

    The diff goes to standard output, for `git apply`; the summary goes to standard error.
    """
    try:
        _check_linen_options(given)
        request = _request(given)
        work = _library_work(given) if given["linen"] or given["haiku"] else None
    except BadSelection as error:
        raise click.UsageError(str(error)) from error
    screen = Screen(
        quiet=given["quiet"],
        diff=request.mode != "write" if given["diff"] is None else given["diff"],
        report_on_output=any(report.path is None for report in request.reports),
    )
    if given["verify"]:
        screen.say("--verify runs the files that change, as they are and migrated")
    try:
        if work is not None:
            work.trace(request, screen.say)
        status = migrate_paths(request, screen, work)
        if work is not None:
            screen.say(work.note())
            screen.say("" if has_ruff() else NO_RUFF)
    except Refused as error:
        screen.complain(f"typed-nnx migrate: {error}")
        status = WRONG_USE
    sys.exit(status)


def _check_linen_options(given: _Given) -> None:
    if given["linen"] and given["haiku"]:
        raise click.UsageError(
            "--linen and --haiku are two migrations.\n  Fix: run one, then the other"
        )
    if given["linen"] or given["haiku"]:
        older: dict[str, object] = {
            "--select": given["select"],
            "--ignore": given["ignore"],
            "--from": given["from_release"],
        }
        for option, value in older.items():
            if value:
                library = "--haiku" if given["haiku"] else "--linen"
                raise click.UsageError(
                    f"{option} is about older NNX code.\n  Fix: leave out {option} or {library}"
                )
    if given["linen"]:
        return
    of_linen: dict[str, object] = {
        **({} if given["haiku"] else {"-o": given["output"]}),
        "--example": given["example"],
        "--trace": given["trace"],
        "--trace-steps": given["trace_steps"],
        "--gradual": given["gradual"],
        "--verify": given["verify"],
    }
    for option, value in of_linen.items():
        if value and given["haiku"]:
            raise click.UsageError(
                f"{option} is for code of flax.linen.\n  Fix: leave out {option} or --haiku"
            )
        if value:
            raise click.UsageError(f"{option} is for code of flax.linen.\n  Fix: add --linen")


def _library_work(given: _Given) -> LinenWork:
    output, paths = given["output"], given["paths"]
    if given["trace_steps"] and not given["trace"]:
        raise click.UsageError(
            '--trace-steps is for a program.\n  Fix: --trace "python train.py" --trace-steps 2'
        )
    if output is not None:
        if len(paths) != 1 or paths[0].is_dir():
            raise click.UsageError("-o is for one file.\n  Fix: name one file as PATH")
        if given["check"]:
            raise click.UsageError("--check writes nothing and -o writes.\n  Fix: give one of them")
        if output.is_dir() or not output.parent.is_dir():
            problem = "is a folder" if output.is_dir() else "is in a folder that does not exist"
            raise click.UsageError(f"-o {str(output)!r} {problem}.\n  Fix: -o with a new file")
        if output.suffix != ".py":
            raise click.UsageError(
                f"-o {str(output)!r} is not a Python file.\n  Fix: -o {output}.py"
            )
    if given["haiku"]:
        of_haiku: LinenWork = _haiku().haiku_work(output)
        return of_haiku
    work: LinenWork = _linen().LinenWork(
        output=output,
        example=given["example"],
        traces=given["trace"],
        steps=given["trace_steps"] or 0,
        gradual=given["gradual"],
        verify=given["verify"],
    )
    return work


def _linen() -> Any:
    """Return the module that migrates Linen code, which takes longer to load than all others."""
    return importlib.import_module("typed_nnx_codegen.migrate.linen.session")


def _haiku() -> Any:
    """Return the module that migrates code of Haiku, which loads that for Linen."""
    return importlib.import_module("typed_nnx_codegen.migrate.haiku.session")


def _rules_of(given: _Given) -> Sequence[RuleInfo]:
    if given["haiku"]:
        found: Sequence[RuleInfo] = _haiku().haiku_rules()
    else:
        found = _linen().linen_rules() if given["linen"] else known_rules()
    return found


def _request(given: _Given) -> Request:
    if given["write"] and given["check"]:
        raise click.UsageError(
            "--check writes nothing and --write writes.\n  Fix: give one of them"
        )
    release = release_of(given["from_release"]) if given["from_release"] else ()
    every = _rules_of(given)
    rules = selected(every, given["select"], given["ignore"], release)
    codes = None if len(rules) == len(every) else frozenset(rule.code for rule in rules)
    return Request(
        paths=given["paths"],
        options=Options(target=given["target"], codes=codes),
        rules=rules,
        jobs=given["jobs"] or os.cpu_count() or 1,
        mode="write"
        if given["write"] or given["output"]
        else "check"
        if given["check"]
        else "show",
        allow_dirty=given["allow_dirty"],
        reports=_reports(given),
        from_release=given["from_release"],
        keep_going=given["keep_going"],
    )


def _reports(given: _Given) -> tuple[ReportFile, ...]:
    forms, files = given["report"], given["report_file"]
    if len(files) > len(forms):
        raise click.UsageError("--report-file has no --report to belong to.\n  Fix: --report html")
    names = [*files, *(f"{_REPORT_NAME}.{form}" for form in forms[len(files) :])]
    if given["json_file"] is not None:
        forms, names = (*forms, "json"), [*names, str(given["json_file"])]
    if names.count("-") > 1:
        raise click.UsageError("two reports go to standard output.\n  Fix: --report-file for each")
    if len(set(names)) < len(names):
        raise click.UsageError("two reports have the same file.\n  Fix: --report-file for each")
    for name in names:
        path = Path(name)
        if name != "-" and (path.is_dir() or not path.parent.is_dir()):
            problem = "is a folder" if path.is_dir() else "is in a folder that does not exist"
            raise click.UsageError(f"--report-file {name!r} {problem}")
    return tuple(
        ReportFile(form, None if name == "-" else Path(name))
        for form, name in zip(forms, names, strict=True)
    )


@click.command(
    name="rules",
    cls=TaughtCommand,
    examples=(
        ("typed-nnx rules", "All rules, each with code before and after."),
        ("typed-nnx rules TN102 TN12", "One rule, and all that start with TN12, in full."),
        ("typed-nnx rules --json", "For a program."),
    ),
    statuses={0: "the rules are listed", 2: "no such rule, or wrong use"},
)
@click.argument("codes", metavar="[CODE...]", nargs=-1, shell_complete=complete_rules)
@json_option("the rules")
@click.option("--format", "form", type=click.Choice(["md"]), help="For pages.")
def rules(codes: tuple[str, ...], json_file: Path | None, form: str | None) -> None:
    """List the rules of `typed-nnx migrate` with code before and after, and the markers of --linen.

    CODE selects a rule, TN101, or all that start with it, TN12, and shows them in full.
    """
    every: Sequence[RuleInfo] = (*known_rules(), *_linen().linen_rules())
    try:
        named = codes_named(every, codes) if codes else {rule.code for rule in every}
    except BadSelection as error:
        raise click.UsageError(str(error)) from error
    found = [rule for rule in every if rule.code in named]
    if json_file is not None:
        write_text(json_file, rules_as_json(found))
    if form == "md":
        click.echo(rules_as_markdown(found), nl=False)
    elif json_file is None:
        show_rules(found, in_full=bool(codes))
