"""Names of columns → an empty table in the one style that all have."""

from __future__ import annotations

from collections.abc import Collection

from rich.table import Table

from devmind.render.plain import safe


def new_table(*columns: str, left: Collection[str] = ()) -> Table:
    """Return a table whose first column, and those named in ``left``, hold text; the others hold numbers."""
    made = Table(box=None, pad_edge=False, header_style="bold dim", padding=(0, 2, 0, 0))
    for at, name in enumerate(columns):
        made.add_column(safe(name), justify="left" if at == 0 or name in left else "right")
    return made
