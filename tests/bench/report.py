"""What a run of the benchmarks has measured, as text, Markdown, JSON and plots.

Ratios are what can be compared between two runs; the figures beside them are of one machine on one day.

    python tests/bench/report.py            the sentences of the README, from the last run of `make bench`

A run says which of its ratios are not those of the run before, if there was one.
"""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parents[2] / "bench-results"
PEERS = ("arklet", "can-ada", "django", "gunicorn", "idutils", "psycopg", "rfc3986", "sqlalchemy", "uritools")
PEERS += ("urnparse", "werkzeug", "whitenoise", "yarl")


class Table(NamedTuple):
    """One benchmark: a cell for each row and column, and how the first column compares with that of the row ``beside``.

    A cell is what was measured in each turn, in the order of the turns; what is shown of it is the median. ``more``
    says whether more is better, so that a ratio above 1 is always the better one.
    """

    title: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Sequence[float]]]
    beside: str
    more: bool = False
    budget: str = ""

    def ratio(self, row: str) -> float:
        """How many times as good as the row beside which it stands: the median of what it was in each turn.

        The two of a turn were measured one right after the other. What the machine does for others lasts longer than
        that, and is in both; between two figures of different minutes it would be the greater part of the difference.
        """
        pairs = zip(self.rows[row][0], self.rows[self.beside][0], strict=True)
        return median(
            (ours / theirs if self.more else theirs / ours) if ours and theirs else 0.0 for ours, theirs in pairs
        )

    def lines(self) -> list[list[str]]:
        """The cells as text, the heads first."""
        heads = ["", *self.columns, f"ratio to {self.beside}"]
        shown = {row: [figure(median(cell)) for cell in cells] for row, cells in self.rows.items()}
        return [heads, *([row, *cells, f"{self.ratio(row):.2f}"] for row, cells in shown.items())]

    def as_text(self) -> str:
        """The table for a terminal."""
        lines = self.lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        body = [
            "  ".join(cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in enumerate(row))
            for row in ([*zip(line, widths, strict=True)] for line in lines)
        ]
        budget = [f"  budget: {self.budget}"] if self.budget else []
        return "\n".join(["", self.title, *(f"  {line}" for line in body), *budget])

    def as_markdown(self) -> str:
        """The table for a page."""
        heads, *lines = self.lines()
        rule = ["---", *("--:" for _ in heads[1:])]
        rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (heads, rule, *lines)]
        budget = ["", f"Budget: {self.budget}."] if self.budget else []
        return "\n".join([f"## {self.title}", "", *rows, *budget, ""])


def figure(number: float) -> str:
    """A number with three digits that mean something."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 260" role="img" font-family="sans-serif" font-size="11">
<title>%s</title>
<style>
svg { color: #1f2328; background: #fff }
text { fill: currentColor }
@media (prefers-color-scheme: dark) { svg { color: #e6edf3; background: #0d1117 } }
</style>
<text x="%d" y="18" font-size="13">%s</text>"""


class Plot(NamedTuple):
    """How something grows: a line for each series of points, on axes that begin at 0, or in tenfold steps."""

    title: str
    across: str
    up: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    tenfold: bool = False

    def as_svg(self) -> str:
        """A picture of 500 by 260 units that takes its colours from the reader's choice of light or dark."""
        left, right, top, bottom = 62, 462, 34, 212
        points = [point for line in self.series.values() for point in line]
        most_up = max(up for _, up in points) * 1.1 or 1
        places = sorted({x for x, _ in points})
        least, most = places[0], places[-1]

        def at(x: float, y: float) -> tuple[float, float]:
            share = places.index(x) / max(1, len(places) - 1) if self.tenfold else (x - least) / ((most - least) or 1)
            return round(left + share * (right - left), 1), round(bottom - y / most_up * (bottom - top), 1)

        parts = [
            _HEAD % (escape(self.title), left, escape(self.title)),
            f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="currentColor"/>',
            f'<text x="{(left + right) / 2}" y="250" text-anchor="middle">{escape(self.across)}</text>',
            f'<text transform="translate(14 123) rotate(-90)" text-anchor="middle">{escape(self.up)}</text>',
        ]
        for share in (0, 0.5, 1):
            y = bottom - share * (bottom - top)
            parts.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{figure(share * most_up)}</text>')
        parts += [
            f'<text x="{at(x, 0)[0]}" y="{bottom + 16}" text-anchor="middle">{x:,.0f}</text>' for x in places[-7:]
        ]
        for number, (name, line) in enumerate(self.series.items()):
            dash = "" if not number else f' stroke-dasharray="{2 + 4 * number}"'
            drawn = " ".join("{},{}".format(*at(*point)) for point in line)
            parts.append(f'<polyline points="{drawn}" fill="none" stroke="#2f81f7" stroke-width="2"{dash}/>')
            x, y = at(*line[-1])
            parts.append(f'<text x="{x}" y="{y - 6}" text-anchor="end">{escape(name)}</text>')
        return "\n".join([*parts, "</svg>", ""])


