#!/bin/sh
# A campaign on a real SLURM, whose tasks are killed on the way, gives the table of one machine. No part of `cargo test`:
#
#   apt-get install slurmctld slurmd munge slurm-client     (as root, also what follows; see cluster.sh)
#   cargo build --release
#   sh tests/slurm/campaign.sh [JOBS] [OPTION...]
#
# JOBS are those of each of the 450 runs of configs/campaigns/backfilling.toml: as many as make the whole campaign last some minutes.
# OPTIONs go to `gridemu campaign --slurm`, such as --scratch /tmp. GRIDEMU is the program [target/release/gridemu].
#
# The tasks have a limit of two minutes, too short for a part, so that each is asked to stop, and requeued. Every few seconds one of them is
# hit: gridemu killed with -9 or asked to end with -TERM, the whole task signalled or requeued by SLURM, cancelled, its script killed with
# -9, or its node taken down. What is then missing is submitted again, until the merge finds every run.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
gridemu=$(realpath "${GRIDEMU:-$root/target/release/gridemu}")
jobs=${1:-2000}
[ $# -eq 0 ] || shift
user=nobody
folder=$(mktemp -d /tmp/gridemu-slurm-XXXXXX)
chmod 755 "$folder"
work="$folder/my work"
mkdir "$work"
cp -r "$root/configs" "$work"
cp "$gridemu" "$folder/gridemu"
chown -R "$user" "$work"
cluster="sh $root/tests/slurm/cluster.sh"
trap '$cluster stop "$folder/cluster"' EXIT
$cluster start "$folder/cluster"
export SLURM_CONF="$folder/cluster/slurm.conf"

as() { (cd "$work" && setpriv --reuid "$user" --regid nogroup --clear-groups "$@"); }
campaign() {
    as "$folder/gridemu" campaign configs/campaigns/backfilling.toml --set "site.cluster.workload.lublin.jobs=$jobs" "$@"
}

echo '== one machine'
campaign --store whole > /dev/null 2> "$folder/whole.txt" || { cat "$folder/whole.txt"; exit 1; }
tail -n 1 "$folder/whole.txt"

# One number below $1.
random() { echo $(($(od -An -N2 -tu2 /dev/urandom) % $1)); }
# The processes of a task: the script, and gridemu, its child.
script_of() { scontrol listpids "$1" 2> /dev/null | awk 'NR > 1 && $3 == "batch" { print $1; exit }'; }
gridemu_of() { pgrep --exact gridemu --parent "$(script_of "$1")"; }

# Hits the task of this job number and number in the array; the last three ways end it for good, until it is submitted again.
hit() {
    job=$1 task=$2
    case $(random "$3") in
        0 | 1) what='gridemu -9' && kill -9 "$(gridemu_of "$job")" ;;
        2) what='gridemu -TERM' && kill -TERM "$(gridemu_of "$job")" ;;
        3) what='scancel --signal=TERM --full' && as scancel --signal=TERM --full "$task" ;;
        4) what='scontrol requeue' && as scontrol requeue "$task" ;;
        5)
            node=$(squeue --noheader --jobs="$task" --format=%N) && what="node $node down"
            scontrol update NodeName="$node" State=DOWN Reason=test && sleep 2
            scontrol update NodeName="$node" State=RESUME || true
            ;;
        6) what='scancel' && as scancel "$task" ;;
        7 | 8) what='script and gridemu -9' && kill -9 "$(script_of "$job")" "$(gridemu_of "$job")" ;;
    esac
}

for submission in 1 2 3 4 5 6; do
    echo "== submission $submission"
    campaign --slurm --shards 8 --slurm-option=--time=2 --submit "$@" > "$folder/submitted.txt" 2>&1 || {
        cat "$folder/submitted.txt"
        exit 1
    }
    cat "$folder/submitted.txt"
    merge=$(sed -n 's/.*squeue --jobs=[0-9]*,//p' "$folder/submitted.txt")
    hits=0
    while sleep 4; queue=$(squeue --noheader --format=%T); [ -n "$queue" ]; do
        # No more hits after a while, so that there is an end.
        [ "$hits" -lt 12 ] || continue
        running=$(squeue --noheader --states=RUNNING --name=backfilling --format='%A %i' | shuf -n 1)
        [ -n "$running" ] || continue
        # The task may have ended in the meantime, which is no hit.
        if hit "${running% *}" "${running#* }" "$([ "$submission" -le 2 ] && echo 9 || echo 6)" 2> /dev/null; then
            hits=$((hits + 1))
            echo "$(date +%T) $what"
        fi
    done
    merged=$work/backfilling.slurm/log/merge-$merge.txt
    grep -h -e 'took over' -e '^error' -e 'runs done' "$merged" || true
    if grep -q 'the table of all 450 runs' "$merged"; then
        break
    fi
done

echo '== what tasks have said'
sed -n 's/^.*part [0-9]* of 8 on [^ ]*: //p' "$work"/backfilling.slurm/log/*_*.txt | sort | uniq -c
grep -h 'DUE TO' "$work"/backfilling.slurm/log/*_*.txt | sed 's/.*DUE TO/DUE TO/' | sort | uniq -c
echo '== compared'
cmp "$work/whole/results.csv" "$work/backfilling.campaign/results.csv"
echo "the table of the job array has the bytes of that of one machine: $(sha256sum < "$work/whole/results.csv")"
