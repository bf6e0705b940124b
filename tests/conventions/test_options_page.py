"""The guide's page of options is generated from the records.

``python tests/conventions/test_options_page.py`` writes it again.
"""

from pathlib import Path

from permed_measures.conventions.records import OPTIONS, Option, Value

PAGE = Path(__file__).parents[2] / "notebooks" / "guide" / "options.md"
HEAD = """\
# Options of conventions

A convention is a value for each of these options: first those that all measures share, then those of
each measure. The first value is ir_measures' default. [How to add a convention](adding-conventions.md)
shows how a file of your own names them.
"""


def page(options: dict[str, Option]) -> str:
    """Write the page."""
    parts = [HEAD]
    for name, option in options.items():
        of = f", of {', '.join(option.measures)}" if option.measures else ""
        parts.append(f"## `{name}`: {option.title}{of}\n")
        if not option.values:
            parts.append("A grade above 0; the default is 1.\n")
            continue
        parts.append("| value | meaning | used by |\n|---|---|---|")
        for value, record in option.values.items():
            only = f" ({', '.join(record.measures)} only)" if record.measures else ""
            parts.append(f"| `{value}` | {record.description}{only} | {record.used_by} |")
        parts.append("")
    return "\n".join(parts)


def test_the_page_has_every_option_and_value_as_their_records_say():
    assert PAGE.read_text(encoding="utf-8") == page(OPTIONS)


def test_a_new_value_stands_on_the_page(monkeypatch):
    values = OPTIONS["gain"].values
    monkeypatch.setitem(values, "new", Value("a new gain", "our lab"))
    assert "| `new` | a new gain | our lab |" in page(OPTIONS)


if __name__ == "__main__":
    PAGE.write_text(page(OPTIONS), encoding="utf-8")
