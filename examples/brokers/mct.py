#!/usr/bin/env python3
"""Minimum completion time, as the built-in policy `mct`: each task goes where it is expected to end first.

    gridemu run configs/quickstart.toml --broker "python3 examples/brokers/mct.py"
"""
import json
import sys


def decide(question):
    # Pools where the task fits now have an expected start and end; the first of equals is taken.
    choices = [choice for choice in question["choices"] if "end" in choice]
    if not choices:
        return []
    best = min(choices, key=lambda choice: choice["end"])
    return [{
        "id": question["ask"],  # numbers of decisions increase
        "task": question["task"],
        "assign": best["pool"],
        "reason": "earliest completion",
    }]


for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        # `steady`: a task that it leaves it would leave again while only other tasks arrive.
        answer = {"hello": {"version": 1, "name": "mct.py", "mode": "immediate", "gate": "fits", "steady": True}}
    else:
        answer = {"answer": message["ask"], "plan": decide(message)}
    print(json.dumps(answer), flush=True)
