"""Errors of the present and the new tables on the test texts: printed by tokenizer and by kind, written for each row."""

import json
from collections import defaultdict

import numpy as np
from fetch import BUILD
from pairs import SCALE


def publish(test, matrix, truth, present, new):
    """`truth`: tokens by profile. A row is a package's texts of one kind and language; its error the mean of theirs."""
    rows = defaultdict(list)
    for at, one in enumerate(test):
        rows[one["package"], one["kind"], one["language"]].append(at)
    names = list(rows)
    number = np.zeros(len(test), np.int64)
    for at, name in enumerate(names):
        number[rows[name]] = at

    def errors(table, tokens):
        found = np.maximum(1, -(-(matrix @ table).astype(np.int64) // SCALE))
        error = 100 * (found / tokens - 1)
        mean = lambda values: np.bincount(number, values) / np.bincount(number)
        return mean(np.abs(error)), mean(error)

    sides = {"present": present, "new": new}
    size, bias = {}, {}
    for profile, tokens in truth.items():
        for side, tables in sides.items():
            for name in (profile, "generic"):
                key = (profile, side, "own" if name == profile else "generic")
                size[key], bias[key] = errors(tables[name], tokens)
    written = [
        {
            "package": package,
            "kind": kind,
            "language": language,
            "texts": len(rows[package, kind, language]),
            "errors": {
                f"{profile} {which} {side}": {"size": round(float(size[key][at]), 2), "bias": round(float(bias[key][at]), 2)}
                for key in size
                for profile, side, which in [key]
            },
        }
        for at, (package, kind, language) in enumerate(names)
    ]
    (BUILD / "report.json").write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")

    measured = np.array([kind != "runs" for _, kind, _ in names])
    print("\nmean error of all rows in % (present -> new), signed, largest")
    for profile in truth:
        keys = [(profile, side, "own") for side in sides]
        worst = []
        for key in keys:
            at = np.where(measured, size[key], 0).argmax()
            worst.append(f"{size[key][at]:.0f} ({' '.join(filter(None, names[at]))})")
        generic = [size[profile, side, "generic"][measured].mean() for side in sides]
        own, signed = ([found[key][measured].mean() for key in keys] for found in (size, bias))
        print(
            f"  {profile:10} {own[0]:5.2f} -> {own[1]:5.2f}   signed {signed[0]:+5.2f} -> {signed[1]:+5.2f}   "
            f"generic {generic[0]:5.2f} -> {generic[1]:5.2f}   largest {worst[0]} -> {worst[1]}"
        )

    kinds = defaultdict(list)
    for at, (package, kind, language) in enumerate(names):
        bench = package == "benches/estimate"
        kinds[f"bench, {kind}" if bench and kind != "files" else f"bench, {language}" if bench else kind].append(at)
        if language.partition("-")[0] == "ru":
            kinds["all that is Russian"].append(at)
    print(f"\nmean error by kind in % (present/new)\n  {'':30}" + "".join(f"{profile:>11}" for profile in truth) + "    generic, all")
    for kind, places in sorted(kinds.items()):
        cells = ["/".join(f"{size[profile, side, 'own'][places].mean():.1f}" for side in sides) for profile in truth]
        generic = "/".join(f"{np.mean([size[profile, side, 'generic'][places].mean() for profile in truth]):.1f}" for side in sides)
        print(f"  {kind:30}" + "".join(f"{cell:>11}" for cell in cells) + f"{generic:>15}   ({len(places)})")
    print("", flush=True)
