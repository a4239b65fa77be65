"""Run an OpenID provider on loopback: Django with django-oauth-toolkit. It implements the protocol independently.

    python openid_provider.py PORT REDIRECT_URI

It prints "ready" when it listens. Its user is "jane" with the password "correct horse battery".
"""

from __future__ import annotations

import sys
from typing import Any
from wsgiref.simple_server import make_server

CLIENT, SECRET, USER, PASSWORD = "ararat", "the secret of the client", "jane", "correct horse battery"
_FORM = '<form method="post">{% csrf_token %}{{ form }}<button>Sign in</button></form>'

urlpatterns: list[object] = []


def main(port: int, redirect_uri: str) -> None:
    """Serve until the process is ended."""
    import django
    from django.conf import settings
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application
    from django.urls import include, path
    from joserfc.jwk import RSAKey

    key = RSAKey.generate_key(2048, private=True).as_pem(private=True).decode()
    loaders = [("django.template.loaders.locmem.Loader", {"registration/login.html": _FORM})]
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1"],
        SECRET_KEY="only for tests",
        ROOT_URLCONF=__name__,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        # Create the tables at once, because 40 migrations take longer than the tests.
        MIGRATION_MODULES=dict.fromkeys(("auth", "contenttypes", "sessions", "oauth2_provider")),
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            *("django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"),
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {"loaders": loaders}},
        ],
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": f"http://127.0.0.1:{port}/o",
            "OIDC_RSA_PRIVATE_KEY": key,
            "PKCE_REQUIRED": True,
            "SCOPES": {"openid": "OpenID"},
        },
    )
    django.setup()
    from django.contrib.auth.models import User
    from django.contrib.auth.views import LoginView
    from oauth2_provider.models import Application

    call_command("migrate", run_syncdb=True, verbosity=0)
    User.objects.create_user(USER, password=PASSWORD)
    Application.objects.create(
        client_id=CLIENT,
        client_secret=SECRET,
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris=redirect_uri,
        algorithm="RS256",
        skip_authorization=True,
    )
    urlpatterns.extend([path("accounts/login/", LoginView.as_view()), path("o/", include("oauth2_provider.urls"))])
    application: Any = get_wsgi_application()
    with make_server("127.0.0.1", port, application) as server:
        print("ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
