"""Templates show translatable values in the language of the request, wherever an expression can have one."""

from __future__ import annotations

import pytest
from flask import render_template_string

from ararat.identifiers.text.translatable import Translatable
from ararat.webapp import create_app
from ararat.webapp.language.current import use
from ararat.webapp.language.translation import translate

TEXT = Translatable("Sign in")
IN_GERMAN = "Anmelden"

EXPRESSIONS = {
    "a variable": "{{ text }}",
    "an attribute": "{{ thing.text }}",
    "an item": "{{ things['text'] }}",
    "an item by number": "{{ texts[0] }}",
    "a result": "{{ get() }}",
    "a result of a method": "{{ things.get('text') }}",
    "a condition": "{{ text if true else 'x' }}",
    "a condition with a constant": "{{ 'x' if false else text }}",
    "a condition without else": "{{ text if true }}",
    "an alternative": "{{ none or text }}",
    "a conjunction": "{{ true and text }}",
    "a filter": "{{ none | default(text, true) }}",
    "the first of a list": "{{ texts | first }}",
    "a loop": "{% for each in texts %}{{ each }}{% endfor %}",
    "an assignment": "{% set other = text %}{{ other }}",
    "a block of an assignment": "{% set other %}{{ text }}{% endset %}{{ other }}",
    "a macro": "{% macro show(value) %}{{ value }}{% endmacro %}{{ show(text) }}",
    "a macro with a default": "{% macro show(value=text) %}{{ value }}{% endmacro %}{{ show() }}",
    "a call of a macro": "{% macro show() %}{{ caller() }}{% endmacro %}{% call show() %}{{ text }}{% endcall %}",
    "a block of a filter": "{% filter trim %}{{ text }}{% endfilter %}",
    "an attribute of HTML": "<a title='{{ text }}'>",
    "a statement with values": "{% with value = text %}{{ value }}{% endwith %}",
    "a text of the template": "{{ _('Sign in') }}",
    "a text in a block": "{% trans %}Sign in{% endtrans %}",
    "a value in a text": "{{ _('%(page)s - Ararat', page=text | translated) }}",
}


class Thing:
    text = TEXT


@pytest.fixture(scope="module")
def app():
    return create_app()


@pytest.mark.one_setup
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_value_is_shown_in_the_language_of_the_request(app, expression):
    values = {"text": TEXT, "thing": Thing(), "things": {"text": TEXT}, "texts": [TEXT], "get": lambda: TEXT}
    with app.test_request_context("/"), use("de"):
        shown = render_template_string(EXPRESSIONS[expression], **values)
    assert IN_GERMAN in shown
    assert "Sign in" not in shown


def test_a_value_of_a_user_is_escaped_after_its_translation(app):
    text = Translatable("%(page)s - Ararat", page="<b>")
    with app.test_request_context("/"):
        assert render_template_string("{{ text }}", text=text) == "&lt;b&gt; - Ararat"


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("{{ 1 }}{{ 'a' }}{{ 1 + 1 }}{{ 1 == 2 }}{{ 'a' ~ text }}{{ not text }}", 0),
        ("{{ url_for('inspect.page') }}{{ _('Sign in') }}{% trans %}Sign in{% endtrans %}", 0),
        ("{% macro m() %}x{% endmacro %}{{ m() }}", 0),
        ("{% from 'inspector/_lines.html' import copy %}{{ copy('', 'x') }}", 0),
        ("{% for each in [1] %}{{ loop.index }}{% endfor %}{{ 'x' if text else 'y' }}", 0),
        ("{{ text }}{{ text or 'x' }}{{ 'x' if true else text }}", 3),
    ],
    ids=["operators", "functions of texts", "macros", "imported macros", "numbers", "values"],
)
def test_the_translation_is_asked_only_where_a_value_can_need_it(expression, number):
    asked = []
    app = create_app()
    app.jinja_env.filters["translated"] = lambda value: asked.append(value) or translate(value)
    with app.test_request_context("/"):
        render_template_string(expression, text=TEXT)
    assert len(asked) == number


def test_a_page_asks_for_its_language_once():
    app = create_app()
    asked = []
    choose = app.extensions["ararat_language"]
    app.extensions["ararat_language"] = lambda: asked.append(1) or choose()
    page = app.test_client().get("/?q=ark:12345/x5", headers={"Accept-Language": "de"})
    assert page.content_language.as_set() == {"de"}
    assert asked == [1]
