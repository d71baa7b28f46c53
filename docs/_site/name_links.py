"""Links from names in prose to their place in the API reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from docs._site.markdown_parts import rewrite_prose

# A name in backticks that is not part of a link already.
_QUOTED: Final = re.compile(r"(?<![\[`\w])`([A-Za-z_][\w.]*)(\(\))?`(?![`\]])")
_SECTION: Final = re.compile(r"^(?=#)", flags=re.MULTILINE)


def link_names(text: str, target_of: Callable[[str], str | None]) -> str:
    """Link each name in backticks where it stands first in a section; headings have no links.

    Args:
        text: A page or a docstring, as Markdown.
        target_of: The full name that a quoted name stands for; None where it is none of ours.
    """
    seen: set[str] = set()

    def linked(match: re.Match[str]) -> str:
        target = target_of(match[1])
        if target is None or target in seen:
            return match.group()
        seen.add(target)
        return f"[{match.group()}][{target}]"

    def section(prose: str) -> str:
        if not prose.startswith("#"):
            return _QUOTED.sub(linked, prose)
        seen.clear()
        heading, end, rest = prose.partition("\n")
        return heading + end + _QUOTED.sub(linked, rest)

    return rewrite_prose(text, lambda prose: "".join(map(section, _SECTION.split(prose))))


def public_name(documented: Mapping[str, str]) -> Callable[[str], str | None]:
    """Return a `target_of` for pages, which write ``nnx.`` before names.

    Args:
        documented: The name that the reference has, by every public name.
    """

    def target_of(name: str) -> str | None:
        if name.startswith("nnx."):
            name = f"typed_{name}"
        return documented.get(name) if name.startswith("typed_nnx") else None

    return target_of
