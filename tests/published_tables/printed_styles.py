"""Tables in the styles that papers use, made from known numbers, and written in four formats."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

FORMATS = ["tex", "md", "csv", "html"]
TIMES = "\N{MULTIPLICATION SIGN}"
RUNS = ["BM25", "ANCE (2021)", "GPT-4"]
DATA_SETS = ["MedCorpus", "LitSearch"]


class Box(NamedTuple):
    """A cell, and how many columns and rows it spans."""

    text: str
    columns: int = 1
    rows: int = 1


class Style(NamedTuple):
    """A table: its rows of cells, and each number by its run, data set and measure.

    A data set is empty where the table has one only; `caption` stands above the table.
    """

    rows: list[list[Box | str]]
    known: dict[tuple[str, str, str], str]
    caption: str = "Results."


def _numbers(rng: random.Random, *names: list[str], pattern: str = "{:.4f}", times: int = 1) -> dict:
    """Return another number for each run, data set and measure."""
    runs, data_sets, measures = names
    known: dict[tuple[str, str, str], str] = {}
    for run in runs:
        for data_set in data_sets:
            for measure in measures:
                known[run, data_set, measure] = pattern.format(times * rng.uniform(0.1, 0.99))
    return known


Write = Callable[[str], str]


def _rows(known: dict, runs: list[str], write: Write = str, data_set: str | None = None) -> list:
    return [
        [run, *(write(text) for (of, at, _), text in known.items() if of == run and data_set in (None, at))]
        for run in runs
    ]


def multirow(rng):
    """Put measures into two columns without a heading, where MAP spans the rows of its cutoffs."""
    known = _numbers(rng, RUNS, [""], ["MAP@1", "MAP@3", "MAP@10", "nDCG@1", "nDCG@3"])
    rows = [["", "", *RUNS]]
    for n, name in enumerate(("MAP", "nDCG")):
        for place, k in enumerate(("@1", "@3", "@10")[: 3 - n]):
            first = [Box(name, rows=3 - n)] if not place else []
            rows.append([*first, k, *(known[run, "", name + k] for run in RUNS)])
    return Style(rows, known)


def multicolumn(rng):
    measures = ["P@1", "P@5", "nDCG@5", "nDCG@10"]
    known = _numbers(rng, RUNS, [""], measures)
    top = [Box("Model", rows=2), Box("P", 2), Box("nDCG", 2)]
    return Style([top, ["@1", "@5", "@5", "@10"], *_rows(known, RUNS)], known)


def deviations(rng):
    known = _numbers(rng, RUNS, [""], ["MAP@10", "nDCG@10", "P@1"])
    rows = [["Model", "MAP@10", "nDCG@10", "P@1"], *_rows(known, RUNS, lambda text: f"{text} ± 0.012")]
    return Style(rows, known, "Mean ± std over 5 seeds.")


def daggers(rng):
    known = _numbers(rng, RUNS, [""], ["MRR@10", "R@100", "nDCG@10"])
    marks = ["{}†", "<b>{}</b>", "<b>{}</b>†‡", "{}*", "<u>{}</u>", "{}<sup>a</sup>", "{}", "{}‡", "{} ↑"]
    rng.shuffle(marks)
    heads = ["Method", "MRR@10 ↑", "R@100 ↑", "nDCG@10 ↑"]
    return Style([heads, *_rows(known, RUNS, lambda text: marks.pop().format(text))], known)


def times_100(rng):
    known = _numbers(rng, RUNS, [""], ["Recall@20", "MAP@100", "nDCG@10"], pattern="{:.2f}", times=100)
    return Style(
        [["System", "Recall@20", "MAP@100", "nDCG@10"], *_rows(known, RUNS)], known, f"All {TIMES}100."
    )


def rotated(rng):
    measures = ["P@1", "P@10", "MAP@10", "nDCG@10", "RR@10"]
    known = _numbers(rng, RUNS, [""], measures)
    return Style(
        [["Model", *(f"<rotated>{each}</rotated>" for each in measures)], *_rows(known, RUNS)], known
    )


def transposed(rng):
    measures = ["MAP@10", "nDCG@10", "P@1", "Recall@100"]
    known = _numbers(rng, RUNS, [""], measures)
    rows = [[name, *(known[run, "", name] for run in RUNS)] for name in measures]
    return Style([["Metric", *RUNS], *rows], known)


def side_by_side(rng):
    known = _numbers(rng, RUNS, DATA_SETS, ["MAP@10", "nDCG@10", "P@1"])
    top = [Box("Model", rows=2), *(Box(each, 3) for each in DATA_SETS)]
    return Style([top, ["MAP@10", "nDCG@10", "P@1"] * 2, *_rows(known, RUNS)], known)


def cutoffs_in_a_cell(rng):
    known = _numbers(rng, RUNS, [""], ["MAP@1", "MAP@3", "MAP@5", "P@1", "P@5"])
    rows = [["Model", "MAP@{1,3,5}", "P@1/5"]]
    for name, *texts in _rows(known, RUNS):
        rows.append([name, " / ".join(texts[:3]), "/".join(texts[3:])])
    return Style(rows, known)


def decimal_commas(rng):
    known = _numbers(rng, RUNS, [""], ["MAP@10", "nDCG@10", "P@1"])
    rows = _rows(known, RUNS, lambda text: text.replace(".", ","))
    return Style([["Modell", "MAP@10", "nDCG@10", "P@1"], *rows], known)


def thousands(rng):
    known = _numbers(rng, RUNS, [""], ["nDCG@10", "P@1"])
    rows = [[name, f"{n},234,000", first, "12,345", second] for n, (name, first, second) in
            enumerate(_rows(known, RUNS), 1)]  # fmt: skip
    return Style([["Model", "Params", "nDCG@10", "Tokens", "P@1"], *rows], known)


def blocks(rng):
    """Put data sets into blocks of rows, each below a heading of its own."""
    known = _numbers(rng, RUNS, DATA_SETS, ["MAP@10", "nDCG@10"])
    rows = [["Model", "MAP@10", "nDCG@10"]]
    for data_set in DATA_SETS:
        rows += [[Box(f"<i>{data_set}</i>", 3)], *_rows(known, RUNS, data_set=data_set)]
    return Style(rows, known)


STYLES = {
    each.__name__: each
    for each in (
        multirow, multicolumn, deviations, daggers, times_100, rotated, transposed, side_by_side,
        cutoffs_in_a_cell, decimal_commas, thousands, blocks,
    )
}  # fmt: skip


# --- formats ---------------------------------------------------------------------------------------


def written(style: Style, form: str) -> str:
    """Return the text of a table in a format."""
    return {"tex": _latex, "md": _markdown, "csv": _csv, "html": _html}[form](style)


def _boxes(rows) -> Iterator[list[Box]]:
    for row in rows:
        yield [each if isinstance(each, Box) else Box(each) for each in row]


def _width(style: Style) -> int:
    return sum(box.columns for box in next(_boxes(style.rows)))


_LATEX = {
    "&": r"\&", "%": r"\%", "#": r"\#", "{": r"\{", "}": r"\}", "±": r"$\pm$", "†": r"$^\dagger$",
    "‡": r"$^{\ddagger}$", "↑": r"$\uparrow$", TIMES: r"$\times$",
    "<b>": r"\textbf{", "</b>": "}", "<u>": r"\underline{", "</u>": "}", "<i>": r"\textit{", "</i>": "}",
    "<sup>": "$^{", "</sup>": "}$", "<rotated>": r"\rotatebox[origin=c]{90}{", "</rotated>": "}",
}  # fmt: skip


def _latex(style: Style) -> str:
    def cell(box: Box) -> str:
        text = box.text
        for sign, command in _LATEX.items():
            text = text.replace(sign, command)
        text = rf"\multirow{{{box.rows}}}{{*}}{{{text}}}" if box.rows > 1 else text
        return rf"\multicolumn{{{box.columns}}}{{c}}{{{text}}}" if box.columns > 1 else text

    lines = [" & ".join(cell(box) for box in row) + r" \\" for row in _open(style)]
    columns = "l" + "c" * (_width(style) - 1)
    return (
        f"\\begin{{table}}\\caption{{{style.caption}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
        + "\n\\midrule\n".join(["\n".join(lines[:1]), "\n".join(lines[1:])])
        + "\n\\bottomrule\n\\end{tabular}\\end{table}\n"
    )


def _open(style: Style, spans: bool = True) -> Iterator[list[Box]]:
    """Yield the rows with an empty cell below one that spans rows, and beside one if columns do not span."""
    below: dict[int, int] = {}
    for row in _boxes(style.rows):
        cells, boxes, at = [], iter(row), 0
        while at < _width(style):
            if below.get(at, 0):
                below[at] -= 1
                box = Box("")
            else:
                box = next(boxes)
                below[at] = box.rows - 1
            cells += [box] if spans else [Box(box.text), *[Box("")] * (box.columns - 1)]
            at += box.columns
        yield cells


def _plain(text: str, markdown: bool) -> str:
    text = text.replace("<rotated>", "").replace("</rotated>", "")
    text = text if markdown else text.replace("<sup>a</sup>", "ᵃ")
    for tag, sign in (("b", "**"), ("i", "*"), ("u", "_")):
        sign = sign if markdown else ""
        text = text.replace(f"<{tag}>", sign).replace(f"</{tag}>", sign)
    return text


def _markdown(style: Style) -> str:
    lines = ["| " + " | ".join(_plain(box.text, True) for box in row) + " |" for row in _open(style, False)]
    lines.insert(1, "|---" * _width(style) + "|")
    return f"Table 1: {style.caption}\n\n" + "\n".join(lines) + "\n"


def _csv(style: Style) -> str:
    rows = [[_plain(box.text, False) for box in row] for row in _open(style, False)]
    return "\n".join(";".join(f'"{text}"' if ";" in text else text for text in row) for row in rows) + "\n"


def _html(style: Style) -> str:
    rows = []
    for row in _boxes(style.rows):
        cells = []
        for box in row:
            text = _tags(box.text)
            columns = f' colspan="{box.columns}"' if box.columns > 1 else ""
            below = f' rowspan="{box.rows}"' if box.rows > 1 else ""
            cells.append(f"<td{columns}{below}>{text}</td>")
        rows.append("<tr>" + "".join(cells) + "</tr>")
    return f"<table><caption>{style.caption}</caption>\n" + "\n".join(rows) + "\n</table>\n"


def _tags(text: str) -> str:
    text = text.replace("<rotated>", '<span style="writing-mode: vertical-rl">')
    return text.replace("</rotated>", "</span>")
