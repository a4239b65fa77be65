"""Check all texts for words that docs/style.md lists: documents, pages, code, tests, scripts and style sheets."""

from __future__ import annotations

import ast
import csv
import io
import re
import tokenize
from collections.abc import Iterable
from pathlib import Path

import pytest

from ararat import client
from ararat.bindings.open import DATABASE_SUFFIXES
from ararat.bindings.tables.text_tables import SUFFIXES
from tests.docstrings import repetitions
from tests.packages import ROOT, nodes, parsed, read, tracked, walk

# Each pattern with the words to write instead.
AVOID = {
    # Not the value None of Python, and not "there is none".
    r"(?<!there )(?-i:(?:is|are) none)\b": "is not an X; does not exist",
    r"who(?:so)?ever\b": "the caller, the client, the operator",
    r"(?:no|some|every)body\b": "no client; a person; all clients",
    r"for ever\b": "permanently",
    r"(?:is|are|was|were) told\b": "receives, is set",
    r"it is said\b|is said (?:to|of|aloud)\b": "is printed, is reported",
    r"(?:says|said|tells|speaks) (?:that|so|who|what|which|where|when|whether|why|how|nothing|of)\b": "prints, reports",
    r"stands? (?:in|for|beside|behind|there|alone|twice|once)\b": "is in; means",
    r"so many\b|as ever\b|lest\b|anew\b|in turn\b": "a number; as before; so that … not; again; one at a time",
    r"worth a (?:word|look)\b|a word on\b": "a note",
    r"what (?:is|was) (?:left|asked)\b": "the rest; the request",
    r"\bjudg(?:e|es|ed|ing)\b": "check",
    r"grave(?:st)?\b|doubts?\b|doubtful\b": "severe; warnings",
    r"(?:his|her|its|their|our|your) own (?:accord|making)\b": "by itself",
    r"no wonder\b|alas\b|thereof\b|therein\b|thus\b|hence\b|whence\b|yonder\b": "so; from it",
    r"on the way\b|under way\b|out of its way\b": "in transit; running",
    r"of (?:ours|yours|theirs)\b": "your …; our …",
    # Not "there is no" and not a comparison.
    r"(?<!there )(?:is|are|was|were) no (?!longer|more|less|other|different|better|newer|\d)[a-z]": "is not",
    r"ha(?:s|ve) it that\b|at one with\b|ha(?:s|ve) to say\b|befalls?\b|beware of\b": "states, agrees",
    r"what there is\b|all there is\b|over and over\b|time and again\b|none the less\b|no matter\b": "all, repeatedly",
    r"what(?:so)?ever\b|whichever\b|however (?:many|long|often)\b": "any, regardless of",
    r"strangers?\b|let go\b|lets go\b|its kin\b|dialect of": "another host, an unknown user; removed; similar",
}
# The start of a docstring: a verb, or a noun phrase.
OPENING = re.compile(r'(?:""")(?:What|Who|Whoever|Where|When|Of|How) ')
TEST_NAME = re.compile(
    r"def test_(?:(?:what|who|where|of|whatever)_|\w*(?:no|some|every)body|\w*_(?:for_ever|is_none|said|told)\b)\w*"
)
PATTERNS = [(re.compile(rf"(?<![\w-])(?:{words})", re.IGNORECASE), instead) for words, instead in AVOID.items()]
# Any of the words in a lower-case text. This is many times faster than the single patterns.
CANDIDATE = re.compile(rf"(?<![\w-])(?:{'|'.join(AVOID)})")

# Parts of a text that are not checked, with the reason.
EXCEPTIONS = {
    "docs/style.md": r'(?s:## Words to avoid.*)|"Whoever"|"somebody"',  # lists the words
    "tests/bindings/storage/databases/test_sqlite.py": r"the user nobody",  # the user of Unix
}
OUTPUT = re.compile(r"^```console\n.*?^```$", re.MULTILINE | re.DOTALL)  # comes from the code

