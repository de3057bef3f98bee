"""Texts behind encodings: base64, hexadecimal, percent, escapes, entities and archives; whole values and pieces."""

import base64
import binascii
import bz2
import contextlib
import html
import io
import itertools
import json
import lzma
import re
import tarfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

DEPTH: Final = 5
"""How many encodings are taken off one another."""

_WHOLE: Final = re.compile(r"[A-Za-z0-9+/_\-\s]++={0,2}\s*+")
_PIECE: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}+={0,2}")
# Base64 broken into lines of equal length, inside a longer text.
_WRAPPED: Final = re.compile(
    r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{40,}+[ \t]{0,8}\r?\n[ \t]{0,40}){1,4000}+[A-Za-z0-9+/]{0,200}+={0,2}"
)
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}){10,}+)(?![0-9A-Za-z])")
_HEX_PAIRS: Final = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{2}(?:([ :,-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2}){10,}+")
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|quot|apos|lt|gt|amp|colon|equals|commat|sol|newline);")
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|0?([0-3][0-7]{2}))"
)
_LIMIT: Final = 4 * 2**20
_MEMBERS: Final = 200


def base64_text(text: str) -> str | None:
    """Text behind base64 (either alphabet, with or without padding, packed or not); None unless it is text."""
    raw = base64_bytes(text)
    return None if raw is None else readable(raw)


def base64_bytes(text: str) -> bytes | None:
    """Bytes behind base64 of either alphabet, with or without padding; None when it is none."""
    compact = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    if len(compact) < 8 or len(compact) % 4 == 1:
        return None
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def readable(raw: bytes) -> str | None:
    """Text of bytes that are text, of a packed text, or of the texts in an archive."""
    unpacked = _unpacked(raw)
    if unpacked is None:
        return None
    if unpacked[257:262] == b"ustar":
        return _joined(_tar_members(unpacked))
    if unpacked[:4] == b"PK\x03\x04":
        return _joined(_zip_members(unpacked))
    return printable(unpacked)


def _unpacked(raw: bytes) -> bytes | None:
    try:
        if raw[:2] == b"\x1f\x8b":
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(raw, _LIMIT)
        if raw[:1] == b"\x78" and raw[1:2] in (b"\x01", b"\x5e", b"\x9c", b"\xda"):
            return zlib.decompressobj().decompress(raw, _LIMIT)
        if raw[:3] == b"BZh":
            return bz2.BZ2Decompressor().decompress(raw, _LIMIT)
        if raw[:6] == b"\xfd7zXZ\x00":
            return lzma.LZMADecompressor(memlimit=64 * 2**20).decompress(raw, _LIMIT)
    except (zlib.error, OSError, lzma.LZMAError, ValueError, EOFError):
        # Text may begin with the two letters of a packed stream.
        return raw if raw[:1] == b"\x78" else None
    return raw


def _tar_members(raw: bytes) -> Iterator[bytes]:
    with tarfile.open(fileobj=io.BytesIO(raw), mode="r:", errorlevel=0) as archive:
        for member in itertools.islice(archive, _MEMBERS):
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield content.read(_LIMIT)


def _zip_members(raw: bytes) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for member in archive.namelist()[:_MEMBERS]:
            with archive.open(member) as content:
                yield content.read(_LIMIT)


def _joined(members: Iterator[bytes]) -> str | None:
    texts: list[str] = []
    # Of a broken archive, what can be read is judged.
    with contextlib.suppress(tarfile.TarError, zipfile.BadZipFile, OSError, ValueError, RuntimeError, zlib.error):
        texts.extend(text for raw in members if (text := printable(raw)) is not None)
    return "\n---\n".join(texts) or None


def printable(raw: bytes) -> str | None:
    """Text of bytes that are text in UTF-8 or UTF-16."""
    try:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            text = raw.decode("utf-16")
        elif len(raw) >= 8 and not any(raw[1:64:2]):
            text = raw.decode("utf-16-le")
        else:
            text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return text if text and all(char.isprintable() or char in "\r\n\t\ufeff\u200b" for char in text) else None


def unescaped(text: str) -> str:
    """Text with its numbered escapes (\\x41, \\u0041, \\101) replaced by what they stand for."""

    def character(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3] or match[4]
        code = int(digits, 16) if digits else int(match[5], 8)
        return chr(code) if code < 0x110000 else match[0]

    return _ESCAPE.sub(character, text)


def _json_text(text: str) -> str:
    """Text behind the quotes and backslashes of JSON; the text itself when it is no JSON."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return plain if isinstance(plain, str) else text


def decoded(text: str) -> Iterator[str]:
    """Texts behind one layer of encoding: of the whole text, or of pieces of it."""
    if len(text) < 12:
        return
    if "%" in text and _PERCENT.search(text):
        plain = urllib.parse.unquote(text)
        if plain != text:
            yield plain
    if "&" in text and _ENTITY.search(text):
        plain = html.unescape(text)
        if plain != text:
            yield plain
    if "\\" in text and _ESCAPE.search(text):
        yield unescaped(text)
    if text[:1] == text[-1:] == '"' and "\\" in text:
        plain = _json_text(text)
        if plain != text:
            yield plain
    whole = base64_text(text) if _WHOLE.fullmatch(text) else None
    if whole is not None:
        yield whole
    for pattern in (_PIECE, _WRAPPED) if "\n" in text else (_PIECE,):
        for match in pattern.finditer(text):
            piece = base64_text(match[0]) if match[0] != text else None
            if piece is not None:
                yield piece
    for match in _HEX.finditer(text):
        plain_hex = printable(bytes.fromhex(match[1]))
        if plain_hex is not None:
            yield plain_hex
    for match in _HEX_PAIRS.finditer(text):
        plain_hex = printable(bytes.fromhex(re.sub(r"[ :,-]", "", match[0])))
        if plain_hex is not None:
            yield plain_hex
