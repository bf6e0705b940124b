"""A page in one file: a template with the style, and if it has data the scripts, plots and data."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from permed_measures import __version__
from permed_measures.errors import InputError
from permed_measures.markup import as_json, one_line
from permed_measures.pages.words import page_words

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("page.js", "tables.js")
"""What every page with data has, in this order; a page may have more, and ``start.js`` comes last."""


def page(
    template: str,
    title: str,
    content: dict[str, Any],
    data: dict[str, Any] | None = None,
    scripts: Iterable[str] = (),
    plots: bool = True,
) -> str:
    """Write a page.

    Parameters
    ----------
    template : str
        The name of one of the templates.
    title : str
    content : dict
        What the template shows. Text is escaped; markupsafe.Markup is HTML already.
    data : dict of what JSON can hold, optional
        For the scripts; a page without data has no script.
    scripts : iterable of str
        Names of scripts of this page.
    plots : bool
        Whether scripts draw plots; a page without is small.

    Raises
    ------
    InputError
        If Jinja2 is missing, or vl-convert where scripts draw plots.
    """
    words = page_words()
    plotting = [_plotting()] if plots and data is not None else []
    names = [*SCRIPTS, *(["plots.js"] if plots else []), *scripts, "start.js"]
    code = [] if data is None else ["\n".join(map(_static, names))]
    known = {
        "title": one_line(title),
        "words": words,
        "version": __version__,
        "style": as_markup(_static("style.css")),
        "scripts": [*map(as_markup, [*plotting, *code])],
        "data": "" if data is None else packed({**data, "words": words}),
    }
    return _environment().get_template(template).render({**known, **content}) + "\n"


def check_installed() -> None:
    """Raise InputError if Jinja2 is missing, without which there is no page."""
    _environment()


def packed(data: Any) -> str:
    """Pack what JSON can hold for a script element: gzip in base64, which has no markup."""
    text = as_json(data, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(errors="backslashreplace"), mtime=0)).decode()


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise _missing("Jinja2") from None
    return Environment(
        loader=PackageLoader("permed_measures.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: one_line(value) if type(value) is str else value,
    )


@cache
def _plotting() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script, which sets vegaEmbed on the window."""
    try:
        import vl_convert
    except ImportError:
        raise _missing("vl-convert-python") from None
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def drawn(spec: dict[str, Any], width: int = 460) -> str:
    """Draw a plot as SVG, for what has no scripts.

    Raises
    ------
    InputError
        If vl-convert is missing.
    """
    try:
        import vl_convert
    except ImportError:
        raise _missing("vl-convert-python") from None
    config = {**spec["config"], "font": _MEASURED}
    drawn = vl_convert.vegalite_to_svg({**spec, "width": width, "config": config})
    return str(drawn).replace(f'font-family="{_MEASURED}"', f'font-family="{spec["config"]["font"]}"')


_MEASURED = "DejaVu Sans"
"""The font by which text is given room: hardly one that a browser may take is wider."""


def _missing(package: str) -> InputError:
    return InputError(
        f"an HTML page needs {package}",
        hint="pip install jinja2 vl-convert-python (in a checkout: pip install '.[report]')",
    )


def _static(name: str) -> str:
    return files("permed_measures.pages").joinpath("static", name).read_text(encoding="utf-8")


def as_markup(html: str) -> Any:
    """Return HTML of our own as what a template shows without escaping it."""
    try:
        from markupsafe import Markup
    except ImportError:  # Jinja2 brings it
        raise _missing("Jinja2") from None
    return Markup(html)
