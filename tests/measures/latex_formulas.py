r"""Values of measures from the sentences of a methods paragraph: what a reader would compute.

Formulas are parsed and evaluated, with definitions such as ``$w(g) = g / 2$`` from the sentences. What
sentences say in words is known by its words. Nothing of the package is used.
"""

import math
import re
from functools import partial

TOKEN = re.compile(
    r"\\(?:[a-z]+_2|[a-z]+|[,{} \\])|[0-9]+(?:\.[0-9]+)?|[A-Za-z](?:\^\*)?(?:_[a-z])?|[-+/^_(){}\[\],=&|]|\S"
)
BLANK = (r"\,", r"\ ", r"\left", r"\right")


class Parser:
    """Parses a formula into a function of its symbols."""

    def __init__(self, latex, defined):
        self.tokens = [each for each in TOKEN.findall(latex) if each not in BLANK]
        self.place, self.defined = 0, defined

    @property
    def next(self):
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.next
        assert expected in (None, token), (expected, token, self.tokens)
        self.place += 1
        return token

    def whole(self):
        found = self.sum()
        assert not self.next, self.tokens[self.place :]
        return found

    def sum(self):
        found = self.product()
        while self.next in ("+", "-"):
            sign, left, right = 1 if self.take() == "+" else -1, found, self.product()
            found = lambda env, a=left, b=right, s=sign: a(env) + s * b(env)  # noqa: E731
        return found

    def product(self):
        found = self.power()
        while True:
            if self.next == "/":
                self.take()
                left, right = found, self.power()
                found = lambda env, a=left, b=right: quotient(a(env), b(env))  # noqa: E731
            elif self.next == r"\cdot":
                self.take()
            elif self.next and (self.next[0].isalnum() or self.next[0] in "([\\") and not self.ends():
                left, right = found, self.power()
                found = lambda env, a=left, b=right: a(env) * b(env)  # noqa: E731
            else:
                return found

    def ends(self):
        return self.next in (r"\ge", r"\le", r"\rfloor", r"\\", r"\end", r"\text", r"\}")

    def power(self):
        base = self.atom()
        if self.next == "^":
            self.take()
            exponent = self.group() if self.next == "{" else self.atom()
            return lambda env: base(env) ** exponent(env)
        return base

    def group(self):
        self.take("{")
        found = self.sum()
        self.take("}")
        return found

    def arguments(self):
        self.take("(")
        found = [self.sum()]
        while self.next == ",":
            self.take()
            found.append(self.sum())
        self.take(")")
        return found

    def atom(self):
        token = self.take()
        if re.fullmatch(r"[0-9.]+", token):
            return lambda _: float(token)
        if token == "-":
            inside = self.power()
            return lambda env: -inside(env)
        if token == "(":
            inside = self.sum()
            self.take(")")
            return inside
        if token == "[":
            condition = self.condition()
            self.take("]")
            return lambda env: float(condition(env))
        if token == r"\frac":
            numerator, denominator = self.group(), self.group()
            return lambda env: quotient(numerator(env), denominator(env))
        if token == r"\log_2":
            [inside] = self.arguments()
            return lambda env: math.log2(inside(env))
        if token == r"\lfloor":
            inside = self.sum()
            self.take(r"\rfloor")
            return lambda env: math.floor(inside(env))
        if token in (r"\min", r"\max") and self.next == "(":
            pair, choose = self.arguments(), {"m": min, "x": max}["x" if token == r"\max" else "m"]
            return lambda env: choose(each(env) for each in pair)
        if token in (r"\sum", r"\prod", r"\max"):
            return self.over(token)
        if token == r"\begin":
            return self.cases()
        return self.symbol(token)

    def condition(self):
        left, sign, right = self.sum(), self.take(), self.sum()
        assert sign in (r"\ge", "=")

        def holds(env):
            a, b = left(env), right(env)
            return a is not None and (a >= b if sign == r"\ge" else a == b)

        return holds

    def over(self, token):
        """Parse what is summed, multiplied or compared over an index, with conditions on it."""
        self.take("_")
        self.take("{")
        conditions, last = [], None
        if self.tokens[self.place : self.place + 2] == ["1", r"\le"]:
            self.take(), self.take()
            index, _, last, first = self.take(), self.take(r"\le"), self.sum(), 1
        else:
            index, first = self.take(), None
            if self.next in ("=", r"\ge"):
                self.take()
                first = int(self.take())
        while self.next == ",":
            self.take()
            conditions.append(self.condition())
        self.take("}")
        if self.next == "^":
            self.take()
            last = self.group() if self.next == "{" else self.atom()
        body = self.product()

        def value(env):
            end = int(last(env) if last else env["end"])
            numbers = env["thresholds"] if first is None else range(first, end + 1)
            inner = ({**env, index: each} for each in numbers)
            values = [body(each) for each in inner if all(holds(each) for holds in conditions)]
            if token == r"\max":
                return max(values, default=0)
            return sum(values) if token == r"\sum" else math.prod(values)

        return value

    def cases(self):
        for expected in "{cases}":
            self.take(expected)
        rows = []
        while self.next != r"\end":
            result = self.sum()
            if self.next == "&":
                self.take()
            if self.next == r"\text":
                while self.take() != "}":
                    pass
                rows.append((lambda _: True, result))
            else:
                rows.append((self.condition(), result))
            if self.next == r"\\":
                self.take()
        for expected in [r"\end", *"{cases}"]:
            self.take(expected)
        # What is not among the cases, such as the weight of what is not relevant, is multiplied by 0.
        return lambda env: next((result(env) for holds, result in rows if holds(env)), 0.0)

    def symbol(self, token):
        name, _, index = token.partition("_")
        if self.next == "(" and token in self.defined.functions:
            [argument] = self.arguments()
            return lambda env: self.defined.call(token, argument(env), env)
        if token in self.defined.values:
            return lambda env: self.defined.value(token, env)
        if index:
            return lambda env: self.defined.item(name, env[index], env)
        return lambda env: env[name]


