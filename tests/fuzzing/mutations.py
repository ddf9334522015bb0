"""Files that were changed at random: values, bytes and members, with checksums that fit."""

import hashlib
import io
import json
import struct
import zipfile

_PREFIX = struct.Struct("<8sIQ")  # of a bundle: magic, version, length of the header
_VALUES = [
    None, -1, 0, 1, 2, 2.5, 1e308, 10**6, 2**63, -(2**63), 10**30, "", "x", "none", "\ud800", "\0", "../x", True, False,
    [], [1], ["a"], {}, {"a": 1}, [[1, 2], [3, 4]], "<i4", "|O", [0], [-1], [2**40],
]  # fmt: skip
_WORDS = [b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f" * 2, b"\0\0\xc0\x7f" * 2, b"\x01" + b"\0" * 7]


def mutated_bundle(content, draw):
    """A bundle with another header or other arrays; its checksum fits."""
    _, version, length = _PREFIX.unpack_from(content)
    header = json.loads(content[_PREFIX.size : _PREFIX.size + length])
    blocks = bytearray(content[_PREFIX.size + length : -32])
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        if draw.random() < 0.5:
            _mutate_value(header, draw)
        else:
            blocks = _mutated_bytes(blocks, draw)
    plain = json.dumps(header).encode()
    if draw.random() < 0.02:
        plain = _mutated_bytes(bytearray(plain), draw)
    whole = _PREFIX.pack(b"COALFACE", version, len(plain)) + plain + blocks
    return bytes(whole + hashlib.sha256(whole).digest())


def mutated_archive(members, draw):
    """An archive of these members (name -> bytes) with some of them changed; the checksums of the .zip file fit."""
    members = dict(members)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        name = draw.choice(sorted(members))
        if draw.random() < 0.04:
            del members[name]
        elif draw.random() < 0.04:
            members[draw.choice(["pool/../x.bin", "x", "/etc/x", "pool/x.bin", "pool/images/1.png"])] = b"1"
        else:
            members[name] = _mutated_member(name, members[name], draw)
        if not members:
            break
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    whole = packed.getvalue()
    return bytes(_mutated_bytes(bytearray(whole), draw)) if draw.random() < 0.1 else whole


def _mutated_member(name, content, draw):
    if name.endswith((".jsonl", ".json")) and draw.random() < 0.8:
        lines = content.splitlines()
        if lines:
            at = draw.randrange(len(lines))
            try:
                plain = json.loads(lines[at])
            except ValueError:  # changed before
                return content
            _mutate_value(plain, draw)
            chance = draw.random()
            lines[at : at + 1] = [] if chance < 0.05 else [json.dumps(plain).encode()] * (2 if chance < 0.1 else 1)
        return b"\n".join(lines) + b"\n"
    if name.endswith((".toml", ".txt", ".csv")) and draw.random() < 0.5:
        words = content.decode("utf-8", "replace").split(" ")
        words[draw.randrange(len(words))] = str(draw.choice(_VALUES)).encode("utf-8", "replace").decode()
        return " ".join(words).encode()
    return bytes(_mutated_bytes(bytearray(content), draw))


def _mutate_value(plain, draw):
    """Replace or remove one value somewhere in a JSON value."""
    path = draw.choice([path for path in _paths(plain) if path] or [()])
    if not path:
        return
    for step in path[:-1]:
        plain = plain[step]
    if draw.random() < 0.2:
        del plain[path[-1]]
    elif isinstance(plain, dict) and draw.random() < 0.1:
        plain[str(draw.choice(_VALUES))] = plain.pop(path[-1])
    else:
        plain[path[-1]] = draw.choice(_VALUES)


def _paths(plain, path=()):
    yield path
    parts = plain.items() if isinstance(plain, dict) else enumerate(plain[:20]) if isinstance(plain, list) else ()
    for step, part in parts:
        yield from _paths(part, (*path, step))


def _mutated_bytes(content, draw):
    chance = draw.random()
    if chance < 0.1 or not content:
        return content[: draw.randrange(len(content) + 1)]
    if chance < 0.2:
        return content + bytes(draw.randrange(64))
    for _ in range(draw.choice([1, 4, 16])):
        at = draw.randrange(len(content))
        word = draw.choice([bytes([draw.randrange(256)]), *_WORDS])[: len(content) - at]
        content[at : at + len(word)] = word
    return content
