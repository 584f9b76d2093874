"""The report as one HTML page that needs nothing beside it."""

import html

from . import charts, facts

STYLE = """
:root { color-scheme: light }
body { margin: 0; background: #fff; color: #2b2f33; font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
main { max-width: 1120px; margin: 0 auto; padding: 40px 28px 80px }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 6px; font-weight: 650 }
h2 { font-size: 19px; margin: 52px 0 6px; padding-top: 18px; border-top: 1px solid #e3e5e8; font-weight: 650 }
p { margin: 4px 0 14px; max-width: 78ch } .quiet { color: #5c6167 }
code { font: 12.5px ui-monospace, "DejaVu Sans Mono", monospace }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 14px; margin: 26px 0 10px }
.tile { border: 1px solid #e3e5e8; border-radius: 6px; padding: 14px 16px }
.tile b { display: block; font-size: 30px; line-height: 1.15; font-weight: 600; font-variant-numeric: tabular-nums }
.tile span { color: #5c6167; font-size: 13px } .tile.won b { color: #1d5b99 } .tile.lost b { color: #bf4d28 }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(320px, 1fr)); gap: 18px 16px; margin: 14px 0 }
.maps { display: flex; flex-wrap: wrap; gap: 18px 24px; margin: 14px 0 }
svg { max-width: 100%; height: auto } .charts svg { width: 100% }
svg text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
.key { color: #5c6167; font-size: 13px; margin: 8px 0 }
.dot { display: inline-block; width: 10px; height: 10px; border-radius: 50%; margin: 0 5px 0 14px; vertical-align: -1px }
.dot:first-child { margin-left: 0 }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums }
th { text-align: right; font-weight: 600; color: #5c6167; padding: 6px 8px; border-bottom: 1px solid #b9bec4;
white-space: nowrap }
td { text-align: right; padding: 4px 8px; border-bottom: 1px solid #eef0f2; white-space: nowrap }
td:first-child, th:first-child { text-align: left; white-space: normal }
td code { color: #7b8187; font-size: 11.5px; display: block; overflow-wrap: anywhere }
tr.family td { background: #f5f3ef; font-weight: 600; padding: 6px 8px }
td.best { font-weight: 650 } td.none { color: #a4a9ae }
td i { display: inline-block; width: .6em; margin-right: -.6em; font-style: normal; color: #5c6167 }
.redax { color: #1d5b99; font-weight: 650 } .peer { color: #bf4d28; font-weight: 650 } td.bad { color: #bf4d28 }
.scroll { overflow-x: auto } ul { margin: 4px 0 14px; padding-left: 20px; font-size: 13px }
@media (max-width: 760px) { .tiles { grid-template-columns: repeat(2, 1fr) } }
@media print { main { max-width: none; padding: 0 } h2 { break-after: avoid } tr { break-inside: avoid } }
"""


def escape(value):
    return html.escape(str(value))


def microseconds(us):
    return f"{us:.2f}" if us < 100 else f"{us:.1f}" if us < 10000 else f"{us:,.0f}".replace(",", "\u202f")


def tile(number, words, kind=""):
    return f'<div class="tile {kind}"><b>{number}</b><span>{words}</span></div>'


def dots(pairs):
    made = "".join(f'<i class="dot" style="{style}"></i>{words}' for style, words in pairs)
    return f'<p class="key">{made}</p>'


def head(document, rows):
    ratios = facts.against(rows, None)
    wins, even, losses = facts.tally(ratios)
    dates = sorted(run["date"] for run in document["runs"])
    days = sorted({date[:10] for date in dates})
    when = " to ".join(days[:1] + days[1:][-1:])
    where = " · ".join(escape(part) for part in (document["gpu"] or document["machine"], when) if part)
    return (f"<h1>redax beside its peers</h1><p class=quiet>{where}</p><div class=tiles>"
            + tile(f"{facts.geomean(ratios):.2f}×" if ratios else "–", "the speed of the best peer of each case, geometric mean")
            + tile(wins, f"of {len(ratios)} cases faster than every peer", "won")
            + tile(even, f"even with the best peer, within {100 * facts.EVEN:.0f}%")
            + tile(losses, "slower than the best peer", "lost") + "</div>")


