"""Tables in each format, with random marks as papers have them."""

import html
import random
from typing import NamedTuple


class Known(NamedTuple):
    """A table whose claims are known: titles (top, lowest), labels, and texts of numbers or None."""

    titles: list
    labels: list
    numbers: list
    extra: dict
    """By place a column that is no measure: its title and its cells."""


NAMES = [
    "P@1",
    "P@10",
    "nDCG@10",
    "MAP@100",
    "MRR@10",
    "R@20",
    "Hit@5",
    "F1@10",
    "归一化折损累计增益@5",
    "召回率@50",
]
LABELS = [
    "BM25",
    "TF_IDF",
    "a & b",
    "50% sample",
    "Ours (full)",
    "q#1",
    "x{y}",
    "A-v2",
    "模型一",
    "dense_retriever",
]
OTHERS = [("tokens", "752,242"), ("latency (ms)", "12.5"), ("Params", "110M"), ("Year", "2021")]
BLANK = {
    "md": ["", "-", "\u2013", "n/a", "—"],
    "tex": ["", "-", "--", "---", "n/a"],
    "html": ["", "&ndash;", "N/A"],
}
BLANK["csv"] = ["", "-", "\u2013", "n/a"]


def known_table(rng):
    """Return a random table."""
    names = rng.sample(NAMES, rng.randint(2, 5))
    groups = rng.random() < 0.4
    titles = [(rng.choice(["MedCorpus", "MedCorpus dev"]) if groups else "", name) for name in names]
    titles = [(titles[0][0], name) for _, name in titles]
    percent = rng.random() < 0.3
    labels = rng.sample(LABELS, rng.randint(2, 6))
    numbers = [[_number(rng, percent) if rng.random() < 0.9 else None for _ in names] for _ in labels]
    for row in numbers:
        row[0] = row[0] or _number(rng, percent)
    extra = {rng.randint(1, len(names)): rng.choice(OTHERS)} if rng.random() < 0.6 else {}
    return Known(titles, labels, numbers, extra)


def _number(rng, percent):
    return f"{rng.uniform(2, 99):.2f}" + rng.choice(["", "%"]) if percent else f"{rng.random():.4f}"


def rendered(rng, table, form):
    """Return the text of a table in a format."""
    return {"md": _markdown, "tex": _latex, "html": _html}.get(form, _csv)(rng, table, form)


def _rows(rng, table, form, escape, decorate):
    two = bool(table.titles[0][0])
    top = ["", *(group for group, _ in table.titles)]
    low = ["Model", *(name for _, name in table.titles)]
    body = [
        [escape(label), *(rng.choice(BLANK[form]) if n is None else decorate(n) for n in row)]
        for label, row in zip(table.labels, table.numbers, strict=True)
    ]
    top, low = [[escape(each) for each in row] for row in (top, low)]
    for place, (title, cell) in table.extra.items():
        top.insert(place, escape(""))
        low.insert(place, escape(title))
        for row in body:
            row.insert(place, escape(cell))
    return top if two else None, low, body


# --- Markdown ----------------------------------------------------------------------------------------

MD = [
    "{}", "**{}**", "{}\\*", "{}†", "<u>{}</u>", "{}<sup>a</sup>", "{}<sup>2</sup>", "{} ± 0.012",
    "{} (0.01)",
    "$\\mathbf{{{}}}$", "{}$^{{\\dagger}}$", "~{}", "{} ↑", "__{}__", "*{}*", "{} (+0.01)", "{} [0.1, 0.9]",
]  # fmt: skip


def _percent_for(template, number):
    return template.format(number.replace("%", "\\%") if "$\\m" in template else number)


def _markdown(rng, table, form):
    top, low, body = _rows(
        rng, table, form, lambda text: _md(text), lambda n: _percent_for(rng.choice(MD), n)
    )
    lines = [low, *body]
    if top:
        lines = [top, low, *body]
    rows = ["| " + " | ".join(row) + " |" for row in lines]
    rows.insert(1, "|" + "|".join(rng.choice(["---", ":--", "---:", ":-:"]) for _ in low) + "|")
    return "# Results\n\nSome | text.\n\n" + "\n".join(rows) + "\n\nMore text.\n"


def _md(text):
    for character in "\\_#{}|*":
        text = text.replace(character, "\\" + character)
    return text.replace("&", "&amp;")


# --- LaTeX -------------------------------------------------------------------------------------------

TEX = [
    "{}", r"\textbf{{{}}}", r"\underline{{{}}}", r"{}$^{{\dagger}}$", r"${}_{{\pm 0.01}}$", r"${} \pm 0.01$",
    r"\cellcolor{{gray!20}}{}", r"{{\bf {}}}", r"{}\textsuperscript{{ab}}", r"{}$^\ast$", r"{} (0.012)",
    r"\best{{{}}}",
    r"\makecell{{{}\\ (0.01)}}", r"\multicolumn{{1}}{{c}}{{{}}}", r"\textcolor{{red}}{{{}}}~$\uparrow$",
    r"\num{{{}}}",
    r"{} {{\scriptsize [0.1, 0.9]}}",
]  # fmt: skip


