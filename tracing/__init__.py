"""Trace an identifier: send the requests of the ARK resolution algorithm, hop by hop, to its target.

``algorithm`` implements the ARK draft (section 7.1.3) without I/O and yields ``events``; ``messages`` has their texts.
:mod:`ararat.net` sends the requests to other hosts, restricted to allowed addresses and to deadlines, and
``in_process`` those to this site. The package ``limits`` restricts concurrency and request rates, and caches responses.
``keepalive`` and ``progress`` report that a trace still runs and what it waits for. ``bulk`` traces many identifiers,
and ``comparison`` compares two traces.
"""
