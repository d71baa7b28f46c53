"""Names of leaves in a checkpoint: paths as texts, one to one.

orbax keeps keys as texts and joins them with dots, so that ``0`` and ``"0"``, or ``"a.b"`` and
``"a", "b"``, would be the same. Here an integer is written as it is, a text is percent-encoded where
it could be read as anything else.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias
from urllib.parse import quote

from typed_nnx._core.paths import Key, Path

Names: TypeAlias = tuple[str, ...]
"""The encoded keys of a path."""

NO_LEAVES = "%no-leaves"
"""The name of the one leaf of a checkpoint without leaves; no key is encoded as this."""

_WHOLE = "%itself"
_INTEGER = re.compile(r"-?[0-9]+")


def encoded(key: Key) -> str:
    """Return a key as a text that no other key has."""
    if isinstance(key, int):
        return str(int(key))
    if not isinstance(key, str):
        return f"%{type(key).__name__}:{_quoted(repr(key))}"
    if not key:
        return "%"
    if _INTEGER.fullmatch(key):
        return f"%{ord(key[0]):02X}{key[1:]}"
    return _quoted(key)


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass").replace(".", "%2E").replace("~", "%7E")


def names_of(path: Path) -> Names:
    """Return the names of a path; that of a lone Variable is not empty either."""
    return tuple([encoded(key) for key in path]) or (_WHOLE,)


def plain_names_of(path: Path) -> Names:
    """Return the keys as other programs write them: plain texts."""
    return tuple([str(key) for key in path])


def key_to_json(key: Key) -> Any:
    """Return a key in JSON that keeps integers and texts apart."""
    if isinstance(key, bool) or not isinstance(key, int | str):
        return {"type": type(key).__name__, "repr": repr(key)}
    return key
