"""Bytes to text and back: encoding cookies, byte order marks."""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass

from typed_nnx_codegen.migrate.sources.outcome import SourceError


@dataclass(frozen=True)
class Encoded:
    """The text of a file, and how it is written in bytes.

    Attributes:
        text: The text, without a byte order mark; line ends are those of the file.
        encoding: The name of the encoding.
        mark: The byte order mark, where the file has one.
    """

    text: str
    encoding: str
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Return the bytes of a new text.

        Raises:
            SourceError: The encoding of the file has no such characters.
        """
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeError as error:
            message = f"the new text cannot be written as {self.encoding}: {error}"
            raise SourceError(message) from error


def decode_module(data: bytes) -> Encoded:
    """Decode a Python file, by its byte order mark or by the comment in its first two lines.

    Raises:
        SourceError: The encoding is not known, or the bytes are not in it.
    """
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        if "missing encoding" in error.msg:
            raise SourceError("it is not in utf-8, and names no other encoding") from error
        raise SourceError(f"its encoding is not known: {error.msg}") from error
    return _decode(data, "utf-8" if name == "utf-8-sig" else name)


def decode_utf8(data: bytes) -> Encoded:
    """Decode a document, which is in UTF-8.

    Raises:
        SourceError: It is not.
    """
    return _decode(data, "utf-8")


def _decode(data: bytes, encoding: str) -> Encoded:
    """Decode bytes in a known encoding, and see that the text gives the same bytes."""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body = data[len(mark) :]
    try:
        text = body.decode(encoding)
        same = text.encode(encoding) == body
    except UnicodeError as error:
        raise SourceError(f"it cannot be decoded as {encoding}: {error}") from error
    except LookupError as error:
        raise SourceError(f"its encoding is not known: {error}") from error
    if not same:
        raise SourceError(f"its bytes cannot be written again from the text: {encoding}")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SourceError(f"line {line}: it contains a null byte")
    return Encoded(text, encoding, mark)
