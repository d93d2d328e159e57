#!/bin/sh
# Prints the tables of docs/validation.md from new runs.
#
#   cargo build --release
#   GRIDEMU_DATA=/path/to/data sh docs/validation.sh
#
# The folder has the logs of the Parallel Workloads Archive in swf/, the reference outcomes in reference/, and workflows in wfcommons/.
# Needs jq and awk. GRIDEMU names the program if it is not target/release/gridemu.
set -eu
: "${GRIDEMU_DATA:?the folder with swf/, reference/ and wfcommons/}"
gridemu=${GRIDEMU:-target/release/gridemu}
logs='KTH-SP2-1996-2.1-cln CTC-SP2-1996-3.1-cln SDSC-SP2-1998-4.2-cln SDSC-BLUE-2000-4.2-cln HPC2N-2002-2.2-cln LANL-CM5-1994-4.1-cln'

# An array of summaries, one per policy.
replay() {
    "$gridemu" replay "$@" --json 2>/dev/null | jq 'if type == "array" then . else [.] end'
}
# KTH-SP2-1996-2.1-cln is KTH-SP2.
short() { echo "${1%-[0-9][0-9][0-9][0-9]-*}"; }
swf() { echo "$GRIDEMU_DATA/swf/$1.swf.gz"; }

echo '## Published digits'
echo
echo '| policy | estimates | mean bounded slowdown | mean response (s) | max bounded slowdown | max response (s) | fingerprint |'
echo '|---|---|---|---|---|---|---|'
for estimates in log exact; do
    replay "$GRIDEMU_DATA/reference/predictsim-KTH-SP2-input-log.swf.gz" --procs 100 --clean strict --order event \
        --estimates $estimates --policy easy --policy 'easy[order=sjf]' |
        jq -r '.[] | [.policy, .estimates, .mean_bounded_slowdown, .mean_response, .max_bounded_slowdown, .max_response, .fingerprint] | @tsv' |
        awk -F'\t' '{ printf "| `%s` | %s | %.8f | %.6f | %.1f | %.0f | `%s` |\n", $1, $2, $3, $4, $5, $6, $7 }'
done

echo
echo '## Batsim'
echo
echo '| policy | jobs | mean wait (s) | max wait (s) | mean response (s) | makespan (s) | fingerprint |'
echo '|---|--:|--:|--:|--:|--:|---|'
replay "$GRIDEMU_DATA/reference/batsim-medium_late.json" --policy easy --policy 'easy[order=sjf]' |
    jq -r '.[] | [.policy, .jobs, .mean_wait, .max_wait, .mean_response, .makespan, .fingerprint] | @tsv' |
    awk -F'\t' '{ printf "| `%s` | %d | %.6f | %.6f | %.6f | %.2f | `%s` |\n", $1, $2, $3, $4, $5, $6, $7 }'

echo
echo '## Six logs'
echo
echo '| log | estimates | policy | mean wait (s) | mean response (s) | bsld mean | bsld median | bsld p95 | utilization (%) | makespan (s) | killed | fingerprint |'
echo '|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|'
for log in $logs; do
    for estimates in log exact; do
        replay "$(swf "$log")" --estimates $estimates --policy fcfs --policy easy --policy conservative |
            jq -r '.[] | [.estimates, .policy, .mean_wait, .mean_response, .mean_bounded_slowdown, .median_bounded_slowdown, .p95_bounded_slowdown, .utilization * 100, .makespan, .outcomes.killed, .fingerprint] | @tsv' |
            awk -F'\t' -v log_="$(short "$log")" '{ printf "| %s | %s | %s | %.1f | %.1f | %.2f | %.2f | %.2f | %.3f | %.0f | %d | `%s` |\n", log_, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 }'
    done
done

echo
echo '## Emulated and recorded waits, EASY and conservative, estimates of the log'
echo
echo '| log | policy | class | jobs | mean emulated (s) | recorded | median emulated | recorded | p90 emulated | recorded |'
echo '|---|---|---|--:|--:|--:|--:|--:|--:|--:|'
for log in $logs; do
    replay "$(swf "$log")" --classes kettimuthu-4 --policy easy --policy conservative |
        jq -r '.[] | .policy as $policy | .recorded_waits[] | select($policy == "easy" or .class == "all") | [$policy, .class, .jobs, .emulated_mean, .recorded_mean, .emulated_median, .recorded_median, .emulated_p90, .recorded_p90] | @tsv' |
        awk -F'\t' -v log_="$(short "$log")" '{ printf "| %s | %s | %s | %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", log_, $1, $2, $3, $4, $5, $6, $7, $8, $9 }'
