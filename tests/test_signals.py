"""Run the examples of docs/signals.md in sites with Django and SQLAlchemy."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ararat.middleware import Bindings, open_bindings

PAGE = (Path(__file__).parents[1] / "docs" / "signals.md").read_text("utf-8")
DJANGO_MODELS = """
from django.db import models

class Item(models.Model):
    ark = models.TextField(default="", editable=False)
    slug = models.TextField()
    published = models.BooleanField(default=False)

    class Meta:
        app_label = "collection"

    def get_absolute_url(self):
        return f"/objects/{self.slug}"
"""
DJANGO_START = """
import django
from pathlib import Path
from django.conf import settings
database = {"ENGINE": "django.db.backends.sqlite3", "NAME": "site.sqlite"}
settings.configure(BASE_DIR=Path.cwd(), INSTALLED_APPS=["collection"], DATABASES={"default": database})
django.setup()
from collection import signals
from collection.models import Item
from django.db import connection, transaction
with connection.schema_editor() as editor:
    editor.create_model(Item)

class Failure(Exception):
    pass
"""
SQLALCHEMY_MODELS = """
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# A pool of one connection: a listener that needs a second one fails.
engine = create_engine("sqlite:///site.sqlite", pool_size=1, max_overflow=0, pool_timeout=2)

class Base(DeclarativeBase):
    pass

class Item(Base):
    __tablename__ = "item"
    id: Mapped[int] = mapped_column(primary_key=True)
    ark: Mapped[str] = mapped_column(default="")
    slug: Mapped[str]
    published: Mapped[bool] = mapped_column(default=False)

    @property
    def url(self):
        return f"/objects/{self.slug}"

Base.metadata.create_all(engine)
"""
SQLALCHEMY_START = """
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session
from collection import events as signals
from collection.models import Item, engine
session = Session(engine)
"""


class Site:
    """A site with the package ``collection``, whose names are in ``bindings``. ``fork`` runs its code."""

    def __init__(self, folder: Path, bindings: Bindings, start: str, fork: Callable[..., Any]) -> None:
        self.folder = folder
        self.bindings = bindings
        self.start = start
        self.log = ""
        self._fork = fork

    def run(self, code: str) -> list[str]:
        """Run code in the site. Return the lines that it prints; its log goes to ``log``."""
        done = self._fork(sys.executable, "-c", f"{self.start}\n{code}", folder=self.folder)
        self.log = done.stderr.decode()
        assert done.returncode == 0, self.log
        return done.stdout.decode().splitlines()

    def states(self) -> list[tuple[str, str | None]]:
        """Return the state and the target of each recorded name."""
        return sorted((name.status, name.target) for name in self.bindings.list_names().names)


def example(heading: str) -> str:
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    [code] = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return code


def actions(bindings: Bindings, ark: str) -> list[str]:
    return [event.action for event in bindings.history(ark)]


@pytest.fixture
def create_site(tmp_path, run_command):
    package = tmp_path / "collection"
    package.mkdir()
    (package / "__init__.py").touch()
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:

        def create(models: str, module: str, heading: str, start: str) -> Site:
            (package / "models.py").write_text(models, "utf-8")
            (package / f"{module}.py").write_text(example(heading), "utf-8")
            return Site(tmp_path, bindings, start, run_command)

        yield create


@pytest.fixture
def django(create_site) -> Site:
    return create_site(DJANGO_MODELS, "signals", "Django", DJANGO_START)


@pytest.fixture
def sqlalchemy(create_site) -> Site:
    return create_site(SQLALCHEMY_MODELS, "events", "SQLAlchemy", SQLALCHEMY_START)


# Django --------------------------------------------------------------------------------------------------------------


def test_django_mints_on_publish_relocates_with_a_new_slug_and_withdraws_on_delete(django):
    [ark] = django.run("""
item = Item(slug="a")
item.save()
assert item.ark == ""
item.published = True
item.save(update_fields=["published"])
assert Item.objects.get().ark == item.ark
item.save()
print(item.ark)
item = Item.objects.get()
item.slug = "b"
item.save()
item.published = False
item.slug = "unpublished"
item.save()
item.delete()
""")
    assert ark.startswith("ark:12345/x5")
    assert actions(django.bindings, ark) == ["reserved", "bound", "relocated", "withdrawn"]
    binding = django.bindings.lookup(ark)
    assert (binding.target, binding.reason, binding.resource) == ("/objects/b", "deleted from the collection", "item 1")


def test_django_rollback_leaves_a_new_name_reserved_and_changes_no_binding(django):
    [ark, again] = django.run("""
item = Item.objects.create(slug="a", published=True)
print(item.ark)
new = Item(slug="new", published=True)
try:
    with transaction.atomic():
        item.slug = "b"
        item.save()
        new.save()
        Item.objects.get(slug="b").delete()
        raise Failure
