#!/usr/bin/python3
"""Adds up ctest's JUnit reports. Last line: `N passed, N failed`; ends with 1 unless all passed.

A test that was skipped, or not run because its program is missing, did not pass; the first is
named, the second is a failure. No test at all is a failure too.
"""

import pathlib
import sys
import xml.etree.ElementTree


def main():
    outcomes = {}
    for path in sys.argv[1:]:
        if not pathlib.Path(path).is_file():
            outcomes[f"{path}: ctest left no report"] = "failed"
            continue
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            outcomes[case.get("name")] = outcome(case)
    for wanted in ("skipped", "failed"):
        for name in sorted(name for name, found in outcomes.items() if found == wanted):
            print(f"{wanted}: {name}")
    passed = sum(found == "passed" for found in outcomes.values())
    failed = sum(found == "failed" for found in outcomes.values())
    if not outcomes:
        print("no test was found")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def outcome(case):
    """What became of one test. CTest writes status "run", "fail", "notrun" or "disabled"."""
    if case.get("status") == "run" and case.find("failure") is None:
        return "passed"
    if case.get("status") == "disabled":
        return "skipped"
    skipped = case.find("skipped")
    if case.get("status") == "notrun" and skipped is not None:
        # SKIP_RETURN_CODE and SKIP_REGULAR_EXPRESSION; a missing program is not a skip.
        return "skipped" if "SKIP" in (skipped.get("message") or "") else "failed"
    return "failed"


if __name__ == "__main__":
    main()
