"""A ready WSGI application: the resolver and the inspector, configured by the variables of ``ararat serve``.

.. code-block:: sh

    export ARARAT_DATABASE=/srv/names/bindings.sqlite ARARAT_PREFIX=https://example.org
    gunicorn --workers 2 --threads 8 ararat.wsgi

It needs the extra ``app``. The import raises an exception that names a missing or wrong variable.
"""

from __future__ import annotations

from .cli.serving.environment import wsgi_application

application = wsgi_application()
