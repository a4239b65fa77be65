"""The checks of ``ararat doctor``: a running deployment, an application, the registry, a database.
Each module checks one of these and yields :class:`~.finding.HealthFinding`. No check changes anything.
"""
