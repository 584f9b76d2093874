"""The report's charts as inline SVG. Blue is redax ahead, rust is redax behind, grey is the best peer."""

import html
import math

from . import facts

BLUE, RUST, GREY, INK, FAINT, PAPER = "#1d5b99", "#bf4d28", "#8b8f94", "#2b2f33", "#e3e5e8", "#f5f3ef"
FAMILIES = {"full": "Everything into one number", "rows": "Rows", "columns": "Columns", "middle": "Middle axes",
            "mixed": "Several axes", "stepped": "Stepped", "flipped": "Flipped", "broadcast": "Broadcast"}


def text(x, y, words, anchor="middle", size=11, fill="#5c6167", weight="", extra=""):
    bold = f' font-weight="{weight}"' if weight else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"{bold}{extra}>'
            f'{html.escape(words)}</text>')


def line(x1, y1, x2, y2, stroke=FAINT, width=1, dash=""):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" stroke-width="{width}"{dashed}/>'


def figure(width, height, parts, label):
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{html.escape(label)}">'
            + "".join(parts) + "</svg>")


def colour(speedup):
    """Rust below 1, paper at 1, blue above; full at a factor of two."""
    strength = min(1.0, abs(math.log2(speedup)))
    target = BLUE if speedup >= 1 else RUST
    mixed = [round(int(PAPER[i:i + 2], 16) * (1 - strength) + int(target[i:i + 2], 16) * strength) for i in (1, 3, 5)]
    return "#" + "".join(f"{value:02x}" for value in mixed), "#ffffff" if strength > 0.55 else INK


# ---- Share of the ceiling over size ----

def spread(some):
    """[(Row, how far beside its size it is drawn, -1 to 1)]: cases of one size would hide each other."""
    beside = {}
    for r in some:
        beside.setdefault(round(math.log10(max(r.record["bytes"], 1)), 1), []).append(r)
    return [(r, 2 * (i + 0.5) / len(group) - 1 if len(group) > 3 else 0.0) for group in beside.values()
            for i, r in enumerate(sorted(group, key=lambda r: -r.share))]


def share_panel(some, family, width=340, height=230):
    """some: Rows with a share."""
    left, right, top, bottom, most = 44, 14, 34, 34, 1.1
    low, high = 3.0, 10.0  # decimal logarithms of bytes

    def x(size):
        return left + (min(max(math.log10(max(size, 1)), low), high) - low) / (high - low) * (width - left - right)

    def y(share):
        return height - bottom - min(share, most) / most * (height - top - bottom)

    parts = [text(left, 18, FAMILIES[family], "start", 13, INK, "600")]
    parts.append(text(width - right, 18, f"{len(some)} case{'s' if len(some) != 1 else ''}", "end"))
    for percent in (0, 25, 50, 75, 100):
        parts.append(line(left, y(percent / 100), width - right, y(percent / 100), "#b9bec4" if percent == 100 else FAINT))
        parts.append(text(left - 7, y(percent / 100) + 4, f"{percent}%", "end"))
    for power, label in ((3, "1 KB"), (6, "1 MB"), (9, "1 GB")):
        parts.append(line(x(10 ** power), y(0), x(10 ** power), y(0) + 4, "#b9bec4"))
        parts.append(text(x(10 ** power), height - bottom + 18, label))
    drawn = [(r, x(r.record["bytes"]) + 13 * aside) for r, aside in spread(some)]
    for r, at in drawn:  # pairs first, so that dots lie above
        theirs = r.share_of(r.peers[r.best]) if r.best else None
        if theirs is None:
            continue
        parts.append(line(at, y(theirs), at, y(r.share), "#d9b5a6" if r.lost else "#c9d6e4"))
        parts.append(f'<circle cx="{at:.1f}" cy="{y(theirs):.1f}" r="2.6" fill="#fff" stroke="{GREY}" stroke-width="1.2"/>')
    for r, at in drawn:
        beside = f", best peer {facts.title(r.best)} {100 * r.share_of(r.peers[r.best]):.0f}%" if r.best else ""
        words = html.escape(f"{r.record['name']}: {100 * r.share:.0f}%{beside}")
        parts.append(f'<circle cx="{at:.1f}" cy="{y(r.share):.1f}" r="3.2" fill="{RUST if r.lost else BLUE}" fill-opacity="0.85">'
                     f"<title>{words}</title></circle>")
    return figure(width, height, parts, f"Share of the ceiling over size: {FAMILIES[family]}")


