"""Extension of griffe: tags and citations in docstrings become links, as they do on pages."""

import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.append(str(Path(__file__).parent))
from build_docs import with_links


class DocstringLinks(griffe.Extension):
    """Link the docstrings of everything that the API pages show."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:  # noqa: ANN401, of griffe
        """Replace the text of a docstring before it is parsed."""
        if obj.docstring:
            obj.docstring.value = with_links(obj.docstring.value, "api/index.md")
