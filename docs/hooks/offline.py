"""A page loads nothing from elsewhere: no font, script, style or picture of another host."""

import re

_LOADED = re.compile(
    r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"[^>]*>'
)


def on_post_page(output: str, page: object, **_: object) -> str:
    """The page as it is; an error if it would need a network to be looked at."""
    if found := _LOADED.search(output):
        raise ValueError(f"{page} loads from elsewhere: {found[0]}")
    return output