def _latex(rng, table, form):
    top, low, body = _rows(
        rng,
        table,
        form,
        _tex,
        lambda n: rng.choice(TEX).format(n.replace("%", rng.choice(["\\%", "\\,\\%"]))),
    )
    lines = []
    if top:
        lines.append(
            rf"\multirow{{2}}{{*}}{{{low[0]}}} & " + " & ".join(_grouped(top[1:])) + r" \\ \cmidrule(lr){2-3}"
        )
        low = ["", *low[1:]]
    lines += [" & ".join(low) + r" \\", r"\midrule"]
    for number, row in enumerate(body):
        comment = rng.choice(["", " % 0.9 & 0.8 \\\\"])
        end = rng.choice(
            [r"\\", r"\\[2pt]", r"\\ \addlinespace", r"\tabularnewline", "\\\\ \\rowcolor{gray!10}"]
        )
        lines.append(" & ".join(row) + ("\n  " if number % 3 == 2 else " ") + end + comment)
        if rng.random() < 0.2 and number + 1 < len(body):
            lines.append(r"\midrule \multicolumn{" + str(len(row)) + r"}{l}{\textit{Dense, 5\,\% cut}} \\")
    columns = "l" + "c" * (len(low) - 1)
    begin = rng.choice(
        [rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", rf"\begin{{tabular*}}{{\linewidth}}{{{columns}}}"]
    )
    kind = begin[7:].split("}")[0]
    return (
        "\\documentclass{article}\n\\newcommand{\\best}[1]{\\textbf{#1}}\n"
        "% \\begin{tabular}{l} x \\end{tabular}\n"
        "\\begin{table}\\caption{All in 5\\% steps}\n" + begin + "\n\\toprule\n" + "\n".join(lines)
        + f"\n\\bottomrule\n\\end{{{kind}}}\n\\end{{table}}\n"
    )  # fmt: skip


def _grouped(cells):
    found, place = [], 0
    while place < len(cells):
        n = 1
        while place + n < len(cells) and cells[place + n] == cells[place]:
            n += 1
        found.append(rf"\multicolumn{{{n}}}{{c}}{{{cells[place]}}}" if n > 1 else cells[place])
        place += n
    return found


def _tex(text):
    return "".join(f"\\{each}" if each in "_&%#{}$" else each for each in text)


# --- HTML --------------------------------------------------------------------------------------------

HTML = [
    "{}", "<b>{}</b>", "<u>{}</u>", "{}<sup>&dagger;</sup>", "{}<sup>2</sup>", "{}&nbsp;&plusmn;&nbsp;0.01",
    "<span style='color:red'>{}</span>", "{}*", "<strong>{}</strong><br>(0.01)", "{} &uarr;",
    "{}<sub>0.012</sub>",
]  # fmt: skip


def _html(rng, table, form):
    top, low, body = _rows(rng, table, form, html.escape, lambda n: rng.choice(HTML).format(n))
    end = rng.choice([("</td>", "</tr>", "</th>"), ("", "", "")])
    lines = []
    if top:
        cells = "".join(f"<th>{each}{end[2]}" for each in top[1:])
        lines.append(f'<tr><th rowspan="2">{low[0]}{end[2]}{cells}{end[1]}')
        low = low[1:]
    lines.append("<tr>" + "".join(f"<th>{each}{end[2]}" for each in low) + end[1])
    head = rng.random() < 0.5
    text = "<thead>" + "\n".join(lines) + "</thead><tbody>" if head else "\n".join(lines)
    for number, row in enumerate(body):
        label = f"<th scope=row>{row[0]}{end[2]}" if number % 2 else f"<td>{row[0]}{end[0]}"
        text += "\n<tr>" + label + "".join(f"<td class=x>{each}{end[0]}" for each in row[1:]) + end[1]
    return f"<html><style>td {{x: 1}}</style><p>0.5</p><table>{text}</table></html>"


# --- CSV ---------------------------------------------------------------------------------------------

CSV = ["{}", "{}*", " {} ", "{} ± 0.01", "{} (0.01)", "{}†", "**{}**"]


def _csv(rng, table, form):
    delimiter = {"tsv": "\t"}.get(form) or rng.choice(",;\t|")
    top, low, body = _rows(rng, table, "csv", str, lambda n: rng.choice(CSV).format(n))

    def quoted(cell):
        return f'"{cell}"' if delimiter in cell or rng.random() < 0.1 else cell

    rows = [top, low, *body] if top else [low, *body]
    return "\n".join(delimiter.join(map(quoted, row)) for row in rows) + "\n"


FORMS = ["md", "tex", "html", "csv", "tsv"]


def random_for(seed):
    return random.Random(seed)
