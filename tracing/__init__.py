"""Trace an identifier: send the requests of the ARK resolution algorithm, hop by hop, to its target. ``algorithm``
implements it without I/O (ARK draft, section 7.1.3) and yields ``events``. :mod:`ararat.net` sends the requests to
other hosts, and ``in_process`` those to this site. ``limits`` restricts concurrency and request rates, and caches
responses.
"""