def quotient(numerator, denominator):
    """Divide; 0 where the denominator is not above 0, as the paragraph says."""
    return numerator / denominator if denominator > 0 else 0.0


class Defined:
    """What the symbols of a measure stand for, by the sentences about it, for a ranking."""

    def __init__(self, text, level, ranking, judged):
        self.text, self.level, self.ranking, self.judged = text, level, ranking, judged
        found = re.findall(r"\$([^$]+?) = ([^$]+)\$", text)
        self.functions, self.values, self.items = {}, {}, {}
        for name, right in found:
            if name.endswith(")"):
                self.functions[name.partition("(")[0]] = name[-2], right
            elif name.endswith("_i"):
                self.items[name.partition("_")[0]] = right
            else:
                self.values[name] = right
        self.parsed = {}

    def evaluate(self, latex, env):
        if latex not in self.parsed:
            self.parsed[latex] = Parser(latex, self).whole()
        return self.parsed[latex](env)

    def call(self, name, argument, env):
        if argument is None:  # of an unjudged document
            assert "0 of unjudged documents" in self.text or self.level is not None
            return 0.0
        parameter, right = self.functions[name]
        if name in ("G", "s") and "0 of unjudged documents and negative grades" in self.text and argument < 0:
            return 0.0
        value = self.evaluate(right, {**env, parameter: argument})
        return max(value, 0.0) if "and where that is negative" in self.text else value

    def value(self, name, env):
        return self.evaluate(self.values[name], env)

    def is_relevant(self, label):
        return label is not None and label >= self.level

    def item(self, name, index, env):
        """Return what stands at an index of a sequence that is defined in words."""
        if name in self.items:
            return self.evaluate(self.items[name], {**env, "i": index})
        if name == "g":
            return self.ranking[index - 1] if index <= len(self.ranking) else None
        if name == "r":
            return float(index <= len(self.ranking) and self.is_relevant(self.ranking[index - 1]))
        if name == "R":  # R_t
            assert "$R_t$ is the number of documents in the qrels with grade $t$ and above" in self.text
            return sum(label >= index for label in self.judged)
        above = self.ranking[: index - 1]
        labelled = [label for label in above if label is not None]
        if name in ("p", "a", "c") and "$p_i$ have a label, $a_i$ a grade of at least 0, and" in self.text:
            kinds = {"p": lambda _: True, "a": lambda label: label >= 0, "c": self.is_relevant}
            return sum(map(kinds[name], labelled))
        if name == "a":
            assert "$a_i$ is 1 if the document at rank $i$ has a label" in self.text
            return float(index <= len(self.ranking) and self.ranking[index - 1] is not None)
        if name == "b":
            assert "$b_i$ is the number of documents above rank $i$ with a label of at least 0" in self.text
            return sum(label >= 0 and not self.is_relevant(label) for label in labelled)
        best = self.ideal(name, env)
        return best[index - 1] if index <= len(best) else (None if name == "g^*" else 0.0)

    def ideal(self, name, env):
        relevant = [label for label in self.judged if self.level is not None and label >= self.level]
        if name == "w^*":
            assert "are the weights of the relevant documents in the qrels" in self.text
            return sorted((self.call("w", each, env) for each in relevant), reverse=True)
        if name == "G^*":
            assert "are the gains of the relevant documents in the qrels" in self.text
            return sorted((self.call("G", each, env) for each in relevant), reverse=True)
        [pool] = re.findall("are the grades of (.*?) of the query in descending order of", self.text)
        of = {
            "all judged documents": self.judged,
            "all documents retrieved": self.ranking,
            "all judged documents retrieved": self.ranking,
            "the first $k$ documents retrieved": self.ranking[: int(env.get("k", 0))],
            "the first $k$ judged documents retrieved": self.ranking[: int(env.get("k", 0))],
        }[pool]
        return sorted(of, key=lambda each: -self.call("G", each, env))