TEXTS = [
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]
PAGES = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "templates").rglob("*.html"))]
MODULES = [name for name in tracked() if ROOT / name != Path(__file__)]  # this file contains the words
SOURCES = [
    *("Makefile", "pyproject.toml", "identifiers/data/explanations.json", "identifiers/data/policy-17beta.toml"),
    *(f"static/{path.name}" for path in sorted((ROOT / "static").glob("*")) if path.suffix in (".css", ".js", ".txt")),
    *(
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "templates").rglob("*"))
        if path.suffix in (".css", ".txt")
    ),
]


def words_to_avoid(name: str, text: str) -> list[str]:
    """Return the words of a text that the style excludes, with their lines."""
    text = re.sub(r"`test_\w+`|::test_\w+", "", text)
    text = OUTPUT.sub(lambda match: "\n" * match[0].count("\n"), text)
    if exception := EXCEPTIONS.get(name):
        text = re.sub(exception, lambda match: "\n" * match[0].count("\n"), text)
    found = []
    for pattern, instead in PATTERNS:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{name}:{line}: {match[0]!r}; write: {instead}")
    return found


# A sentence at the end of a line, and one at the beginning of the next. The template drops the line break after a tag
# and the spaces before one (`trim_blocks`, `lstrip_blocks`), so the second begins with `{%+`.
JOINED = re.compile(
    r"""[.?!](?:\{% endtrans %\}|["'][^{}\n]*\}\})(?:\{% end(?:if|for) %\})*(?<=%\})\n"""
    r"""\s*(?:\{% if [^%\n]*%\})*(?:\{% trans|(?<=%\})(?:\{\{ _\(|<code>|<a ))"""
)


def template_prose(source: str) -> str:
    """Return a template without tags, expressions and comments of Jinja, each line at its place."""
    return re.sub(r"(?s)\{%.*?%\}|\{\{.*?\}\}|<[^<>]*>", lambda match: "\n" * match[0].count("\n"), source)


def prose(source: str) -> str:
    """Return the comments and strings of a module, each at its line, without doctests, fields and single words."""
    lines = [""] * (source.count("\n") + 2)
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in kinds and " " in token.string:
            text = re.sub(r"(?m)^ *(?:>>>|\.\.\.) .*$|\{[^{}]*\}|``[^`]*``", "", token.string)
            for offset, line in enumerate(text.split("\n")):
                lines[token.start[0] - 1 + offset] += f" {line}"
    return "\n".join(lines)


def test_texts_use_plain_words():
    assert [word for name in TEXTS for word in words_to_avoid(name, (ROOT / name).read_text("utf-8"))] == []


def test_templates_use_plain_words():
    texts = ((name, template_prose((ROOT / name).read_text("utf-8"))) for name in PAGES)
    assert [word for name, text in texts for word in words_to_avoid(name, text)] == []


def test_sentences_of_templates_are_separated():
    texts = ((name, (ROOT / name).read_text("utf-8")) for name in PAGES)
    assert [f"{name}: {match[0]!r}" for name, text in texts for match in JOINED.finditer(text)] == []


@pytest.mark.parametrize(
    ("source", "is_joined"),
    [
        ("{% trans %}One.{% endtrans %}\n  {% trans %}Two.{% endtrans %}", True),
        ('{% if a %}{{ _("One.") }}{% endif %}\n  {% if b %}{{ _("Two.") }}{% endif %}', True),
        ('{% if a %}{{ _("One.") }}{% endif %}\n{% if b %}<a href="/">Two</a>{% endif %}', True),
        ("{% trans %}One.{% endtrans %}\n  {%+ trans %}Two.{% endtrans %}", False),
        ('{{ _("One.") }}\n  {% trans %}Two.{% endtrans %}', False),
        ("<p>{% trans %}One.{% endtrans %}</p>\n{% if b %}<p>Two.</p>{% endif %}", False),
    ],
)
def test_joined_sentences_are_found(source, is_joined):
    assert bool(JOINED.search(source)) is is_joined


