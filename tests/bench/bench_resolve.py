"""Measure redirects per second, compared with a constant redirect, for each kind of store and for arklet."""

from __future__ import annotations

import os
import subprocess
import sys
from urllib.parse import urlsplit

import psycopg

from ararat.middleware import open_bindings

FEWER = 100_000
"""The number of names in PostgreSQL and in the CSV file. A text file is for small collections."""

CONSTANT = """
def application(environ, start_response):
    start_response("302 Found", [("Location", "https://example.org/1"), ("Content-Length", "0")])
    return []
"""
# The cost of the database alone, with the header fields of our answers.
SELECT = """
import sqlite3, threading
HEADERS = [
    ("Content-Length", "0"),
    ("Content-Type", "text/plain; charset=utf-8"),
    ("Cache-Control", "max-age=300, stale-if-error=86400"),
    ("Link", '</ark:12345/x00000001?info>; rel="describedby"'),
    (
        "Link",
        '</ark:12345/x00000001>; rel="cite-as", '
        '</ark:12345/x00000001?info&format=jsonld>; rel="describedby"; type="application/ld+json", '
        '</ark:12345/x00000001?info&format=linkset>; rel="linkset"; type="application/linkset+json"',
    ),
    ("Vary", "No-Redirect"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "Link, Location"),
]
held = threading.local()
def application(environ, start_response):
    if not hasattr(held, "connection"):
        held.connection = sqlite3.connect({file!r}, isolation_level=None)
    found = held.connection.execute("SELECT target FROM bindings WHERE key = ?", (environ["PATH_INFO"][1:],))
    start_response("302 Found", [("Location", found.fetchone()[0]), *HEADERS])
    return []
"""
RESOLVER = """
from ararat.middleware import ResolverMiddleware, open_bindings
from werkzeug.exceptions import NotFound
application = ResolverMiddleware(NotFound(), open_bindings({database!r}, create=True))
"""
# With its default settings, and with one more line that keeps connections open.
ARKLET = """
from arklet.entrypoints import settings
{more}
from arklet.entrypoints.wsgi import application
"""
KEPT = 'settings.DATABASES["default"]["CONN_MAX_AGE"] = None'


def bench_resolve_sqlite(load, filled, name, most):
    # Use random names. A name that is requested often is faster, because its pages are in memory.
    sizes = [size for size in (10_000, 1_000_000, 10_000_000) if size <= most]
    sources, among = {"a constant 302": CONSTANT}, {"a constant 302": most}
    for size in sizes:
        alone, ours = f"a SELECT only, {size:,} names", f"Ararat, SQLite, {size:,} names"
        sources[alone] = SELECT.format(file=filled(size).removeprefix("sqlite:///"))
        sources[ours] = RESOLVER.format(database=filled(size))
        among |= {alone: size, ours: size}
    for worker, threads in (("gthread, 4 threads", 4), ("sync, a connection for each request", 1)):
        load(
            f"Redirects under gunicorn, {worker}, SQLite",
            sources,
            "a constant 302",
            status="302",
            path=f"/{name}",
            most=among,
            threads=threads,
            budget="0.6 of a constant 302; 0.85 is the goal",
        )


def bench_resolve_beside_arklet(load, cluster, tmp_path, name):
    ours, theirs = cluster.new_database(), cluster.new_database()
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\n" + "".join(f"{name % n},https://example.org/{n}\n" for n in range(FEWER)))
    fill_postgresql(ours)
    environ = arklet_environ(theirs)
    fill_arklet(theirs, environ)
    sources = {
        "a constant 302": CONSTANT,
        "Ararat, PostgreSQL": RESOLVER.format(database=ours),
        "Ararat, a CSV file": RESOLVER.format(database=str(table)),
        "arklet, PostgreSQL, its settings": ARKLET.format(more=""),
        "arklet, PostgreSQL, connections kept": ARKLET.format(more=KEPT),
    }
    load(
        f"Redirects under gunicorn, {FEWER:,} names",
        sources,
        "arklet, PostgreSQL, connections kept",
        status="302",
        path=f"/{name}",
        most=dict.fromkeys(sources, FEWER),
        environ=environ,
        database=cluster,
    )


def fill_postgresql(url):
    """Insert names like those of ``filled``."""
    with open_bindings(url, create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/x")
    with psycopg.connect(url) as connection:
        columns = connection.execute("SELECT * FROM bindings LIMIT 0").description or []
        made = {"key": "'ark:12345/x' || lpad(n::text, 8, '0')", "target": "'https://example.org/' || n"}
        taken = ", ".join(made.get(column.name, column.name) for column in columns)
        connection.execute(
            f"INSERT INTO bindings SELECT {taken} FROM bindings, generate_series(0, {FEWER - 1}) AS n"  # noqa: S608
            " WHERE key = 'ark:12345/x'"
        )
        connection.execute("ANALYZE bindings")


def arklet_environ(url):
    place = urlsplit(url)
    return {
        "ARKLET_POSTGRES_NAME": place.path[1:],
        "ARKLET_POSTGRES_PORT": str(place.port),
        "ARKLET_POSTGRES_USER": place.username or "",
        "DJANGO_SETTINGS_MODULE": "arklet.entrypoints.settings",
    }


def fill_arklet(url, environ):
    """Insert the same names and targets into the tables that the migrations of arklet create."""
    command = [sys.executable, "-m", "django", "migrate", "--verbosity", "0"]
    subprocess.run(command, env=os.environ | environ, check=True, timeout=120)
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO ark_naan (naan, name, description, url) VALUES (12345, 'a', 'b', 'https://a.example')"
        )
        connection.execute(
            "INSERT INTO ark_ark (ark, naan_id, shoulder, assigned_name, url, metadata, commitment)"
            " SELECT '12345/x' || lpad(n::text, 8, '0'), 12345, '/x', lpad(n::text, 8, '0'),"
            " 'https://example.org/' || n, '', '' FROM generate_series(0, %s) AS n",
            (FEWER - 1,),
        )
        connection.execute("ANALYZE ark_ark")
