"""Following an identifier to where it leads, hop by hop, without being led anywhere one must not go.

``trace`` is the reference algorithm of the ARK draft (section 7.1.3) and does no I/O. A ``Fetch`` (``hop``) is handed
in: ``guard`` asks other hosts through a connection that is held to judged addresses and to deadlines, ``local``
answers for this site in process. ``events`` is what all of them tell; ``heartbeat`` lets somebody watch while a hop
waits and ``stages`` say for what, ``places`` how many may watch at once, ``pacing`` how often a host is asked, and
``reuse`` keeps what it said. ``rounds`` traces many identifiers, which take ``turns`` at their hosts.
"""
