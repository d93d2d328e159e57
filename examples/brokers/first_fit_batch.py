#!/usr/bin/env python3
"""A broker of batch mode that keeps its own books: each task, in order, goes to the first pool with enough free processors.

    gridemu run configs/quickstart.toml --broker "python3 examples/brokers/first_fit_batch.py"
"""
import json
import sys

waiting = {}  # the tasks that wait for a decision, in order
pools = {}    # the last that was told of each pool
decisions = 0


def learn(question):
    for change in question.get("tasks", []):
        # Whatever happened to a task, it waits no more, or anew and behind all others.
        waiting.pop(change["task"], None)
        if change["state"] == "ready":
            waiting[change["task"]] = change["job"]
    for pool in question.get("pools", []):
        pools[pool["pool"]] = pool


def plan():
    global decisions
    free = {number: pool["free"] - pool["coming"]["processors"] if pool["open"] else 0
            for number, pool in pools.items()}
    decided = []
    for task, job in list(waiting.items()):
        for number in sorted(free):
            # A pool that is too small would refuse it; `runs` has no time there.
            if job["processors"] <= free[number] and number not in job.get("refused", []) and job["runs"][number]:
                free[number] -= job["processors"]
                decisions += 1
                decided.append({"id": decisions, "task": task, "assign": number})
                del waiting[task]
                break
    return decided


for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        answer = {"hello": {"version": 1, "name": "first-fit", "mode": "batch"}}
    else:
        learn(message)
        answer = {"answer": message["ask"], "plan": plan()}
    print(json.dumps(answer), flush=True)
