"""Ids and numbers that files may hold, and some that they may not: what generated files are made of."""

BLANKS = " \t\v\f\r"
MARK = "\ufeff"


def words(text):
    return text.split(" ")


COMMON_IDS = [*(f"d{number}" for number in range(1, 25)), "1", "2", "10", "007", "-5", "d01"]
MARKED_IDS = words(f"{MARK}d1 {MARK}{MARK}d1 d1{MARK} d{MARK}1 {MARK}")
ODD_IDS = [
    *MARKED_IDS,
    *words("nan inf null None 1.0 1e3 1_0 é e\u0301 x\u0301 i\u0307 ü 日本 שלום عربى 😀 \uffff \U00010000"),
    *words("a\u202eb \u200fx a\u200bb a\u0085b \u0085 a\u2028b \u2029c \u00a0n \u3000 a\x01b \x1cx a\x1fb"),
    *words("\x00 \x7f ' a\\b \\n a,b a;b } a{ #y d#"),
    *words('" "quoted" a"b'),
]
BLANK_IDS = ["a b", " a", "a ", "a  b", "", "#d", " "]
LOOSE_IDS = [*BLANK_IDS, "a\tb", "\t", "a\nb", "a\r\nb", "a\rb", "a\n\nb", f"\n{MARK}d1", "\r"]
"""Ids that columns divided by white space cannot hold."""
SCORES = [
    *words("0.0 -0.0 0 -0 +1.5 1e39 -1e39 3.5e38 1e-50 1E5 .5 5. 007 1e+2 1E-2 -.0e1 0.3 1e23 8.5\u2028"),
    *words("inf -inf Infinity +INF 1e999 -1e400 4.9e-324 2.2250738585072011e-308 9007199254740993 \u0663"),
    *words("16777216 16777217 1.0000000596046448 1.0000000000000002 0.30000001192092896 \uff11.5"),
    *words("0.1000000000000000055511151231257827 111111111111111111111111111111"),
]
GRADES = words("0 1 1 2 2 3 -1")
ODD_GRADES = words("+1 01 -0 1.0 0.5 -0.0 2.50 1e0 1E0 3e0")
JSON_SCORES = words("0 -0 -0.0 1e39 -1E39 1e999 Infinity -Infinity 1e-50 9007199254740993 1.5")
NO_NUMBERS = [
    *words("nan nan NaN NaN -nan 1_0 1_0 1_0 +NAN nan(1) null None 0x1F 1e e5 --1 1.5f 1d5 1e5x 1.2.3"),
    *words("high True infinit"),
    *words("\u221e \u00bd \u22121 #N/A . + - i \x01 1\u200b 1\ufeff"),
]
