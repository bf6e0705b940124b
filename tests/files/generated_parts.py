"""A generated file in the making: chance, and what it says."""

from collections import Counter

from generated_pieces import BLANK_IDS, COMMON_IDS, GRADES, LOOSE_IDS, MARK, MARKED_IDS, ODD_IDS, SCORES


class Made:
    """A file in the making: chance, and what it says so far."""

    def __init__(self, rng, what):
        self.rng, self.what = rng, what
        self.is_plain = self.chance(0.3)  # nothing odd keeps it from the fast paths
        self.rows, self.style = [], ()

    def chance(self, share):
        return self.rng.random() < share

    def choice(self, *items):
        return self.rng.choice(items)

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
        first, ranks = self.choice(0, 1), []
        orders = {q: self.rng.sample(range(first, first + n), n) for q, n in counts.items()}
        how = self.choice("rows", "in order", "in disorder", "constant", "twice", "gaps", "words")
        for row, (query_id, _) in enumerate(pairs):
            place, order = seen[query_id], orders[query_id][seen[query_id]]
            seen[query_id] += 1
            by_name = {"rows": row, "in order": first + place, "in disorder": order, "constant": first}
            by_name |= {"twice": first + place // 2, "gaps": order * 3 - 2 * first}
            ranks.append(str(by_name[how] if how in by_name else self.choice(place, "-", "1.5", "-1")))
        return ranks

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
