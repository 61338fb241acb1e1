"""Writes the tables of docs/performance.md from the newest files in benchmarks/results.

python benchmarks/report.py [--check]
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import augmentation_tables
import dataset_tables
import tables
from workloads import AFTER_DECODING, WORKLOADS

ROOT = Path(__file__).resolve().parents[1]
NOTHING = "Nothing has been measured yet."
SOURCES = ("photographs", "synthetic")

# The results of a workload, with the run they come from.
Found = dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]]


def main() -> None:
    """Write the page, or check that it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not up to date")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "performance.md")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    options = parser.parse_args()
    old = options.page.read_text("utf-8")
    results = [json.loads(path.read_text("utf-8")) for path in sorted(options.results.glob("*.json"))]
    new = page(old, [result for result in results if "machine" in result])
    if new == old:
        return
    if options.check:
        raise SystemExit(f"{options.page} is not up to date: python benchmarks/report.py writes it")
    options.page.write_text(new, "utf-8")
    print(f"written: {options.page}")


def page(text: str, runs: Sequence[dict[str, Any]]) -> str:
    """Replace the text between the markers."""
    speeds, stages = newest(runs, "workloads"), newest(runs, "stages")
    others = (
        latest_operators(runs)
        + dataset_tables.latest(runs)
        + latest(runs, "dali_engine")
        + augmentation_tables.newest(runs)
    )
    sections = {
        "overview": overview(speeds),
        "results": "\n\n".join(speed_section(*key, *speeds[key]) for key in ordered(speeds)) or NOTHING,
        "datasets": dataset_tables.sections(runs, table) or NOTHING,
        "operators": operators(runs),
        "augmentation": augmentation_tables.sections(runs, table) or NOTHING,
        "stages": "\n\n".join(stage_section(*key, *stages[key]) for key in ordered(stages)) or NOTHING,
        "dispatch": dispatch(runs),
        "dali engine": dali_engine(runs),
        "machines": machines([*(run for run, _ in [*speeds.values(), *stages.values()]), *others]) or NOTHING,
    }
    for name, section in sections.items():
        begin, end = f"<!-- {name}: written by benchmarks/report.py -->", f"<!-- end of {name} -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise SystemExit(f"the page must have one {begin} before {end}")
        replacement = f"{begin}\n\n{section}\n\n{end}"
        text = pattern.sub(lambda _, replacement=replacement: replacement, text)  # type: ignore[misc]
    return text


def newest(runs: Iterable[dict[str, Any]], part: str) -> Found:
    """Return the latest results for each workload and kind of files."""
    found: Found = {}
    for run in sorted((run for run in runs if part in run), key=lambda run: str(run["machine"]["date"])):
        for name, result in run[part].items():
            found[result["data"]["source"], name] = run, result
    return found


def ordered(found: Found) -> list[tuple[str, str]]:
    """Sort photographs before synthetic files, and workloads in their order."""
    names = list(WORKLOADS)
    return sorted(found, key=lambda key: (SOURCES.index(key[0]), names.index(key[1])))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> str:
    """Return a table; all columns except the first ones are numbers."""
    escaped = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    lines = [headings, [*["---"] * texts, *["---:"] * (len(headings) - texts)], *escaped]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def overview(found: Found) -> str:
    """Return the overview table of pixelmill and the others."""
    rows = []
    for source, name in ordered(found):
        contestants = found[source, name][1]["contestants"]
        rates = [fastest(contestants, peer) for peer in ("dali", "tfdata", "pillow", "opencv", "limit")]
        ours = next((row for row in contestants if row["peer"] == "pixelmill"), None)
        if ours is not None:
            ratio = f"{ours['ratio_to_dali']['median']:.2f}" if ours["ratio_to_dali"] and rates[0] else ""
            cells = [tables.number(rate) if rate else "" for rate in (ours["median"], *rates)]
            rows.append([f"{name}, {source}", *cells, ratio])
    peers = ("DALI", "tf.data", "DataLoader + Pillow", "DataLoader + OpenCV", "limit")
    headings = ("images/s", "pixelmill", *peers, "times DALI")
    return table(headings, rows) if rows else NOTHING


def fastest(contestants: list[dict[str, Any]], peer: str) -> float | None:
    """Return images/s of the fastest variant of a peer; None if its rounds differ too much to say."""
    found = max((row for row in contestants if row["peer"] == peer), key=lambda row: float(row["median"]), default=None)
    return None if found is None or tables.spread(found) > tables.STEADY else float(found["median"])


