"""What ``ararat doctor`` looks at, and what it finds: a running deployment, an application, the registry, a database.

Each module here looks at one of these and yields :class:`~.finding.Finding`. Nothing is changed by any of them.
"""
