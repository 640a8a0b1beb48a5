#!/usr/bin/python3
"""Finds in tracked text what no formatter or compiler finds."""

import re

import source_tree

_CODE = (".h", ".cc", ".cu", ".py", ".proto", ".cmake", ".txt", ".toml")
_TEXT = _CODE + (".md", ".json", ".yml", ".yaml", "Dockerfile")

COLUMNS_MAX = 100

# (which files, which lines, what to say). Written so that no pattern matches its own text.
_RULES = (
    (_TEXT, re.compile(r"/(?:root|home)/"), "names a path of one machine"),
    (_TEXT, re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b"),
     "unfinished work: finish it, or put it in the tracker and take the words out"),
    (source_tree.CPP_SUFFIXES, re.compile(r"\bNOLIN[T]\w*(?!\w*\([a-z-]+\))"),
     "switches off more than one check (`// NOLINT(check)`, and why)"),
    (source_tree.CPP_SUFFIXES, re.compile(r"\b(?:throw\s+[\w:]+[({]|throw;)"),
     "nothing is thrown here: absl::Status, or SHOAL_CHECK for our own faults"),
)
_TEST_RULES = (
    (source_tree.CPP_SUFFIXES + (".py",),
     re.compile(r"\bsleep_(?:for|until)\b|\btime\.sleep\(|\bSleepFor\(|(?<!\w)u?sleep\("),
     "a test never sleeps: wait for what should happen, with a deadline"),
)


def line_problems(path, line):
    name = path.name if path.suffix else path.name + ".py"  # Scripts have no suffix.
    is_test = path.parts[0] == "tests"
    for suffixes, pattern, message in _RULES + (_TEST_RULES if is_test else ()):
        if name.endswith(suffixes) and pattern.search(line):
            yield message
    if name.endswith(_CODE) and len(line) > COLUMNS_MAX and "http" not in line:
        yield f"{len(line)} columns, {COLUMNS_MAX} are allowed"


def file_problems(root, path):
    text = (root / path).read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        for message in line_problems(path, line):
            yield f"{path}:{number}: {message}"
    if path.suffix == ".h" and not path.stem.endswith("-inl") and "#pragma once" not in text:
        yield f"{path}:1: a header begins with #pragma once"
    if text and not text.endswith("\n"):
        yield f"{path}:{text.count(chr(10)) + 1}: the last line does not end"


def is_text(root, path):
    """A seed of a fuzzer's corpus is data whatever its name."""
    if "corpus" in path.parts:
        return False
    if path.name.endswith(_TEXT):
        return True
    return not path.suffix and (root / path).read_bytes()[:2] == b"#!"


def main():
    root = source_tree.root_from_arguments(__doc__)
    paths = [path for path in source_tree.files(root) if is_text(root, path)]
    problems = [problem for path in paths for problem in file_problems(root, path)]
    source_tree.finish(problems, f"style of {len(paths)} files")


if __name__ == "__main__":
    main()
