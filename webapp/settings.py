"""The settings of an inspector, checked when it is created. Each is declared once, in :class:`InspectorSettings`.
The docstring of :func:`~ararat.webapp.create_app`, the options of ``ararat serve`` and docs/settings.md come from there
(:mod:`~ararat.middleware.resolution.declared_settings`). A view reads a setting from ``site().settings``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from ..bindings.names import origins
from ..bindings.names.branding.model import NO_BRANDING, Branding, check
from ..bindings.names.errors import BindingError
from ..identifiers import iri_policy
from ..identifiers.text.translatable import Translatable
from ..middleware.http.trusted_proxy import SECRET_FIELD, ProxySecret, RemoteUser
from ..middleware.resolution.declared_settings import setting
from ..middleware.resolution.settings import ENGLISH
from ..net import uri
from ..net.allowed_addresses import Destinations, parse_networks

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from ..identifiers.iri_policy import Profile
    from ..tracing.events import End
    from .accounts.openid import OpenID
    from .accounts.provider_tokens import ProviderTokens

MIN_SESSION_IDLE = 5
"""The minimum of the time in minutes after which a session that is not used ends. The time of the last use is accurate
to a minute."""

RESOURCE_LABEL = Translatable("Inventory number")
"""The label of the resource of a name in the desk, unless a setting says otherwise."""

MAX_LABEL = 40
"""The maximum number of characters of that label."""


@dataclass(frozen=True, slots=True)
class Example:
    """An example on the home page: the ``title`` of a link, and the ``text`` that the link inspects."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Resolver:
    """A resolver that users can select for a trace: its ``title``, and its ``prefix``, such as ``https://n2t.net``."""

    title: str
    prefix: str

    @classmethod
    def of(cls, given: str | Resolver) -> Resolver:
        """Return a resolver with a normalized prefix; a text is a prefix titled by its host. Raises BindingError."""
        if isinstance(given, str):
            prefix = origins.check_prefix(given)
            return cls(uri.parse(prefix).host, prefix)
        return cls(given.title, origins.check_prefix(given.prefix))


EXAMPLES = (
    Example(Translatable("a Gallica page"), "https://gallica.bnf.fr/ark:/12148/btv1b8449691v/f29.item"),
    Example(Translatable("a FamilySearch record"), "https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ?lang=de"),
    Example(Translatable("an ISBN"), "urn:isbn:9783161484100"),
    Example(
        Translatable("a list"),
        "Compare ark:/12345/x6-np1.svg with ark:12345/x6np1.svg, read urn:isbn:9783161484101, see "
        "https://n2t.net/ark:/12148/btv1b8449691v and ark:12345/a\u202eb.pdf.",
    ),
)
"""The examples on the home page: links and numbers as people have them."""

DEMO_EXAMPLES = (
    Example(Translatable("a name of the demo site"), "ark:/12345/x8-rd4"),
    *EXAMPLES[:3],
    Example(
        Translatable("a list"),
        "Compare ark:/12345/mp-39n.svg with ark:12345/mp39n.svg, read urn:example:ararat:guide, see "
        "https://n2t.net/ark:/12148/btv1b8449691v and ark:12345/a\u202eb.pdf.",
    ),
)
"""The examples on the home page of the demo."""


