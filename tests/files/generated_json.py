"""Generated files of JSON, as a whole or line by line."""

import json

from generated_pieces import JSON_SCORES, MARK


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


def written_objects(made, contents, numbered=False):
    """Write an object per line; where no line numbers are ids, with empty lines between."""
    made.style = (made.choice(", ", ",", " ,\t"), made.choice(": ", ":"), made.chance(0.5))
    lines = []
    for content in contents:
        lines += [made.choice("", " ", "\t")] if made.chance(0.1) and not numbered else []
        lines.append(made.choice("", "", " ") + encoded(made, content) + made.choice("", "", "\t "))
    return made.joined(lines)


def shuffled(made, content):
    """Return an object with its names in any order, and some more."""
    more = [
        ("text", "two\nlines\u2028\x7f"),
        ("score", None),
        ("info", {"query_id": "x", "list": [1]}),
        (MARK, ""),
    ]
    pairs = [*content.items(), *made.rng.sample(more, made.choice(0, 0, 1, 3))]
    made.rng.shuffle(pairs)
    return dict(pairs)


def medcorpus(made):
    """Labels, of which the order may be the run."""
    pairs = [(f"{q}_{made.rng.randint(1, 3)}", d) for q, d in made.pairs()]
    pairs = list(dict.fromkeys(pairs))
    grades = [made.rng.choice(["0", "1", "2", "2", "-1", "1.0", "0.5", "-0", "1E0"]) for _ in pairs]
    scores = [None] * len(pairs) if made.what == "run" else grades
    made.rows = [(q, [(d, score)]) for (q, d), score in zip(pairs, scores, strict=True)]
    contents = []
    for (query_id, doc_id), grade in zip(pairs, grades, strict=True):
        conversation, turn = query_id.rsplit("_", 1)
        content = {"conversation_id": id_of(made, conversation), "turn_id": id_of(made, turn)}
        contents.append(shuffled(made, {**content, "doc_id": id_of(made, doc_id), "rel": Raw(grade)}))
    return written_objects(made, contents)


def ground_truth(made):
    lists = made.lists()
    made.rows = [(q, [(d, "1") for d in docs]) for q, docs in lists.items()]
    contents = [{"query_id": id_of(made, q), "relevant_texts": ids_of(made, d)} for q, d in lists.items()]
    return written_objects(made, [shuffled(made, c) for c in contents])


def ids_of(made, ids):
    return [id_of(made, doc_id) for doc_id in ids]


def permed_results(made):
    lists, scored = made.lists(), made.chance(0.7)
    name = made.choice("ranked_results", "results")
    contents = []
    for query_id, docs in lists.items():
        scores = sorted(made.numbers(len(docs), JSON_SCORES), key=float, reverse=made.chance(0.8))
        made.rows.append((query_id, [(d, s if scored else None) for d, s in zip(docs, scores, strict=True)]))
        items = [{"text_id": id_of(made, d), "score": Raw(s)} for d, s in zip(docs, scores, strict=True)]
        if not scored:
            items = [
                made.choice({"text_id": i["text_id"]}, i["text_id"], {**i, "score": None}) for i in items
            ]
        contents.append({"query_id": id_of(made, query_id), name: items})
    return written_objects(made, [shuffled(made, c) for c in contents])


def litsearch(made):
    lists, numbered = made.lists(), made.chance(0.5)
    lists = {str(n) if numbered else q: docs for n, (q, docs) in enumerate(lists.items(), start=1)}
    contents = []
    for query_id, docs in lists.items():
        others = made.ids(3, loose=True)
        used, value = (others, "1") if made.what == "qrels" else (docs, None)
        made.rows.append((query_id, [(d, value) for d in used]))
        content = {"retrieved": ids_of(made, docs), "corpusids": ids_of(made, others), "query": "what is {}?"}
        contents.append(content if numbered else {**content, "query_id": id_of(made, query_id)})
    return written_objects(made, contents, numbered)


def json_file(made):
    """One object of queries and documents; MTEB puts a description of the model beside it."""
    made.style = (made.choice(", ", ",", ",\n", ",\r\n  "), made.choice(": ", ":"), made.chance(0.5))
    queries, run = Object(), made.what == "run"
    for query_id, docs in made.lists().items():
        numbers = made.numbers(len(docs), JSON_SCORES, ["-0", "3", "-2"] if run else ["1.0", "2e0", "-0.0"])
        numbers = [n.lstrip("+0") or "0" if n in ("+1", "01") else n for n in numbers]
        made.rows.append((query_id, list(zip(docs, numbers, strict=True))))
        queries.append((query_id, Object((d, Raw(n)) for d, n in zip(docs, numbers, strict=True))))
    content = queries
    if made.chance(0.15):
        meta = ("mteb_model_meta", {"model_name": "m", "revision": "1"})
        content = Object([meta, ("default", Object([("test", queries)]))][:: made.choice(1, -1)])
    text = encoded(made, content)
    return made.marked(made.choice("", "", "\n", " \n\n") + text + made.choice("", "\n", "\r\n", "\n\n "))
