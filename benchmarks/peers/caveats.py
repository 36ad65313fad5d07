"""What a reader must know before the numbers: how they were got, where, and their limits."""

from libraries import LIBRARIES, OURS, PEER_ROUNDS, RATE, THREADS


def how(found) -> str:
    """Return the opening of the page."""
    everything = [*found.records, *[r for records in found.axes.values() for r in records]]
    return "\n\n".join([
        "Made by `make bench-peers` from one JSON file a measurement; do not edit.",
        _where(everything),
        _versions(found, everything),
        _method(everything),
        "\n".join(f"- {line}" for line in _limits(everything)),
    ])


def _where(everything):
    if not everything:
        return "Nothing was measured."
    machines = [record["machine"] for record in everything]
    last = machines[-1]
    days = sorted({machine["time"][:10] for machine in machines})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    loads = [machine["load"][0] for machine in machines if machine.get("load")]
    load = f" The load average was {min(loads):.1f} to {max(loads):.1f}." if loads else ""
    return (
        f"Machine: {last['cpu']}, {last['cpus']} CPUs; measured {when}.{load} A load well above "
        f"{THREADS} means that something else ran too: then times are indicative."
    )


def _versions(found, everything):
    names = []
    for library in found.libraries:
        mine = [r for r in everything if r["request"]["library"] == library]
        versions = sorted({r["found"]["version"] for r in mine if "version" in r["found"]})
        words = f"{LIBRARIES[library].title} {', '.join(versions)}"
        if library == OURS:
            kinds = sorted({r["found"]["estimator"] for r in mine if "estimator" in r["found"]})
            commits = sorted({str(r["machine"]["commit"])[:10] for r in mine})
            changed = " with changes" if any(r["machine"]["changed"] for r in mine) else ""
            words += f" ({', '.join(kinds)}, commit {', '.join(commits)}{changed})"
        names.append(words)
    return f"Versions: {'; '.join(names)}."


def _method(everything):
    done = [
        r["found"]["rounds"]
        for r in everything
        if r["request"]["library"] == OURS and "set" in r["request"] and r["found"].get("rounds")
    ]
    rounds = f", {max(done)} rounds among them" if done else ""
    return (
        f"marginboost runs with its defaults{rounds}. The others get {PEER_ROUNDS} rounds and "
        f"learning rate {RATE}, and else their defaults. All get {THREADS} threads and the same rows: "
        "float32, or CSR of float32 for the two text sets. Each measurement is a process of its own. The "
        "shortest of three fits counts, or the only one where three would take over 10 s. Memory "
        "is the peak of the process during the first fit, less what it held before. One row is "
        "predicted from a NumPy array by the fastest public way of each library that gives the same "
        "probabilities. Log loss is in natural logarithms, of probabilities no smaller than 1e-15."
    )


def _limits(everything):
    limits = sorted({r["found"]["limit"] for r in everything if r["found"].get("limit")})
    policies = sorted({str(r["machine"].get("omp_wait_policy")) for r in everything})
    failed = sorted({
        f"{LIBRARIES[r['request']['library']].title} on "
        f"{r['request'].get('set', 'made-up data')}: {r['found'].get('message', 'no answer')}"
        for r in everything
        if r["found"]["status"] == "failed"
    })
    lines = [
        "No parameter differs from set to set. With tuning any of these libraries does better, and the "
        "order may change.",
        "marginboost's defaults were chosen on the training parts of these same sets "
        "(`benchmarks/defaults.py`), the others' by their makers on sets of theirs: that favours "
        "marginboost here. That study uses no test part of a large set; of a small set it uses the "
        "training part of the first split, some rows of which the other splits test on.",
        "Sets above 5,000 rows have one test part; small differences in error there are chance. The "
        "smaller ones are means over three random splits, 2:1 (leaves100: two).",
        "mnist is 10,000 random rows of the 60,000; covtype is 100,000 random rows and as many "
        "others to test. reuters is R52 of Reuters-21578, news20 is 20 Newsgroups by date without "
        "headers, both as word counts.",
        "scikit-learn's histogram boosting takes no sparse data, so it gets dense arrays. Above "
        "10,000 rows it stops early by default, on a tenth of the rows that it holds out.",
        "CatBoost's own default is 1,000 rounds at a learning rate that depends on the data, much "
        "slower and often more accurate than what it gets here.",
        "LightGBM's scores run away on reuters, which has classes of a single row; "
        "min_sum_hessian_in_leaf=1 mends it, but its defaults are what is compared.",
        "XGBoost calls its vector leaves experimental.",
        f"OMP_WAIT_POLICY is {', '.join(policies) or 'unset'}: threads that spin while they wait "
        "make a fit many times slower where the machine does anything else.",
    ]
    if limits:
        words = " or ".join(f"{limit:g} s" for limit in limits)
        lines.append(
            f"A fit over {words} was stopped: shown as such, ranked last in error and log loss, and "
            "its time counted as the limit, which is in its favour."
        )
    lines += [f"Failed, and ranked last: {words}." for words in failed]
    return lines
