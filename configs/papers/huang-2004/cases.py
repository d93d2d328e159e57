"""Writes the logs of this folder, by the rules of section 5.6 of the thesis: `python3 cases.py`.

Numbers and run times of the classes are those of the thesis; so are the submissions of long jobs. What it leaves open is drawn: the order of the other jobs, their run times within
the printed intervals, and which of the applications of a class a job runs (as many of each, by turns). Where jobs "follow" they come 30 s apart, as in Table 5-1.
All jobs have all 12 processors. The executable number of a job is the line of its application in Table 5-2.
"""

import random
from pathlib import Path

GRID_300, GRID_1200, GRID_2400, CENTRAL, RANDOM, STREAM = range(1, 7)
HERE = Path(__file__).parent


def write(name, jobs, about, procs=12):
    """Jobs are (submission, run time, executable, processors)."""
    jobs = sorted(jobs, key=lambda job: job[0])
    lines = [f"; {about}", f"; MaxProcs: {procs}"]
    for number, (at, run, executable, size) in enumerate(jobs, 1):
        lines.append(f"{number} {round(at)} -1 {round(run)} {size} -1 -1 {size} {round(run)} -1 1 -1 -1 {executable} -1 -1 -1 -1")
    (HERE / name).write_text("\n".join(lines) + "\n")


def shuffled(draws, items):
    items = list(items)
    for last in range(len(items) - 1, 0, -1):
        other = int(draws.random() * (last + 1))
        items[last], items[other] = items[other], items[last]
    return items


def between(draws, least, most):
    return least + draws.random() * (most - least)


def case_1(draws):
    """4 long jobs, one every 40 min; 4 medium, 6 short and 22 special ones at equal distances over these 160 min."""
    others = [(480, 600, (RANDOM, GRID_300)[n % 2]) for n in range(4)]
    others += [(180, 300, (GRID_300, CENTRAL)[n % 2]) for n in range(6)]
    others += [(60, 90, (GRID_1200, STREAM)[n % 2]) for n in range(22)]
    jobs = [(n * 2400, 1800, GRID_2400, 12) for n in range(4)]
    for place, (least, most, executable) in enumerate(shuffled(draws, others)):
        jobs.append(((place + 0.5) * 300, between(draws, least, most), executable, 12))
    return jobs


def case_2(draws):
    """6 long jobs, one every 10 min; 8 medium, 12 short and 14 special ones in any order, five or six of them after each."""
    others = shuffled(draws, [60] * 8 + [30] * 12 + [10] * 14)
    jobs = [(n * 600, 300, -1, 12) for n in range(6)]
    for n, run in enumerate(others):
        after, place = n % 6, n // 6
        jobs.append((after * 600 + (place + 1) * 30, run, -1, 12))
    return jobs


def case_3(draws, every, medium, short, special):
    """4 long jobs; medium ones follow each; short and special ones come at any time."""
    jobs = [(n * every, 300, -1, 12) for n in range(4)]
    jobs += [(n % 4 * every + (n // 4 + 1) * 30, 60, -1, 12) for n in range(medium)]
    jobs += [(between(draws, 0, 4 * every), run, -1, 12) for run in [30] * short + [10] * special]
    return jobs


for seed in range(1, 31):
    about = f"Huang (2004), section 5.6, by cases.py: draw {seed} of "
    draws = random.Random(seed)
    write(f"logs/case-1-{seed:02}.swf", case_1(draws), about + "case 1")
    write(f"logs/case-2-{seed:02}.swf", case_2(draws), about + "case 2")
    write(f"logs/case-3-{seed:02}.swf", case_3(draws, 840, 8, 8, 20), about + "case 3")
    # Not of the thesis: fewer short and special jobs, at the same load.
    write(f"logs/case-3-few-{seed:02}.swf", case_3(draws, 1062, 20, 6, 10), about + "case 3 with fewer short and special jobs")

# Table 5-1. So that each job has a class of its own, they have 1200, 1199, ... of 1,200 processors.
table = [(0, 300), (30, 60), (60, 60), (90, 10), (120, 10), (150, 10), (180, 30), (210, 10), (240, 30), (270, 10), (850, 300), (880, 60)]
write("table-5-1.swf", [(at, run, -1, 1200 - n) for n, (at, run) in enumerate(table)], "Table 5-1; the size of a job is its name", 1200)

# Table 5-2: each application for 10 min beside each other one, which is there for longer. The sizes of the former are their names.
pairs = []
for n in range(36):
    pairs += [(n * 20_000, 6000, n % 6 + 1, 1200), (n * 20_000, 600, n // 6 + 1, 1199 - n)]
write("table-5-2.swf", pairs, "Pairs of Table 5-2; the size of a job is the name of its pair", 1200)
