"""Tables in each format, with random marks as papers have them."""

import html
from typing import NamedTuple

FORMS = ["md", "tex", "html", "csv", "tsv"]
NAMES = (
    "P@1 P@10 nDCG@10 MAP@100 MRR@10 R@20 Hit@5 F1@10 归一化折损累计增益@5 召回率@50".split()  # noqa: SIM905
)
LABELS = ["BM25", "TF_IDF", "a & b", "50% sample", "Ours (full)", "q#1", "x{y}", "A-v2", "模型一"]
OTHERS = [("tokens", "752,242"), ("latency (ms)", "12.5"), ("Params", "110M"), ("Year", "2021")]
BLANKS = {
    "md": ["", "-", "\u2013", "n/a", "—"],
    "tex": ["", "-", "--", "---", "n/a"],
    "html": ["", "&ndash;", "N/A"],
    "csv": ["", "-", "\u2013", "n/a"],
}
MARKS = {
    "md": [
        "{}", "**{}**", "{}\\*", "{}†", "<u>{}</u>", "{}<sup>a</sup>", "{}<sup>2</sup>", "{} ± 0.012",
        "{} (0.01)", "$\\mathbf{{{}}}$", "{}$^{{\\dagger}}$", "~{}", "{} ↑", "__{}__", "*{}*", "{} (+0.01)",
        "{} [0.1, 0.9]",
    ],
    "tex": [
        "{}", r"\textbf{{{}}}", r"\underline{{{}}}", r"{}$^{{\dagger}}$", r"${}_{{\pm 0.01}}$", r"{} (0.012)",
        r"${} \pm 0.01$", r"\cellcolor{{gray!20}}{}", r"{{\bf {}}}", r"{}\textsuperscript{{ab}}",
        r"{}$^\ast$", r"\best{{{}}}", r"\makecell{{{}\\ (0.01)}}", r"\multicolumn{{1}}{{c}}{{{}}}",
        r"\num{{{}}}", r"\textcolor{{red}}{{{}}}~$\uparrow$", r"{} {{\scriptsize [0.1, 0.9]}}",
        r"\begin{{tabular}}[c]{{@{{}}c@{{}}}}{} \\ (0.01)\end{{tabular}}",
    ],
    "html": [
        "{}", "<b>{}</b>", "<u>{}</u>", "{}<sup>&dagger;</sup>", "{}<sup>2</sup>",
        "{}&nbsp;&plusmn;&nbsp;0.01", "<span style='color:red'>{}</span>", "{}*",
        "<strong>{}</strong><br>(0.01)", "{} &uarr;", "{}<sub>0.012</sub>",
    ],
    "csv": ["{}", "{}*", " {} ", "{} ± 0.01", "{} (0.01)", "{}†", "**{}**"],
}  # fmt: skip


class Known(NamedTuple):
    """A table whose claims are known: titles, labels, and texts of numbers or None."""

    group: str
    """What stands above all titles, if anything does."""
    titles: list
    labels: list
    numbers: list
    extra: dict
    """By place a column that is no measure: its title and its cells."""


def known_table(rng):
    """Return a random table."""
    titles = rng.sample(NAMES, rng.randint(2, 5))
    labels = rng.sample(LABELS, rng.randint(2, 6))
    percent = rng.random() < 0.3
    numbers = [
        [_number(rng, percent) if n == 0 or rng.random() < 0.9 else None for n in range(len(titles))]
        for _ in labels
    ]
    extra = {rng.randint(1, len(titles)): rng.choice(OTHERS)} if rng.random() < 0.6 else {}
    return Known("MedCorpus" if rng.random() < 0.4 else "", titles, labels, numbers, extra)


def _number(rng, percent):
    return f"{rng.uniform(2, 99):.2f}" + rng.choice(["", "%"]) if percent else f"{rng.random():.4f}"


def rendered(rng, table, form):
    """Return the text of a table in a format."""
    write = {"md": _markdown, "tex": _latex, "html": _html}.get(form, _csv)
    if form == "tsv":
        return _csv(rng, table, "\t")
    return write(rng, table)


