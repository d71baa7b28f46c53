"""`typed-nnx migrate --haiku`: the work of `--linen`, for code of Haiku."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from typed_nnx_codegen.migrate.haiku.translation import TITLE, migrate_haiku
from typed_nnx_codegen.migrate.linen.domain.class_plan import CLASS, STAYS
from typed_nnx_codegen.migrate.linen.session import Library, LinenWork, linen_rules
from typed_nnx_codegen.migrate.rule_info import RuleInfo

_HAIKU: Final = Library("haiku", "haiku", (b"haiku",), migrate_haiku)
_TITLES: Final = {CLASS: TITLE, STAYS: "A module stays in Haiku"}


def haiku_rules() -> tuple[RuleInfo, ...]:
    """Return what reports say of each code."""
    return tuple(replace(one, title=_TITLES.get(one.code, one.title)) for one in linen_rules())


def haiku_work(output: Path | None) -> LinenWork:
    """Return the migration of code of Haiku.

    Args:
        output: Where the new code of the one file goes; None for its place.
    """
    return LinenWork(output=output, library=_HAIKU)
