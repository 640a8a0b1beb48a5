#!/usr/bin/python3
"""Compares every C++ file with what clang-format makes of it (.clang-format)."""

import subprocess

import source_tree


def main():
    root = source_tree.root_from_arguments(__doc__)
    paths = source_tree.files(root, source_tree.CPP_SUFFIXES)
    result = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", "--ferror-limit=1", *map(str, paths)],
        cwd=root, capture_output=True, text=True) if paths else None
    problems = []
    if result is not None and result.returncode != 0:
        problems = [line for line in result.stderr.splitlines() if " error: " in line]
        problems = problems or [f"clang-format: {result.stderr}"]
    source_tree.finish(problems, f"format of {len(paths)} files")


if __name__ == "__main__":
    main()
