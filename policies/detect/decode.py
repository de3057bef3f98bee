"""Texts behind encodings: base64, hexadecimal and percent, whole values and pieces of longer texts."""

import base64
import binascii
import re
import urllib.parse
import zlib
from collections.abc import Iterator
from typing import Final

DEPTH: Final = 5
"""How many encodings are taken off one another."""

_WHOLE: Final = re.compile(r"[A-Za-z0-9+/_\-\s]++={0,2}\s*+")
_PIECE: Final = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}+={0,2}")
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){12,}+(?![0-9A-Za-z])")
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPES: Final = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\u00[0-9a-fA-F]{2}){8,}+")
_LIMIT: Final = 4 * 2**20


def base64_text(text: str) -> str | None:
    """Text behind base64 (either alphabet, with or without padding, gzip inside); None unless it is printable."""
    compact = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    if len(compact) < 8 or len(compact) % 4 == 1:
        return None
    try:
        raw = base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
        if raw[:2] == b"\x1f\x8b":
            raw = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(raw, _LIMIT)
    except (binascii.Error, ValueError, zlib.error):
        return None
    return printable(raw)


def printable(raw: bytes) -> str | None:
    """Text of bytes that are text."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    return text if text and all(char.isprintable() or char in "\r\n\t" for char in text) else None


def decoded(text: str) -> Iterator[str]:
    """Texts behind one layer of encoding: of the whole text, or of pieces of it."""
    if len(text) < 12:
        return
    if _PERCENT.search(text):
        plain = urllib.parse.unquote(text)
        if plain != text:
            yield plain
    if _WHOLE.fullmatch(text):
        whole = base64_text(text)
        if whole is not None:
            yield whole
    for match in _PIECE.finditer(text):
        if match[0] != text:
            piece = base64_text(match[0])
            if piece is not None:
                yield piece
    for match in _ESCAPES.finditer(text) if "\\" in text else ():
        digits = re.sub(r"\\x|\\u00", "", match[0])
        piece = printable(bytes.fromhex(digits))
        if piece is not None:
            yield piece
    for match in _HEX.finditer(text):
        try:
            piece = printable(bytes.fromhex(match[0]))
        except ValueError:
            continue
        if piece is not None:
            yield piece
