"""The limits of uploaded tables. ``ararat import`` has none of them."""

from __future__ import annotations

from ..management.bulk import MAX_NAMES

MAX_BYTES = 10 * 2**20
"""The maximum size of a file in bytes. `ararat serve` reads no request of more than 16 MiB."""

MAX_ROWS = MAX_NAMES
"""The maximum number of rows. Each import can be undone in the desk, which has this maximum of names."""

MAX_COLUMNS = 200
"""The maximum number of columns."""

MAX_UPLOADS = 50
"""The maximum number of uploads of one account."""