class InspectorArguments(TypedDict, total=False):
    """The keyword arguments of :class:`InspectorSettings` with their types, for editors and type checkers."""

    prefix: str | None
    inspector: str | None
    local: Mapping[str, WSGIApplication]
    threads: int | None
    body_space: int | None
    trace_elsewhere: bool
    trusted_hosts: Sequence[str] | None
    networks: Sequence[str]
    denied_networks: Sequence[str]
    traces: int | None
    traces_each: int
    host_rate: int
    host_rate_each: int
    examples: Sequence[Example]
    policies: Sequence[str | Profile]
    resolvers: Sequence[str | Resolver]
    remote_user: str | None
    remote_user_secret: str | None
    remote_user_secret_field: str
    openid: OpenID | None
    token_audience: str | None
    token_issuers: Sequence[str]
    session_idle: int
    resource_label: str
    ezid: str | None
    ezid_passthrough: str
    on_trace: Callable[[End], object] | None
    statistics: str | None
    institution: str | None
    logo: str | None
    contact: str | None
    colour: str | None
    statement: str | None
    language: str
    temporary: bool
    first_secret: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectorSettings:
    """The settings of one inspector, with their defaults and descriptions.

    The constructor checks all values, converts them to their normal form, and raises ValueError for a wrong one.

    >>> InspectorSettings(prefix="HTTPS://Example.org/", resolvers=["https://n2t.net"]).offered
    (Resolver(title='n2t.net', prefix='https://n2t.net'),)
    >>> InspectorSettings(session_idle=1)
    Traceback (most recent call last):
    ValueError: session_idle: 1 minutes is too short; set at least 5
    """

    prefix: str | None = setting(None, "The resolver prefix of this site, a URL.")
    inspector: str | None = setting(
        None, "The URL of this inspector, for permanent links.", shown="the origin of ``prefix``"
    )
    local: Mapping[str, WSGIApplication] = setting(
        factory=dict,
        text="WSGI applications by URL prefix that a trace calls. The mapping is read when a trace starts.",
    )
    threads: int | None = setting(
        None,
        "The number of threads of a process that answer requests. Work that waits holds a part of them. "
        "For ararat.wsgi, it is the number of the WSGI server.",
        metavar="N",
        limits=(1, 1000),
        shown="96; for ararat.wsgi that of the server if it is known, otherwise 8",
    )
    body_space: int | None = setting(
        None,
        "The space in MB for all request bodies that a process receives or reads at once, in memory and in temporary "
        "files. At most half of the free space in the folder of temporary files is used. Others get 503.",
        metavar="MB",
        limits=(1, 2**20),
        shown="2048",
    )
    trace_elsewhere: bool = setting(True, "Let traces in the inspector send requests to other hosts.")
    trusted_hosts: Sequence[str] | None = setting(
        None,
        "Another host name of the inspector, besides this machine and the prefix. Other host names are refused if "
        "this option or --allow-network is given, or if --host is a loopback address.",
        metavar="HOST",
        option="--trusted-host",
    )
    networks: Sequence[str] = setting(
        (), "Allow traces to this private network.", metavar="CIDR", option="--allow-network", shown="none"
    )
    denied_networks: Sequence[str] = setting(
        (),
        "Forbid traces to this network, such as the public addresses of this machine or its NAT64 prefix.",
        metavar="CIDR",
        option="--deny-network",
        shown="none",
    )
    traces: int | None = setting(
        None,
        "The maximum of concurrent traces in a process, at most a quarter of its threads.",
        shown="a quarter of the threads",
    )
    traces_each: int = setting(3, "The maximum of concurrent traces of one client.")
    host_rate: int = setting(30, "The maximum of requests to another host per minute.")
    host_rate_each: int = setting(20, "The same maximum for the requests of one client.")
    examples: Sequence[Example] = setting(EXAMPLES, "The examples on the home page.", shown="built in")
    policies: Sequence[str | Profile] = setting(
        (),
        "IRI policies that also apply to IRIs: profiles (:mod:`~ararat.identifiers.iri_policy`) or their names.",
        shown="none",
    )
    resolvers: Sequence[str | Resolver] = setting(
        (),
        "Offer this resolver prefix for traces in the inspector.",
        "In Python also a :class:`~ararat.webapp.settings.Resolver` with a title.",
        metavar="URL",
        option="--resolver",
        shown="none",
    )
    remote_user: str | None = setting(
        None,
        "Trust this header field for the user that a proxy has signed in, such as XRemoteUser, or REMOTE_USER of "
        "a server that sets it itself. The name of a field has letters and digits only. The proxy must set or remove "
        "the field in each request. A field needs --trusted-proxies and --remote-user-secret-file.",
        metavar="FIELD",
    )
    remote_user_secret: str | None = setting(
        None,
        "The secret of 32 or more characters that the proxy sends with the field of the user.",
        is_secret=True,
    )
    remote_user_secret_field: str = setting(SECRET_FIELD, "The header field with that secret.", metavar="FIELD")
    openid: OpenID | None = setting(  # noqa: RUF009 - a field
        None,
        "The OpenID provider whose users can sign in (:class:`~ararat.webapp.accounts.openid.OpenID`).",
        "It needs ``inspector`` or ``prefix``.",
        is_secret=True,
    )
    token_audience: str | None = setting(
        None,
        "Accept access tokens of providers from programs, whose audience (aud) is this text. Needs --token-issuer.",
        metavar="TEXT",
    )
    token_issuers: Sequence[str] = setting(
        (),
        "Accept the access tokens of this issuer, such as https://token.actions.githubusercontent.com. Needs "
        "--token-audience and the extra oidc.",
        metavar="URL",
        option="--token-issuer",
        shown="none",
    )
    session_idle: int = setting(
        60,
        "End the session of a browser that sends no request for this time.",
        "At least 5 minutes. Every session ends after 12 hours.",
        metavar="MINUTES",
        limits=(MIN_SESSION_IDLE, 720),
    )
    resource_label: str = setting(
        RESOURCE_LABEL,
        "The label of the resource of a name in the desk, such as Shelfmark.",
        metavar="TEXT",
    )
    ezid: str | None = setting(
        None,
        "Answer the EZID API below this path, such as /ezid. It needs an account (ararat account add).",
        metavar="PATH",
    )
    ezid_passthrough: str = setting(
        "given",
        "The passthrough of names that get their first target by the EZID API.",
        choices=("no", "normal", "given"),
    )
    on_trace: Callable[[End], object] | None = setting(  # noqa: RUF009 - a field
        None, "A function that is called with the :class:`~.tracing.events.End` of each trace."
    )
    # The URL of a database can contain a password.
    statistics: str | None = setting(None, "As that of the resolver.", is_secret=True)
    institution: str | None = setting(None, "As that of the resolver.")
    logo: str | None = setting(None, "As that of the resolver.")
    contact: str | None = setting(None, "As that of the resolver.")
    colour: str | None = setting(None, "As that of the resolver.")
    statement: str | None = setting(None, "As that of the resolver.")
    language: str = setting(
        ENGLISH, "The language of the institution, for browsers that ask for no language of the pages."
    )
    temporary: bool = setting(False, "Whether the names are lost when the server stops.", metavar="")
    first_secret: str | None = setting(
        None,
        "The secret of the one-time link ``/first-account/SECRET`` for the first administrator.",
        is_secret=True,
    )
    branding: Branding = field(init=False, default=NO_BRANDING)
    destinations: Destinations = field(init=False, repr=False)
    profiles: tuple[Profile, ...] = field(init=False, repr=False)
    offered: tuple[Resolver, ...] = field(init=False, repr=False)
    proxy_secret: ProxySecret | None = field(init=False, repr=False)
    user_source: RemoteUser | None = field(init=False, repr=False)
    idle: timedelta = field(init=False, repr=False)
    provider_tokens: ProviderTokens | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.openid is not None and not (self.inspector or self.prefix):
            raise ValueError(
                "openid: the URL of this inspector is missing, to which the provider returns; set inspector=…"
            )
        if self.session_idle < MIN_SESSION_IDLE:
            raise ValueError(f"session_idle: {self.session_idle} minutes is too short; set at least {MIN_SESSION_IDLE}")
        label = self.resource_label
        if not (label.strip() and label.isprintable() and len(label) <= MAX_LABEL):
            raise ValueError(f"resource_label: use 1 to {MAX_LABEL} printable characters")
        text = self.remote_user_secret
        secret = None if text is None else ProxySecret(text, self.remote_user_secret_field)
        destinations = Destinations(
            parse_networks(self.networks), parse_networks(self.denied_networks), self.trace_elsewhere
        )
        self._put(
            prefix=None if self.prefix is None else origins.check_prefix(self.prefix),
            examples=tuple(self.examples),
            profiles=tuple(iri_policy.built_in(each) if isinstance(each, str) else each for each in self.policies),
            offered=tuple(map(Resolver.of, self.resolvers)),
            # The default of a command is not translatable.
            resource_label=RESOURCE_LABEL if label == RESOURCE_LABEL else label,
            branding=_branding(self),
            destinations=destinations,
            provider_tokens=_provider_tokens(self, destinations),
            proxy_secret=secret,
            user_source=None if self.remote_user is None else RemoteUser.of_setting(self.remote_user, secret),
            idle=timedelta(minutes=self.session_idle),
        )

    def _put(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _provider_tokens(settings: InspectorSettings, destinations: Destinations) -> ProviderTokens | None:
    """Return the issuers whose tokens programs can send, or None. Raises ValueError."""
    audience, issuers = settings.token_audience, settings.token_issuers
    if audience is None and not issuers:
        return None
    if not audience or not issuers:
        raise ValueError("token_audience and token_issuers need each other; set both")
    if not audience.isprintable() or audience != audience.strip():
        raise ValueError("token_audience: use a printable text without white space around it")
    if settings.openid is not None and audience == settings.openid.client_id:
        raise ValueError(
            "token_audience is the client ID of the sign-in, so each ID token has it; register another audience"
        )
    try:
        from .accounts.provider_tokens import ProviderTokens
    except ImportError:
        raise ValueError(
            "token_issuers: the packages for OpenID Connect are not installed; run: pip install 'ararat[app,oidc]'"
        ) from None
    try:
        return ProviderTokens(audience, issuers, destinations.denied)
    except ValueError as error:
        raise ValueError(f"token_issuers: {error}") from None


def _branding(settings: InspectorSettings) -> Branding:
    """Return the checked branding of the settings. Raises ValueError."""
    try:
        return check(
            {
                "institution": settings.institution,
                "logo": settings.logo,
                "contact": settings.contact,
                "colour": settings.colour,
                "statement": settings.statement,
            }
        )
    except BindingError as error:
        raise ValueError(f"institution, logo, contact, colour or statement: {error}") from None
