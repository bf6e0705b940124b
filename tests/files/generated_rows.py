"""Generated files that have a row per document: TREC, CSV and TSV, Parquet."""

import io

import polars as pl
from generated_pieces import BLANKS, MARK, ODD_GRADES

# --- TREC ------------------------------------------------------------------------------------------


def trec(made):
    rng, is_run = made.rng, made.what == "run"
    pairs = [("q" if q.startswith("#") else q, d) for q, d in made.pairs(loose=False)]
    pairs = list(dict.fromkeys(pairs))
    numbers = made.numbers(len(pairs), odd_grades=ODD_GRADES)
    made.rows = [(q, [(d, number)]) for (q, d), number in zip(pairs, numbers, strict=True)]
    odd = made.choice("Q0", "0", "e\u0301", MARK, "a\u0085b", "\x01")
    tag = made.choice("tag", odd, '"tag', "#")
    ranks = made.ranks(pairs)
    rows = [
        [q, odd, d, rank, v, tag] if is_run else [q, odd, d, v]
        for rank, (q, [(d, v)]) in zip(ranks, made.rows, strict=True)
    ]
    junk = made.choice([], [], ["more"], ["\u2028", "#"]) if is_run else []
    blanks = made.choice([" "], [" "], [" "], ["\t"], [" ", "  ", "\t", " \t "], ["\v", "\f", " "])
    around = made.choice([""], ["", "", " ", "\t "])
    if made.is_plain:
        blanks, around = [" "], [""]
    lines = []
    for row in rows:
        line = "".join(cell + rng.choice(blanks) for cell in [*row, *junk]).rstrip(BLANKS)
        lines.append(rng.choice(around) + line + rng.choice(around))
    return made.joined(with_comments(made, lines))


def with_comments(made, lines):
    """Put lines between that say nothing; some are rows that are commented out."""
    row = "{} Q0 {} 1 2.0 tag" if made.what == "run" else "{} 0 {} 1"
    query_id, [(doc_id, _)] = made.rows[0]
    rows = [row.format(*pair) for pair in (("#", "d1"), ("#" + query_id, doc_id), ("#q1", "d1"))]
    other = ["", " ", "\t", "\v ", "#", "# words", f"#{MARK}", "  #\tmore words, 1 2 3", f"  {rows[0]}"]
    share = 0 if made.is_plain else made.choice(0, 0.05, 0.3)
    mixed = []
    for line in lines:
        mixed += [made.rng.choice(other + rows), line] if made.chance(share) else [line]
    return [*mixed, made.rng.choice(other + rows)] if made.chance(0.1) else mixed


def trec_qrels(made):
    """Make qrels whose order is a run."""
    made.what = "qrels"
    data = trec(made)
    made.rows = [(query_id, [(doc_id, None)]) for query_id, [(doc_id, _)] in made.rows]
    made.what = "run"
    return data


# --- CSV and TSV -----------------------------------------------------------------------------------


def table(made):
    """Make a table with any delimiter, other columns, aliases and quotes."""
    value = made.choice("score") if made.what == "run" else made.choice("relevance", "label")
    return table_of(
        made, (made.choice("query_id", "qid", "q_id"), made.choice("doc_id", "docno"), value), ",;\t"
    )


def beir(made):
    return table_of(made, ("query-id", "corpus-id", "score"), "\t\t\t,")


def table_of(made, names, delimiters):
    pairs = made.pairs()
    numbers = made.numbers(len(pairs), odd_grades=ODD_GRADES)
    made.rows = [(q, [(d, number)]) for (q, d), number in zip(pairs, numbers, strict=True)]
    aliases = [alias for name, alias in (("query_id", "qid"), ("doc_id", "docno")) if name in names]
    other = made.choice([], [], ["rank"], ["query"], ["", "query"], ["query", "query"], aliases)
    columns = [*names, *other]
    if made.chance(0.5):
        made.rng.shuffle(columns)
    words = made.choice(
        [""], ["some words", "", "1"], [MARK, "\x01", "a\u2028b"], ["two\nlines", 'a "query"']
    )
    words = ["some words"] if made.is_plain else words
    rows = []
    ranks = made.ranks(pairs) if made.chance(0.7) else [""] * len(pairs)
    for rank, (query_id, [(doc_id, number)]) in zip(ranks, made.rows, strict=True):
        cells = dict(zip((*names, "rank"), (query_id, doc_id, number, rank), strict=True))
        rows.append([cells.get(column, made.rng.choice(words)) for column in columns])
    return written_table(made, columns, rows, made.rng.choice(delimiters))


def written_table(made, columns, rows, delimiter):
    share = 0 if made.is_plain else made.choice(0, 0, 0.1, 1)
    lines = [delimiter.join(cell(made, name, delimiter, share == 1) for name in columns)]
    lines = [*made.choice([], [], [], ["# made by hand"], ["", " "], ["#", "\t"]), *lines]
    for row in rows:
        lines.append(delimiter.join(cell(made, text, delimiter, made.chance(share)) for text in row))
        if made.chance(0.02):
            lines.append("")
    return made.joined(lines)


def cell(made, text, delimiter, quote):
    """Return a cell, in quotes where it must be; quotes within a cell need none."""
    needed = set(text) & {delimiter, "\n", "\r"} or text.startswith('"') or ('"' in text and made.chance(0.7))
    return '"' + text.replace('"', '""') + '"' if needed or quote else text


# --- Parquet ---------------------------------------------------------------------------------------


def parquet(made):
    pairs, value = made.pairs(), "score" if made.what == "run" else made.choice("relevance", "label")
    if made.chance(0.2):
        pairs = list(dict.fromkeys((str(len(q)), d) for q, d in pairs))
    numbers = made.numbers(len(pairs), odd_grades=ODD_GRADES)
    whole = made.what == "qrels" and not any(n in ODD_GRADES for n in numbers)
    values = [int(n) if whole else float(n) for n in numbers]
    made.rows = [(q, [(d, repr(v))]) for (q, d), v in zip(pairs, values, strict=True)]
    names = [made.choice("query_id", "qid", "q_id"), made.choice("doc_id", "docno"), value]
    ranks = [int(rank) if rank.isdigit() else None for rank in made.ranks(pairs)]
    if made.chance(0.5):
        names.append("rank")
    rows = [[q, d, v, rank][: len(names)] for (q, d), v, rank in zip(pairs, values, ranks, strict=True)]
    return written_parquet(made, names, rows, whole)


def written_parquet(made, names, rows, whole):
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    types = [pl.String, made.choice(pl.String, pl.Categorical), pl.Int64 if whole else pl.Float64]
    types.append(made.choice(pl.Int64, pl.Int32, pl.UInt16, pl.Float64))
    frame = pl.DataFrame(columns, schema=dict(zip(names, types, strict=False)), strict=False)
    frame = frame.with_columns(other=pl.lit(MARK)).select(made.rng.sample([*names, "other"], len(names) + 1))
    file = io.BytesIO()
    frame.write_parquet(
        file, row_group_size=made.choice(1, 5, None), compression=made.choice("zstd", "snappy")
    )
    return file.getvalue()
