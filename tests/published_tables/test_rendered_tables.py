"""Tables that are rendered in each format, with the marks of papers, give the claims that went in."""

import csv
import random

import pytest
from effort import effort
from printing import texts_in
from rendering import FORMS, Known, known_table, rendered

import permed_measures as pm
from permed_measures.published_tables.tables import read_claims_file


def claims_of(table):
    """Return the claims by label."""
    return {
        label: {title: each for title, each in zip(table.titles, row, strict=True) if each is not None}
        for label, row in zip(table.labels, table.numbers, strict=True)
    }


@pytest.mark.parametrize("ending", ["the format's", ".txt"])
@pytest.mark.parametrize("form", FORMS)
def test_a_table_gives_the_same_claims_in_each_format(tmp_path, form, ending):
    """If the file name does not show the format, the content does; text beside names is part of them."""
    path = tmp_path / f"paper{ending if ending == '.txt' else '.' + form}"
    for seed in range(effort(6, 12) if ending == ".txt" else effort(25, 120)):
        table = known_table(random.Random(seed))
        path.write_text(rendered(random.Random(seed + 1), table, form))
        read = read_claims_file(path)
        assert {row.label: texts_in(row) for row in read.rows} == claims_of(table), (seed, path.read_text())
        others = [title for n, (title, cell) in table.extra.items() if cell != "110M" or n > 1]
        assert len(read.notes) == len(others)
        assert all(note.endswith(title) for note, title in zip(read.notes, others, strict=True))


def test_several_tables_of_several_formats_are_in_one_file(tmp_path):
    for seed in range(effort(6, 12)):
        tables = [known_table(random.Random(seed + 100 * n)) for n in range(3)]
        forms = zip(tables, ("md", "html", "md"), strict=True)
        (tmp_path / "paper.md").write_text(
            "\n\n".join(rendered(random.Random(seed), each, form) for each, form in forms)
        )
        rows = read_claims_file(tmp_path / "paper.md").rows
        for number, table in enumerate(tables, start=1):
            of_table = {row.label: texts_in(row) for row in rows if row.part.startswith(f"table {number}")}
            assert of_table == claims_of(table)


@pytest.mark.thorough
def test_a_published_table_is_explained(data, tmp_path):
    with (data / "litsearch-m040" / "published.csv").open(encoding="utf-8", newline="") as file:
        (_, *titles), *rows = csv.reader(file)
    table = {name: tuple(cells) for name, *cells in rows}
    known = Known("", titles, list(table), list(table.values()), {2: ("tokens", "752,242")})
    path = tmp_path / "paper.tex"
    path.write_text(rendered(random.Random(7), known, "tex"))
    runs = {name: pm.read_run(data / "litsearch-m040" / "runs" / f"{name}.jsonl") for name in table}
    result = pm.audit(data / "litsearch" / "query_to_texts.jsonl", runs, path)
    assert result.ok
    assert result.best[0].changes == ["cutoff of F1: 10 for precision, 20 for recall (not: 10)"]
    assert result.notes == ["1 column left out, not a measure: tokens"]
    found = {name: tuple(each.claim.text for each in result.trials if each.row == name) for name in table}
    assert found == table
