#!/usr/bin/env python3
"""Every link of README.md and docs/ leads to a file of the project, and to a heading of it where it names one."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def prose(path):
    """(number, line) of all that is not an example between ``` and ```."""
    with open(path, encoding="utf-8") as stream:
        fenced = False
        for number, line in enumerate(stream.read().splitlines(), 1):
            if line.startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield number, line


def anchors(path):
    """The names that GitHub gives to headings: lower case, words joined by '-', a number behind the second of a kind."""
    found, times = [], {}
    for _, line in prose(path):
        heading = re.match(r"#+ (.*)$", line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            times[name] = times.get(name, -1) + 1
            found.append(f"{name}-{times[name]}" if times[name] else name)
    return found


def main():
    os.chdir(ROOT)
    count = bad = 0
    for name in ["README.md", *sorted(glob.glob("docs/**/*.md", recursive=True))]:
        for number, line in prose(name):
            for link in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"https?:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                count += 1
                if not os.path.exists(target):
                    print(f"{name}:{number}: {link}: there is no {target}")
                    bad += 1
                elif anchor and anchor not in anchors(target):
                    print(f"{name}:{number}: {link}: {target} has no heading {anchor}")
                    bad += 1
    print(f"links: {count} links, {bad} lead nowhere")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