def test_modules_use_plain_words():
    found = []
    for name in MODULES:
        source = read(ROOT / name)
        # To find the comments and strings takes long, and few modules contain any of the words.
        if CANDIDATE.search(source.replace("None", "").lower()):
            found += words_to_avoid(name, prose(source))
        found += [f"{name}: {each!r}; start with a verb or a noun" for each in OPENING.findall(source)]
        found += [f"{name}: {each!r}; name the behaviour that the test checks" for each in TEST_NAME.findall(source)]
    assert found == []


def test_sources_use_plain_words():
    assert [word for name in SOURCES for word in words_to_avoid(name, (ROOT / name).read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("A name that is none.", 1, id="is none"),
        pytest.param("Whoever asks is told.", 2, id="two"),
        pytest.param("The option sets the folder.", 0, id="plain"),
        pytest.param("The test `test_nobody_is_told`.", 0, id="name of a test"),
    ],
)
def test_words_to_avoid_are_found(text, count):
    assert len(words_to_avoid("text", text)) == count
    assert bool(CANDIDATE.search(text.lower())) == bool(count)


def test_exceptions_are_necessary():
    for name, exception in EXCEPTIONS.items():
        text = (ROOT / name).read_text("utf-8")
        assert re.search(exception, text), name


# Attributes of objects of other projects: of WSGI servers and applications, drivers, files and platforms.
FOREIGN_ATTRIBUTES = {
    "backup.py": {"error.sqlite_errorcode"},
    "health.py": {"error.sqlstate"},
    "copy.py": {"os.O_BINARY", "os.O_NONBLOCK"},
    "files.py": {"error.sqlite_errorcode"},
    "sqlite.py": {"error.sqlite_errorcode", "os.pread"},
    "concurrency.py": {"self._parts.close"},
    "fork_safety.py": {"os.register_at_fork"},
    "thread_slots.py": {
        *("sys.modules['uwsgi'].opt", "sys.modules['mod_wsgi'].threads_per_process", "server.pid"),
        *("sys.modules.get('gunicorn.workers.base').Worker", "sys.modules.get('waitress.adjustments').Adjustments"),
    },
    "trusted_proxy.py": {"sys.modules.get(module)[kind]"},
    "text_stream.py": {"file.name"},
    "text_tables.py": {"file.name"},
    "wrong_files.py": {"self._file.peek"},
    "applications.py": {
        *("app.mounts", "app[name]", "each.url_patterns", "pattern._regex", "pattern._route", "route.path"),
        "sys.modules.get(module)[name]",
    },
    "in_process.py": {"body.close", "parts.close"},
    "main.py": {"os.kill", "signal[name]"},
    "options.py": {"os.getuid"},
    "server.py": {"body.close", "select.poll", "signal[name]"},
    "record.py": {"error.lineno"},
    "asgi.py": {"body.close"},
    "well_known.py": {"body.close"},
    "testing.py": {
        *("answer.get_data", "answer.streaming", "headers.multi_items"),
        *("client.base_url", "client.get", "client.url"),
    },
    "connection.py": {"selectors.PollSelector"},
    "keepalive.py": {"events.close"},
    "workbook.py": {"parser.merged_cells.mergeCell"},
}


OPTIONAL = re.compile(r"\b(?:getattr|hasattr)\(")


def optional_attributes(every: Iterable[ast.AST]) -> set[str]:
    """Return the attributes that nodes read by name and that can be missing: getattr with a default, hasattr."""
    found = set()
    for call in (node for node in every if isinstance(node, ast.Call)):
        function = call.func.id if isinstance(call.func, ast.Name) else ""
        if function == "hasattr" or (function == "getattr" and len(call.args) > 2):
            subject, name = call.args[:2]
            literal = isinstance(name, ast.Constant)
            found.add(f"{ast.unparse(subject)}{f'.{name.value}' if literal else f'[{ast.unparse(name)}]'}")
    return found