def peers_table(document, rows, names):
    lines = []
    for name in [None, *names]:
        ratios = facts.against(rows, name)
        if not ratios:
            continue
        wins, even, losses = facts.tally(ratios)
        words = "best peer of each case" if name is None else facts.title(name)
        lines.append(f"<tr><td>{escape(words)}</td><td>{len(ratios)}</td><td class=redax>{wins}</td><td>{even}</td>"
                     f"<td class={'peer' if losses else 'none'}>{losses}</td><td>{facts.geomean(ratios):.2f}</td>"
                     f"<td>{min(ratios):.2f}</td><td>{max(ratios):.2f}</td></tr>")
    absent = "".join(f"<p class=quiet>Not timed: {escape(facts.title(name))} ({escape(why)}).</p>"
                     for name, why in document["absent"].items())
    return ("<table><tr><th>redax against</th><th>cases</th><th>faster</th><th>even</th><th>slower</th>"
            f"<th>speed-up, geomean</th><th>least</th><th>most</th></tr>{''.join(lines)}</table>{absent}")


def shares(rows):
    if not any(r.share is not None for r in rows):
        return ""
    panels = []
    for family in charts.FAMILIES:
        some = [r for r in rows if r.record["family"] == family and r.share is not None]
        panels += [charts.share_panel(some, family)] if some else []
    return ("<h2>Share of the ceiling over size</h2><p>Bytes that have to move, over the time, as a share of the speed at which "
            "plain reads of as many bytes ran in the same run. Each case is a dot for redax and one for its best peer; cases of "
            "one size are drawn side by side.</p>"
            + dots([(f"background:{charts.BLUE}", "redax"), (f"background:{charts.RUST}", "redax, slower than the best peer"),
                    (f"background:#fff;border:1.5px solid {charts.GREY};width:8px;height:8px", "best peer")])
            + f"<div class=charts>{''.join(panels)}</div>")


def maps(rows):
    found = {family: facts.grid(rows, family) for family in ("rows", "columns")}
    bins = [cell for cells in found.values() for cell in cells]
    if not bins:
        return ""
    lines, columns = sorted({b for b, _ in bins}), sorted({c for _, c in bins})
    made = [charts.heat_map(found[family], label, columns, lines) for family, label in
            (("rows", "Each row summed (axis 1)"), ("columns", "Each column summed (axis 0)")) if found[family]]
    return ("<h2>Rows × columns against the best peer</h2><p>Sums of f32 matrices. A number is how many times as fast as the "
            "best peer redax is; below 1 it is slower. Extents are gathered by powers of four; each label is the least of its "
            "bin.</p>"
            f"{charts.heat_key()}<div class=maps>{''.join(made)}</div>")


def speedups(rows, names):
    made = [charts.histogram(facts.against(rows, name), "Best peer" if name is None else facts.title(name))
            for name in [None, *names] if facts.against(rows, name)]
    if not made:
        return ""
    return ("<h2>Distribution of speed-ups</h2><p>Microseconds of the peer over microseconds of redax, on a logarithmic scale; "
            f"to the left of the dotted line redax is slower than the peer.</p><div class=charts>{''.join(made)}</div>")


def label(row):
    return f"<td>{escape(row.record['name'])}<code>{escape(row.record['case'])}</code></td>"


def losses(rows):
    some = sorted((r for r in rows if r.lost), key=lambda r: r.speedup)
    if not some:
        return "<h2>Where redax is slower</h2><p>In no case is the best peer faster by more than 2%.</p>"
    lines = "".join(f"<tr>{label(r)}<td>{microseconds(r.us)}</td><td>{microseconds(r.peers[r.best])}</td>"
                    f"<td>{escape(facts.title(r.best))}</td><td class=peer>{r.speedup:.2f}</td>"
                    + (f"<td>{percent(r.share)}</td>" if r.share is not None else "") + "</tr>" for r in some)
    return ("<h2>Where redax is slower</h2><table><tr><th>case</th><th>redax µs</th><th>best peer µs</th><th>best peer</th>"
            f"<th>speed-up</th>{'<th>share of ceiling</th>' if some[0].share is not None else ''}</tr>{lines}</table>")


def percent(share):
    return "–" if share is None else f"{100 * share:.0f}%"


