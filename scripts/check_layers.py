#!/usr/bin/python3
"""Holds every #include, and the words of the pure folders, to scripts/layers.toml."""

import fnmatch
import pathlib
import re
import tomllib

import source_tree

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)
_STANDARD = re.compile(r"^[a-z_0-9]+$")  # <vector>, <cstdint>: no folder, no suffix.


class Rules:
    """The table, with a layer's name looked up by the longest folder that matches."""

    def __init__(self, root):
        self.root = root
        table = tomllib.loads((root / "scripts/layers.toml").read_text())
        self.groups = table["groups"]
        self.layers = table["layers"]
        self.pure_headers = table["pure"]["headers"]
        self.pure_words = table["pure"]["words"]

    def layer_of(self, path):
        folders = [parent.as_posix() for parent in path.parents]  # Deepest first.
        return next((folder for folder in folders if folder in self.layers), None)

    def own_file(self, include):
        """The file of ours that an include names, or None."""
        for folder in self.layers_include_roots():
            path = pathlib.PurePosixPath(folder, include)
            if (self.root / path).is_file() and ".." not in path.parts:
                return path
        return None

    def layers_include_roots(self):
        return ["."] + [layer["include_root"] for layer in self.layers.values()
                        if "include_root" in layer]

    def group_of(self, include):
        for group, patterns in self.groups.items():
            if any(fnmatch.fnmatchcase(include, pattern) for pattern in patterns):
                return group
        return None


def _matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def include_problem(rules, layer_name, include):
    """Why a file of the layer may not include that, or None."""
    layer = rules.layers[layer_name]
    own = rules.own_file(include)
    if own is not None:
        target = rules.layer_of(own)
        if target is None:
            return f"{own} belongs to no layer of scripts/layers.toml"
        if target == layer_name:
            return None
        allowed = _matches(target, layer["folders"]) or own.as_posix() in layer["folders"]
        if allowed and not _matches(target, layer.get("never", [])):
            return None
        return f"{layer_name} may not include {target} (\"{include}\")"
    if layer.get("pure") and include in rules.pure_headers:
        return f"{layer_name} is pure: no <{include}>; {rules.pure_headers[include]}"
    if _STANDARD.match(include):
        return None
    group = rules.group_of(include)
    if group is None:
        return (f"\"{include}\" is no file from the repository root, and in no library group of "
                "scripts/layers.toml")
    if not _matches(group, layer["libraries"]):
        return f"{layer_name} may not include {group} (<{include}>)"
    return None


def file_problems(rules, path):
    layer_name = rules.layer_of(path)
    if layer_name is None:
        yield f"{path}:1: belongs to no layer of scripts/layers.toml"
        return
    text = (rules.root / path).read_text()
    for match in _INCLUDE.finditer(text):
        problem = include_problem(rules, layer_name, match.group(2))
        if problem:
            yield f"{path}:{text.count(chr(10), 0, match.start(2)) + 1}: {problem}"
    if rules.layers[layer_name].get("pure"):
        for number, line in enumerate(source_tree.code_only(text).splitlines(), 1):
            for word, instead in rules.pure_words.items():
                if word in line and not line.lstrip().startswith("#include"):
                    yield f"{path}:{number}: {layer_name} is pure: no `{word}`; {instead}"


def main():
    root = source_tree.root_from_arguments(__doc__)
    rules = Rules(root)
    paths = source_tree.files(root, source_tree.CPP_SUFFIXES)
    problems = [problem for path in paths for problem in file_problems(rules, path)]
    source_tree.finish(problems, f"layers of {len(paths)} files")


if __name__ == "__main__":
    main()
