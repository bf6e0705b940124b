"""A generated file in the making: chance, what it says, what is wrong with it."""

from collections import Counter

from generated_pieces import BLANK_IDS, COMMON_IDS, GRADES, LOOSE_IDS, MARK, MARKED_IDS, ODD_IDS, SCORES


class Made:
    """A file in the making: chance, what it says so far, and what is wrong with it."""

    def __init__(self, rng, what, turn, slot):
        self.rng, self.what = rng, what
        self.flawed, self.flaw_turn = turn % 3 == 2, turn // 3 + slot
        self.is_plain = self.flawed and self.chance(0.6)  # nothing odd keeps the flaw from the fast paths
        self.rows, self.flaw = [], ""
        self.style, self.numbered = (), False

    def chance(self, share):
        return self.rng.random() < share

    def choice(self, *items):
        return self.rng.choice(items)

    def flaw_of(self, *flaws):
        """Return the flaw whose turn it is."""
        return flaws[self.flaw_turn % len(flaws)]

    def ids(self, count, loose):
        odd = self.rng.sample(ODD_IDS, self.choice(0, 0, 4, len(ODD_IDS)))
        pools = [COMMON_IDS + odd] * 3 + [COMMON_IDS[:6] + MARKED_IDS] * 2
        pools += [COMMON_IDS[:4] + BLANK_IDS, COMMON_IDS[:9] + LOOSE_IDS] if loose else []
        pool = COMMON_IDS if self.is_plain else self.rng.choice(pools)
        return self.rng.sample(pool, min(count, len(pool)))

    def lists(self, loose=True, empty=True):
        """Return queries with their documents; with `empty` some may have none."""
        documents = self.ids(self.choice(1, 5, 14), loose)
        sizes = range(0 if empty else 1, len(documents) + 1)
        queries = self.ids(self.rng.randint(1, 5), loose)
        return {q: self.rng.sample(documents, self.rng.choice(sizes)) for q in queries}

    def pairs(self, loose=True):
        """Return queries and documents in the order of the file, one row each, perhaps scattered."""
        pairs = [(q, d) for q, docs in self.lists(loose, empty=False).items() for d in docs]
        if self.chance(0.5):
            self.rng.shuffle(pairs)
        return pairs

    def numbers(self, count, odd_scores=SCORES, odd_grades=()):
        """Return numbers as text: with ties, with collisions as float32, or in any spelling."""
        rng = self.rng
        if self.what == "qrels":
            grades = self.choice(GRADES, [*GRADES, *odd_grades])
            return [rng.choice(grades) for _ in range(count)]
        spelling = self.choice(
            lambda: repr(float(rng.randrange(4))),
            lambda: repr(1 + rng.randrange(6) * 1e-9),
            lambda: repr(rng.uniform(-20, 20)),
            lambda: repr(rng.random() * 10.0 ** rng.randint(-300, 300)),
            lambda: str(rng.randrange(-9, 99)),
            lambda: rng.choice(odd_scores),
        )
        return [spelling() for _ in range(count)]

    def ranks(self, pairs):
        """Return a column of ranks for rows of queries and documents: an order, or not one."""
        seen, counts = Counter(), Counter(query_id for query_id, _ in pairs)
        first = self.choice(0, 1)
        orders = {q: self.rng.sample(range(first, first + n), n) for q, n in counts.items()}
        columns = {
            "rows": [],
            "in order": [],
            "in disorder": [],
            "constant": [],
            "twice": [],
            "gaps": [],
            "words": [],
        }
        for row, (query_id, _) in enumerate(pairs):
            place = seen[query_id]
            seen[query_id] += 1
            columns["rows"].append(row)
            columns["in order"].append(first + place)
            columns["in disorder"].append(orders[query_id][place])
            columns["constant"].append(first)
            columns["twice"].append(first + place // 2)
            columns["gaps"].append(orders[query_id][place] * 3 - 2 * first)
            columns["words"].append(self.choice(place, "-", "1.5", "-1"))
        return [str(rank) for rank in columns[self.choice(*columns)]]

    def joined(self, lines):
        """Join lines as files do: with any line ends, perhaps none at the end, perhaps a mark before."""
        ends = self.choice(["\n"], ["\n"], ["\r\n"], ["\n", "\r\n"])
        text = "".join(line + self.rng.choice(ends) for line in lines)
        if self.chance(0.3):
            text = text.removesuffix("\n").removesuffix("\r")
        return self.marked(text)

    def marked(self, text):
        """Return the bytes, perhaps with a mark before them; always if the text itself begins with one."""
        return ((MARK if text.startswith(MARK) or self.chance(0.15) else "") + text).encode()

    def damage(self, rows, value, wrong_numbers, too_long):
        """Do one thing wrong in rows of cells, of which `value` is the number's place."""
        if not self.flawed or self.flaw:
            return
        row = self.rng.choice(rows)
        self.flaw = self.flaw_of("no number", "too short", "twice", "too long", "no number", "other", "twice")
        if self.flaw == "no number":
            row[value] = self.choice("nan", "1_0", *self.rng.sample(wrong_numbers, 2))
        elif self.flaw == "too short":
            kept = self.choice(len(row) - 1, self.rng.randrange(1, len(row))) if row[0] else 0
            kept = 5 if (len(row), kept) == (6, 4) else kept  # four columns are qrels, and these a run
            row[:] = row[:kept] if kept else ["x"]
        elif self.flaw == "too long" and too_long:
            row.append("1")
        elif self.flaw == "twice":
            again = [*row]
            again[value] = self.rng.choice(rows)[value]
            rows.insert(self.rng.randint(0, len(rows)), again)
        else:
            self.flaw = ""  # something in the text