def cell(row, name):
    record = row.record["peers"].get(name, {})
    if "us" in record:
        star = "" if record.get("graph", True) else "<i>*</i>"
        if record.get("agrees") is False:
            return f'<td class=bad title="its result differs">{microseconds(record["us"])} ≠</td>'
        return f"<td{' class=best' if name == row.best else ''}>{microseconds(record['us'])}{star}</td>"
    if "error" in record:
        return f'<td class=bad title="{escape(record["error"])}">failed</td>'
    return f'<td class=none title="{escape(record.get("skipped", "not measured"))}">–</td>'


def winner(row):
    if not row.verdict:
        return "<td class=none>–</td>"
    kind = {"redax": "redax", "even": ""}.get(row.verdict, "peer")
    return f"<td class='{kind}'>{escape(facts.title(row.verdict))}</td>"


def every_case(rows, names):
    lines, ceilings = [], any(r.share is not None for r in rows)
    for family, words in charts.FAMILIES.items():
        some = [r for r in rows if r.record["family"] == family]
        if some:
            lines.append(f"<tr class=family><td colspan={4 + ceilings + len(names)}>{words}, {len(some)}</td></tr>")
        for r in some:
            failed = f'<td class=bad title="{escape(r.record["redax"].get("error", ""))}">failed</td>'
            ours = f"<td>{microseconds(r.us)}</td>" if r.us else failed if r.record["redax"] else "<td class=none>–</td>"
            ratio = f"<td class={'peer' if r.lost else 'quiet'}>{r.speedup:.2f}</td>" if r.speedup else "<td class=none>–</td>"
            share = f"<td>{percent(r.share)}</td>" if ceilings else ""
            lines.append(f"<tr>{label(r)}{ours}{share}{''.join(cell(r, name) for name in names)}{ratio}{winner(r)}</tr>")
    heads = ("<th>ceiling</th>" if ceilings else "") + "".join(f"<th>{escape(facts.title(name))}</th>" for name in names)
    star = any(not m.get("graph", True) for r in rows for m in r.record["peers"].values() if "us" in m)
    told = ("Microseconds a call" + (", and the share of the ceiling that redax reaches" if ceilings else "")
            + ". The best peer is bold; – is no such op, dtype or layout (point at it for the reason)."
            + (" * Dispatched back to back from the host, not a CUDA graph." if star else ""))
    return (f"<h2>Every case</h2><p>{told}</p><div class=scroll><table><tr><th>case</th><th>redax</th>{heads}<th>speed-up</th>"
            f"<th>winner</th></tr>{''.join(lines)}</table></div>")


def method(document):
    versions = "".join(f"<tr><td>{escape(k)}</td><td style='text-align:left'>{escape(v)}</td></tr>"
                       for k, v in {"device": document["gpu"] or document["device"], "processor": document["machine"],
                                    **document["versions"]}.items() if v and k != "gpu")
    if document["device"] == "cpu":
        how = ("redax and each peer were called in turn in one process; a case's speed-up is the median of the ratios of "
               "neighbouring calls.")
    else:
        how = ("redax was timed before and after the peers of each group of cases, in one run. Calls go over as many copies of "
               "the buffers as fill 512 MB (1 to 48), at least 8 calls, in one CUDA graph; a measurement is the median of nine "
               "replays (three, where one takes half a second), and where a case was measured more than once the median of those "
               "counts. Every output of redax was verified against the CPU's bits; peers' outputs were compared with a "
               "computation in f64 at a few places.")
    told = "".join(f"<p class=quiet>{escape(words)}:</p><ul>{''.join(f'<li>{escape(s)}</li>' for s in sentences)}</ul>"
                   for words, sentences in facts.complaints(document) if sentences)
    count = len(document["runs"])
    return (f"<h2>Machine, versions, method</h2><p>{how} {count} run{'s' if count != 1 else ''}.</p>"
            f"<table style='width:auto'>{versions}</table>{told}")


def page(document):
    rows, names = facts.rows(document), facts.peer_names(document)
    body = [head(document, rows), peers_table(document, rows, names), shares(rows), maps(rows), speedups(rows, names),
            losses(rows), every_case(rows, names), method(document)]
    return (f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
            f"<title>redax beside its peers</title><style>{STYLE}</style><main>{''.join(body)}</main></html>\n")
