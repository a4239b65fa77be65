"""Test that URNs have the features of ARKs: each command and each address gives the same answer for both schemes.

A feature that URNs do not have is in a table with the reason. A new command that takes an identifier or a prefix is
missing here until it is in one of the tables.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner
from werkzeug.test import Client, TestResponse

from ararat.bindings import holding
from ararat.cli.main import main
from ararat.middleware import ResolverMiddleware, import_table, open_bindings
from ararat.middleware.resolution.description_formats import BY_INFLECTION
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

SITE = "http://localhost"


class Scheme(NamedTuple):
    """A name of a scheme, another spelling of it, a prefix, and the set of its names for harvesters."""

    name: str
    spelling: str
    prefix: str
    oai: str


ARK = Scheme("ark:12345/x5np1", "ARK:/12345/x5-np1", "ark:12345/x5", "12345:x5")
URNS = {
    "urn:example": Scheme("urn:example:x5np1", "URN:EXAMPLE:x5np1", "urn:example:x5", "urn:example:x5"),
    "urn:nbn": Scheme("urn:nbn:fi:x5-np1", "URN:NBN:FI:X5-np1", "urn:nbn:fi:x5-", "urn:nbn:fi!3Ax5-"),
}

# Each command runs once in this order, with the name (N), its other spelling (S) and the prefix (P).
STORY = """
init
prefix set P --contact maps@example.org
bind N https://example.org/1 --metadata what=Harbour
bind S https://example.org/other
reserve N9
mint P
show N
show S
history S
equal N S
find -
inspect S --database DATABASE
trace S --resolver http://127.0.0.1:9
list --prefix P --state live
list --text S --state live
count --prefix P
relocate S https://example.org/2
hold S --until LATER --reason Dispute
show N
release S
hold P --until LATER --reason Dispute
holds
release P
withdraw S --reason Lost --successor https://example.org/3
restore S
undo S
undo S
change edit --prefix P --state live --set who=Noah
delete N9
rule set P https://example.org/${suffix}
rule history P
rule remove P
prefix show P
prefix history P
prefix remove P
account add ada --role curator --password-stdin
account grant ada P
account revoke ada P
account token ada --prefix P
redact S
redact P --prefix
check
verify
prefix succeed P --to Noah
prefix depart P --resolver https://example.org/${pid}
"""
OTHER_COMMANDS = {
    "stats": "it counts requests (tests/middleware/statistics)",
    "passthrough": "a URN cannot contain other names: only an ARK has slashes and dots that state it (nothing-below)",
    "verify-name": "it reads a proof, which has the name of any scheme (tests/cli/log/test_verify_name.py)",
    "conformance resolver": "it asks a running site (tests/cli/sites)",
    "doctor": "it asks a running site (tests/cli/doctor)",
    "serve": "it takes no identifier; its addresses are below",
}
_IDENTIFIER = re.compile(r"\bID(ENTIFIER)?\b|\bPREFIX\b|^A$|^TEXT\.\.\.")
_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)?|\b\d{4}-\d\d-\d\d\b|\w{3}, \d\d \w{3} \d{4} [\d:]+ GMT|[0-9.]+ m?s\b"
)


def commands(command: click.Command = main, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found
            yield from commands(found, f"{path} {name}".strip())
    else:
        yield path, command


def test_each_command_that_takes_a_name_is_in_the_story_or_has_a_reason() -> None:
    takes = {path for path, each in commands() for of in each.params if _IDENTIFIER.search(of.metavar or of.name or "")}
    told = {path for path, _ in commands() if re.search(rf"^{path} ", f"{STORY}", re.MULTILINE)}
    assert takes - told - {*OTHER_COMMANDS} == set()


def same(text: str, scheme: Scheme, folder: Path) -> str:
    """Return the text of an answer without what differs by the scheme, the time or chance."""
    for spelling, letter in ((scheme.spelling, "S"), (scheme.name, "N"), (scheme.prefix, "P")):
        text = text.replace(spelling, letter)
    text = re.sub(r"\bP\w+", "P…", _TIMES.sub("TIME", text.replace(str(folder), "FOLDER")))
    return " ".join(text.split())


def story(scheme: Scheme, folder: Path) -> list[tuple[str, int, str]]:
    """Return each command of the story with its exit code and its output."""
    folder.mkdir()
    database = f"sqlite:///{folder / 'names.sqlite'}"
    runner = CliRunner(env={"ARARAT_DATABASE": database, "ARARAT_ACTOR": "ada", "COLUMNS": "100"})
    later = f"{datetime.now(UTC) + timedelta(days=20):%Y-%m-%d}"
    words = {"N": scheme.name, "N9": f"{scheme.name}9", "S": scheme.spelling, "P": scheme.prefix, "LATER": later}
    words["DATABASE"] = database
    found = []
    for line in STORY.split("\n")[1:-1]:
        given = {"find -": f"See {scheme.spelling} now.\n"}.get(line, "a long pass word 7\n")
        done = runner.invoke(main, [words.get(word, word) for word in line.split(" ")], input=given)
        assert done.exception is None or isinstance(done.exception, SystemExit), line
        found.append((line, done.exit_code, same(done.output, scheme, folder)))
    return found


# These describe a name by its scheme: their exit codes are compared.
BY_SCHEME = ("inspect", "equal", "account token", "find", "trace")


@pytest.fixture(scope="module")
def of_ark(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, str]]:
    return story(ARK, tmp_path_factory.mktemp("story") / "ark")


@pytest.mark.parametrize("scheme", URNS.values(), ids=URNS)
def test_each_command_gives_the_answer_for_arks_for_urns(
    scheme: Scheme, of_ark: list[tuple[str, int, str]], tmp_path: Path
) -> None:
    of_urn = story(scheme, tmp_path / "urn")
    for ark, urn in zip(of_ark, of_urn, strict=True):
        assert ark[:2] == urn[:2]
        if not ark[0].startswith(BY_SCHEME):
            assert ark == urn
    # A name is not given away, and a trace sends no request to an address of the network of the server.
    assert [line.split(" ")[0] for line, code, _ in of_ark if code] == ["bind", "trace"]


ACCEPTED = ("text/html", "application/json", "application/linkset+json")
DOORS = (
    *(f"/{{name}}{inflection}" for inflection in dict.fromkeys(("", "?", "??", "?INFO", "?other", *BY_INFLECTION))),
    *("/{spelling}", "/{encoded}", "/{name}?info&format=none", "/{prefix}", "/{prefix}?info", "/{prefix}zz"),
    *(f"/{{prefix}}{name}{inflection}" for name in "wrhdea" for inflection in ("", "?info")),
    *(f"/uri-res/{service}?{{spelling}}" for service in ("N2L", "N2Ls", "N2C")),
    *("/ezid/id/{spelling}", "/ezid/id/{name}9?prefix_match=yes", "/ezid/id/{prefix}w", "/ezid/id/{prefix}h"),
    *("/api/inspect?q={spelling}", "/api/compare?a={name}&b={spelling}", "/?q={spelling}", "/qr.svg?q={name}"),
    *("/api/v1/names/{spelling}", "/api/v1/names/{name}/history", "/api/v1/names?prefix={prefix}"),
    *("/api/v1/names?q={spelling}", "/api/v1/names?hold=yes", "/api/v1/prefixes/{prefix}", "/api/v1/holds"),
    *("/desk/names?q={spelling}", "/desk/name?name={spelling}", "/desk/prefix?prefix={prefix}", "/desk/holds"),
    *("/atom", "/sitemap.xml", "/oai?verb=ListIdentifiers&metadataPrefix=oai_dc&set={oai}"),
    "/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier={name}",
)
OTHER_ADDRESSES = {
    "/{name}/": "RFC 8141 permits a slash at the end of a URN, which then is another name; the 404 suggests this one",
    "/{name}.": "a full stop is a character of a URN; the 404 suggests this one",
    "/{name}.txt": "only an ARK has variants",
    "/trace?q={name}": "no resolver of all URNs is known, and n2t.net resolves no URNs",
}
# These answer with the scheme, its kind of parts, a picture, or a length: their status and type are compared.
DESCRIBE = re.compile(r"inspect|compare|qr.svg|format=(?:html|jsonld|datacite)|^/\?q=|/desk/|^/oai|prefixes|ezid")


@pytest.fixture(scope="module")
def answers_for_arks(sites: dict[Scheme, tuple[Client, str]]) -> dict[tuple[str, str], TestResponse]:
    """Return the answer of each address for the ARK, by the address and the accepted type."""
    return {(door, accepted): asked(sites, ARK, door, accepted) for door in DOORS for accepted in ACCEPTED}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Scheme, tuple[Client, str]]]:
    """Return the client of a site with the same names of each scheme, and a token of an administrator."""
    found, opened = {}, []
    for scheme in (ARK, *URNS.values()):
        bindings = open_bindings(f"sqlite:///{tmp_path_factory.mktemp('site') / 'names.sqlite'}", create=True)
        opened.append(bindings)
        soon = datetime.now(UTC) + timedelta(days=1)
        metadata = {"who": "Noah", "what": "Harbour", "when": "1900"}
        alternates = {"text/plain": "https://example.org/1.txt"}
        bindings.prefixes.set(scheme.prefix, what="Maps", contact="maps@example.org")
        bindings.bind(scheme.name, "https://example.org/1", metadata=metadata, alternates=alternates)
        bindings.bind(f"{scheme.prefix}w", "https://example.org/2", metadata=metadata)
        bindings.withdraw(f"{scheme.prefix}w", reason="Lost.", successor=scheme.name)
        bindings.reserve(f"{scheme.prefix}r", "https://example.org/3")
        bindings.bind(f"{scheme.prefix}h", "https://example.org/4", metadata=metadata)
        holding.hold(bindings, f"{scheme.prefix}h", soon, "A dispute.")
        bindings.bind(f"{scheme.prefix}d", None, kind="described", metadata=metadata)
        bindings.bind(f"{scheme.prefix}e", "https://example.org/5", embargo=soon)
        bindings.bind(f"{scheme.prefix}a", "https://example.org/6", kind="related")
        accounts = Accounts(bindings)
        accounts.add("ada", "administrator")
        app = create_app(bindings, prefix=SITE, ezid="/ezid", trace_elsewhere=False)
        app.wsgi_app = ResolverMiddleware(  # type: ignore[method-assign]
            app.wsgi_app, bindings, prefix=SITE, services="/uri-res", oai="/oai", atom="/atom", sitemap="/sitemap.xml"
        )
        found[scheme] = Client(app), accounts.tokens.create("ada", "test")[1]
    yield found
    for each in opened:
        each.close()


def asked(sites: dict[Scheme, tuple[Client, str]], scheme: Scheme, door: str, accepted: str) -> TestResponse:
    client, token = sites[scheme]
    address = door.format(encoded=scheme.name.replace(":", "%3A", 2), **scheme._asdict())
    fields = {"Accept": accepted, **({"Authorization": f"Bearer {token}"} if "/api/v1/" in door else {})}
    return client.get(address, headers=fields, buffered=True)


@pytest.mark.one_setup
@pytest.mark.parametrize("scheme", URNS.values(), ids=URNS)
@pytest.mark.parametrize("accepted", ACCEPTED)
@pytest.mark.parametrize("door", DOORS)
def test_each_address_gives_the_answer_for_arks_for_urns(
    sites: dict[Scheme, tuple[Client, str]],
    answers_for_arks: dict[tuple[str, str], TestResponse],
    door: str,
    accepted: str,
    scheme: Scheme,
    tmp_path: Path,
) -> None:
    ark, urn = answers_for_arks[door, accepted], asked(sites, scheme, door, accepted)
    assert ark.status_code == urn.status_code
    for field in ("Location", "Content-Type", "Cache-Control", "Link", "Vary", "Allow", "X-Robots-Tag"):
        values = [" ".join(each.headers.getlist(field)) for each in (ark, urn)]
        assert shown(values[0], ARK, tmp_path) == shown(values[1], scheme, tmp_path), field
    if ark.status_code < 300 and not (DESCRIBE.search(door) or ark.mimetype == "text/html"):
        texts = [each.get_data(as_text=True) for each in (ark, urn)]
        assert shown(texts[0], ARK, tmp_path) == shown(texts[1], scheme, tmp_path)


def shown(text: str, scheme: Scheme, folder: Path) -> str:
    encoded = scheme.name.replace(":", "%3A").replace("/", "%2F")
    text = re.sub(r"max-age=\d+|\b\d{10}\b|\"?T: \"\w+\"|W?/?\"[\w/+-]{12,}\"", "VALUE", text.replace(encoded, "N"))
    return same(text, scheme, folder)


@pytest.mark.one_setup
@pytest.mark.parametrize("end", ["/", "."])
@pytest.mark.parametrize("scheme", URNS.values(), ids=URNS)
def test_the_404_of_a_urn_with_another_end_suggests_the_recorded_one(
    sites: dict[Scheme, tuple[Client, str]], scheme: Scheme, end: str
) -> None:
    assert {f"/{{name}}{end}"} <= {*OTHER_ADDRESSES}
    answer = asked(sites, scheme, f"/{{name}}{end}", "application/json")
    assert (answer.status_code, answer.get_json()["suggestion"]) == (404, f"{SITE}/{scheme.name}")


# The check character of each scheme: the pattern, a prefix, a name that is right, and one with an error.
CHECKED = {
    "ARK": ("29^4+check", "ark:13030/xf9", "ark:13030/xf93gt2q", "ark:13030/xf93gt2r"),
    "URN": ("10^9+nbn", "urn:nbn:de:gbv:089-", "urn:nbn:de:gbv:089-0000000009", "urn:nbn:de:gbv:089-0000000008"),
}


@pytest.mark.one_setup
@pytest.mark.parametrize(("pattern", "prefix", "right", "wrong"), CHECKED.values(), ids=CHECKED)
def test_the_check_character_is_compared_at_each_door(
    tmp_path: Path, pattern: str, prefix: str, right: str, wrong: str
) -> None:
    with open_bindings(f"sqlite:///{tmp_path / 'names.sqlite'}", create=True) as bindings:
        bindings.prefixes.set(prefix, pattern=pattern)
        bindings.bind(right, "https://example.org/1")
        table = f"identifier,target\n{wrong},https://example.org/2\n".encode()
        report = import_table(bindings, io.BytesIO(table), dry_run=True)
        assert "check-character" in f"{report}"
        client = Client(ResolverMiddleware(create_app(bindings, prefix=SITE).wsgi_app, bindings, prefix=SITE))
        assert client.get(f"/{wrong}", headers={"Accept": "application/json"}).get_json()["suggestion"].endswith(right)
        (found,) = client.get(f"/api/inspect?q={wrong}").get_json()["found"]
        assert right in f"{found}", found
    runner = CliRunner(env={"ARARAT_DATABASE": f"sqlite:///{tmp_path / 'names.sqlite'}"})
    assert "(check-character)" in runner.invoke(main, ["bind", wrong, "https://example.org/2"]).output
    assert "check-character" in runner.invoke(main, ["check"]).output