# ---- Heat map ----

def heat_map(cells, label, columns, lines):
    """cells as facts.grid makes them; columns and lines: the bins shown, the same for both maps."""
    wide, tall, left, top = 38, 28, 50, 58
    width, height = left + max(wide * len(columns), 8 * len(label)) + 4, top + tall * len(lines) + 8
    parts = [text(left, 18, label, "start", 13, INK, "600"), text(left, 36, "columns →", "start"),
             text(left - 8, 52, "rows ↓", "end")]
    for i, b in enumerate(columns):
        parts.append(text(left + wide * (i + 0.5), 52, facts.count_label(4 ** b)))
    for j, b in enumerate(lines):
        parts.append(text(left - 8, top + tall * (j + 0.5) + 4, facts.count_label(4 ** b), "end"))
        for i, c in enumerate(columns):
            found = cells.get((b, c))
            x, y = left + wide * i, top + tall * j
            if not found:
                parts.append(f'<rect x="{x}" y="{y}" width="{wide - 2}" height="{tall - 2}" fill="#fafafa" stroke="#eef0f2"/>')
                continue
            speedup = facts.geomean(r.speedup for r in found)
            fill, ink = colour(speedup)
            told = "; ".join(f"{r.record['name']}: {r.speedup:.2f} of {facts.title(r.best)}" for r in found)
            number = f"{speedup:.2f}" if speedup < 9.95 else f"{speedup:.0f}"
            parts.append(f'<g><rect x="{x}" y="{y}" width="{wide - 2}" height="{tall - 2}" rx="2" fill="{fill}"/>'
                         + text(x + wide / 2 - 1, y + tall / 2 + 3, number, size=11, fill=ink)
                         + f"<title>{html.escape(told)}</title></g>")
    return figure(width, height, parts, label)


def heat_key():
    parts, wide = [], 44
    for i, value in enumerate((0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)):
        fill, ink = colour(value)
        parts.append(f'<rect x="{i * wide}" y="2" width="{wide - 2}" height="20" fill="{fill}"/>')
        parts.append(text(i * wide + wide / 2 - 1, 16, {0.5: "≤ 0.5", 2.0: "≥ 2"}.get(value, f"{value:g}"), fill=ink))
    return figure(7 * wide, 24, parts, "Colours of the heat maps")


# ---- Distribution of speed-ups ----

def histogram(ratios, label, width=340, height=200):
    left, right, top, bottom, step, low, high = 34, 12, 50, 34, 0.25, -2.0, 4.0
    bins = [0] * int((high - low) / step)
    for ratio in ratios:
        bins[min(len(bins) - 1, max(0, math.floor((math.log2(ratio) - low) / step)))] += 1
    most = max(bins + [1])
    wins, even, losses = facts.tally(ratios)

    def x(log):
        return left + (log - low) / (high - low) * (width - left - right)

    def y(count):
        return height - bottom - count / most * (height - top - bottom)

    parts = [text(left, 18, label, "start", 13, INK, "600"),
             text(left, 36, f"geomean {facts.geomean(ratios):.2f} over {len(ratios)}", "start"),
             text(width - right, 18, f"{wins} faster, {even} even", "end", fill=BLUE),
             text(width - right, 36, f"{losses} slower", "end", fill=RUST, weight="600" if losses else "")]
    for i, count in enumerate(bins):
        if count:
            start = low + i * step
            last, first = i == len(bins) - 1, i == 0
            span = f"under {2 ** (start + step):.2f}" if first else f"{2 ** start:.2f} and more" if last else \
                f"{2 ** start:.2f} to {2 ** (start + step):.2f}"
            parts.append(f'<rect x="{x(start) + 0.5:.1f}" y="{y(count):.1f}" width="{x(low + step) - x(low) - 1:.1f}" '
                         f'height="{y(0) - y(count):.1f}" fill="{BLUE if start >= 0 else RUST}">'
                         f"<title>{span}: {count}</title></rect>")
    parts.append(line(left, y(0), width - right, y(0), "#b9bec4"))
    parts.append(line(x(0), top - 6, x(0), y(0), INK, 1, "2 2"))
    for power in range(int(low), int(high) + 1):
        words = ("≤" if power == low else "≥" if power == high else "") + f"{2.0 ** power:g}"
        parts.append(text(x(power), height - bottom + 17, words))
    parts.append(text(left - 6, y(most) + 8, str(most), "end"))
    return figure(width, height, parts, f"Speed-ups over {label}")
