#!/usr/bin/python3
"""Writes one C++ file from every ```cpp block of the documents and the comments of headers.

Each block stands in a namespace of its own, as the body of a function unless it defines something
at its left edge; its #includes move to the top. #line leads errors back to the document. A block
that is not meant to compile alone is marked ```c++ instead.
"""

import argparse
import pathlib
import re

_OPENING = re.compile(r"^(?P<comment>\s*//[/!]? ?)?```cpp\s*$")
_DEFINITION = re.compile(
    r"^(?:namespace|class|struct|enum|template|using namespace|int main|"
    r"[\w:<>*&, ]+ [\w:]+\(.*\{$)")
_CONTROL = re.compile(r"^(?:if|for|while|switch|else|do|return)\b")


def blocks(text):
    """Yields (number of the first line, lines) of each block."""
    lines = text.splitlines()
    index = 0
    while index < len(lines):
        match = _OPENING.match(lines[index])
        index += 1
        if not match:
            continue
        prefix = match.group("comment") or ""
        first, body = index + 1, []
        while index < len(lines) and lines[index].removeprefix(prefix).strip() not in (
                "```", "/// ```", "// ```"):
            body.append(lines[index].removeprefix(prefix.rstrip()).removeprefix(
                " " if prefix else ""))
            index += 1
        yield first, body


def render(path, first, body, number):
    is_definition = any(_DEFINITION.match(line) and not _CONTROL.match(line) for line in body)
    code = ["" if line.startswith("#include") else line for line in body]
    opening = f"namespace snippet_{number} {{"
    closing = "}"
    if not is_definition:
        opening += " inline absl::Status Run() {"
        closing = "return absl::OkStatus(); } }"
    return [opening, f'#line {first} "{path}"', *code, closing, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--include-root", action="append", default=[],
                        help="folder from the root that #include paths of headers begin in")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("paths", nargs="*", type=pathlib.Path, help="from the root")
    arguments = parser.parse_args()

    includes, rendered = {'#include "absl/status/status.h"'}, []
    for path in sorted(arguments.paths):
        for first, body in blocks((arguments.root / path).read_text()):
            includes.update(line for line in body if line.startswith("#include"))
            if path.suffix == ".h":
                folders = [f for f in arguments.include_root if path.is_relative_to(f)]
                name = path.relative_to(folders[0]) if folders else path
                includes.add(f'#include "{name}"')
            rendered.append(render(path, first, body, len(rendered)))
    lines = [f"// {len(rendered)} snippets of the documents, made by scripts/extract_snippets.py.",
             *sorted(includes), ""]
    arguments.output.write_text("\n".join(lines + [line for block in rendered for line in block]))


if __name__ == "__main__":
    main()