class Results:
    """All tables and plots of a run."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.plots: dict[str, Plot] = {}

    def write(self, folder: Path) -> list[str]:
        """Write speed.md, speed.json and one SVG a plot; what is to be said of the run that was there before."""
        folder.mkdir(exist_ok=True)
        about = machine()
        before = folder / "speed.json"
        earlier = json.loads(before.read_text("utf-8"))["tables"] if before.exists() else []
        told = [f"- {name}: {value}" for name, value in about.items()]
        pictures = [f"![{plot.title}]({name}.svg)" for name, plot in self.plots.items()]
        body = [table.as_markdown() for table in self.tables]
        tables = [
            table._asdict() | {"ratios": {row: round(table.ratio(row), 3) for row in table.rows}}
            for table in self.tables
        ]
        compared = differences(earlier, tables)
        if compared:
            told += ["", "Beside the run before:", *(f"- {line}" for line in compared)]
        (folder / "speed.md").write_text("\n".join(["# Measured", "", *told, "", *body, *pictures, ""]), "utf-8")
        whole: dict[str, Any] = {"about": about, "tables": tables}
        whole["plots"] = {name: plot._asdict() for name, plot in self.plots.items()}
        (folder / "speed.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")
        for name, plot in self.plots.items():
            (folder / f"{name}.svg").write_text(plot.as_svg(), "utf-8")
        return compared


def differences(earlier: Sequence[Mapping[str, Any]], later: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many ratios of two runs are within a tenth of each other, and those that are not; nothing where none can be
    compared.
    """
    before, after = (
        {
            (table["title"], row): ratio
            for table in run
            for row, ratio in table["ratios"].items()
            if row != table["beside"]
        }
        for run in (earlier, later)
    )
    both = {place: (before[place], ratio) for place, ratio in after.items() if place in before}
    apart = {place: pair for place, pair in both.items() if not 0.9 * pair[0] <= pair[1] <= pair[0] / 0.9}
    if not both:
        return []
    told = [f"{title}, {row}: {was:.2f}, and now {now:.2f}" for (title, row), (was, now) in apart.items()]
    return [f"{len(both) - len(apart)} of {len(both)} ratios are within a tenth of what they were", *told]


def machine() -> dict[str, str]:
    """What the figures are of."""
    cpu = Path("/proc/cpuinfo")
    models = [line.partition(":")[2].strip() for line in cpu.read_text().splitlines() if line.startswith("model name")]
    found = {"processors": f"{len(models)} x {models[0]}" if models else platform.machine()}
    found["python"] = f"{platform.python_implementation()} {platform.python_version()}"
    found |= {"system": f"{platform.system()} {platform.release()}", "sqlite": sqlite3.sqlite_version}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def quoted(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ratios of our own rows, one line a table."""
    told = []
    for table in tables:
        ours = {row: ratio for row, ratio in table["ratios"].items() if "Ararat" in row}
        if ours:
            said = ", ".join(f"{row} {ratio:.2f}" for row, ratio in ours.items())
            told.append(f"- {table['title']}, of {table['beside']}: {said}")
    return told


if __name__ == "__main__":
    results = FOLDER / "speed.json"
    if not results.exists():
        sys.exit(f"{results} is not there: run make bench")
    print(*quoted(json.loads(results.read_text("utf-8"))["tables"]), sep="\n")