def test_a_missing_attribute_of_an_own_class_has_no_default():
    # A renamed attribute of an own class would silently have the default.
    folders = [each for each in ROOT.iterdir() if (each / "__init__.py").exists() and each.name != "tests"]
    found: dict[str, set[str]] = {}
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        if OPTIONAL.search(read(path)) and (names := optional_attributes(nodes(path))):
            found.setdefault(path.name, set()).update(names)
    found["testing.py"] = optional_attributes(nodes(ROOT / "testing.py"))
    assert found == FOREIGN_ATTRIBUTES


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param('getattr(a.b, "c", None)', {"a.b.c"}, id="default"),
        pytest.param('hasattr(a, "c")', {"a.c"}, id="hasattr"),
        pytest.param("getattr(a, name, None)", {"a[name]"}, id="variable"),
        pytest.param("getattr(a, name)", set(), id="no default"),
    ],
)
def test_optional_attributes_are_found(source, found):
    assert OPTIONAL.search(source)
    assert optional_attributes(walk(ast.parse(source))) == found


def test_glossary_has_each_term_in_each_language():
    with (ROOT / "docs/glossary.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert len(rows) >= 100
    columns = ["subject", "en", "meaning", "fr", "de", "es", "it", "nl", "pl", "pt"]
    assert [row["en"] for row in rows if list(row) != columns] == [], "a cell is missing, or one too many"
    assert [row["en"] for row in rows if not all(row[name] for name in columns if name != "meaning")] == []
    assert len({row["en"] for row in rows}) == len(rows), "a term has two rows"


# Texts that are printed by commands only, that show a command to visitors, or whose only remedy is a command.
_OF_COMMANDS = {
    *("bindings/digest.py", "bindings/names/error_codes.py", "bindings/checks/verification.py"),
    *("bindings/backups/postgresql_dump.py", "bindings/names/prefixes/texts.py", "identifiers/registries/source.py"),
    *("middleware/http/trusted_proxy.py", "middleware/resolution/settings.py", "middleware/views/presentation.py"),
    *(
        "middleware/edge/apache.py",
        "middleware/edge/caddy.py",
        "middleware/edge/nginx.py",
        "bindings/backups/backup.py",
    ),
    *(
        "bindings/names/metadata/personal_data.py",
        "bindings/storage/databases/sqlite.py",
        "bindings/storage/versions.py",
    ),
    "middleware/views/log_page.py",
}


def test_no_text_of_the_library_has_an_option_of_the_command_line():
    library = ("identifiers/", "bindings/", "spreadsheets/", "net/", "middleware/", "tracing/")
    found = []
    for name in MODULES:
        if name.startswith(library) and name not in _OF_COMMANDS:
            every = nodes(ROOT / name)
            docstrings = {id(each.value) for each in every if isinstance(each, ast.Expr)}
            texts = (each for each in every if isinstance(each, ast.Constant) and id(each) not in docstrings)
            strings = (each for each in texts if isinstance(each.value, str))
            found += [f"{name}:{each.lineno}" for each in strings if re.search(r"\s\S*--[a-z]", str(each.value))]
    assert found == []


def test_each_list_of_the_endings_of_table_files_has_all_of_them():
    texts = [str(each.value) for name in MODULES for each in nodes(ROOT / name) if isinstance(each, ast.Constant)]
    texts += [line for name in (*TEXTS, *PAGES) for line in read(ROOT / name).splitlines()]
    lists = [text for text in texts if ".csv" in text and ".tsv" in text]
    assert len(lists) >= 6
    assert [text for text in lists if any(ending not in text for ending in SUFFIXES)] == []
    stores = [text for text in lists if ".sqlite" in text and ".snapshot" in text]
    assert [text for text in stores if any(ending not in text for ending in DATABASE_SUFFIXES)] == []
    assert client._TABLES.keys() == SUFFIXES.keys()


def test_no_sentence_of_a_docstring_repeats_a_name():
    product = [name for name in MODULES if not name.startswith("tests/")]
    found = {name: [*repetitions(parsed(ROOT / name))] for name in product}
    assert {name: sentences for name, sentences in found.items() if sentences} == {}