except Failure:
    pass
new.save(force_insert=True)
print(new.ark)
""")
    assert actions(django.bindings, ark) == ["reserved", "bound"]
    # The object keeps the name that was minted before the rollback.
    assert actions(django.bindings, again) == ["reserved", "bound"]
    assert django.states() == [("live", "/objects/a"), ("live", "/objects/new")]


def test_django_binds_the_committed_row_also_with_savepoints(django):
    django.run("""
item = Item.objects.create(slug="a", published=True)
with transaction.atomic():
    item.slug = "b"
    item.save()
    try:
        with transaction.atomic():
            item.slug = "c"
            item.save()
            Item.objects.create(slug="undone", published=True)
            raise Failure
    except Failure:
        pass
    Item.objects.create(slug="brief", published=True).delete()
    item.slug = "not saved"
assert Item.objects.get().slug == "b"
""")
    # The names of rows that were never committed are not public.
    assert django.states() == [("live", "/objects/b"), ("reserved", None), ("reserved", None)]


def test_django_update_all_names_the_objects_of_bulk_changes(django):
    names = django.run("""
Item.objects.bulk_create(Item(slug=slug, published=True) for slug in "abc")
Item.objects.create(slug="draft")
signals.update_all()
signals.update_all()
Item.objects.filter(slug="a").update(slug="z")
signals.update_all()
print(*Item.objects.exclude(ark="").values_list("ark", flat=True), sep="\\n")
Item.objects.all().delete()
""")
    histories = sorted(actions(django.bindings, name) for name in names)
    kept = ["reserved", "bound", "withdrawn"]
    assert histories == [["reserved", "bound", "relocated", "withdrawn"], kept, kept]
    assert len(django.states()) == 3


def test_django_saves_the_page_while_bindings_are_unavailable_and_update_all_repeats_the_changes(django):
    names = django.run("""
old = Item.objects.create(slug="old", published=True)
gone = Item.objects.create(slug="gone", published=True)
Path("bindings.sqlite").rename("away.sqlite")
signals.bindings.close()
old.slug = "moved"
old.save()
ark = gone.ark
gone.delete()
new = Item.objects.create(slug="new", published=True)
assert new.ark == ""
Path("away.sqlite").rename("bindings.sqlite")
signals.bindings = signals.open_bindings("bindings.sqlite")
signals.update_all()
signals.update_binding(ark)
new.refresh_from_db()
print(old.ark, ark, new.ark, sep="\\n")
""")
    for problem in (
        f"{names[0]} is not up to date",
        f"{names[1]} is not up to date",
        "Item 3 is published without a name",
    ):
        assert problem in django.log
    assert [actions(django.bindings, name)[-1] for name in names] == ["relocated", "withdrawn", "bound"]


def test_django_reads_the_row_again_if_another_process_changed_the_name(django):
    [ark] = django.run("""
item = Item.objects.create(slug="a", published=True)
lookup = signals.bindings.lookup
def lookup_before_another_process(ark):
    found = lookup(ark)
    signals.bindings.lookup = lookup
    Item.objects.filter(ark=ark).update(slug="c")
    signals.update_binding(ark)
    return found
signals.bindings.lookup = lookup_before_another_process
item.slug = "b"
item.save()
print(item.ark)
""")
    assert actions(django.bindings, ark) == ["reserved", "bound", "relocated"]
    assert django.bindings.lookup(ark).target == "/objects/c"
    assert django.log == ""


def test_wagtail_signal_binds_the_published_page_after_the_commit(django):
    """Send the signal of Wagtail, an object of Django, for a page. Wagtail itself is not installed."""
    wagtail = django.folder / "wagtail"
    wagtail.mkdir()
    (wagtail / "__init__.py").touch()
    (wagtail / "signals.py").write_text("from django.dispatch import Signal\npage_published = Signal()\n", "utf-8")
    (django.folder / "collection" / "pages.py").write_text(example("Wagtail"), "utf-8")
    django.run("""
from types import SimpleNamespace
from collection import pages
for slug in "ab":
    page = SimpleNamespace(pk=7, full_url=f"https://example.org/{slug}")
    pages.page_published.send(sender=None, instance=page)
try:
    with transaction.atomic():
        page.full_url = "https://example.org/undone"
        pages.page_published.send(sender=None, instance=page)
        raise Failure
except Failure:
    pass
""")
    assert actions(django.bindings, "ark:12345/p7") == ["bound", "relocated"]
    assert django.states() == [("live", "https://example.org/b")]


# SQLAlchemy ----------------------------------------------------------------------------------------------------------


def test_sqlalchemy_mints_on_publish_relocates_with_a_new_slug_and_withdraws_on_delete(sqlalchemy):
    [ark] = sqlalchemy.run("""
