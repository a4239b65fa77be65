"""A resolver for ARKs and URNs in front of any WSGI site, and the bindings it resolves by.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> bindings = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
>>> bindings.bind("ark:12345/x6np1", "https://example.org/map")
'bound'
>>> def site(environ, start_response):
...     start_response("200 OK", [("Content-Type", "text/plain")])
...     return [b"The site itself"]
>>> application = ResolverMiddleware(site, bindings, prefix="https://example.org")
>>> from werkzeug.test import Client
>>> answer = Client(application).get("/ark:/12345/x6-np1")
>>> answer.status, answer.location
('302 Found', 'https://example.org/map')
>>> Client(application).get("/anything/else").text
'The site itself'
>>> bindings.close(); folder.cleanup()
"""

from __future__ import annotations

from .access_log import log_resolutions
from .bindings.collection import Bindings, open_bindings
from .bindings.minting import mint
from .bindings.model import Binding
from .custom_scheme import OwnScheme
from .errors import BindingConflict, BindingError, BindingsUnavailable, ReadOnlyBindings
from .resolution.result import Resolution
from .tabular.importing import import_table
from .wsgi import ResolverMiddleware

__all__ = [
    "Binding",
    "BindingConflict",
    "BindingError",
    "Bindings",
    "BindingsUnavailable",
    "OwnScheme",
    "ReadOnlyBindings",
    "Resolution",
    "ResolverMiddleware",
    "import_table",
    "log_resolutions",
    "mint",
    "open_bindings",
]
