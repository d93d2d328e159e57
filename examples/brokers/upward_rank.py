#!/usr/bin/env python3
"""Plans whole workflows by upward rank (a plain HEFT: no insertion into gaps, and data takes no time).

    gridemu run configs/workflows.toml --broker "python3 examples/brokers/upward_rank.py"
"""
import heapq
import json
import sys

pools = []    # from the hello
told = {}     # the last that was told of each pool
free = []     # for each pool: when each of its processors is free, as a heap
jobs = {}     # the description of each task that has not ended
open_ = set()  # tasks without a decision
ends = {}     # when tasks are expected to end, or have ended
decisions = 0


def learn(question):
    now = question["now"]
    for change in question.get("tasks", []):
        task = change["task"]
        if "job" in change:
            jobs[task] = change["job"]
        if change["state"] in ("ready", "blocked"):
            open_.add(task)
        else:
            open_.discard(task)
        if change["state"] in ("ended", "gone"):
            jobs.pop(task, None)
            ends[task] = now
    for pool in question.get("pools", []):
        told[pool["pool"]] = pool


def ranks():
    """The longest way from the start of each open task to the end of its workflow."""
    after = {}
    for task in open_:
        for before, _ in jobs[task].get("after", []):
            after.setdefault(before, []).append(task)
    rank = {}

    # What waits for a task has a higher number than the task.
    for task in sorted(open_, reverse=True):
        runs = [run for run in jobs[task]["runs"] if run]
        mean = sum(runs) // max(len(runs), 1)
        rank[task] = mean + max((rank.get(follower, 0) for follower in after.get(task, [])), default=0)
    return rank


def plan(now):
    global decisions
    decided = []
    rank = ranks()
    for task in sorted(open_, key=lambda task: (-rank[task], task)):
        job, best = jobs[task], None
        before = max((ends.get(before, now) for before, _ in job.get("after", [])), default=now)
        if any(before in open_ for before, _ in job.get("after", [])):
            continue  # what it waits for cannot be planned now
        for pool, run in enumerate(job["runs"]):
            present = told[pool]["present"] if told[pool]["open"] else 0
            if not run or job["processors"] > present or pool in job.get("refused", []):
                continue
            at = heapq.nsmallest(job["processors"], free[pool])[-1]
            start = max(now, before, at)
            if best is None or start + run < best[0]:
                best = (start + run, start, pool)
        if best is None:
            continue  # it fits nowhere now
        end, start, pool = best
        for _ in range(job["processors"]):
            heapq.heapreplace(free[pool], end)
        ends[task] = end
        open_.discard(task)
        decisions += 1
        decided.append({"id": decisions, "task": task, "plan": pool, "start": start, "end": end,
                        "reason": "earliest completion"})
    return decided


for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        pools = message["hello"]["pools"]
        free = [[0] * pool["processors"] for pool in pools]
        answer = {"hello": {"version": 1, "name": "upward-rank", "mode": "batch", "workflows": True}}
    else:
        learn(message)
        answer = {"answer": message["ask"], "plan": plan(message["now"])}
    print(json.dumps(answer), flush=True)
