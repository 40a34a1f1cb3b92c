"""The list of suites, stored in a file, because building the suites needs JAX and takes seconds.

`python -m secant_bench.listing` writes the file; a test compares it with the suites.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["read_listing", "written_listing"]

_FILE = Path(__file__).with_name("listing.json")


def read_listing() -> list[dict[str, Any]]:
    """Name, version, number of entries and description of each suite, in the report's order."""
    found: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def written_listing() -> str:
    """The contents of the file."""
    from secant_bench.catalogue import listed

    found = [
        {"name": s.name, "version": s.version, "entries": len(s.pairs), "about": s.about}
        for s in listed()
    ]
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    _FILE.write_text(written_listing(), encoding="utf-8")
