"""Files of data sets that tests write, and the command line's answer about them."""

import gzip
import json

from commands import run_cli


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def kept(home):
    return [path for path in home.rglob("*") if path.is_file()]


def evaluate(*arguments):
    stdout, stderr = run_cli("evaluate", *arguments, "--format", "json")
    [content] = json.loads(stdout)
    return content, stderr
