"""Generated files of JSON, as a whole or line by line."""

import json

SCORES = ["0", "-0", "-0.0", "1e39", "-1E39", "1e999", "Infinity", "-Infinity", "1e-50", "9007199254740993"]
GRADES = ["0", "1", "2", "2", "-1", "1.0", "0.5", "-0", "1E0"]
MORE = [
    ("text", "two\nlines\u2028\x7f"),
    ("score", None),
    ("info", {"query_id": "x", "list": [1]}),
    ("\ufeff", ""),
]
"""What stands beside, and means nothing."""


class Raw(str):
    """Something that stands in JSON as it is, such as a number in its spelling."""


class Object(list):
    """A JSON object as pairs: a name may stand twice."""


def encoded(made, content):
    """Return JSON text in the style of this file: blanks, line ends, escapes."""
    comma, colon, ascii_only = made.style
    if isinstance(content, Raw):
        return str(content)
    if isinstance(content, dict | Object):
        pairs = content.items() if isinstance(content, dict) else content
        return "{" + comma.join(f"{encoded(made, k)}{colon}{encoded(made, v)}" for k, v in pairs) + "}"
    if isinstance(content, list):
        return "[" + comma.join(encoded(made, item) for item in content) + "]"
    return json.dumps(content, ensure_ascii=ascii_only)


def id_of(made, text):
    """Return an id as a string or, if it is the same as text, as an integer."""
    plain = text.isascii() and text.removeprefix("-").isdigit() and str(int(text)) == text
    return int(text) if plain and made.chance(0.5) else text


def ids_of(made, ids):
    return [id_of(made, doc_id) for doc_id in ids]


def written_objects(made, contents, numbered=False, more=MORE):
    """Write an object per line; where no line numbers are ids, with empty lines between."""
    made.style = (made.choice(", ", ",", " ,\t"), made.choice(": ", ":"), made.chance(0.5))
    lines = []
    for content in contents:
        pairs = [*content.items(), *made.rng.sample(more, min(len(more), made.choice(0, 0, 1, 3)))]
        made.rng.shuffle(pairs)
        lines += [made.choice("", " ", "\t")] if made.chance(0.1) and not numbered else []
        lines.append(made.choice("", "", " ") + encoded(made, dict(pairs)) + made.choice("", "", "\t "))
    return made.joined(lines)


QUERY = ("query_id", "qid", "q_id", "topic_id", "caseId", "_id", "query")
DOCUMENT = ("doc_id", "docno", "docid", "corpus_id", "text_id", "pid", "Passage_ID")
GRADE = ("relevance", "label", "rel", "rating", "grade")


def rows(made):
    """Write an object for each row, under any names; in lines or as an array."""
    query, document = made.choice(*QUERY), made.choice(*DOCUMENT)
    pairs = made.pairs()
    value = made.choice("score", "score", "rank") if made.what == "run" else made.choice(*GRADE)
    numbers = made.numbers(len(pairs), SCORES, GRADES)
    if value == "rank":
        numbers = [rank if rank.isdigit() else "0" for rank in made.ranks(pairs)]
    contents = [
        {query: id_of(made, q), document: id_of(made, d), value: Raw(number)}
        for (q, d), number in zip(pairs, numbers, strict=True)
    ]
    if made.chance(0.5):
        return written_objects(made, contents, more=[MORE[0], *MORE[2:]])
    made.style = (made.choice(", ", ",", ",\n "), made.choice(": ", ":"), made.chance(0.5))
    return made.marked(made.choice("", "\n") + encoded(made, contents) + made.choice("", "\n"))


def medcorpus(made):
    """Labels, of which the order may be the run."""
    rows = dict.fromkeys((q, made.rng.randint(1, 3), d) for q, d in made.pairs())
    contents = []
    for query_id, turn, doc_id in rows:
        content = {"conversation_id": id_of(made, query_id), "turn_id": id_of(made, str(turn))}
        contents.append({**content, "doc_id": id_of(made, doc_id), "rel": Raw(made.choice(*GRADES))})
    return written_objects(made, contents)


def ground_truth(made):
    lists = made.lists().items()
    return written_objects(
        made, [{"query_id": id_of(made, q), "relevant_texts": ids_of(made, docs)} for q, docs in lists]
    )


def permed_results(made):
    scored, name = made.chance(0.7), made.choice("ranked_results", "results")
    contents = []
    for query_id, docs in made.lists().items():
        scores = sorted(made.numbers(len(docs), SCORES), key=float, reverse=made.chance(0.8))
        items = [{"text_id": id_of(made, d), "score": Raw(s)} for d, s in zip(docs, scores, strict=True)]
        if not scored:
            items = [
                made.choice({"text_id": i["text_id"]}, i["text_id"], {**i, "score": None}) for i in items
            ]
        contents.append({"query_id": id_of(made, query_id), name: items})
    return written_objects(made, contents)


def litsearch(made):
    numbered, contents = made.chance(0.5), []
    for query_id, docs in made.lists().items():
        content = {"retrieved": ids_of(made, docs), "corpusids": ids_of(made, made.ids(3, loose=True))}
        contents.append(content if numbered else {**content, "query_id": id_of(made, query_id)})
    return written_objects(made, contents, numbered)


def json_file(made):
    """One object of queries and documents; MTEB puts a description of the model beside it."""
    made.style = (made.choice(", ", ",", ",\n", ",\r\n  "), made.choice(": ", ":"), made.chance(0.5))
    content = Object()
    for query_id, docs in made.lists().items():
        numbers = made.numbers(len(docs), SCORES, ["1.0", "2e0", "-0.0", "-0"])
        content.append((query_id, Object((d, Raw(n)) for d, n in zip(docs, numbers, strict=True))))
    if made.chance(0.15):
        meta = ("mteb_model_meta", {"model_name": "m", "revision": "1"})
        content = Object([meta, ("default", Object([("test", content)]))][:: made.choice(1, -1)])
    text = encoded(made, content)
    return made.marked(made.choice("", "", "\n", " \n\n") + text + made.choice("", "\n", "\r\n", "\n\n "))