def is_kept(text, label):
    """Return whether a document with a label is ranked where others are left out."""
    if "it decides in place of the grade which documents are left out" in text:
        [gain] = re.findall(r"\$G\(g\) = ([^$]+)\$", text)
        return Parser(gain, Defined("", None, [], [])).whole()({"g": label}) >= 0
    return label >= 0


def value_by_text(sentences, conventions, name, labels, ranked):
    """Return the value of a measure for a query.

    Parameters
    ----------
    sentences, conventions : list of str
        On the measure, which is the only one; on documents and queries.
    name : str
        Of the measure, as it prints.
    labels : dict of str to number
        The judged documents.
    ranked : list of str
        The documents retrieved.
    """
    said, text = " ".join(conventions), " ".join(sentences)
    kept = partial(is_kept, text)
    ranking = [labels.get(document) for document in ranked]
    if "are left out before the others are ranked" in said:
        ranking = [label for label in ranking if label is not None and kept(label)]
    else:
        assert "take up ranks and are not relevant" in said
    [latex] = re.findall(r"\$\$(.+?)\$\$", text)
    levels = re.findall(r"A document is relevant if its grade is at least (\S+)\.(?= |$)", text)
    level = float(levels[0]) if levels else None
    text = text.replace(f"$${latex}$$", "")
    defined = Defined(text, level, ranking, list(labels.values()))
    env = {"n": len(ranking), "end": max(len(ranking), len(labels), 1)}
    if "$k$ is the cutoff, the number after @" in text:
        env["k"] = int(name.rpartition("@")[2])
    if level is not None:
        env["R"] = sum(label >= level for label in labels.values())
    if "$B$ is the number of such documents in the qrels" in text:
        env["B"] = sum(0 <= label < level for label in labels.values())
    if thresholds := re.findall(r"t \\in \\\{(.+?)\\\}", text):
        numbers = thresholds[0].split(", ")
        is_range = r"\dots" in numbers
        env["thresholds"] = (
            range(int(numbers[0]), int(numbers[-1]) + 1) if is_range else [*map(float, numbers)]
        )
    return defined.evaluate(latex, env)
