"""A ready ASGI application: the resolver without the inspector, configured by the variables of ``ararat serve``.

.. code-block:: sh

    export ARARAT_DATABASE=/srv/names/bindings.sqlite ARARAT_PREFIX=https://example.org
    uvicorn ararat.asgi:application

It needs the extra ``app``. The import raises an exception that names a missing or wrong variable.
"""

from __future__ import annotations

from .cli.serving.environment import asgi_application

application = asgi_application()