done

echo
echo '## Exact estimates and shortest first: the same work, cut at the request (--clean strict)'
echo
echo '| log | policy | bsld log | bsld exact | change (%) | response log (s) | response exact (s) | change (%) |'
echo '|---|---|--:|--:|--:|--:|--:|--:|'
for log in $logs; do
    for policy in easy conservative 'easy[order=sjf]'; do
        for estimates in log exact; do
            replay "$(swf "$log")" --clean strict --estimates $estimates --policy "$policy" |
                jq '.[] | .mean_bounded_slowdown, .mean_response'
        done | paste -s - | awk -F'\t' -v log_="$(short "$log")" -v policy="$policy" '
            function change(from, to) { return (to / from - 1) * 100 }
            { printf "| %s | `%s` | %.3f | %.3f | %.1f | %.0f | %.0f | %.1f |\n",
              log_, policy, $1, $3, change($1, $3), $2, $4, change($2, $4) }'
    done
done

echo
echo '## Order of events: EASY, mean bounded slowdown'
echo
echo '| log | one pass per instant | one pass per event | difference (%) | fingerprint, one pass per event |'
echo '|---|--:|--:|--:|---|'
for log in $logs; do
    for order in instant event; do
        replay "$(swf "$log")" --policy easy --order $order | jq -r '.[] | .mean_bounded_slowdown, .fingerprint'
    done | paste -s - | awk -F'\t' -v log_="$(short "$log")" \
        '{ printf "| %s | %.4f | %.4f | %.3f | `%s` |\n", log_, $1, $3, ($1 / $3 - 1) * 100, $4 }'
done

echo
echo '## Engines: one line per scenario if all five runs have one fingerprint and the same rows'
echo
echo '| scenario | fingerprint |'
echo '|---|---|'
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for scenario in two-sites quickstart churn das2 sharcnet modern; do
    for how in '--engine direct' '--threads 1' '--threads 2' '--threads 8' '--pace 1e8'; do
        # shellcheck disable=SC2086
        "$gridemu" run configs/$scenario.toml $how --out "$out/run" --json 2>/dev/null | jq -r .fingerprint
        cat "$out/run"/*.csv | cksum
    done | paste - - | sort -u | awk -F'\t' -v scenario="$scenario" '{ printf "| %s | `%s` |\n", scenario, $1 }'
done

echo
echo '## Outages and submissions: one line per scenario if no change changes them'
echo
echo '| scenario | outages (lines) | their checksum | checksum of submissions |'
echo '|---|--:|--:|--:|'
outages() {
    scenario=$1 until=$2
    shift 2
    for change in "$@"; do
        "$gridemu" run "configs/$scenario.toml" --set "until=$until" --set "$change" --out "$out/run" >/dev/null 2>&1
        chance=$(awk -F, '$3 == "chance" && ($2 == "left" || $2 == "joined")' "$out/run/events.csv")
        submitted=$(awk -F, 'NR > 1 { print $21, $1, $2 }' "$out/run/jobs.csv" | sort | cksum)
        echo "| $scenario | $(echo "$chance" | wc -l) | $(echo "$chance" | cksum | cut -d' ' -f1) | ${submitted%% *} |"
    done | sort -u
}
outages quickstart '6 d' broker.policy=mct broker.policy=random broker.policy=pull site.delft.policy=fcfs \
    site.delft.churn.on_failure=wait 'broker.monitoring_interval=10 min'
outages churn '12 d' broker.policy=mct broker.policy=random churn.checkpoint=none churn.on_failure=requeue \
    site.cluster.policy=conservative

echo
echo '## Recorded runs of workflows: predicted from the other runs of the application'
echo
cargo run -q --release --example workflow_reality

echo
echo '## Generated workflows: generated over published, median (10th to 90th percentile)'
cargo test -q --test it archive_workflows::generated -- --nocapture | grep -E '^(montage|epigenomics): '
