#!/usr/bin/env bash
# Prints the rows of the table in performance.md: user + system time of the whole command with `--out`, its median of 10 runs, the
# schedule part alone, and the peak memory. GRIDEMU_DATA is the folder that holds `swf/`; GRIDEMU the binary; OUT a folder for
# the files (default: in memory). Needs jq and GNU time.
set -euo pipefail
gridemu=${GRIDEMU:-target/release/gridemu}
out=${OUT:-/dev/shm/gridemu-performance}
runs=${RUNS:-10}

median() { sort -n | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

row() { # label, arguments of replay
    local label=$1; shift
    : > "$out.cpu"; : > "$out.schedule"; : > "$out.memory"
    for _ in $(seq "$runs"); do
        rm -rf "$out"
        command time -f '%U %S %M' -o "$out.time" "$gridemu" replay "$@" --out "$out" --json > "$out.json" 2> /dev/null
        awk '{ print $1 + $2 }' "$out.time" >> "$out.cpu"
        awk '{ print $3 }' "$out.time" >> "$out.memory"
        jq .schedule_s "$out.json" >> "$out.schedule"
    done
    printf '| %s | %.3f s | %.3f s | %.1f MB | %s |\n' "$label" "$(median < "$out.cpu")" "$(median < "$out.schedule")" \
        "$(median < "$out.memory" | awk '{ print $1 / 1024 }')" "$(jq .longest_queue "$out.json")"
}

log() { echo "${GRIDEMU_DATA:?say where the archive logs are}/swf/$1.swf.gz"; }

echo '| run | whole | schedule | peak memory | longest queue |'
echo '|---|---|---|---|---|'
if [ "${GRIDEMU_DATA:-}" ]; then
    row 'KTH-SP2, EASY' "$(log KTH-SP2-1996-2.1-cln)" --policy easy
    row 'SDSC-SP2, EASY' "$(log SDSC-SP2-1998-4.2-cln)" --policy easy
    row 'SDSC-BLUE-4.2, EASY' "$(log SDSC-BLUE-2000-4.2-cln)" --policy easy
    row 'RICC, EASY' "$(log RICC-2010-2)" --policy easy
    row 'KTH-SP2, LOS' "$(log KTH-SP2-1996-2.1-cln)" --policy los
    row 'SDSC-BLUE-4.2, LOS' "$(log SDSC-BLUE-2000-4.2-cln)" --policy los
    row 'KTH-SP2, conservative' "$(log KTH-SP2-1996-2.1-cln)" --policy conservative
    row 'SDSC-SP2, conservative' "$(log SDSC-SP2-1998-4.2-cln)" --policy conservative
    row 'SDSC-BLUE-4.2, conservative' "$(log SDSC-BLUE-2000-4.2-cln)" --policy conservative
    row 'HPC2N, conservative' "$(log HPC2N-2002-2.2-cln)" --policy conservative
fi
row 'Lublin, 1 M jobs on 1,024, load 0.7, EASY' 'lublin[jobs=1000000,procs=1024,load=0.7]' --policy easy
if [ "${LONG:-}" ]; then
    runs=1
    row 'Lublin, 10 M jobs on 1,024, load 0.7, EASY' 'lublin[jobs=10000000,procs=1024,load=0.7]' --policy easy
    row 'RICC, conservative' "$(log RICC-2010-2)" --policy conservative
fi
rm -rf "$out" "$out".*

# The broker under three kinds of pressure, on the twenty sites of configs/: user time of the whole command, without files. `RECALLS=1` adds
# the rows of recalls, which write millions of records.
twenty=$(dirname "$0")/../configs/twenty-sites.toml
at_once() { echo "workload[0].poisson={jobs=$1,every=\"1 ms\",size=\"1..32\",runtime=\"exponential[mean=7 min]\"}"; }

broker() { # label, policy, jobs, arguments of run
    local label=$1 policy=$2 jobs=$3; shift 3
    command time -f '%U' -o "$out.time" "$gridemu" run "$twenty" --engine direct --json --set "broker.policy=$policy" \
        --set "$(at_once "$jobs")" "$@" > /dev/null 2> /dev/null
    printf '| %s | %s | %d | %s s |\n' "$label" "$policy" "$jobs" "$(cat "$out.time")"
}

nobody=$(for at in $(seq 20); do printf '{at="0 s",leave="site-%d"},{at="3 d",join="site-%d"},' "$at" "$at"; done)
echo
echo '| jobs at the broker | policy | jobs | user time |'
echo '|---|---|---|---|'
for jobs in 20000 40000 80000; do
    for policy in pull mct; do broker 'at most 2 at a site' "$policy" "$jobs" --set broker.in_flight=2; done
done
for jobs in 10000 20000 40000; do
    for policy in cheapest fastest-free random; do
        broker 'nobody there for three days' "$policy" "$jobs" --set "event=[${nobody%,}]"
    done
done
if [ "${RECALLS:-}" ]; then
    for jobs in 4000 8000 16000; do broker 'recalled at every report' mct "$jobs" --set broker.replan=every-report; done
fi

# Workflows: user time and peak memory of the whole command, without files. One Montage on fifty sites, and a thousand on twenty sites with
# local users. `LONG=1` adds the rows of 100,000 tasks.
scenario() { # sites, machines of each, keys of each, policy, keys of the workload
    echo 'seed = 15'
    for at in $(seq 0 $(($1 - 1))); do
        printf '[[site]]\nname = "site-%d"\nmachines = [{ class = "node", count = %d, cores = 2, speed = %s }]\npolicy = "easy"\n%s\n' \
            "$at" "$2" "$(awk "BEGIN { print 0.8 + 0.02 * $at }")" "$3"
    done
    printf '[network]\nlatency = "20 ms"\nbandwidth = "1 Gbit/s"\n[broker]\npolicy = "%s"\n[[workload]]\n%s\n' "$4" "$5"
}

workflows() { # label, policy, then as for `scenario`
    local label=$1; shift
    scenario "$@" > "$out.toml"
    command time -f '%U %M' -o "$out.time" "$gridemu" run "$out.toml" --json > /dev/null 2> /dev/null
    awk -v row="| $label | $4 |" '{ printf "%s %.2f s | %.0f MB |\n", row, $1, $2 / 1024 }' "$out.time"
}

echo
echo '| workflows | policy | user time | peak memory |'
echo '|---|---|---|---|'
for policy in heft min-min mct; do
    for tasks in 1000 10000 ${LONG:+100000}; do
        workflows "one of $tasks tasks, 50 sites" 50 8 '' "$policy" "workflow = \"montage[tasks=$tasks]\""
    done
    for every in '1 min' '1 s'; do
        workflows "1,000 of 100 tasks, one each $every, 20 sites" 20 32 'workload = { lublin = { jobs = 200, load = 0.4 } }' "$policy" \
            "workflow = \"montage[tasks=100]\"
count = 1000
every = \"$every\""
    done
done

# A broker that is a program, against the policy that it is the twin of.
echo
echo '| jobs | broker | questions | whole | waited | own |'
echo '|---|---|---|---|---|---|'
for jobs in 10000 30000 100000; do
    printf 'seed = 1\n[[site]]\nname = "s"\ncount = 5\nmachines = [{ class = "node", count = 64, cores = 4 }]\npolicy = "easy"\n[network]\nlatency = "20 ms"\n[broker]\npolicy = "mct"\nmonitoring_interval = "5 min"\n[[workload]]\nlublin = { jobs = %d, load = 0.7, procs = 128 }\n' \
        "$jobs" > "$out.toml"
    for program in '' mct first_fit_batch; do
        "$gridemu" run "$out.toml" ${program:+--broker "python3 $PWD/examples/brokers/$program.py"} --json 2> /dev/null |
            jq -r --arg jobs "$jobs" --arg name "${program:-built-in mct}" '(.broker.program.waited_s // 0) as $waited |
                [$jobs, $name, .broker.program.questions // "", .wall_s, $waited, .wall_s - $waited] | "| " + (map(tostring) | join(" | ")) + " |"'
    done
done
rm -f "$out.time" "$out.toml"
