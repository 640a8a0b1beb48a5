#!/usr/bin/python3
"""Every x.cc has its tests/.../x_test.cc, or a line with a reason in scripts/untested.txt.

A reason may name the test that covers the source under another name; that test must be there. The
list may only shrink: its first line is the number of its entries, a line that is not needed
is an error, and so is a number that is not the count. Raising it takes a reviewer's yes.
"""

import pathlib
import re

import source_tree

_MIRRORED = ("base", "wire", "kernels", "server", "client")
LIST = pathlib.PurePosixPath("scripts/untested.txt")


def test_of(source):
    return pathlib.PurePosixPath("tests", source.parent, source.stem + "_test.cc")


def read_exemptions(text):
    """(limit, {path: (line number, reason)}, problems) of the list."""
    limit, exempt, problems = None, {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if limit is None:
            if not line.startswith("entries "):
                problems.append(f"{LIST}:{number}: begins with `entries N`")
                limit = -1
                continue
            limit = int(line.split()[1])
            continue
        path, _, reason = line.partition(":")
        if not reason.strip():
            problems.append(f"{LIST}:{number}: wants `path: reason`")
        exempt[pathlib.PurePosixPath(path)] = (number, reason)
    return limit, exempt, problems


def main():
    root = source_tree.root_from_arguments(__doc__)
    tree = set(source_tree.files(root, source_tree.CPP_SUFFIXES))
    sources = [path for path in tree if path.suffix != ".h" and path.parts[0] in _MIRRORED]
    limit, exempt, problems = read_exemptions((root / LIST).read_text())

    for source in sorted(sources):
        if test_of(source) not in tree and source not in exempt:
            problems.append(f"{source}:1: has no test {test_of(source)}, and no reason in {LIST}")
    for path, (number, reason) in exempt.items():
        problems += [f"{LIST}:{number}: {test} is gone" for test in re.findall(r"tests/\S+", reason)
                     if not (root / test).exists()]
        if path not in tree:
            problems.append(f"{LIST}:{number}: {path} is gone: take the line out")
        elif test_of(path) in tree:
            problems.append(f"{LIST}:{number}: {path} has its test: take the line out")
    if limit != len(exempt):
        problems.append(f"{LIST}:1: says `entries {limit}`, has {len(exempt)}")
    source_tree.finish(problems, f"tests of {len(sources)} sources")


if __name__ == "__main__":
    main()
