"""A page where one looks at it: below the cell of a notebook, or in the browser."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from permed_measures.markup import as_html


@dataclass(frozen=True)
class PageInNotebook:
    """A page that a notebook shows below a cell.

    Attributes
    ----------
    text : str
        The page.
    title : str
        Read to those who do not see it.
    height : int
        In pixels.
    """

    text: str = field(repr=False)
    title: str
    height: int = 800

    def _repr_html_(self) -> str:
        # Within the notebook, which may be read elsewhere; without a base, #links would load the notebook.
        text = self.text.replace("<head>", '<head><base href="about:srcdoc">', 1)
        return (
            f'<iframe srcdoc="{escape(text)}" title="{as_html(self.title)}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


class Shown:
    """What can be shown as a page, by `show`."""

    def show(self) -> PageInNotebook | Path:
        """Show the page ``html``: in a notebook below the cell, otherwise in the browser.

        Returns
        -------
        PageInNotebook or Path
            What a notebook shows, or the temporary file that the browser opened.

        Raises
        ------
        InputError
            If Jinja2 or vl-convert is missing.
        """
        return display(self.to("html"), repr(self))

    def to(self, form: str) -> str:
        """Write it in a format."""
        raise NotImplementedError


def display(text: str, title: str) -> PageInNotebook | Path:
    """Return what a notebook shows, or open the page in the browser and return its temporary file."""
    if _in_notebook():
        return PageInNotebook(text, title)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="permed-measures-", suffix=".html", delete=False
    ) as file:  # which stays: the browser reads it later
        file.write(text)
    path = Path(file.name)
    webbrowser.open(path.as_uri())
    return path


def _in_notebook() -> bool:
    """Return whether this runs in a kernel that shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config
