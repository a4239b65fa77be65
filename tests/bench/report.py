"""The results of a benchmark run as text, Markdown, JSON and plots.

Compare the ratios of two runs. The absolute numbers depend on the machine and the day.

    python tests/bench/report.py [RUN...]   print the minimum and maximum of each ratio, for these folders of
                                            bench-results/ or for all
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "bench-results"
PEERS = ("arklet", "can-ada", "django", "gunicorn", "idutils", "psycopg", "rfc3986", "sqlalchemy", "uritools")
PEERS += ("urnparse", "werkzeug", "whitenoise", "yarl")
HOW_TO_READ = """\
A figure is the median of its turns. "Times as good as X" is the median of the ratios that each turn had: above 1 is
better than X, below 1 worse, whether more is better (requests a second) or less (time)."""

Ratios = Mapping[tuple[str, str], float]
"""By title of a table and name of a row."""


class Table(NamedTuple):
    """One benchmark: a cell for each row and column, and the comparison of the first column with the row ``beside``.

    A cell contains the measurement of each turn; its median is shown. Set ``more`` if more is better, so that a ratio
    above 1 is always better. If ``beside`` is "", nothing is compared. ``paired`` contains the measurements of
    ``beside`` next to each turn of a row.
    """

    title: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Sequence[float]]]
    beside: str = ""
    more: bool = False
    budget: str = ""
    paired: Mapping[str, Sequence[float]] = MappingProxyType({})

    def ratios(self) -> dict[str, float]:
        """Return how many times as good each row is as ``beside``: the median over all turns.

        Other load lasts longer than a turn, so it affects both terms of a ratio. It would dominate the difference of
        two medians.
        """
        return {row: self._ratio(row) for row in self.rows if row != self.beside} if self.beside else {}

    def _ratio(self, row: str) -> float:
        pairs = zip(self.rows[row][0], self.paired.get(row, self.rows[self.beside][0]), strict=True)
        quotients = (
            (ours / theirs if self.more else theirs / ours) if ours and theirs else 0.0 for ours, theirs in pairs
        )
        return median(quotients)

    def lines(self) -> list[list[str]]:
        """Return the cells as text, the header first."""
        ratios = self.ratios()
        lines = [["", *self.columns, *([f"times as good as {self.beside}"] if ratios else [])]]
        for row, cells in self.rows.items():
            compared = [f"{ratios[row]:.2f}" if row in ratios else ""] if ratios else []
            lines.append([row, *(figure(median(cell)) for cell in cells), *compared])
        return lines

    def as_text(self) -> str:
        """Return the table for a terminal."""
        lines = self.lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        body = [
            "  ".join(cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in enumerate(row))
            for row in ([*zip(line, widths, strict=True)] for line in lines)
        ]
        budget = [f"  budget: {self.budget}"] if self.budget else []
        return "\n".join(["", self.title, *(f"  {line}" for line in body), *budget])

    def as_markdown(self) -> str:
        """Return the table for a page."""
        heads, *lines = self.lines()
        rule = ["---", *("--:" for _ in heads[1:])]
        rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (heads, rule, *lines)]
        budget = ["", f"Budget: {self.budget}."] if self.budget else []
        return "\n".join([f"## {self.title}", "", *rows, *budget, ""])


def figure(number: float) -> str:
    """Format a number with three significant digits."""
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
    """A growth curve: a line for each series of points, on linear axes from 0 or on logarithmic axes."""

    title: str
    across: str
    up: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    tenfold: bool = False

    def as_svg(self) -> str:
        """Return an SVG of 500 by 260 units. Its colours follow the light or dark mode of the reader."""
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
    """All tables and plots of a run, in a folder named after its time."""

    def __init__(self) -> None:
        self.folder = FOLDER / time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime())
        self.tables: list[Table] = []
        self.plots: dict[str, Plot] = {}
        self._about: dict[str, str] = {}

    def write(self) -> None:
        """Write the results so far: speed.md, speed.json and one SVG per plot."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._about = self._about or machine()
        told = [f"- {name}: {value}" for name, value in self._about.items()]
        told += ["", HOW_TO_READ, "", *(f"- {line}" for line in self.differences())]
        pictures = [f"![{plot.title}]({name}.svg)" for name, plot in self.plots.items()]
        body = [table.as_markdown() for table in self.tables]
        whole = "\n".join(["# Measured", "", *told, "", *body, *pictures, ""])
        (self.folder / "speed.md").write_text(whole, "utf-8")
        tables = [table._asdict() | {"paired": dict(table.paired), "ratios": table.ratios()} for table in self.tables]
        plots = {name: plot._asdict() for name, plot in self.plots.items()}
        record = {"about": self._about, "tables": tables, "plots": plots}
        (self.folder / "speed.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
        for name, plot in self.plots.items():
            (self.folder / f"{name}.svg").write_text(plot.as_svg(), "utf-8")

    def differences(self) -> list[str]:
        """Count the ratios that changed by at most a tenth since the previous run, and list the others."""
        before: dict[tuple[str, str], float] = {}
        for folder in runs():
            if folder != self.folder:
                before |= ratios_of(folder)
        now = {(table.title, row): ratio for table in self.tables for row, ratio in table.ratios().items()}
        both = {place: (before[place], ratio) for place, ratio in now.items() if place in before}
        apart = {place: pair for place, pair in both.items() if not 0.9 * pair[0] <= pair[1] <= pair[0] / 0.9}
        if not both:
            return []
        told = [f"{title}, {row}: {was:.2f}, now {is_now:.2f}" for (title, row), (was, is_now) in apart.items()]
        return [
            f"{len(both) - len(apart)} of {len(both)} ratios changed by at most a tenth since the previous run",
            *told,
        ]


def runs() -> list[Path]:
    """Return the folders of all runs, the oldest first."""
    return sorted(record.parent for record in FOLDER.glob("*/speed.json"))


def ratios_of(run: Path) -> Ratios:
    """Return the ratios of a run."""
    tables = json.loads((run / "speed.json").read_text("utf-8"))["tables"]
    return {(table["title"], row): ratio for table in tables for row, ratio in table["ratios"].items()}


def machine() -> dict[str, str]:
    """Describe the machine of the measurements."""
    cpu = Path("/proc/cpuinfo")
    models = [line.partition(":")[2].strip() for line in cpu.read_text().splitlines() if line.startswith("model name")]
    found = {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}
    found |= {name: value for name, value in os.environ.items() if name.startswith("ARARAT_BENCH")}
    found["ararat"] = _said("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--tags")
    found["processors"] = f"{len(models)} x {models[0]}" if models else platform.machine()
    found["memory"] = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    found["python"] = f"{platform.python_implementation()} {platform.python_version()}"
    found |= {"system": f"{platform.system()} {platform.release()}", "sqlite": sqlite3.sqlite_version}
    if shutil.which("wrk"):
        found["wrk"] = _said("wrk", "-v").partition(" [")[0].removeprefix("wrk ")
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except OSError:
        return "unknown"
    return done.stdout.strip().partition("\n")[0] or "unknown"


def ranges(several: Iterable[Path]) -> list[str]:
    """Return one line for each ratio of these runs, with minimum and maximum if they differ."""
    seen: dict[tuple[str, str], list[float]] = {}
    for run in several:
        for place, ratio in ratios_of(run).items():
            seen.setdefault(place, []).append(ratio)
    return [
        f"{title}, {row}: {min(found):.2f} to {max(found):.2f}, {len(found)} runs"
        if len(found) > 1
        else f"{title}, {row}: {found[0]:.2f}, one run"
        for (title, row), found in seen.items()
    ]


if __name__ == "__main__":
    chosen = [Path(name) for name in sys.argv[1:]] or runs()
    if not chosen:
        sys.exit(f"{FOLDER} is empty: run make bench")
    print(*ranges(chosen), sep="\n")
