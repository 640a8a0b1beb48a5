#!/usr/bin/python3
"""Limits the lines of C++ files. (Of functions: readability-function-size, by checks.tidy.)"""

import source_tree

LINES_MAX = {".h": 300, ".cc": 500, ".cu": 500}


def main():
    root = source_tree.root_from_arguments(__doc__)
    paths = source_tree.files(root, tuple(LINES_MAX))
    problems = []
    for path in paths:
        lines = len((root / path).read_text().splitlines())
        if lines > LINES_MAX[path.suffix]:
            problems.append(f"{path}:{lines}: {lines} lines, {LINES_MAX[path.suffix]} are allowed: "
                            "what it does is more than one thing")
    source_tree.finish(problems, f"sizes of {len(paths)} files")


if __name__ == "__main__":
    main()
