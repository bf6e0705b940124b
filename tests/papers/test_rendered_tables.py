"""Tables that are rendered in each format, with the marks of papers, give the claims that went in."""

import pytest
from effort import effort
from rendering import FORMS, known_table, random_for, rendered

from permed_measures.papers.tables import read_claims_file


def claims_of(table):
    """Return the claims by label."""
    return {
        label: {
            title[1]: number for title, number in zip(table.titles, row, strict=True) if number is not None
        }
        for label, row in zip(table.labels, table.numbers, strict=True)
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_table_gives_the_same_claims_in_each_format(tmp_path, form):
    for seed in range(effort(25, 120)):
        table = known_table(random_for(seed))
        path = tmp_path / f"paper.{form}"
        path.write_text(rendered(random_for(seed + 1), table, form))
        read = read_claims_file(path)
        found = {row.label: row.claims for row in read.rows}
        assert found == claims_of(table), (seed, path.read_text())
        others = [title for title, cell in table.extra.values() if cell != "110M"]
        assert [note.rpartition(": ")[2] for note in read.notes] == others


def test_content_tells_the_format_where_the_name_does_not(tmp_path):
    for form in FORMS:
        for seed in range(effort(6, 12)):
            table = known_table(random_for(seed))
            path = tmp_path / "paper.txt"
            path.write_text(rendered(random_for(seed), table, form))
            assert {row.label: row.claims for row in read_claims_file(path).rows} == claims_of(table)


def test_several_tables_of_several_formats_are_in_one_file(tmp_path):
    for seed in range(effort(6, 12)):
        tables = [known_table(random_for(seed + 100 * n)) for n in range(3)]
        parts = [
            rendered(random_for(seed), t, form) for t, form in zip(tables, ("md", "html", "md"), strict=True)
        ]
        path = tmp_path / "paper.md"
        path.write_text("\n\n".join(parts))
        rows = read_claims_file(path).rows
        for number, table in enumerate(tables, start=1):
            of_table = {row.label: row.claims for row in rows if row.part.startswith(f"table {number}")}
            assert of_table == claims_of(table)
