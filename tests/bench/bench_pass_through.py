"""Measure the cost of the resolver for requests to the site, compared with other middleware that checks every path."""

from __future__ import annotations

from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.test import EnvironBuilder
from whitenoise import WhiteNoise

from ararat.middleware import ResolverMiddleware, open_bindings


def site(environ, start_response):
    return [b"the site"]


def bench_pass_through(race, tell, filled):
    forwarded = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
    environ = EnvironBuilder("/some/page", headers=forwarded).get_environ()
    bindings = open_bindings(filled(10_000), create=True)
    through = {
        "bare": site,
        "Ararat": ResolverMiddleware(site, bindings),
        "DispatcherMiddleware": DispatcherMiddleware(site, {"/other": site}),
        "WhiteNoise": WhiteNoise(site),
        "ProxyFix": ProxyFix(site),
    }
    assert all(application(environ, None) == [b"the site"] for application in through.values())
    turns = race(
        "A request that is not for the resolver",
        {name: (lambda application=application: application(environ, None)) for name, application in through.items()},
        beside="bare",
        rounds=200,
    )
    bare = turns.pop("bare")
    tell(
        "Additional time of a request that is not for the resolver",
        ["ns"],
        {name: [[taken - alone for taken, alone in zip(each, bare, strict=True)]] for name, each in turns.items()},
        "WhiteNoise",
        budget="under 300 ns, and under WhiteNoise's and DispatcherMiddleware's",
    )
    bindings.close()


SITE = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "8")])
    return [b"the site"]
"""
AROUND = {
    "bare": "",
    "Ararat": "from ararat.middleware import ResolverMiddleware, open_bindings\n"
    "application = ResolverMiddleware(application, open_bindings({database!r}, create=True))",
    "DispatcherMiddleware": "from werkzeug.middleware.dispatcher import DispatcherMiddleware\n"
    "application = DispatcherMiddleware(application, {{'/other': application}})",
    "WhiteNoise": "from whitenoise import WhiteNoise\napplication = WhiteNoise(application)",
    "ProxyFix": "from werkzeug.middleware.proxy_fix import ProxyFix\napplication = ProxyFix(application)",
}


def bench_pass_through_served(load, filled):
    sources = {name: SITE + around.format(database=filled(10_000)) for name, around in AROUND.items()}
    load("Requests that are not for the resolver, under gunicorn", sources, "bare", path="/some/page")
