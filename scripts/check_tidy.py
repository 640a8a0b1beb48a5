#!/usr/bin/python3
"""Runs clang-tidy over every source of the build whose inputs changed since it was last clean.

A file is clean as long as nothing that we can change has changed: its text, the headers of ours it
reaches, its compile command, the .clang-tidy above it, the version of clang-tidy. The hash of all
that names an empty file in the cache folder. Findings are never cached.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.MULTILINE)
_INCLUDE_ROOTS = (".", "client/include")


class Tidy:
    """One run: the tree, the compile commands of a build folder, and the cache in it."""

    def __init__(self, root, build):
        self.root = root
        self.build = build
        self.cache = build / "tidy-cache"
        self.cache.mkdir(exist_ok=True)
        self.version = subprocess.run(["clang-tidy", "--version"], check=True,
                                      capture_output=True, text=True).stdout

    def sources(self):
        """{path from the root: compile command} of our own files, generated ones left out."""
        entries = json.loads((self.build / "compile_commands.json").read_text())
        paths = {pathlib.Path(entry["directory"], entry["file"]): entry["command"]
                 for entry in entries if entry["file"].endswith(".cc")}
        return {path.relative_to(self.root): command for path, command in paths.items()
                if path.is_relative_to(self.root) and not path.is_relative_to(self.build)}

    @functools.lru_cache(maxsize=None)
    def reached(self, path):
        """The files of ours that `path` includes directly. A generated header is its .proto."""
        found = []
        for include in _INCLUDE.findall((self.root / path).read_text(errors="replace")):
            proto = re.sub(r"(\.grpc)?\.pb\.h$", ".proto", include)
            names = [pathlib.Path(folder, include) for folder in _INCLUDE_ROOTS]
            if proto != include:
                names = [pathlib.Path("proto", proto)]
            found += [name for name in names if (self.root / name).is_file()]
        return found

    def closure(self, source):
        """Every file of ours that clang-tidy reads for `source`, its settings among them."""
        seen, queue = set(), [source]
        while queue:
            path = queue.pop()
            if path not in seen:
                seen.add(path)
                queue += self.reached(path)
        settings = [folder / ".clang-tidy" for folder in source.parents]
        return sorted(seen) + [path for path in settings if (self.root / path).is_file()]

    def key(self, source, command):
        digest = hashlib.sha256(f"{self.version}\0{command}".encode())
        for path in self.closure(source):
            digest.update(f"\0{path}\0".encode() + self.text(path))
        return digest.hexdigest()

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        return (self.root / path).read_bytes()

    def check(self, source):
        """What clang-tidy says of `source`; empty when it is content."""
        result = subprocess.run(
            # Most of g++'s switches are clang's too; those that are not are no finding.
            ["clang-tidy", "--quiet", "-p", str(self.build), str(source),
             "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error"],
            cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode == 0:
            return ""
        return result.stdout or result.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a configured build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("paths", nargs="*", type=pathlib.Path, help="only these sources")
    arguments = parser.parse_args()

    tidy = Tidy(pathlib.Path(__file__).resolve().parents[1], arguments.build.resolve())
    keys = {source: tidy.key(source, command) for source, command in tidy.sources().items()
            if not arguments.paths or source in arguments.paths}
    stale = [source for source, key in keys.items() if not (tidy.cache / key).exists()]

    begin = time.monotonic()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for source, findings in zip(stale, pool.map(tidy.check, stale)):
            if findings:
                failed += 1
                print(findings.replace(f"{tidy.root}/", ""), flush=True)
            else:
                (tidy.cache / keys[source]).touch()
    for entry in tidy.cache.iterdir():
        if not arguments.paths and entry.name not in keys.values():
            entry.unlink()
    print(f"clang-tidy of {len(keys)} files, {len(stale)} of them anew in "
          f"{time.monotonic() - begin:.0f} s: {failed} with findings")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
