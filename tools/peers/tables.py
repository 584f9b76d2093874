"""The records as tables of Markdown; tools/make_tables.py puts them into README.md and docs/."""

from . import facts


def markdown(heads, rows):
    """Lines: the first column to the left, numbers to the right."""
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def microseconds(us):
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:.0f}"


def summary(document):
    """How often and by how much redax is faster than the best peer of each case and than each one."""
    some, rows = facts.rows(document), []
    for peer in [None, *facts.peer_names(document)]:
        ratios = facts.against(some, peer)
        wins, even, losses = facts.tally(ratios)
        words = "the best of them, case by case" if peer is None else facts.title(peer)
        rows.append([words, str(len(ratios)), f"{facts.geomean(ratios):.2f}", str(wins), str(even), str(losses)])
    return markdown(["beside", "cases", "time / redax's, geomean", "redax faster", f"even, within {100 * facts.EVEN:.0f}%",
                     "redax slower"], rows)


def behind(document):
    """A row for each case in which redax is behind, the worst first."""
    some = sorted((r for r in facts.rows(document) if r.behind), key=lambda r: r.speedup)
    return markdown(["case", "redax, us", "fastest", "its us", "its / redax's"],
                    [[f"`{r.record['case']}`", microseconds(r.us), facts.title(r.best), microseconds(r.peers[r.best]),
                      f"{r.speedup:.2f}"] for r in some])


def cases(document, names=None, headings=None):
    """A row for each case, or for each of names: microseconds of everyone, in bold what is printed as the least, and redax's
    share of the ceiling. Above the case of a name stands its heading, if it has one.
    """
    known = {record["name"]: record for record in document["cases"]}
    chosen = [known[name] for name in names] if names else document["cases"]
    peers, rows = facts.peer_names(document), []
    for r in map(facts.row, chosen):
        if headings and r.record["name"] in headings:
            rows.append([f"*{headings[r.record['name']]}*", *[""] * (len(peers) + 3)])
        times = [r.us, *(r.peers.get(peer) for peer in peers)]
        fastest = min((us for us in times if us), default=0)
        cells = [microseconds(us) if us else "–" for us in times]
        cells = [f"**{cell}**" if cell == microseconds(fastest) else cell for cell in cells]
        rows.append([f"`{r.record['case']}`", cells[0], "–" if r.share is None else f"{100 * r.share:.0f}", *cells[1:],
                     "–" if r.speedup is None else f"{r.speedup:.2f}"])
    return markdown(["case", "redax, us", "% of ceiling", *map(facts.title, peers), "best / redax"], rows)
