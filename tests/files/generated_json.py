"""Generated files of JSON, as a whole or line by line."""

import json

from generated_pieces import JSON_SCORES, MARK, NO_JSON_NUMBERS


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


def written_objects(made, contents, needed):
    """Write an object per line; `needed` are the names that none may lack."""
    rng = made.rng
    made.style = (made.choice(", ", ",", " ,\t"), made.choice(": ", ":"), made.chance(0.5))
    bad = rng.randrange(len(contents))
    wrong = ["missing", "no id", "cut", "no object", "name twice", "bytes"]
    wrong += ["empty line"] * 4 if made.numbered else ["twice"]
    how = made.flaw_of(*wrong) if made.flawed and not made.flaw else ""
    if how == "missing":
        del contents[bad][rng.choice(needed)]
    elif how == "no id":
        contents[bad][needed[0]] = Raw(made.choice("1.5", "true", "null", '"\\ud800"', "{}"))
    elif how == "twice":
        contents.insert(rng.randint(0, len(contents)), contents[bad])
    lines = [encoded(made, content) for content in contents]
    if how == "empty line":  # the number of a line is the id of its query
        lines[bad] = made.choice("\n", " \n") + lines[bad]
    elif how == "cut":
        lines[bad] = lines[bad][: rng.randint(1, len(lines[bad]) - 1)]
    elif how == "no object":
        lines[bad] = made.choice("[3]", "null", "5", '"x"', lines[bad] + "}", lines[bad] + lines[bad], "# no")
    elif how == "name twice":
        lines[bad] = "{" + f'"{needed[0]}": "x", ' + lines[bad][1:]
    made.flaw = made.flaw or how.replace("bytes", "")
    if not made.numbered:
        lines = [
            line
            for text in lines
            for line in ([made.choice("", " ", "\t")] if made.chance(0.1) else []) + [text]
        ]
    return made.joined(made.choice("", "", " ") + line + made.choice("", "", "\t ") for line in lines)


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
    if made.what == "qrels" and made.flawed and made.chance(0.4):
        made.flaw = "no number"
        made.rng.choice(contents)["rel"] = Raw(
            made.choice("true", *made.rng.sample(NO_JSON_NUMBERS, 2), "Infinity")
        )
    needed = ["doc_id", "conversation_id", "turn_id", *(["rel"] if made.what == "qrels" else [])]
    return written_objects(made, contents, needed)


def ground_truth(made):
    lists = made.lists()
    made.rows = [(q, [(d, "1") for d in docs]) for q, docs in lists.items()]
    contents = [{"query_id": id_of(made, q), "relevant_texts": ids_of(made, d)} for q, d in lists.items()]
    spoil_list(made, contents, "relevant_texts")
    return written_objects(made, [shuffled(made, c) for c in contents], ["query_id", "relevant_texts"])


def ids_of(made, ids):
    return [id_of(made, doc_id) for doc_id in ids]


def spoil_list(made, contents, name):
    """Do something wrong in a list of ids."""
    content = made.rng.choice(contents)
    if made.flawed and made.chance(0.3):
        made.flaw = "bad list"
        again = [str(content[name][0])] if content[name] else [Raw("null")]
        wrong = made.choice(content[name] + again, [*content[name], Raw("1.5")], Raw("null"), {"d1": 1}, "d1")
        content[name] = wrong


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
    spoil_results(made, contents, name, scored)
    return written_objects(made, [shuffled(made, c) for c in contents], ["query_id", name])


def spoil_results(made, contents, name, scored):
    """Do something wrong with a result: its score, its id, its document."""
    items = made.rng.choice(contents)[name]
    if not (made.flawed and items and made.chance(0.6)):
        return
    made.flaw = made.flaw_of("no number", "no id", "document twice", "scores for some", "scores for some")
    if made.flaw == "no number":
        items[0] = {"text_id": "d", "score": Raw(made.choice("true", *made.rng.sample(NO_JSON_NUMBERS, 2)))}
    elif made.flaw == "no id":
        items[-1] = made.choice({"id": "d"}, {"text_id": Raw("1.5"), "score": 1}, {"text_id": None}, None, [])
    elif made.flaw == "document twice":
        items.append(items[0])
    else:
        items.append({"text_id": "another"} if scored else {"text_id": "another", "score": 0.5})


def litsearch(made):
    lists, numbered = made.lists(), made.chance(0.5)
    made.numbered = numbered
    lists = {str(n) if numbered else q: docs for n, (q, docs) in enumerate(lists.items(), start=1)}
    contents = []
    for query_id, docs in lists.items():
        others = made.ids(3, loose=True)
        used, value = (others, "1") if made.what == "qrels" else (docs, None)
        made.rows.append((query_id, [(d, value) for d in used]))
        content = {"retrieved": ids_of(made, docs), "corpusids": ids_of(made, others), "query": "what is {}?"}
        contents.append(content if numbered else {**content, "query_id": id_of(made, query_id)})
    read = "corpusids" if made.what == "qrels" else "retrieved"
    spoil_list(made, contents, read)
    return written_objects(made, contents, [read])


def json_file(made):
    """One object of queries and documents; MTEB puts a description of the model beside it."""
    made.style = (made.choice(", ", ",", ",\n", ",\r\n  "), made.choice(": ", ":"), made.chance(0.5))
    queries, run = Object(), made.what == "run"
    for query_id, docs in made.lists().items():
        numbers = made.numbers(len(docs), JSON_SCORES, ["-0", "3", "-2"] if run else ["1.0", "2e0", "-0.0"])
        numbers = [n.lstrip("+0") or "0" if n in ("+1", "01") else n for n in numbers]
        made.rows.append((query_id, list(zip(docs, numbers, strict=True))))
        queries.append((query_id, Object((d, Raw(n)) for d, n in zip(docs, numbers, strict=True))))
    how = spoil_json(made, queries)
    content = queries
    if made.chance(0.15):
        meta = ("mteb_model_meta", {"model_name": "m", "revision": "1"})
        content = Object([meta, ("default", Object([("test", queries)]))][:: made.choice(1, -1)])
    text = encoded(made, content)
    text = text[: made.rng.randint(1, len(text) - 1)] if how == "cut" else text
    return made.marked(made.choice("", "", "\n", " \n\n") + text + made.choice("", "\n", "\r\n", "\n\n "))


def spoil_json(made, queries):
    """Do something wrong with a query or a document of a JSON file; say what."""
    if not made.flawed or made.chance(0.1):
        return ""
    place = made.rng.randrange(len(queries))
    query_id, docs = queries[place]
    made.flaw = made.flaw_of(
        "no number", "document twice", "query twice", "no number", "no object", "cut", "half a character"
    )
    if made.flaw == "no number":
        more = [] if made.what == "run" else ["0.5", "1.5"]
        docs.append(("x", Raw(made.choice("true", *more, *made.rng.sample(NO_JSON_NUMBERS, 2)))))
    elif made.flaw == "document twice":
        docs.extend([("again", 1), ("again", 1)])
    elif made.flaw == "query twice":
        queries.append((query_id, Object()))
    elif made.flaw == "no object":
        queries[place] = (query_id, made.choice([], None, "d1"))
    elif made.flaw == "half a character":
        docs.append((Raw('"a\\udc00"'), 1))
    return made.flaw
