"""What a person who has read the code says of each report of the sweep.

``judged.tsv`` says for the lines of a file their code, ``right`` or ``wrong``, and why. A place is
the same for both runtimes: the copies that use typed_nnx have the same lines.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.plugin.checking import place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.type_checkers import Finding

JUDGED = Path(__file__).with_name("judged.tsv")
NOT_JUDGED = "not judged"


class Judgement(NamedTuple):
    """Whether a report is right.

    Attributes:
        verdict: ``right``, ``wrong`` or ``not judged``.
        why: The reason.
    """

    verdict: str
    why: str = ""


def judgements(text: str) -> dict[tuple[str, int, str], Judgement]:
    r"""Return the judgements by place and code.

    >>> judgements("a.py\t3 5\tnnx-axes\tright\tthree axes")[("a.py", 5, "nnx-axes")]
    Judgement(verdict='right', why='three axes')
    """
    rows = (line.split("\t") for line in text.splitlines())
    return {
        (path, int(number), code): Judgement(verdict, why)
        for path, lines, code, verdict, why in rows
        for number in lines.split()
    }


def judge(reports: Iterable[Finding]) -> dict[Finding, Judgement]:
    """Return what is said of each report."""
    known = judgements(JUDGED.read_text(encoding="utf-8"))
    return {each: known.get(place(each), Judgement(NOT_JUDGED)) for each in reports}


def summary(found: dict[Finding, Judgement]) -> str:
    """Return how many reports are right, wrong and not judged."""
    counts = Counter(each.verdict for each in found.values())
    return ", ".join(f"{verdict}: {counts[verdict]}" for verdict in ("right", "wrong", NOT_JUDGED))
