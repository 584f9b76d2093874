"""The report's charts as one PNG, drawn by matplotlib."""

import math

from . import charts, facts


def nothing(axes, words):
    axes.set_axis_off()
    axes.text(0.5, 0.5, words, ha="center", va="center", color=charts.GREY, transform=axes.transAxes)


def share_axes(axes, rows):
    some = [r for r in rows if r.share is not None]
    if not some:
        nothing(axes, "no ceiling was measured")
        return
    theirs = [r for r in some if r.best]
    size = {id(r): r.record["bytes"] * 1.25 ** aside for r, aside in charts.spread(some)}
    axes.scatter([size[id(r)] for r in theirs], [100 * r.share_of(r.peers[r.best]) for r in theirs], s=16, facecolors="none",
                 edgecolors=charts.GREY, linewidths=1, label="best peer")
    for lost, colour, label in ((False, charts.BLUE, "redax"), (True, charts.RUST, "redax, slower than the best peer")):
        part = [r for r in some if r.lost is lost]
        axes.scatter([size[id(r)] for r in part], [100 * r.share for r in part], s=18, color=colour, alpha=0.85, label=label)
    axes.set_xscale("log")
    axes.set_ylim(0, 112)
    axes.axhline(100, color="#b9bec4", linewidth=1)
    axes.set_xlabel("bytes that have to move")
    axes.set_ylabel("% of the read ceiling")
    axes.set_title("Share of the ceiling over size", loc="left")
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(0, 0.86))


def heat_axes(axes, cells, label, lines, columns):
    if not cells:
        nothing(axes, f"{label}: no case")
        return
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(lines), 0)
    for (b, c), found in cells.items():
        speedup = facts.geomean(r.speedup for r in found)
        fill, ink = charts.colour(speedup)
        i, j = columns.index(c), lines.index(b)
        axes.fill([i + 0.03, i + 0.97, i + 0.97, i + 0.03], [j + 0.04, j + 0.04, j + 0.96, j + 0.96], color=fill, linewidth=0)
        axes.text(i + 0.5, j + 0.5, f"{speedup:.2f}" if speedup < 9.95 else f"{speedup:.0f}", ha="center", va="center",
                  color=ink, fontsize=8)
    axes.set_xticks([i + 0.5 for i in range(len(columns))], [facts.count_label(4 ** c) for c in columns], fontsize=8)
    axes.set_yticks([j + 0.5 for j in range(len(lines))], [facts.count_label(4 ** b) for b in lines], fontsize=8)
    axes.tick_params(length=0)
    axes.set_xlabel("columns, from")
    axes.set_ylabel("rows, from")
    axes.set_title(label, loc="left")


def histogram_axes(axes, rows):
    ratios = facts.against(rows, None)
    logs = [min(max(math.log2(r), -2), 3.99) for r in ratios]
    _, edges, bars = axes.hist(logs, bins=[-2 + 0.25 * i for i in range(25)], rwidth=0.92)
    for edge, bar in zip(edges, bars):
        bar.set_color(charts.BLUE if edge >= 0 else charts.RUST)
    axes.axvline(0, color=charts.INK, linewidth=1, linestyle=":")
    axes.set_xticks(range(-2, 5), ["≤1/4", "1/2", "1", "2", "4", "8", "≥16"])
    wins, even, losses = facts.tally(ratios)
    axes.set_title("Speed-up over the best peer of each case", loc="left")
    axes.set_xlabel(f"geomean {facts.geomean(ratios):.2f} over {len(ratios)} cases: {wins} faster, {even} even, {losses} slower")
    axes.set_ylabel("cases")


def draw(document, path):
    """Writes the PNG; ImportError without matplotlib."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    rows = facts.rows(document)
    found = {family: facts.grid(rows, family) for family in ("rows", "columns")}
    bins = [cell for cells in found.values() for cell in cells]
    lines, columns = sorted({b for b, _ in bins}), sorted({c for _, c in bins})
    pyplot.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#b9bec4",
                            "axes.labelcolor": "#5c6167", "xtick.color": "#5c6167", "ytick.color": "#5c6167",
                            "axes.titleweight": "bold", "axes.titlesize": 12})
    sheet, axes = pyplot.subplots(2, 2, figsize=(16, 11), constrained_layout=True)
    sheet.suptitle(f"redax beside its peers: {document['gpu'] or document['machine']}", x=0.01, ha="left", fontsize=15)
    share_axes(axes[0][0], rows)
    histogram_axes(axes[0][1], rows)
    for place, family, label in ((axes[1][0], "rows", "Each row of an f32 matrix summed, speed-up over the best peer"),
                                 (axes[1][1], "columns", "Each column summed")):
        heat_axes(place, found[family], label, lines, columns)
    sheet.savefig(path, dpi=110)
    pyplot.close(sheet)
