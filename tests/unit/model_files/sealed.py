"""Model files changed by hand, with valid checksums."""

import json

from secant.model_files.container import Contents, packed, unpacked


def changed(raw, change):
    """The bytes of a file after `change(header, tensors)`, with the right checksum."""
    contents = unpacked(raw)
    header, tensors = json.loads(json.dumps(contents.header)), dict(contents.tensors)
    change(header, tensors)
    return bytes(packed(Contents(header, tensors)))


def with_header(raw, text):
    """The bytes of a file with another safetensors header, and the right length of it."""
    length = int.from_bytes(raw[:8], "little")
    return len(text).to_bytes(8, "little") + text + raw[8 + length :]


def header_text(raw):
    """The safetensors header as it stands in the file."""
    return raw[8 : 8 + int.from_bytes(raw[:8], "little")]
