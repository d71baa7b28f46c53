"""What all reports say of a run: its settings, its counts, its files in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE, FileResult, Finding
from typed_nnx_codegen.migrate.rule_info import RuleInfo


@dataclass(frozen=True)
class Run:
    """The description of a run.

    Attributes:
        target: The runtime that the code is migrated to.
        rules: The rules that were applied.
        tool_version: The version of typed-nnx.
        folder: The folder that paths in reports start from.
        from_release: The release of flax that the code was written for; empty for any.
        written: Whether files were written; otherwise the reports say what would change.
    """

    target: str
    rules: Sequence[RuleInfo]
    tool_version: str
    folder: Path
    from_release: str = ""
    written: bool = False

    def shown_path(self, path: Path) -> str:
        """Return a path from the folder on, or the whole one where it is elsewhere."""
        full, base = path.absolute(), self.folder.absolute()
        return (full.relative_to(base) if full.is_relative_to(base) else full).as_posix()


@dataclass(frozen=True)
class RuleCount:
    """What a rule found.

    Attributes:
        rule: The rule.
        changed: How many places it changed.
        decide: How many places it leaves to a person.
        files: In how many files.
    """

    rule: RuleInfo
    changed: int
    decide: int
    files: int


@dataclass(frozen=True)
class Totals:
    """What a run found.

    Attributes:
        files: The files that were looked at or passed over.
        changed_files: The files that change.
        failed_files: The files that could not be migrated.
        changed: The places that change.
        decide: The places that are left to a person.
    """

    files: int
    changed_files: int
    failed_files: int
    changed: int
    decide: int


def rule_counts(run: Run, results: Sequence[FileResult]) -> list[RuleCount]:
    """Return the counts of the rules that found something, by code."""
    found = [(result.path, each) for result in results for each in result.findings]
    named = {rule.code: rule for rule in run.rules}
    counts = []
    for code in sorted({each.code for _, each in found}):
        mine = [(path, each) for path, each in found if each.code == code]
        counts.append(
            RuleCount(
                rule=named.get(code, RuleInfo(code, code)),
                changed=_count(CHANGED, [each for _, each in mine]),
                decide=_count(DECIDE, [each for _, each in mine]),
                files=len({path for path, _ in mine}),
            )
        )
    return counts


def totals(results: Sequence[FileResult]) -> Totals:
    """Return the counts of a whole run."""
    found = [each for result in results for each in result.findings]
    return Totals(
        files=len(results),
        changed_files=sum(result.is_changed for result in results),
        failed_files=sum(bool(result.error) for result in results),
        changed=_count(CHANGED, found),
        decide=_count(DECIDE, found),
    )


def _count(kind: str, findings: Sequence[Finding]) -> int:
    return sum(each.kind == kind for each in findings)


def told(results: Sequence[FileResult]) -> list[FileResult]:
    """Return the results that there is something to say of, by path."""
    return sorted(
        (each for each in results if each.findings or each.error or each.is_changed),
        key=lambda each: each.path,
    )


def counted(number: int, what: str) -> str:
    """Return a number of things, in words."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def place_of(finding: Finding) -> str:
    """Return where in its file a finding is, in words."""
    line = f"line {finding.line}"
    return f"part {finding.part}, {line}" if finding.part else line
