"""The published tables of public runs, converted to each format as papers print them."""

import csv

import pytest
from rendering import FORMS, Known, random_for, rendered

import permed_measures as pm

M010 = {
    "keyword": ("0.0112", "0.1583", "0.0204"),
    "bm25": ("0.0534", "0.5683", "0.0964"),
    "neural_embedding": ("0.0529", "0.5844", "0.0955"),
    "single_llm": ("0.0570", "0.5456", "0.1027"),
    "scholarloop_a": ("0.0625", "0.6592", "0.1128"),
}


@pytest.fixture(scope="module")
def published(data):
    """Return the qrels, and by the name of a report its titles, its table and its runs."""
    with (data / "litsearch-m040" / "published.csv").open(encoding="utf-8", newline="") as file:
        (_, *titles), *rows = csv.reader(file)
    tables = {"litsearch": M010, "litsearch-m040": {name: tuple(cells) for name, *cells in rows}}
    runs = {
        folder: {name: pm.read_run(data / folder / "runs" / f"{name}.jsonl") for name in table}
        for folder, table in tables.items()
    }
    return pm.read_qrels(data / "litsearch" / "query_to_texts.jsonl"), titles, tables, runs


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("folder", "form"), [("litsearch-m040", "md"), *(("litsearch", form) for form in FORMS)]
)
def test_a_published_table_is_explained_in_each_format(published, tmp_path, form, folder):
    qrels, titles, tables, runs = published
    table = tables[folder]
    known = Known(
        [("", title) for title in titles], list(table), list(table.values()), {2: ("tokens", "752,242")}
    )
    path = tmp_path / f"paper.{form}"
    path.write_text(rendered(random_for(7), known, form))
    result = pm.audit(qrels, runs[folder], path)
    assert result.ok
    assert result.best[0].changes == ["cutoff of F1: 10 for precision, 20 for recall (not: 10)"]
    assert len(result.best[0].trials) == 3 * len(table)
    assert result.notes == ["a column that is no measure left out: tokens"]
    assert {row.name: tuple(claim.claim.text for claim in row.trials) for row in result.rows} == table


@pytest.mark.thorough
def test_the_published_row_of_medcorpus_is_explained_in_each_format(data, tmp_path):
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    known = Known(
        [("", "NDCG@10"), ("", "MAP@10"), ("", "P@1")], ["Retrieved"], [["0.9044", "0.5357", "0.9279"]], {}
    )
    run = pm.read_run(labels)
    for form in ("tex",):
        path = tmp_path / f"paper.{form}"
        path.write_text(rendered(random_for(3), known, form))
        result = pm.audit(labels, {"retrieved": run}, path)
        assert (result.ok, result.best[0].named.name) == (True, "PerMed standard")
