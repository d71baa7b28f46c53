"""Markdown as prose and code: what may be rewritten and what may not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_FENCED: Final = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2`*~* *$", flags=re.DOTALL | re.MULTILINE)
_LINK: Final = re.compile(r"(\]\()([^)\s]+)(\))")
_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *#* *$", flags=re.MULTILINE)
_ANCHOR: Final = re.compile(r'<(?:a|span) id="([^"]+)">')


def rewrite_prose(text: str, rewrite: Callable[[str], str]) -> str:
    """Return a page with its prose rewritten and its fenced code as it was."""
    parts: list[str] = []
    end = 0
    for block in _FENCED.finditer(text):
        parts += [rewrite(text[end : block.start()]), block.group()]
        end = block.end()
    return "".join([*parts, rewrite(text[end:])])


def rewrite_links(text: str, rewrite: Callable[[str], str]) -> str:
    """Return a page with the targets of its links rewritten, also those of images."""
    return rewrite_prose(
        text,
        lambda prose: _LINK.sub(lambda link: link[1] + rewrite(link[2]) + link[3], prose),
    )


def prose_of(text: str) -> str:
    """Return a page without its fenced code."""
    return _FENCED.sub("", text)


def links_of(text: str) -> list[str]:
    """Return the targets of the links of a page."""
    return [link[2] for link in _LINK.finditer(prose_of(text))]


def anchors_of(text: str) -> list[str]:
    """Return the anchors of a page: those that it writes itself, and those of its headings.

    Headings have the same anchors in the site and on GitHub.
    """
    prose = prose_of(text)
    return [*_ANCHOR.findall(prose), *(slug(heading) for heading in _HEADING.findall(prose))]


def slug(heading: str) -> str:
    """Return the anchor of a heading: its words in lower case, hyphens between them."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
