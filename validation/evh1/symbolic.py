# symbolic.py - laws that others use to compare symbolic regression, found again by `hopcast correct`.
#
# SPDX-License-Identifier: Apache-2.0
#
# usage: symbolic.py HOPCAST BENCHMARKS.json [SEEDS [NAMES]]
#
# Every law is learned from points without noise, those that BENCHMARKS.json
# names (100 where it names ranges only), as a term that is added to the model
# "time = 0".  All problems have the same settings; every seed has other points
# and other formulas.  NAMES is a list with commas of parts of names.
#
# A law is *recovered* when, at 2,000 fresh points of a range that is wider by its
# own width, the formula is nowhere off by more than 1e-8 of the greater of the value
# there and the standard deviation of what was learned from.  R2 is that of test
# points.  "peers" are figures of other programs, as BENCHMARKS.json has them.
#
# Fails when, of what was asked for, more than one of the laws Nguyen-1 to -10 is
# not recovered by half of the seeds, or the median R2 of more than two of
# Feynman's is not above 0.999, or a run takes a minute.

import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import numpy

SETTINGS = ["--case", "2", "--loss", "rmse", "--functions", "+,-,*,/,^,log,exp,sqrt,sin,cos",
            "--trials", "1", "--population", "500", "--generations", "400", "--threads", "1"]
POINTS_OF_RANGES = 100
TEST_POINTS = 1000
WIDER_POINTS = 2000
RECOVERED = 1e-8
MOST_SECONDS = 60

# What the file tells in words.
IN_WORDS = {"Keijzer-6": "harmonic(x)",
            "Vladislavleva-4 (UBall5D)": "10/(5+(x1-3)**2+(x2-3)**2+(x3-3)**2+(x4-3)**2+(x5-3)**2)"}

FUNCTIONS = {name: getattr(numpy, name) for name in ["exp", "log", "log2", "sqrt", "sin", "cos"]}
FUNCTIONS |= {"pi": numpy.pi, "max": numpy.maximum, "min": numpy.minimum,
              "harmonic": lambda x: numpy.array([(1 / numpy.arange(1, n + 1)).sum() for n in x])}


def law_of(problem):
    return IN_WORDS.get(problem["name"], problem["expr"]).replace("^", "**")


def variables_of(problem):
    if isinstance(problem["train"], dict):
        return list(problem["train"])
    return sorted(set(re.findall(r"[a-z_]\w*", law_of(problem), re.I)) - set(FUNCTIONS))


def values_of(formula, names, x):
    """NaN where it has none."""
    with numpy.errstate(all="ignore"):
        y = eval(formula.replace("^", "**"), FUNCTIONS, dict(zip(names, x.T)))
    return numpy.broadcast_to(y, len(x)).astype(float)


def ranges_of(problem, names, part):
    """[variables][low, high], the number of points, and the step of a grid or None."""
    text = problem[part] if part in problem else ""
    if isinstance(text, dict):
        return numpy.array(list(text.values())), POINTS_OF_RANGES, None
    numbers = [float(number) for number in re.findall(r"-?\d*\.?\d+", text.split("]")[0])]
    count = re.search(r"x\s*(\d+)", text)
    ranges = numpy.array([numbers[:2]] * len(names))
    step = numbers[2] if len(numbers) > 2 else None
    return ranges, int(count.group(1)) if count else TEST_POINTS, step


def points_of(problem, names, part, random):
    if part == "test" and str(problem["test"]).startswith("same"):
        ranges, count, step = ranges_of(problem, names, "train")
        count = TEST_POINTS
    else:
        ranges, count, step = ranges_of(problem, names, part)
    if step is None:
        return random.uniform(ranges[:, 0], ranges[:, 1], (count, len(names)))
    sides = [numpy.arange(low, high + step / 2, step) for low, high in ranges]
    return numpy.stack(numpy.meshgrid(*sides), -1).reshape(-1, len(names))


def wider_points(problem, names, random):
    """What is never negative stays so, as the law may have no value there."""
    ranges, _, step = ranges_of(problem, names, "train")
    width = ranges[:, 1] - ranges[:, 0]
    low = numpy.where(ranges[:, 0] < 0, ranges[:, 0] - width / 2, ranges[:, 0])
    x = random.uniform(low, ranges[:, 1] + width / 2, (WIDER_POINTS, len(names)))
    return numpy.floor(x) if step == 1 else x


