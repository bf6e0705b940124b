"""MedCorpus: queries, labels and documents as its files have them, and the published numbers."""

import ir_datasets
import pytest
from data_files import lines_of, write_lines

import permed_measures as pm
from permed_measures.datasets.readers import TitledDoc


def test_each_turn_of_medcorpus_is_as_the_file_has_it(real):
    expected = [
        (
            f"{conversation['conversation_id']}_{turn['turn_id']}",
            turn["text"],
            conversation["conversation_id"],
            turn["turn_id"],
            tuple(earlier["text"] for earlier in conversation["turns"][:place]),
        )
        for conversation in lines_of(real / "medcorpus" / "queries.jsonl")
        for place, turn in enumerate(conversation["turns"])
    ]
    queries = list(ir_datasets.load("medcorpus").queries_iter())
    assert queries == expected
    assert queries[0].history == ()
    assert queries[2].history == (queries[0].text, queries[1].text)
    assert queries[2].default_text() == queries[2].text


def test_each_label_of_medcorpus_is_as_the_file_has_it(real):
    expected = [
        (f"{line['conversation_id']}_{line['turn_id']}", line["doc_id"], line["rel"])
        for line in lines_of(real / "medcorpus" / "query_to_texts.jsonl")
    ]
    qrels = list(ir_datasets.load("medcorpus").qrels_iter())
    assert list(map(tuple, qrels)) == expected
    assert {type(qrel.relevance) for qrel in qrels} == {int}


@pytest.mark.usefixtures("real")
def test_the_turns_are_a_partition_of_medcorpus():
    whole = ir_datasets.load("medcorpus")
    parts = [ir_datasets.load(f"medcorpus/turn/{turn}") for turn in range(1, 7)]
    for turn, part in enumerate(parts, start=1):
        queries = list(part.queries_iter())
        assert {query.turn_number for query in queries} == {turn}
        assert {qrel.query_id for qrel in part.qrels_iter()} == {query.query_id for query in queries}
        assert (part.queries_count(), part.qrels_count()) == (len(queries), len(list(part.qrels_iter())))
    assert sorted(qrel for part in parts for qrel in part.qrels_iter()) == sorted(whole.qrels_iter())
    assert sorted(query for part in parts for query in part.queries_iter()) == sorted(whole.queries_iter())


# --- documents ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("offline")
def test_the_documents_of_medcorpus_are_said_not_to_be_public(home):
    place = home / "medcorpus" / "corpus.jsonl"
    assert ir_datasets.load("medcorpus").docs_count() == 92_703  # as it is published
    for read in ("docs_iter", "docs_store"):
        with pytest.raises(pm.InputError) as error:
            getattr(ir_datasets.load("medcorpus/turn/2"), read)()
        said = f"{place}: there is no such file, and the documents of MedCorpus are not"
        assert str(error.value).startswith(said)
        assert "If you have them" in str(error.value)


@pytest.mark.usefixtures("offline")
def test_the_documents_of_medcorpus_are_read_from_where_they_were_put(home):
    documents = [{"text_id": f"permed-{n}", "title": f"T{n}", "text": f"über {n}"} for n in range(5)]
    place = write_lines(home / "medcorpus" / "corpus.jsonl", documents)
    dataset = ir_datasets.load("medcorpus/turn/2")
    expected = [TitledDoc(f"permed-{n}", f"T{n}", f"über {n}") for n in range(5)]
    assert list(dataset.docs_iter()) == expected
    assert list(dataset.docs_iter()[1:3]) == expected[1:3]
    assert dataset.docs_store().get("permed-4") == expected[4]
    assert expected[0].default_text() == "T0 über 0"
    write_lines(place, [{"text_id": 7, "text": "without a title"}])
    assert dataset.docs_store().get("7") == TitledDoc("7", "", "without a title")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"title": "T", "text": "t"}', "'text_id' is missing"),
        ('{"text_id": "d", "title": "T"}', "'text' is missing"),
        ("{", "not valid JSON (Expecting property name"),
    ],
)
@pytest.mark.usefixtures("offline")
def test_a_broken_line_of_the_documents_is_named(home, line, reason):
    place = write_lines(home / "medcorpus" / "corpus.jsonl", [{"text_id": "a", "text": "t"}])
    place.write_text(f"{place.read_text()}{line}\n")
    with pytest.raises(pm.InputError) as error:
        list(ir_datasets.load("medcorpus").docs_iter())
    assert str(error.value).startswith(f"{place}:2: not a line of documents: {reason}")
    assert '. Expected {"text_id" or "doc_id": ..., "title": ..., "text": ...}' in str(error.value)
