"""Draw which part of secant imports which: docs/figures/imports.svg and docs/_generated/layers.md.

Layers come from the contract in pyproject.toml, imports and descriptions from the code.
"""

import ast
import re
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/figures/imports.svg"
TABLE = ROOT / "docs/_generated/layers.md"
WIDTH, ROW, BOX, HIGH = 760, 54, 130, 28

Layers = list[list[str]]
Edges = set[tuple[str, str]]


def layers() -> Layers:
    """The parts by layer, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [re.findall(r"\w+", line) for line in contract["layers"]]


def imports(parts: list[str]) -> Edges:
    """Who imports whom directly, downwards; `lint-imports` knows the one exception."""
    graph = grimp.build_graph("secant", exclude_type_checking_imports=True)
    for part in parts:
        graph.squash_module(f"secant.{part}")
    return {
        (a, b)
        for i, a in enumerate(parts)
        for b in parts[i + 1 :]
        if f"secant.{b}" in graph.find_modules_directly_imported_by(f"secant.{a}")
    }


def reduced(edges: Edges) -> Edges:
    """Without the imports that a chain of others implies: the same order with fewer lines."""
    below: dict[str, set[str]] = {}
    for a, b in edges:
        below.setdefault(a, set()).add(b)

    def reach(a: str) -> set[str]:
        return set().union(*({b} | reach(b) for b in below.get(a, ())))

    return {(a, b) for a, b in edges if not any(b in reach(c) for c in below[a] - {b})}


def drawn(rows: Layers, edges: Edges) -> str:
    """The picture as SVG: a row a layer, a line an import, always downwards."""
    place = {
        part: (WIDTH * (i + 1) / (len(row) + 1) + _shift(n, len(row)), ROW * (n + 0.5))
        for n, row in enumerate(rows)
        for i, part in enumerate(row)
    }
    lines = [_line(place[a], place[b]) for a, b in sorted(edges)]
    boxes = [_box(part, *xy) for part, xy in place.items()]
    size = f'viewBox="0 0 {WIDTH} {ROW * len(rows)}" width="{WIDTH}" height="{ROW * len(rows)}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="14">'
    )
    back = f'<rect width="{WIDTH}" height="{ROW * len(rows)}" fill="white"/>'
    return "\n".join([head, back, *lines, *boxes, "</svg>"]) + "\n"


def _shift(row: int, count: int) -> float:
    """Lone boxes step left and right, so that long lines do not run through them."""
    return (-190.0, 0.0, 190.0, 0.0)[row % 4] if count == 1 else 0.0


def _line(a: tuple[float, float], b: tuple[float, float]) -> str:
    (x, y), (u, v) = a, b
    y, v = y + HIGH / 2, v - HIGH / 2
    bend = f"M{x:.0f},{y:.0f} C{x:.0f},{y + ROW / 2:.0f} {u:.0f},{v - ROW / 2:.0f} {u:.0f},{v:.0f}"
    return f'<path d="{bend}" fill="none" stroke="#8c96c6" stroke-width="1.3"/>'


def _box(part: str, x: float, y: float) -> str:
    shape = f'x="{x - BOX / 2:.0f}" y="{y - HIGH / 2:.0f}" width="{BOX}" height="{HIGH}" rx="5"'
    text = f'<text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle" fill="#222">{part}</text>'
    return f'<rect {shape} fill="#edf0fa" stroke="#4051b5"/>{text}'


def tabulated(rows: Layers) -> str:
    """What each part is, by the first line of its docstring."""
    lines = [f"| `{part}` | {_about(part)} |" for row in rows for part in row]
    return "\n".join(["| part | what it is |", "|---|---|", *lines]) + "\n"


def _about(part: str) -> str:
    home = ROOT / "src/secant" / part
    path = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].replace("|", "\\|")


def outputs() -> dict[Path, str]:
    """The files with their contents."""
    rows = layers()
    edges = reduced(imports([part for row in rows for part in row]))
    return {PICTURE: drawn(rows, edges), TABLE: tabulated(rows)}


if __name__ == "__main__":
    for path, text in outputs().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