def steady(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the contestants whose rounds agree: figures of others say more about the machine than about them."""
    return [contestant for contestant in result["contestants"] if tables.spread(contestant) <= tables.STEADY]


def speed_section(source: str, name: str, run: dict[str, Any], result: dict[str, Any]) -> str:
    """Return the table and the targets of a workload."""
    options = run["options"]
    seconds = options["seconds"] or WORKLOADS[name].seconds
    left_out = [tables.name(row) for row in result["contestants"] if row not in steady(result)]
    lines = [
        f"### {name}, {source}",
        tables.about(result),
        f"{options['threads']} threads, {options['rounds']} rounds of {seconds:g} s.",
        table(tables.HEADINGS, [tables.row(contestant) for contestant in steady(result)]),
        f"Left out because their rounds differed by more than {tables.STEADY:.0%}: {', '.join(left_out)}."
        if left_out
        else "",
        "\n".join(f"- {met}: {text}" for text, met in map(tables.target, result["targets"])),
    ]
    return "\n\n".join(line for line in lines if line)


def latest_operators(runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the newest run of benchmarks/operators.py, if there is one."""
    return latest(runs, "operators")


def latest(runs: Iterable[dict[str, Any]], part: str) -> list[dict[str, Any]]:
    """Return the newest run with this key, if there is one."""
    return sorted((run for run in runs if part in run), key=lambda run: str(run["machine"]["date"]))[-1:]


def dali_engine(runs: Iterable[dict[str, Any]]) -> str:
    """Return the overhead of the DALI engine next to the same program written for DALI."""
    found = latest(runs, "dali_engine")
    if not found:
        return NOTHING
    options = found[0]["options"]
    headings = ("images/s", "written for DALI", 'engine="dali"', "speed", "CPU time", "within 5 %")
    rows = [
        [
            f"{name}: {variant}",
            tables.number(median(pair["by_hand"])),
            tables.number(median(pair["engine"])),
            f"{pair['speed']:.3f}",
            f"{pair['cpu']:.3f}",
            "yes" if pair["met"] else "no",
        ]
        for name, result in found[0]["dali_engine"].items()
        for variant, pair in result["variants"].items()
    ]
    how = f"{options['threads']} threads, {options['rounds']} rounds of {options['seconds']:g} s in turns"
    return f"{table(headings, rows)}\n\n{how}; load {found[0]['machine']['load_before']}. Ratios are medians of rounds."


def dispatch(runs: Iterable[dict[str, Any]]) -> str:
    """Return what it costs to hand samples to worker threads."""
    found = latest(runs, "dispatch")
    if not found:
        return NOTHING
    names = [name for name in found[0]["dispatch"][0] if name != "threads"]
    headings = ["threads", *(f"{title}, {name}" for name in names for title in ("samples/s", "CPU ns per sample"))]
    rows = [
        [
            str(row["threads"]),
            *(
                cell
                for name in names
                for cell in (f"{row[name]['samples_per_second']:,.0f}", f"{row[name]['cpu_ns_per_sample']:.0f}")
            ),
        ]
        for row in found[0]["dispatch"]
    ]
    how = f"Batches of {found[0]['batch']} samples; medians of {found[0]['rounds']} rounds in turns"
    return f"{table(headings, rows)}\n\n{how}; load {found[0]['machine']['load_before']}."


def operators(runs: Iterable[dict[str, Any]]) -> str:
    """Return a table of single operators for each group."""
    found = latest_operators(runs)
    if not found:
        return NOTHING
    rows = found[0]["operators"]
    ratios = [row["dali"] / row["pixelmill"] for row in rows if row["dali"]]
    slower = sum(ratio < 1 for ratio in ratios)
    lines = [
        f"{len(ratios)} rows have a time of DALI: pixelmill takes less in {len(ratios) - slower} of them; the median "
        f"of the ratios is {median(ratios):.1f}, the least {min(ratios):.2f}.",
        f"{found[0]['options']['turns']} turns, {found[0]['options']['seconds']:g} s for each library; "
        f"load {found[0]['machine']['load_before']}.",
    ]
    for group in dict.fromkeys(row["group"] for row in rows):
        cells = [tables.operator_row(row) for row in rows if row["group"] == group]
        lines += [f"### {group[0].upper()}{group[1:]}", table(tables.OPERATOR_HEADINGS, cells, texts=2)]
    return "\n\n".join(lines)


def stage_section(source: str, name: str, run: dict[str, Any], result: dict[str, Any]) -> str:
    """Return where the time of an image goes."""
    per_image = result["instructions_per_image"]
    rows = [[step, f"{count:,}", f"{count / per_image['Decode']:.1%}"] for step, count in per_image.items()]
    met = "met" if result["after_decoding"] < AFTER_DECODING else "not met"
    lines = [
        f"### {name}, {source}",
        table(("step", "instructions per image", "of decoding"), rows),
        f"- {met}: all but reading and decoding is {result['after_decoding']:.1%} of decoding "
        f"(below {AFTER_DECODING:.0%})",
    ]
    if result["time"]:
        fractions = ", ".join(f"{place} {fraction:.1%}" for place, fraction in result["time"].items())
        lines[-1] += f"\n- processor time of the working thread: {fractions}"
    return "\n\n".join(lines)


def machines(runs: Iterable[dict[str, Any]]) -> str:
    """Describe the machine of every run that the tables come from."""
    lines = []
    for facts in {run["machine"]["date"]: run["machine"] for run in runs}.values():
        versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
        lines.append(
            f"- {facts['date']}: {facts['processor']}, {facts['cores']} cores, {facts['memory_gigabytes']} GB, "
            f"{facts['system']}; load {facts['load_before']} before; commit {facts['commit']}; {versions}"
        )
    return "\n".join(sorted(lines))


if __name__ == "__main__":
    main()
