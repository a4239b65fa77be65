"""Operations on identifiers, with a client of the standard library and running servers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from ararat.bindings.names import naming
from ararat.bindings.names.metadata.datacite_identifier import with_identifier
from tests.datacite_records import record
from tests.webapp.ezid.client import EzidClient, Reply
from tests.webapp.ezid.conftest import Person, Service

UNKNOWN = (400, "error: bad request - no such identifier")
DATACITE = f'<?xml version="1.0"?>\n{record("The Ark", creator="Noah: 100% &amp; more", first=chr(10))}'


def test_an_identifier_is_created_viewed_and_updated(curator: Person, anonymous: EzidClient) -> None:
    name = f"{curator.shoulder}abc"
    began = int(time.time())
    created = curator.client.create(name, {"_target": "https://example.org/?q=100%25&a:b", "erc.who": "Noé: 100%"})
    assert created[:2] == (201, f"success: {name}")
    assert created.fields["Content-Type"] == "text/plain; charset=UTF-8"
    viewed = anonymous.view(name)
    assert viewed[:2] == (200, f"success: {name}")
    times = {element: int(viewed.elements.pop(element)) for element in ("_created", "_updated")}
    assert all(began <= time_ <= time.time() for time_ in times.values())
    assert viewed.elements == {
        "_target": "https://example.org/?q=100%25&a:b",
        "_status": "public",
        "_profile": "erc",
        "_export": "yes",
        "erc.who": "Noé: 100%",
    }
    updated = curator.client.update(name, {"erc.what": "The Ark", "_target": "https://example.org/2"})
    assert updated[:2] == (200, f"success: {name}")
    after = anonymous.view(name).elements
    assert (after["erc.who"], after["erc.what"], after["_target"]) == ("Noé: 100%", "The Ark", "https://example.org/2")
    assert int(after["_created"]) == times["_created"]


def test_values_of_another_identifier_are_a_warning_in_the_header(curator: Person) -> None:
    def warnings(reply: Reply) -> list[str]:
        # Other tests of this server record prefixes, so a shoulder without a record can be a warning, too.
        found = re.findall(r'299 - "([^"]+)"(?:, |$)', reply.fields["Warning"] or "")
        return [each for each in found if not each.endswith("(shoulder-unrecorded)")]

    client, values = curator.client, {"_target": f"https://example.org/{curator.name}", "erc.what": 'A "map"'}
    assert warnings(client.create(f"{curator.shoulder}first", values)) == []
    copy = client.create(f"{curator.shoulder}copy", {**values, "_status": "reserved"})
    assert "title-shared" not in copy.fields["Warning"]
    published = client.update(f"{curator.shoulder}copy", {"_status": "public"})
    assert published.line == f"success: {curator.shoulder}copy"
    first = naming.key_of(f"{curator.shoulder}first")
    assert warnings(published) == [
        f"the target is already that of {first} (target-shared)",
        f"the title is already that of {first} (title-shared)",
    ]


@pytest.mark.parametrize("text", ["\u6f22", "f\u00fcr", "\u2013", "a\u202eb", "\U0001f600", 'a"b\\c'])
def test_a_warning_that_quotes_any_text_is_in_ascii(curator: Person, text: str) -> None:
    created = curator.client.create(f"{curator.shoulder}text", {"erc.availability": text})
    assert created[:2] == (201, f"success: {curator.shoulder}text")
    assert "(persistence-term)" in created.fields["Warning"]
    assert created.fields["Warning"].isascii()


def test_an_identifier_is_created_once(curator: Person) -> None:
    name = f"{curator.shoulder}a"
    assert curator.client.create(name).status == 201
    again = curator.client.create(name, {"erc.who": "Noah"})
    assert again[:2] == (400, "error: bad request - identifier already exists, cannot create")
    assert "erc.who" not in curator.client.view(name).elements


def test_an_identifier_is_created_or_updated(curator: Person) -> None:
    name = f"{curator.shoulder}a"
    assert curator.client.create(name, {"erc.who": "Noah"}, update=True)[:2] == (201, f"success: {name}")
    second = {"erc.what": "The Ark", "erc.who": "", "_target": "https://example.org/"}
    assert curator.client.create(name, second, update=True)[:2] == (200, f"success: {name}")
    elements = curator.client.view(name).elements
    assert (elements.get("erc.who"), elements["erc.what"]) == (None, "The Ark")
    assert curator.client.create(name, {"_status": "unavailable"}, update=True).status == 200
    other = curator.client.create(f"{name}b", {"_status": "unavailable"}, update=True)
    assert other.line.startswith("error: bad request - a new identifier cannot be unavailable")
    assert curator.client.view(f"{name}b")[:2] == UNKNOWN


@pytest.mark.parametrize("is_created_again", [False, True], ids=["update", "create or update"])
def test_a_token_that_cannot_read_gives_a_reserved_identifier_its_target(
    service: Service, curator: Person, *, is_created_again: bool
) -> None:
    token = service.accounts.tokens.create(curator.name, "test", rights=["mint", "bind", "describe"])[1]
    client = EzidClient(service.base, curator.name, token)
    name = client.mint(curator.shoulder, {"_status": "reserved"}).identifier
    body = {"_target": "https://example.org/1", "_status": "public"}
    answer = client.create(name, body, update=True) if is_created_again else client.update(name, body)
    assert answer.line == f"success: {name}"
    assert client.view(name).elements["_target"] == "https://example.org/1"


def test_a_token_that_cannot_read_is_not_warned_of_values_that_are_recorded(service: Service, curator: Person) -> None:
    token = service.accounts.tokens.create(curator.name, "test", rights=["mint", "describe"])[1]
    client, values = EzidClient(service.base, curator.name, token), {"erc.what": "jane@example.org"}
    name = curator.client.mint(curator.shoulder, {"_status": "reserved", **values}).identifier
    for who, is_warned in ((curator.client, True), (client, False)):
        answer = who.update(name, {"erc.when": "1901"})
        assert (answer.line, "personal-data" in (answer.fields["Warning"] or "")) == (f"success: {name}", is_warned)
    assert "personal-data" in client.mint(curator.shoulder, {"_status": "reserved", **values}).fields["Warning"]


def test_a_token_that_cannot_read_views_only_public_identifiers(service: Service, curator: Person) -> None:
    token = service.accounts.tokens.create(curator.name, "test", rights=["mint", "bind"])[1]
    public, reserved = (curator.client.mint(curator.shoulder, {"_status": each}) for each in ("public", "reserved"))
    fields = {"Authorization": f"Bearer {token}"}
    for path in (f"/id/{public.identifier}", f"/id/{public.identifier}/part?prefix_match=yes"):
        found = EzidClient(service.base).send("GET", path, fields=fields)
        assert (found.status, found.elements["_status"], "_owner" in found.elements) == (200, "public", False)
    assert EzidClient(service.base).send("GET", f"/id/{reserved.identifier}", fields=fields)[:2] == UNKNOWN


@pytest.mark.parametrize("spelling", ["ark:/{}", "ark:{}", "ARK:/{}"])
def test_every_answer_has_the_classic_form(curator: Person, spelling: str) -> None:
    name = spelling.format(f"{curator.key[4:]}a-b")
    normal = f"{curator.shoulder}ab"
    assert curator.client.create(name).line == f"success: {normal}"
    assert curator.client.view(name).line == f"success: {normal}"
    assert curator.client.update(name, {"a": "b"}).line == f"success: {normal}"


def test_an_identifier_with_encoded_characters_is_escaped_in_the_first_line(curator: Person) -> None:
    name = f"{curator.shoulder}é%2Fx"
    created = curator.client.create(name)
    assert created.identifier == f"{curator.shoulder}%C3%A9%2Fx"
    assert curator.client.view(created.identifier).identifier == created.identifier


def test_any_element_name_and_value_is_returned_as_it_was_given(curator: Person, anonymous: EzidClient) -> None:
    elements = {
        "my name: 100%": "value: 100%",
        "a.b.c": "x",
        "é": "Ä",
        "schema": "not JSON",
        "one\ntwo": "three\nfour\r\nfive",
        "ezid.title": "x",
        "title": "y",
        "datacite": DATACITE,
        "dc.title": "The Ark\nof Noah",
    }
    created = curator.client.mint(curator.shoulder, elements)
    assert created.status == 201
    found = anonymous.view(created.identifier).elements
    elements["datacite"] = with_identifier(DATACITE, created.identifier, created.identifier[5:])
    assert {name: found.get(name) for name in elements} == elements


def test_an_empty_value_deletes_an_element(curator: Person) -> None:
    name = curator.client.mint(
        curator.shoulder, {"erc.who": "Noah", "my name": "x", "_target": "/map", "a": ""}
    ).identifier
    curator.client.update(name, {"erc.who": "", "my name": "", "_target": "", "unknown": ""})
    elements = curator.client.view(name).elements
    assert elements.keys() == {"_created", "_export", "_profile", "_status", "_target", "_updated"}
    assert elements["_target"].endswith(f"/{name}?info")


def test_the_default_target_is_the_description(curator: Person, service: Service) -> None:
    name = curator.client.mint(curator.shoulder).identifier
    target = curator.client.view(name).elements["_target"]
    assert target == f"{service.prefix}/{name}?info"
    # A client sends back what it has read.
    for own in (target, f"{service.prefix}/{name}", f"{service.prefix}/ark:{name[5:]}"):
        assert curator.client.update(name, {"_target": own}).status == 200
        binding = service.bindings.lookup(name)
        assert binding is not None
        assert (binding.kind, binding.target) == ("described", None)
    other = f"{service.prefix}/{name}x"
    assert curator.client.update(name, {"_target": other}).status == 200
    assert curator.client.view(name).elements["_target"] == other


def test_a_minted_name_replaces_the_placeholder_in_its_target(curator: Person) -> None:
    target = "https://example.org/${identifier}?id=${identifier}"
    name = curator.client.mint(curator.shoulder, {"_target": target, "erc.what": "${identifier}"}).identifier
    elements = curator.client.view(name).elements
    assert elements["_target"] == f"https://example.org/{name}?id={name}"
    assert elements["erc.what"] == "${identifier}"
    assert re.fullmatch(re.escape(curator.shoulder) + "[0-9bcdfghjkmnpqrstvwxz]{8}", name)


def test_a_shoulder_uses_the_pattern_of_its_prefix_record(curator: Person, service: Service) -> None:
    service.bindings.prefixes.set(curator.key, pattern="10^3")
    name = curator.client.mint(curator.shoulder).identifier
    assert re.fullmatch(re.escape(curator.shoulder) + "[0-9]{3}", name)


def test_a_delegated_shoulder_has_the_address_of_its_minter(curator: Person, service: Service) -> None:
    minter = "https://lower.example/mint"
    service.bindings.prefixes.set(curator.key, state="delegated", resolver="https://lower.example", minter=minter)
    refused = curator.client.mint(curator.shoulder)
    assert (refused.status, minter in refused.line) == (409, True)
    assert refused.line.startswith("error: bad request - ")


def test_an_unknown_shoulder_is_refused(administrator: Person, curator: Person) -> None:
    reply = administrator.client.mint("ark:/12345/zzzzzz9")
    assert reply[:2] == (400, "error: bad request - no such shoulder")
    assert administrator.client.mint(curator.shoulder).status == 201
    assert administrator.client.mint("no shoulder").line.startswith("error: bad request - ")


def test_a_reserved_identifier_is_known_to_accounts_only(
    curator: Person, anonymous: EzidClient, service: Service
) -> None:
    name = curator.client.mint(curator.shoulder, {"_status": "reserved", "erc.who": "Noah"}).identifier
    assert anonymous.view(name)[:2] == anonymous.view(f"{name}x")[:2] == UNKNOWN
    assert anonymous.view(f"{name}/1", prefix_match=True)[:2] == UNKNOWN
    # urllib sends credentials only after an answer 401, and a view needs none.
    assert curator.client.view(name)[:2] == UNKNOWN
    assert curator.client.login().line == "success: session cookie returned"
    viewed = curator.client.view(name)
    assert (viewed.elements["_status"], viewed.elements["_owner"]) == ("reserved", curator.name)
    assert curator.client.view(f"{name}/1", prefix_match=True).line == f"success: {name} in_lieu_of {name}/1"
    assert service.server.get(f"/{name}").status == 404


def test_a_reserved_identifier_can_be_deleted(curator: Person) -> None:
    name = curator.client.mint(curator.shoulder, {"_status": "reserved"}).identifier
    assert curator.client.delete(name)[:2] == (200, f"success: {name}")
    assert curator.client.delete(name)[:2] == UNKNOWN
    assert curator.client.create(name, {"_status": "public"}).status == 201
    refused = (400, "error: bad request - identifier status does not support deletion")
    assert curator.client.delete(name)[:2] == refused
    curator.client.update(name, {"_status": "unavailable"})
    assert curator.client.delete(name)[:2] == refused


def test_a_status_changes_as_ezid_permits(curator: Person, anonymous: EzidClient) -> None:
    name = curator.client.mint(curator.shoulder, {"_status": "reserved", "_target": "https://example.org/1"}).identifier

    def change(**elements: str) -> int:
        return curator.client.update(name, {f"_{element}": value for element, value in elements.items()}).status

    def shown() -> tuple[str, str]:
        elements = anonymous.view(name).elements
        return elements["_status"], elements["_target"]

    assert change(status="unavailable") == 400
    assert change(target="https://example.org/2") == 200
    assert anonymous.view(name)[:2] == UNKNOWN
    assert change(status="reserved") == 200
    assert change(status="public") == 200
    assert shown() == ("public", "https://example.org/2")
    assert change(status="reserved") == 400
    assert change(status="unavailable | withdrawn by the author | 100%") == 200
    status, target = shown()
    assert status == "unavailable | withdrawn by the author | 100%"
    # A withdrawn name leads nowhere. Without credentials, the address of its description is shown.
    assert target.endswith("?info")
    assert change(status="unavailable | moved") == 200
    assert change(target="https://example.org/3") == 400
    assert change(status="reserved") == 400
    assert change(status="public", target="https://example.org/3") == 200
    assert shown() == ("public", "https://example.org/3")
    assert change(status="unavailable", target="https://example.org/4") == 200
    assert shown()[0] == "unavailable"
    assert change(status="") == change(status="gone") == change(status="public | x") == 400


def test_metadata_of_an_unavailable_identifier_can_be_updated(curator: Person) -> None:
    name = curator.client.mint(curator.shoulder).identifier
    assert curator.client.update(name, {"_status": "unavailable"}).status == 200
    assert curator.client.update(name, {"erc.who": "Noah"}).status == 200
    elements = curator.client.view(name).elements
    assert (elements["_status"], elements["erc.who"]) == ("unavailable", "Noah")


def test_a_tombstone_answers_for_an_unavailable_identifier(curator: Person, service: Service) -> None:
    name = curator.client.mint(curator.shoulder, {"_target": "https://example.org/1"}).identifier
    if not service.prefix.endswith("/tools"):
        assert service.server.get(f"/{name}").header("Location") == "https://example.org/1"
        curator.client.update(name, {"_status": "unavailable | lost"})
        assert service.server.get(f"/{name}").status == 410


def test_the_profile_and_the_export_setting_are_kept(curator: Person) -> None:
    name = curator.client.mint(curator.shoulder, {"_profile": "dc", "_export": "no", "dc.title": "The Ark"}).identifier

    def shown() -> tuple[str, str]:
        elements = curator.client.view(name).elements
        return elements["_profile"], elements["_export"]

    assert shown() == ("dc", "no")
    curator.client.update(name, {"_profile": "datacite", "_export": "yes"})
    assert shown() == ("datacite", "yes")
    curator.client.update(name, {"_profile": "", "_export": ""})
    assert shown() == ("erc", "yes")
    curator.client.update(name, {"_profile": "schema_org", "_export": "No"})
    assert shown() == ("schema_org", "no")
    assert curator.client.update(name, {"_export": "maybe"}).status == 400


def test_the_element_erc_replaces_all_elements_of_the_kernel(curator: Person) -> None:
    record = "who: Noah: 100%25\nwhat: The Ark\n  of Noah"
    name = curator.client.mint(curator.shoulder, {"erc": record, "erc.when": "2026"}).identifier
    elements = curator.client.view(name).elements
    assert {key: value for key, value in elements.items() if key.startswith("erc")} == {
        "erc.who": "Noah: 100%",
        "erc.what": "The Ark of Noah",
        "erc.when": "2026",
    }
    curator.client.update(name, {"erc": "erc:\nwho: Sem"})
    assert [key for key in curator.client.view(name).elements if key.startswith("erc")] == ["erc.who"]
    assert curator.client.update(name, {"erc": "no record"}).status == 400
    curator.client.update(name, {"erc": ""})
    assert not [key for key in curator.client.view(name).elements if key.startswith("erc")]


def test_line_breaks_and_long_values_of_the_kernel_are_kept(curator: Person) -> None:
    elements = {"erc.who": "Smith, A\nJones, B", "erc.what": "x" * 50_000, "erc": "when: 1999%0A2000"}
    name = curator.client.mint(curator.shoulder, elements).identifier
    found = curator.client.view(name).elements
    assert (found["erc.who"], found["erc.what"], found["erc.when"]) == (
        elements["erc.who"],
        elements["erc.what"],
        "1999\n2000",
    )


RECORD = record(first="{}")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "sent",
    [
        '<identifier identifierType="DOI">(:tba)</identifier>',
        '<identifier identifierType="DOI"></identifier>',
        '<identifier identifierType="ARK">12345/x5other</identifier>',
        "<identifier/>",
        "",
    ],
)
def test_a_datacite_record_states_the_identifier(curator: Person, service: Service, sent: str) -> None:
    name = curator.client.mint(curator.shoulder, {"_profile": "datacite", "datacite": RECORD.format(sent)}).identifier
    stated = f'<identifier identifierType="ARK">{name[5:]}</identifier>'
    assert curator.client.view(name).elements["datacite"] == RECORD.format(stated)
    if not service.prefix.endswith("/tools"):
        served = service.server.get(f"/{name}?info&format=datacite-xml").text
        assert f'<identifier identifierType="ARK">ark:{name[5:]}</identifier>' in served


def test_a_datacite_record_of_another_identifier_is_refused(curator: Person) -> None:
    document = RECORD.format('\n<identifier identifierType="DOI">10.1234/OTHER</identifier>')
    reply = curator.client.mint(curator.shoulder, {"datacite": document})
    assert reply.status == 400
    assert "has the identifier DOI 10.1234/OTHER in line 2, but the name is an ARK" in reply.line


def test_a_datacite_record_that_does_not_fit_the_schema_is_refused(curator: Person) -> None:
    document = RECORD.format("\n<tiltes/>")
    reply = curator.client.mint(curator.shoulder, {"datacite": document})
    assert reply.status == 400
    assert "has the element tiltes in line 2, which cannot be in resource" in reply.line


@pytest.mark.one_setup
@pytest.mark.parametrize("element", ["_created", "_updated", "_ownergroup", "_Status", "_taget", "_datacenter", "_"])
def test_an_element_of_the_server_cannot_be_set(curator: Person, element: str) -> None:
    reply = curator.client.mint(curator.shoulder, {element: "1"})
    assert reply[:2] == (400, f"error: bad request - {element}: Field is not settable.")
    name = curator.client.mint(curator.shoulder).identifier
    assert curator.client.update(name, {element: "1"})[:2] == reply[:2]


def test_no_identifier_is_registered_with_crossref(curator: Person) -> None:
    text = "error: bad request - _crossref: Only DOI identifiers may be registered with Crossref."
    assert curator.client.mint(curator.shoulder, {"_crossref": "yes"})[:2] == (400, text)
    assert curator.client.mint(curator.shoulder, {"_crossref": "no"}).status == 201


def test_an_administrator_sets_the_owner(
    curator: Person, administrator: Person, new_person: Callable[..., Person]
) -> None:
    other = new_person()
    curator.client.login()
    administrator.client.login()
    name = curator.client.mint(curator.shoulder, {"_owner": curator.name}).identifier
    assert curator.client.view(name).elements["_owner"] == curator.name
    assert curator.client.update(name, {"_owner": curator.name, "a": "b"}).status == 200
    refused = curator.client.update(name, {"_owner": other.name})
    assert (refused.status, refused.line[:16]) == (403, "error: forbidden")
    assert curator.client.mint(curator.shoulder, {"_owner": other.name}).status == 403
    assert administrator.client.update(name, {"_owner": other.name.upper()}).status == 200
    assert curator.client.view(name).elements["_owner"] == other.name
    assert administrator.client.update(name, {"_owner": "no-such-user"}).status == 400
    assert administrator.client.update(name, {"_owner": "no such\nuser"}).status == 400


def test_the_longest_registered_prefix_answers(curator: Person, anonymous: EzidClient) -> None:
    short, longer = f"{curator.shoulder}a", f"{curator.shoulder}abc/d"
    curator.client.create(short, {"erc.what": "short"})
    curator.client.create(longer, {"erc.what": "longer"})
    curator.client.create(f"{longer}/e", {"_status": "reserved"})
    wanted = f"{longer}/e/f.pdf"
    found = anonymous.view(wanted, prefix_match=True)
    assert found[:2] == (200, f"success: {longer} in_lieu_of {wanted}")
    assert found.elements["erc.what"] == "longer"
    assert anonymous.view(f"{short}zz", prefix_match=True).line == f"success: {short} in_lieu_of {short}zz"
    assert anonymous.view(short, prefix_match=True).line == f"success: {short}"
    assert anonymous.view(f"{curator.shoulder}b", prefix_match=True)[:2] == UNKNOWN
    assert anonymous.view(f"{curator.shoulder}abc", prefix_match=False)[:2] == UNKNOWN
    assert anonymous.view(f"{short}/{'x' * 3000}", prefix_match=True).status == 200


def test_a_name_outside_of_the_granted_prefixes_is_forbidden(
    curator: Person, new_person: Callable[..., Person]
) -> None:
    other = new_person()
    name = other.client.mint(other.shoulder, {"_status": "reserved"}).identifier
    refused = [
        curator.client.create(f"{other.shoulder}x"),
        curator.client.create(f"{other.shoulder}x", update=True),
        curator.client.update(name, {"a": "b"}),
        curator.client.delete(name),
        curator.client.mint(other.shoulder),
        curator.client.mint("ark:/12345"),
    ]
    assert [(reply.status, reply.line.partition(" - ")[0]) for reply in refused] == [(403, "error: forbidden")] * 6
    reader = new_person("reader", ())
    assert reader.client.mint(other.shoulder)[:2] == (403, "error: forbidden - a reader cannot change names")
    assert reader.client.login().status == 200
    assert reader.client.view(name).status == 200


def test_a_urn_can_be_an_identifier(new_person: Callable[..., Person]) -> None:
    person = new_person(prefixes=("urn:isbn:",))
    name = "urn:isbn:0-451-45052-3"
    assert person.client.create(name, {"dc.title": "x"}).line == "success: urn:isbn:9780451450524"
    assert person.client.view(name).elements["dc.title"] == "x"


def test_a_refused_change_changes_nothing(curator: Person, service: Service) -> None:
    wrong = {"_target": "javascript:alert(1)", "erc.who": "Noah"}
    assert curator.client.mint(curator.shoulder, wrong).status == 400
    assert curator.client.create(f"{curator.shoulder}a", wrong).status == 400
    from ararat.bindings.names.selection import select

    assert service.bindings.list_names(select(prefix=curator.shoulder)).names == []


def test_each_change_is_in_the_audit(curator: Person, service: Service) -> None:
    from ararat.bindings.storage.tables.account_tables import audit

    name = curator.client.mint(curator.shoulder, {"_status": "reserved"}).identifier
    curator.client.delete(name)
    number = getattr(service.accounts.get(curator.name), "number", None)
    rows = service.accounts.run_in_transaction(
        lambda each: each.execute(audit.select().where(audit.c.account == number).order_by("id")).mappings().all()
    )
    found = [(row["operation"], row["name"], row["outcome"], row["address"]) for row in rows]
    key = f"ark:{name[5:]}"
    assert ("create", key, "reserved", "127.0.0.1") in found
    assert ("delete", key, "deleted", "127.0.0.1") in found
    assert curator.secret not in str(rows)


def passthrough(service: Service, name: str) -> object:
    key = naming.key(naming.read(name))
    return service.bindings.store.fetch([key])[key].passthrough


def test_a_name_appends_the_rest_of_a_request_as_in_ezid(curator: Person, service: Service) -> None:
    made, without = f"{curator.shoulder}p1", f"{curator.shoulder}p2"
    curator.client.create(made, {"_target": "https://example.org/p"})
    curator.client.create(without, {"_target": "https://example.org"})
    later = curator.client.mint(curator.shoulder).identifier
    minted = curator.client.mint(curator.shoulder, {"_target": "https://example.org/${identifier}"}).identifier
    assert [passthrough(service, name) for name in (made, without, later, minted)] == ["given", False, False, "given"]
    # A name that was minted without a target gets it later, and a change of the target keeps the passthrough.
    assert curator.client.update(later, {"_target": "https://example.org/l"}).status == 200
    assert curator.client.update(made, {"_target": "https://example.org/q"}).status == 200
    assert [passthrough(service, name) for name in (later, made)] == ["given", "given"]
    assert curator.client.update(made, {"_target": "https://example.org"}).status == 200
    assert passthrough(service, made) is False


def test_a_block_of_erc_with_repeated_labels_keeps_all_values(curator: Person) -> None:
    block = "who: Smith, A\nWho: Jones, B\nwhat: Plants\nwhere: UC1.TIF\nwhere: ark:/13030/m5"
    name = f"{curator.key}erc"
    curator.client.create(name, {"erc": block, "_target": "https://example.org/1"})
    shown = curator.client.view(name).elements
    assert (shown["erc.who"], shown["erc.what"]) == ("Smith, A; Jones, B", "Plants")
    assert shown["erc.where"] == "UC1.TIF; ark:/13030/m5"