item = Item(slug="a")
session.add(item)
session.commit()
assert item.ark == ""
item.published = True
session.commit()
print(item.ark)
item.slug = "b"
session.flush()
assert signals.bindings.lookup(item.ark).target == "/objects/a"
session.commit()
session.delete(item)
session.commit()
""")
    assert ark.startswith("ark:12345/x5")
    assert actions(sqlalchemy.bindings, ark) == ["reserved", "bound", "relocated", "withdrawn"]
    binding = sqlalchemy.bindings.lookup(ark)
    assert (binding.target, binding.reason, binding.resource) == ("/objects/b", "deleted from the collection", "item 1")


def test_sqlalchemy_rollback_leaves_a_new_name_reserved_and_changes_no_binding(sqlalchemy):
    [ark] = sqlalchemy.run("""
item = Item(slug="a", published=True)
session.add(item)
session.commit()
print(item.ark)
item.slug = "b"
session.add(Item(slug="undone", published=True))
session.flush()
session.delete(item)
session.flush()
session.rollback()
session.add(Item(slug="draft"))
session.commit()
""")
    assert actions(sqlalchemy.bindings, ark) == ["reserved", "bound"]
    assert sqlalchemy.states() == [("live", "/objects/a"), ("reserved", None)]


def test_sqlalchemy_binds_the_committed_row_also_with_savepoints(sqlalchemy):
    sqlalchemy.run("""
item = Item(slug="a", published=True)
session.add(item)
session.commit()
ark = item.ark
item.slug = "b"
with session.begin_nested():
    session.add(Item(slug="inner", published=True))
assert signals.bindings.lookup(ark).target == "/objects/a"
savepoint = session.begin_nested()
item.slug = "c"
session.add(Item(slug="undone", published=True))
session.flush()
savepoint.rollback()
session.commit()
""")
    assert sqlalchemy.states() == [("live", "/objects/b"), ("live", "/objects/inner"), ("reserved", None)]


def test_sqlalchemy_update_all_names_the_rows_of_bulk_statements(sqlalchemy):
    names = sqlalchemy.run("""
rows = [{"slug": slug, "published": True} for slug in "abc"]
session.execute(insert(Item), [*rows, {"slug": "draft", "published": False}])
session.commit()
signals.update_all()
signals.update_all()
session.execute(update(Item).where(Item.slug == "a").values(slug="z"))
session.commit()
signals.update_all()
names = session.scalars(select(Item.ark).where(Item.ark != "")).all()
session.execute(delete(Item))
session.commit()
for name in names:
    signals.update_binding(name)
    print(name)
""")
    histories = sorted(actions(sqlalchemy.bindings, name) for name in names)
    kept = ["reserved", "bound", "withdrawn"]
    assert histories == [["reserved", "bound", "relocated", "withdrawn"], kept, kept]
    assert len(sqlalchemy.states()) == 3


def test_sqlalchemy_commits_while_bindings_are_unavailable_and_update_all_repeats_the_changes(sqlalchemy):
    names = sqlalchemy.run("""
from pathlib import Path
old, gone = Item(slug="old", published=True), Item(slug="gone", published=True)
session.add_all([old, gone])
session.commit()
ark = gone.ark
Path("bindings.sqlite").rename("away.sqlite")
signals.bindings.close()
old.slug = "moved"
new = Item(slug="new", published=True)
session.add(new)
session.delete(gone)
session.commit()
assert new.ark == ""
session.commit()
Path("away.sqlite").rename("bindings.sqlite")
signals.bindings = signals.open_bindings("bindings.sqlite")
signals.update_all()
signals.update_binding(ark)
print(old.ark, ark, new.ark, sep="\\n")
""")
    for problem in (
        f"{names[0]} is not up to date",
        f"{names[1]} is not up to date",
        "/objects/new is published without",
    ):
        assert problem in sqlalchemy.log
    assert [actions(sqlalchemy.bindings, name)[-1] for name in names] == ["relocated", "withdrawn", "bound"]


def test_sqlalchemy_reads_the_row_again_if_another_process_changed_the_name(sqlalchemy):
    [ark] = sqlalchemy.run("""
item = Item(slug="a", published=True)
session.add(item)
session.commit()
ark = item.ark
lookup = signals.bindings.lookup
def lookup_before_another_process(ark):
    found = lookup(ark)
    signals.bindings.lookup = lookup
    with Session(engine) as other:
        other.execute(update(Item).where(Item.ark == ark).values(slug="c"))
        other.commit()
    signals.update_binding(ark)
    return found
signals.bindings.lookup = lookup_before_another_process
item.slug = "b"
session.commit()
print(ark)
""")
    assert actions(sqlalchemy.bindings, ark) == ["reserved", "bound", "relocated"]
    assert sqlalchemy.bindings.lookup(ark).target == "/objects/c"
    assert sqlalchemy.log == ""