def _rows(rng, table, form, escape, in_maths=str):
    """Return the rows of cells: titles above titles, or None; titles; and the rest."""

    def marked(number):
        mark = rng.choice(MARKS[form])
        return mark.format(in_maths(number) if form == "tex" or "$\\m" in mark else number)

    low = ["Model", *map(escape, table.titles)]
    body = [
        [escape(label), *(rng.choice(BLANKS[form]) if each is None else marked(each) for each in row)]
        for label, row in zip(table.labels, table.numbers, strict=True)
    ]
    for place, (title, cell) in table.extra.items():
        low.insert(place, escape(title))
        for row in body:
            row.insert(place, escape(cell))
    top = [table.group if n and n not in table.extra else "" for n in range(len(low))]
    return top if table.group else None, low, body


def _escaped(characters):
    return lambda text: "".join(f"\\{each}" if each in characters else each for each in text)


def _markdown(rng, table):
    escape = _escaped("\\_#{}|*")
    top, low, body = _rows(
        rng,
        table,
        "md",
        lambda text: escape(text).replace("&", "&amp;"),
        lambda number: number.replace("%", "\\%"),
    )
    lines = ["| " + " | ".join(row) + " |" for row in ([top] if top else []) + [low, *body]]
    lines.insert(1, "|" + "|".join(rng.choice(["---", ":--", "---:", ":-:"]) for _ in low) + "|")
    return "# Results\n\nSome | text.\n\n" + "\n".join(lines) + "\n\nMore text.\n"


def _latex(rng, table):
    percent = rng.choice(["\\%", "\\,\\%"])
    top, low, body = _rows(rng, table, "tex", _escaped("_&%#{}$"), lambda text: text.replace("%", percent))
    lines = []
    if top:
        span = rf"\multicolumn{{{len(top) - 1}}}{{c}}{{{table.group}}}"
        lines.append(rf"\multirow{{2}}{{*}}{{Model}} & {span} \\ \cmidrule(lr){{2-3}}")
        low = ["", *low[1:]]
    lines += [" & ".join(low) + r" \\", r"\midrule"]
    for number, row in enumerate(body):
        ends = [r"\\", r"\\[2pt]", r"\\ \addlinespace", r"\tabularnewline", "\\\\ \\rowcolor{gray!10}"]
        comment = rng.choice(["", " % 0.9 & 0.8 \\\\"])
        lines.append(" & ".join(row) + ("\n  " if number % 3 == 2 else " ") + rng.choice(ends) + comment)
        if rng.random() < 0.2 and number + 1 < len(body):
            lines.append(rf"\midrule \multicolumn{{{len(row)}}}{{l}}{{\textit{{Dense, 5\,\% cut}}}} \\")
    columns = "l" + "c" * (len(low) - 1)
    kind, arguments = rng.choice(
        [("tabular", f"{{@{{}}{columns}@{{}}}}"), ("tabular*", rf"{{\linewidth}}{{{columns}}}")]
    )
    return (
        "\\documentclass{article}\n\\newcommand{\\best}[1]{\\textbf{#1}}\n"
        "% \\begin{tabular}{l} x \\end{tabular}\n\\begin{table}\\caption{All in 5\\% steps}\n"
        f"\\begin{{{kind}}}{arguments}\n\\toprule\n"
        + "\n".join(lines)
        + f"\n\\bottomrule\n\\end{{{kind}}}\n\\end{{table}}\n"
    )


def _html(rng, table):
    top, low, body = _rows(rng, table, "html", html.escape)
    cell, row_end, head = rng.choice([("</td>", "</tr>", "</th>"), ("", "", "")])
    lines = []
    if top:
        lines.append(
            f'<tr><th rowspan="2">Model{head}' + "".join(f"<th>{each}{head}" for each in top[1:]) + row_end
        )
        low = low[1:]
    lines.append("<tr>" + "".join(f"<th>{each}{head}" for each in low) + row_end)
    text = "\n".join(lines)
    text = f"<thead>{text}</thead><tbody>" if rng.random() < 0.5 else text
    for number, row in enumerate(body):
        label = f"<th scope=row>{row[0]}{head}" if number % 2 else f"<td>{row[0]}{cell}"
        text += f"\n<tr>{label}" + "".join(f"<td class=x>{each}{cell}" for each in row[1:]) + row_end
    return f"<html><style>td {{x: 1}}</style><p>0.5</p><table>{text}</table></html>"


def _csv(rng, table, delimiter=""):
    delimiter = delimiter or rng.choice(",;\t|")
    top, low, body = _rows(rng, table, "csv", str)
    quoted = [
        [f'"{each}"' if delimiter in each or rng.random() < 0.1 else each for each in row]
        for row in ([top] if top else []) + [low, *body]
    ]
    return "\n".join(map(delimiter.join, quoted)) + "\n"
