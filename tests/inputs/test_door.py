"""One door: whatever comes in, what comes out is the user's dict or a table with a name."""

import pickle
import re

import cases
import ir_datasets
import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.engine.tables import NamedDict, Table, dataset_of, file_of
from permed_measures.inputs import read as reading
from permed_measures.inputs.door import read, read_nested

ROWS = [("q", "a", 2.0), ("q", "b", 1.0), ("r", "a", 0.5)]
NESTED = {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 0.5}}


@pytest.mark.parametrize("column", ["relevance", "score"])
def test_a_dict_comes_out_as_it_is_whatever_it_holds(column):
    for given in (NESTED, {}, {1: None}):
        assert read(given, column) is given


@pytest.mark.parametrize("column", ["relevance", "score"])
@pytest.mark.parametrize("form", cases.FORMS)
def test_all_forms_are_a_dict_or_a_table_which_goes_through_the_door_again(form, column):
    rows = read(cases.FORMS[form](ROWS, column), column)
    assert isinstance(rows, (dict, Table))
    assert read(rows, column) is rows
    assert read_nested(rows, column) == NESTED
    assert file_of(rows) is None
    if isinstance(rows, Table):
        other = {"relevance": "score", "score": "relevance"}[column]
        assert {tuple(part.columns) for part in rows} == {("query_id", "doc_id", column)}
        with pytest.raises(pm.InputError, match="The qrels come first, then the run"):
            read(rows, other)


@pytest.mark.parametrize("size", [0, 1 << 22])
@pytest.mark.parametrize("ending", ["trec", "csv", "jsonl", "parquet"])
def test_what_is_read_from_a_file_knows_it(ending, size, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE_FILE", size)
    path = tmp_path / f"run.{ending}"
    if ending == "parquet":
        cases.FORMS["polars"](ROWS, "score").write_parquet(path)
    else:
        pm.write_run(NESTED, path)
    for given in (path, str(path)):
        rows = read(given, "score")
        assert file_of(rows) == path
        assert read_nested(rows, "score") == NESTED
    with pytest.warns(pm.NoSharedQueryWarning) as caught:
        pm.calc_aggregate("RR", {"x": {"a": 1}}, rows)
    assert str(caught[0].message).startswith(f"{path}: ")
    assert caught[0].message.where == str(path)


def test_dicts_of_files_keep_their_name_in_a_pickle(tmp_path):
    again = pickle.loads(pickle.dumps(NamedDict(NESTED, tmp_path)))
    assert (again, file_of(again), dataset_of(again)) == (NESTED, tmp_path, None)


def test_qrels_know_their_data_set_and_a_copy_of_the_labels_is_the_user_s():
    dataset = ir_datasets.load("permed-sample")
    for given in ("permed-sample", dataset):
        qrels = read(given, "relevance")
        assert dataset_of(qrels) is dataset
        assert qrels == pm.read_qrels(SAMPLES[0].qrels)
    pm.read_qrels("permed-sample")["sample_01_1"].clear()
    assert read("permed-sample", "relevance")["sample_01_1"]


def test_means_of_a_data_set_are_clustered_by_conversation_however_it_is_given():
    runs, bars = {"bm25": SAMPLES[0].runs["bm25"]}, []
    for qrels in ("permed-sample", ir_datasets.load("permed-sample")):
        [ax] = pm.plot_means(qrels, runs, "AP@10")
        bars.append([bar.tolist() for each in ax.collections for bar in each.get_segments()])
    assert bars[0] == bars[1] != []


def test_a_file_of_medcorpus_labels_knows_its_conversations(tmp_path):
    """As the data set does: tests take them as a whole, and queries can be grouped by their turn."""
    sample, runs = SAMPLES[0], {name: SAMPLES[0].runs[name] for name in ("bm25", "lsa")}
    of_file, of_dataset = (
        pm.compare(each, runs, ["P@1"], "bm25") for each in (sample.qrels, "permed-sample")
    )
    assert of_file.paired.clusters == of_dataset.paired.clusters == "conversation_id"
    assert of_file.to_polars().equals(of_dataset.to_polars())
    assert pickle.loads(pickle.dumps(of_file)).paired.clusters == "conversation_id"
    by_turn = [
        pm.evaluate_by("P@1", each, runs["lsa"], "turn_number") for each in (sample.qrels, "permed-sample")
    ]
    assert by_turn[0] == by_turn[1]
    lines = re.sub(r'"turn_id": (\d)', r'"turn_id": "t\1"', sample.qrels.read_text())
    (tmp_path / "named.jsonl").write_text(lines)  # turns that are no numbers: nothing is known of them
    assert '"turn_id": "t1"' in lines
    assert dataset_of(read(tmp_path / "named.jsonl", "relevance")) is None


@pytest.mark.parametrize("documents", [["a", "b"], ("a", "b"), {"a"}])
@pytest.mark.parametrize(("column", "read"), [("relevance", pm.read_qrels), ("score", pm.read_run)])
def test_a_list_in_the_place_of_a_dict_is_refused_with_how_to_write_it(documents, column, read):
    given = [{"q": documents}, {"q": {"a": 1.0}}]
    qrels, run = given if column == "relevance" else given[::-1]
    for refused in (lambda: read(given[0]), lambda: pm.calc_aggregate("P@1", qrels, run)):
        with pytest.raises(pm.InputError, match=r"query 'q': .* of a query must be a dict") as error:
            refused()
        said = r"For (?:relevant documents|a ranked list) write (.*)$"
        mended = {"q": eval(re.search(said, str(error.value))[1], {"documents": sorted(documents)})}
        both = (mended, given[1]) if column == "relevance" else (given[1], mended)
        assert pm.calc_aggregate("RR", *both) == {pm.parse_measure("RR"): 1.0}
    with pytest.raises(pm.InputError, match=r"found int\)$"):
        read({"q": 3})