def write(path, names, x, y):
    with open(path, "w") as file:
        print(",".join(names + ["observed"]), file=file)
        for row in numpy.column_stack([x, y]):
            print(",".join(repr(float(value)) for value in row), file=file)


def run(hopcast, problem, seed):
    """Whether it was recovered, R2, seconds, and the formula."""
    names, random = variables_of(problem), numpy.random.default_rng(seed)
    sets = {part: points_of(problem, names, part, random) for part in ["train", "test"]}
    sets["wider"] = wider_points(problem, names, random)
    laws = {part: values_of(law_of(problem), names, x) for part, x in sets.items()}
    write("train.csv", names, sets["train"], laws["train"])
    with open("base.model", "w") as file:
        print(f"variable {', '.join(names)}\ntime = 0", file=file)
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    output = subprocess.run([hopcast, "correct", "-q", "--nested", "0", "train.csv", "--model", "base.model",
                             "--observed", "observed", "--seed", str(seed), "--format", "json",
                             *SETTINGS], check=True, capture_output=True, text=True).stdout
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    formula = json.loads(output).get("expression")
    if formula is None:
        return False, -numpy.inf, seconds, "none"
    found = {part: values_of(formula, names, sets[part]) for part in ["test", "wider"]}
    scale = numpy.maximum(numpy.abs(laws["wider"]), laws["train"].std())
    recovered = bool(numpy.all(numpy.abs(found["wider"] - laws["wider"]) <= RECOVERED * scale))
    error = ((found["test"] - laws["test"]) ** 2).sum()
    r2 = 1 - error / ((laws["test"] - laws["test"].mean()) ** 2).sum()
    return recovered, r2 if numpy.isfinite(r2) else -numpy.inf, seconds, formula


def peers_of(problem):
    peers = []
    if "deap_measured_here" in problem:
        deap = problem["deap_measured_here"]
        peers.append(f"DEAP {deap['hits']}/{deap['runs']}")
    rates = problem.get("srbench_solution_rate_pct", {})
    reached = problem.get("srbench_R2_gt_0_999", {})
    peers += [f"{who} {rates[who]:.0f} %{'' if reached[who] else ' (R2 below)'}"
              for who in ["Operon", "gplearn"] if who in rates]
    return ", ".join(peers)


def missed(rows, kind):
    """How many of them were asked for, and did not reach what they should."""
    return [name for name, reached in rows if name.startswith(kind) and not reached]


def main():
    hopcast, benchmarks = map(os.path.abspath, sys.argv[1:3])
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    parts = sys.argv[4].split(",") if len(sys.argv) > 4 else [""]
    with open(benchmarks) as file:
        problems = [problem for problem in json.load(file)
                    if any(re.search(f"{re.escape(part)}(?!\\d)", problem["name"]) for part in parts)]
    scratch = tempfile.TemporaryDirectory()  # for the tables that go to hopcast; gone at the end
    os.chdir(scratch.name)
    print("problem                        recovered  median R2     seconds (most)  peers recover")
    rows, slow = [], 0
    for problem in problems:
        runs = [run(hopcast, problem, seed) for seed in range(1, seeds + 1)]
        hits, r2 = sum(r[0] for r in runs), numpy.median([r[1] for r in runs])
        seconds = [r[2] for r in runs]
        print(f"{problem['name']:30s} {hits:5d}/{seeds:<4d} {r2:12.9f} {numpy.median(seconds):8.1f} "
              f"({max(seconds):.1f})    {peers_of(problem)}", flush=True)
        for recovered, r2_of_run, _, formula in runs:
            print(f"#   {'=' if recovered else ' '} {r2_of_run:.7f} {formula}", file=sys.stderr)
        reached = 2 * hits >= seeds if problem["name"].startswith("Nguyen") else r2 > 0.999
        rows.append((problem["name"], reached))
        slow += max(seconds) >= MOST_SECONDS
    nguyen, feynman = missed(rows, "Nguyen"), missed(rows, "feynman")
    print(f"not reached: {', '.join(nguyen + feynman) or 'none'}")
    sys.exit(len(nguyen) > 1 or len(feynman) > 2 or slow > 0)


if __name__ == "__main__":
    main()
