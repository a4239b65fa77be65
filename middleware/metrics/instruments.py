"""The metrics of this process, in the default registry of ``prometheus_client``, with those of a site that uses it. If
the variable PROMETHEUS_MULTIPROC_DIR names a folder, the processes share their numbers there. Source: `Prometheus
<https://prometheus.io/docs/practices/naming/>`_.

Labels have few values, which no client can extend. The label ``prefix`` is a recorded NAAN or shoulder, or a NAAN of
the setting ``naans``. Otherwise it is the NAAN or URN namespace of a bound name, or :data:`OTHER`.
"""

from __future__ import annotations

import platform
from contextlib import suppress
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from ... import __version__
from ...bindings.collection import Bindings
from ...bindings.names.errors import BindingsUnavailable
from ...identifiers.ark.grammar import naan_of
from ..resolution.source import source_of

if TYPE_CHECKING:
    from ...bindings.digest import Recent
    from ..resolution.result import Resolution
    from ..resolution.settings import Settings
    from ..resolution.source import BindingSource

OTHER = "other"
"""The label ``prefix`` of all other identifiers and texts."""

MAX_SERIES = 2000
"""The maximum number of pairs of outcome and prefix in one process. Later prefixes are counted as :data:`OTHER`."""

# A redirect takes about 20 microseconds. A database that does not answer is given up after some seconds.
_BUCKETS = (5e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)

_RESOLUTIONS = Counter("ararat_resolutions", "Requests for identifiers, by outcome.", ["outcome", "prefix"])
_REFUSALS = Counter("ararat_refusals", "Refused requests for identifiers, by problem code.", ["code"])
_SECONDS = Histogram("ararat_resolution_seconds", "Time from a request to its answer in seconds.", buckets=_BUCKETS)
_STORE_ERRORS = Counter("ararat_store_errors", "Requests that could not read the bindings.")
_TRACES = Counter("ararat_traces", "Finished traces of the inspector, by outcome.", ["outcome"])
# A large number of names is an estimate, which can decrease.
_NAMES = Gauge("ararat_names", "Recorded names.", multiprocess_mode="mostrecent")
_PROBLEMS = Gauge(
    "ararat_problem",
    "1 if a person must act, by subject, as in ararat digest.",
    ["subject"],
    multiprocess_mode="mostrecent",
)
_FACTS = Gauge(
    "ararat_fact",
    "Hours since the last backup, free bytes of the disk, or a number of things, by subject, as in ararat digest.",
    ["subject"],
    multiprocess_mode="mostrecent",
)
# Each process writes the same value, so the maximum is the value.
_BUILD = Gauge("ararat_build_info", "Version of Ararat and Python.", ["version", "python"], multiprocess_mode="max")


class Metrics:
    """The Prometheus metrics of one resolver. They are labelled with the NAANs and shoulders of ``bindings``, whose
    names are counted.
    """

    def __init__(self, settings: Settings, bindings: Bindings | BindingSource) -> None:
        self._bindings = bindings
        self._facts: Recent | None = None
        self._records = source_of(bindings).prefix_records
        self._naans = frozenset(f"ark:{naan}/" for naan in settings.naans or ())
        # labels() takes longer than a lookup here.
        self._resolutions: dict[tuple[str, str], Counter] = {}
        _BUILD.labels(__version__, platform.python_version()).set(1)

    def observe(self, resolution: Resolution, method: str | None, status: int, seconds: float) -> None:
        """Count one resolution in the metrics, with its duration in seconds."""
        where = (resolution.outcome, self._prefix(resolution))
        (self._resolutions.get(where) or self._counter(*where)).inc()
        if resolution.problem is not None:
            _REFUSALS.labels(resolution.problem.code).inc()
        _SECONDS.observe(seconds)

    def store_failed(self) -> None:
        """Count one request in the metrics for which the bindings could not be read."""
        _STORE_ERRORS.inc()

    def count_names(self) -> None:
        """Update the number of recorded names in the metrics. It is NaN if they cannot be counted."""
        number = float("nan")
        if isinstance(self._bindings, Bindings):
            with suppress(BindingsUnavailable):
                number = self._bindings.count().number
        _NAMES.set(number)

    def update(self) -> None:
        """Update the metrics that are read from the bindings: the number of names, and the facts of the digest."""
        self.count_names()
        if not isinstance(self._bindings, Bindings):
            return
        if self._facts is None:
            # SQLAlchemy takes long to load.
            from ...bindings.digest import Recent

            self._facts = Recent(self._bindings)
        for fact in self._facts.facts():
            _PROBLEMS.labels(fact.code).set(fact.problem)
            _FACTS.labels(fact.code).set(float("nan") if fact.number is None else fact.number)

    def trace_ended(self, outcome: str) -> None:
        """Count one trace in the metrics. ``outcome`` is the outcome of the trace, such as "success"."""
        _TRACES.labels(outcome).inc()

    def _counter(self, outcome: str, prefix: str) -> Counter:
        if len(self._resolutions) >= MAX_SERIES:
            return _RESOLUTIONS.labels(outcome, OTHER)
        counter = self._resolutions[outcome, prefix] = _RESOLUTIONS.labels(outcome, prefix)
        return counter

    def _prefix(self, resolution: Resolution) -> str:
        record, key = resolution.record, resolution.key
        if record is None:
            if key is None:
                return OTHER
            try:
                record = next(self._records().records_of(key), None)
            except BindingsUnavailable:
                # Names can be read without the records.
                record = None
        if record is not None:
            return record.prefix
        prefix = _naan_or_namespace(key or "")
        return prefix if resolution.binding is not None or prefix in self._naans else OTHER


def _naan_or_namespace(key: str) -> str:
    """Return the NAAN of an ARK or the namespace of a URN, such as "ark:12345/" or "urn:isbn:"."""
    return f"ark:{naan_of(key)}/" if key.startswith("ark:") else f"urn:{key[4:].partition(':')[0]}:"
