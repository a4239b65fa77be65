"""The pages of one-time links: create the first administrator, or set the password of an account.
A link is a secret, so its pages send no address to other sites and are never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from flask import Blueprint, Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ...identifiers.text.translatable import Translatable, join_texts
from ..accounts import csrf, first_account, identify, passwords
from ..accounts.model import Account, AccountError
from ..config import site
from ..errors import HTTPRefusal
from ..navigation import page_title
from ..report.verdict import capital
from ..responses import forbid_caches
from .sign_in import begin

blueprint = Blueprint("one_time_links", __name__)
blueprint.after_request(forbid_caches)

_USED = Translatable("This link was used, has expired, or is not complete.")


@blueprint.get("/first-account/<secret>")
def first(secret: str) -> str:
    """Return the HTML page with the form for the first administrator, or 404 for a wrong or used link."""
    _require_first(secret)
    return _page("", is_first=True)


@blueprint.post("/first-account/<secret>")
def add_first(secret: str) -> AnyResponse:
    """Create the first administrator with the name and password in the form, and sign in, or show the form again."""
    csrf.require_own_form()
    link, accounts = _require_first(secret), site().accounts
    # identify.accounts() answers 404 until an account exists.
    assert accounts is not None, "a site without a database has no first account"  # noqa: S101
    name = request.form.get("name", "").strip()
    return _apply_change(name, lambda: link.add(accounts, name, request.form.get("password", "")), is_first=True)


@blueprint.get("/set-password/<secret>")
def choose(secret: str) -> str:
    """Return the page with the form to set the password of an account, or 404 for a wrong or used link."""
    return _page(_of_link(secret).name, is_first=False)


@blueprint.post("/set-password/<secret>")
def set_password(secret: str) -> AnyResponse:
    """Set the password of the account of a one-time link, and sign in, or show the form and its errors (422)."""
    csrf.require_own_form()
    account = _of_link(secret)

    def make() -> Account:
        return identify.accounts().use_link(secret, request.form.get("password", "")) or _of_link(secret)

    return _apply_change(account.name, make)


def _of_link(secret: str) -> Account:
    account = identify.accounts().of_link(secret)
    if account is None:
        message = join_texts(_USED, Translatable("Ask an administrator for a new one."))
        raise HTTPRefusal(HTTPStatus.NOT_FOUND, "link-used", message)
    return account


def _require_first(secret: str) -> first_account.FirstLink:
    link = first_account.link()
    if link is None or not link.is_right(secret) or not first_account.is_missing():
        raise HTTPRefusal(
            HTTPStatus.NOT_FOUND, "link-used", join_texts(_USED, Translatable("If you have an account, sign in."))
        )
    if not first_account.is_private():
        message = Translatable("This link works only over https, or in a browser on the machine of the server.")
        raise HTTPRefusal(HTTPStatus.FORBIDDEN, "link-insecure", message)
    return link


def _apply_change(name: str, make: Callable[[], Account], *, is_first: bool = False) -> AnyResponse:
    """Make a change with the password of the form, and sign in to its account. Show the form again with an error."""
    problem = None
    if request.form.get("password", "") != request.form.get("again", ""):
        problem = "password", Translatable("The passwords are different. Enter the same password twice.")
    else:
        try:
            return begin(make(), None)
        except AccountError as error:
            field = "password" if error.code.startswith("password") else "name"
            problem = field, join_texts(capital(error.message), capital(error.fix))
        except passwords.PasswordsBusy:
            message = Translatable("Too many passwords are checked at this moment. Try again in some seconds.")
            raise HTTPRefusal(HTTPStatus.SERVICE_UNAVAILABLE, "sign-in-busy", message, retry_after=5) from None
    return Response(_page(name, is_first=is_first, problem=problem), HTTPStatus.UNPROCESSABLE_ENTITY)


def _page(name: str, *, is_first: bool, problem: tuple[str, str] | None = None) -> str:
    heading = Translatable("Create the first administrator") if is_first else Translatable("Choose your password")
    return render_template(
        "inspector/one_time_link.html",
        title=page_title(Translatable("Error: %(page)s", page=heading) if problem else heading),
        heading=heading,
        name=name,
        is_first=is_first,
        problem=problem,
        token=csrf.form_token(),
    )
