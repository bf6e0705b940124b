r"""Write sentences with formulas, names and citations as plain text, Markdown or LaTeX, with references.

A sentence has ``$a / b$`` for a formula in LaTeX, ``$$a / b$$`` for a formula on its own line, and ``[@key]``
or ``[@key; @key]`` for works of ``references.toml``. Put foreign text, such as names of files, into a
sentence only by `literal` or `plain_text`, which escape it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from permed_measures.escaping import as_latex, as_markdown, one_line
from permed_measures.results.latex import required_packages
from permed_measures.terminal import paragraph
from permed_measures.wording import join_names


class Paragraph(NamedTuple):
    """A heading with sentences."""

    heading: str
    sentences: Sequence[str]


def literal(text: str) -> str:
    r"""Escape a name for a sentence; formats write it as code.

    >>> print(literal("a`b\\c"))
    `a\`b\\c`
    """
    return "`" + re.sub(r"([`\\])", r"\\\1", one_line(text)) + "`"


def plain_text(text: str) -> str:
    r"""Escape text for a sentence, so that it has no formula, name or citation.

    >>> print(plain_text("[@x] $5"))
    \[@x] \$5
    """
    return re.sub(r"([`\\$\[])", r"\\\1", one_line(text))


def cited_in(paragraphs: Iterable[Paragraph]) -> list[str]:
    """List the keys of the cited works, each once, in the order of their first citation."""
    pieces = (piece for part in paragraphs for text in part.sentences for piece in _pieces(text))
    return list(dict.fromkeys(key for kind, text in pieces if kind == "cite" for key in _keys(text)))


_PIECE = re.compile(
    r"\$\$(?P<display>.+?)\$\$(?P<stop>[.,]?)|\$(?P<math>.+?)\$|`(?P<name>(?:[^`\\]|\\.)*)`"
    r"|(?P<space> ?)\[@(?P<cite>[a-z0-9@; ]+)\]|(?P<text>(?:[^$`\[\\ ]|\\.| (?!\[@))+|\[)"
)


def _pieces(sentence: str) -> Iterator[tuple[str, str]]:
    """Split a sentence into pieces, each with its kind."""
    for match in _PIECE.finditer(sentence):
        if match["display"]:
            yield "display", match["display"] + match["stop"]
        elif match["math"]:
            yield "math", match["math"]
        elif match["cite"]:
            yield "cite", match["cite"]
        elif match["name"] is not None:
            yield "name", re.sub(r"\\(.)", r"\1", match["name"])
        else:
            yield "text", re.sub(r"\\(.)", r"\1", match["text"])


def _keys(citation: str) -> list[str]:
    return [key.strip().removeprefix("@") for key in citation.split(";")]


# --- works -----------------------------------------------------------------------------------------------


@cache
def references() -> dict[str, dict[str, Any]]:
    """Read the bibliographic data of all works, by key."""
    path = files("permed_measures.results").joinpath("references.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def short_citation(key: str) -> str:
    """Name a work by its authors and year.

    >>> short_citation("jarvelin2002cumulated"), short_citation("chapelle2009expected")
    ('Järvelin and Kekäläinen, 2002', 'Chapelle et al., 2009')
    """
    work = references()[key]
    names = [name.partition(",")[0] for name in work["author"]]
    return f"{join_names(names) if len(names) <= 2 else f'{names[0]} et al.'}, {work['year']}"


def long_reference(key: str) -> str:
    """Write a work for a list of references.

    >>> print(long_reference("vanrijsbergen1979"))
    van Rijsbergen, C. J. Information Retrieval, 2nd edition. Butterworths, 1979.
    """
    work = references()[key]
    venue = work.get("journal") or work.get("booktitle") or work.get("howpublished") or work.get("publisher")
    volume = f" {work['volume']}" if "volume" in work else ""
    number = f"({work['number']})" if "number" in work else ""
    pages = f", {work['pages'].replace('--', chr(0x2013))}" if "pages" in work else ""
    chapter = f", chapter {work['chapter']}" if "chapter" in work else ""
    edition = f", {work['edition']} edition" if "edition" in work else ""
    title = f"{'; '.join(work['author']).rstrip('.')}. {work['title']}{edition}."
    return f"{title} {venue}{volume}{number}{chapter}{pages}, {work['year']}."


_ACCENTS = str.maketrans({"ä": r"{\"a}", "ö": r"{\"o}", "ü": r"{\"u}", "&": r"\&", "_": r"\_"})


def bibtex(keys: Iterable[str]) -> str:
    r"""Write works for BibTeX, with accents that any LaTeX reads.

    >>> print(bibtex(["harman1992evaluation"]), end="")
    @article{harman1992evaluation,
      author = {Harman, Donna},
      title = {{Evaluation issues in information retrieval}},
      journal = {Information Processing and Management},
      volume = {28},
      number = {4},
      pages = {439--440},
      year = {1992},
    }
    """
    return "\n".join(map(_entry, keys))


def _entry(key: str) -> str:
    kind, *fields = references()[key].items()
    lines = [f"@{kind[1]}{{{key},"]
    for name, value in fields:
        text = " and ".join(value) if name == "author" else str(value)
        text = text if name == "doi" else text.translate(_ACCENTS)
        lines.append(f"  {name} = {{{f'{{{text}}}' if name == 'title' else text}}},")
    return "\n".join([*lines, "}\n"])


# --- formats ---------------------------------------------------------------------------------------------


def _as_text(paragraphs: Sequence[Paragraph]) -> str:
    """Write paragraphs in plain text, as wide as the terminal, with references below."""
    written: dict[str, Callable[[str], str]] = {
        "display": lambda formula: f"\n\n    {plain_math(formula)}\n\n",
        "math": plain_math,
        "cite": _in_brackets,
        "name": str,
        "text": str,
    }
    texts = []
    for part in paragraphs:
        blocks = f"{part.heading}. {_joined(part, written)}".split("\n\n")
        texts += [block if block.startswith("    ") else paragraph(block.strip()) for block in blocks]
    if keys := _sorted_keys(paragraphs):
        texts += ["References", *(paragraph(long_reference(key), 2) for key in keys)]
    return "\n\n".join(texts) + "\n"


def _as_markdown(paragraphs: Sequence[Paragraph]) -> str:
    """Write paragraphs in Markdown, with formulas between dollar signs and references below."""
    written: dict[str, Callable[[str], str]] = {
        "display": lambda formula: f"\n\n$${formula}$$\n\n",
        "math": lambda formula: f"${formula}$",
        "cite": _in_brackets,
        "name": _code_span,
        "text": _markdown_text,
    }
    texts = [f"**{part.heading}.** {_joined(part, written)}" for part in paragraphs]
    works = [f"- {as_markdown(long_reference(key))}" for key in _sorted_keys(paragraphs)]
    texts += ["**References**", "\n".join(works)] if works else []
    return re.sub(r" *\n\n *", "\n\n", "\n\n".join(texts)) + "\n"


def _as_latex(paragraphs: Sequence[Paragraph]) -> str:
    r"""Write paragraphs in LaTeX, with each sentence on its own line and citations by ``\cite``."""
    written: dict[str, Callable[[str], str]] = {
        "display": lambda formula: f"\n\\[ {formula} \\]\n",
        "math": lambda formula: f"${formula}$",
        "cite": lambda keys: rf"~\cite{{{','.join(_keys(keys))}}}",
        "name": _latex_name,
        "text": as_latex,
    }
    texts = [
        text for part in paragraphs for s in part.sentences for kind, text in _pieces(s) if kind in _WORDS
    ]
    lines = [
        required_packages(texts, r"\usepackage{amsmath}"),
        "% its references: --methods bibtex, or methods('bibtex')",
    ]
    for part in paragraphs:
        sentences = ["".join(written[kind](text) for kind, text in _pieces(s)) for s in part.sentences]
        lines += [rf"\paragraph{{{as_latex(part.heading)}.}}", *sentences, ""]
    text = re.sub(r" *\n *", "\n", "\n".join(lines))
    return re.sub(r"\\\]\n+", r"\\]\n", text).rstrip() + "\n"


_WORDS = ("name", "text")


def _latex_name(text: str) -> str:
    r"""Write a name as code in LaTeX; a long one, such as of a file, may be broken at its signs.

    >>> print(_latex_name("a_b"), _latex_name("query_to_texts"))
    \texttt{a\_b} \texttt{query\_\allowbreak{}to\_\allowbreak{}texts}
    """
    name = as_latex(text)
    if len(text) > _MAX_UNBROKEN:
        name = re.sub(r"(\\_|[-/.:])(?=\w)", r"\1\\allowbreak{}", name)
    return rf"\texttt{{{name}}}"


_MAX_UNBROKEN = 12
"""The number of characters of a name that stays on one line."""


def _joined(part: Paragraph, written: dict[str, Callable[[str], str]]) -> str:
    texts = ("".join(written[kind](text) for kind, text in _pieces(s)).strip(" ") for s in part.sentences)
    return " ".join(texts)


def _sorted_keys(paragraphs: Sequence[Paragraph]) -> list[str]:
    return sorted(cited_in(paragraphs), key=lambda key: (short_citation(key).lower(), key))


def _in_brackets(citation: str) -> str:
    return f" ({'; '.join(map(short_citation, _keys(citation)))})"


def _code_span(text: str) -> str:
    r"""Write a name as code in Markdown.

    >>> print(_code_span("a"), _code_span("a`b"), _code_span("`a"))
    `a` ``a`b`` `` `a ``
    """
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    edge = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{edge}{text}{edge}{fence}"


def _markdown_text(text: str) -> str:
    before, after = (" " * (text != stripped) for stripped in (text.lstrip(" "), text.rstrip(" ")))
    return f"{before}{as_markdown(text)}{after}" if text.strip() else text


PROSE_FORMATS: dict[str, Callable[[Sequence[Paragraph]], str]] = {
    "text": _as_text,
    "markdown": _as_markdown,
    "latex": _as_latex,
    "bibtex": lambda paragraphs: bibtex(cited_in(paragraphs)),
}
"""The formats of paragraphs; ``bibtex`` has the cited works."""


# --- formulas without LaTeX ------------------------------------------------------------------------------

_SIGNS = {
    **{
        r"\sum": "Σ",
        r"\prod": "Π",
        r"\max": "max",
        r"\min": "min",
        r"\log_2": "log2",
        r"\ge": "≥",
        r"\le": "≤",
    },
    **{r"\in": "in", r"\dots": "…", r"\beta": "β", r"\epsilon": "ε", r"\cdot": "·", r"\lfloor": "floor("},
    **{r"\rfloor": ")", r"\left": "", r"\right": "", r"\,": " ", r"\ ": " ", r"\pm": "±", r"\tau": "tau"},
}
_STRUCTURE: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"_\{(\w)=1\}\^\{([^{}]*)\}", lambda match: f"({match[1]}=1..{match[2]})"),
    (r"_\{([^{}]*)\}", lambda match: f"({match[1]})"),
    (r"\^\{([^{}]*)\}", lambda match: f"^{_in_brackets_if_needed(match[1])}"),
    (r"\\text\{([^{}]*)\}", lambda match: match[1]),
    (r"\\sqrt\{([^{}]*)\}", lambda match: f"sqrt({match[1]})"),
    (
        r"\\frac\{([^{}]*)\}\{([^{}]*)\}",
        lambda match: f"{_in_brackets_if_needed(match[1])}/{_in_brackets_if_needed(match[2])}",
    ),
)
"""Patterns of LaTeX with braces, applied from the innermost, and their plain form."""


def plain_math(latex: str) -> str:
    r"""Write a LaTeX formula in plain text.

    >>> print(plain_math(r"\frac{1}{\min(R, 10)} \sum_{i=1}^{10} r_i\, P(i)"))
    1/min(R, 10) Σ(i=1..10) r_i P(i)
    >>> print(plain_math(r"\begin{cases} 2^{3} - 1 & g = 2 \\ g & \text{otherwise} \end{cases}"))
    (2^3 - 1 if g = 2; g otherwise)
    """
    text = latex.replace(r"\{", "\x01").replace(r"\}", "\x02")
    text = text.replace(r"\begin{cases} ", "(").replace(r" \end{cases}", ")").replace(r" \\ ", "; ")
    text = text.replace(r"& \text", r"\text").replace(" & ", " if ")
    before = ""
    while before != text:
        before = text
        for pattern, written in _STRUCTURE:
            text = re.sub(pattern, written, text)
    text = re.sub(r"\\(?:[a-z]+(?:_2)?|[, ])", lambda match: _SIGNS[match[0]], text)
    return (
        re.sub(" +", " ", text)
        .replace("^*", "*")
        .replace("\x01", "{")
        .replace("\x02", "}")
        .replace("( ", "(")
        .strip()
    )


def _in_brackets_if_needed(part: str) -> str:
    """Put a part of a formula in brackets, unless it is a single symbol, number or call."""
    return part if re.fullmatch(r"[\w.*]+|\\?\w+\([^()]*\)", part) else f"({part})"
