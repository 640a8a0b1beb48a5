"""What the checks share: which files are ours, C++ without its comments, and how to report."""

import argparse
import os
import pathlib
import re
import subprocess
import sys

CPP_SUFFIXES = (".h", ".cc", ".cu")
_SKIPPED_FOLDERS = {"build", ".git", ".venv", "__pycache__"}
_COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\s\\]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])'",  # Not the ' of 1'000.
    re.DOTALL)


def root_from_arguments(description):
    """The tree to look at: --root, or the one this script lies in."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[1],
                        help="the tree to check (default: this one)")
    return parser.parse_args().root.resolve()


def files(root, suffixes=None):
    """Paths from `root` of every file that is, or may soon be, in a commit; sorted."""
    names = _git_files(root) if (root / ".git").exists() else _walked_files(root)
    return sorted(pathlib.PurePosixPath(name) for name in names
                  if suffixes is None or name.endswith(suffixes))


def _git_files(root):
    # A checkout may belong to another user (a container that runs as root): git would refuse.
    output = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True).stdout
    return [name for name in output.split("\0") if name and (root / name).is_file()]


def _walked_files(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in _SKIPPED_FOLDERS]
        for name in names:
            yield (pathlib.Path(folder) / name).relative_to(root).as_posix()


def code_only(text):
    """C++ `text` with comments and literals blanked; lines keep their numbers."""
    return _COMMENT_OR_TEXT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def finish(problems, checked):
    """Prints what was found, one a line, and ends the process: 0 only if nothing was."""
    for problem in problems:
        print(problem)
    print(f"{checked}: {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
