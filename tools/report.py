#!/usr/bin/env python3
"""One page and one picture of what tools/peers.py measured.

    tools/report.py [--html FILE] [--png FILE] JSON...      several files of one device are merged
"""

import argparse
import json
import sys

from peers import page, picture, records


def main(words=None):
    parser = argparse.ArgumentParser(prog="tools/report.py", description="One HTML page and one PNG of tools/peers.py's files.")
    parser.add_argument("json", nargs="+", help="files of tools/peers.py --json, of one device")
    parser.add_argument("--html", help="write the page: self-contained, charts inline")
    parser.add_argument("--png", help="write the picture: needs matplotlib")
    options = parser.parse_args(words)
    documents = []
    try:
        for path in options.json:
            with open(path, encoding="utf-8") as stream:
                documents.append(json.load(stream))
        document = records.merge(documents)
    except (OSError, ValueError, KeyError) as why:
        print(f"report: {why}", file=sys.stderr)
        return 1
    if options.html:
        with open(options.html, "w", encoding="utf-8") as stream:
            stream.write(page.page(document))
        print(options.html)
    if options.png:
        try:
            picture.draw(document, options.png)
            print(options.png)
        except ImportError:
            print(f"report: no {options.png}: this python3 has no matplotlib", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
