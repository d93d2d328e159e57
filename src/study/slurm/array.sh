parts=$folder/parts-$shards
part=$parts/$SLURM_ARRAY_TASK_ID
say() { echo "$(date '+%F %T') part $SLURM_ARRAY_TASK_ID of $shards on $(uname -n): $*"; }

# USR1: the time of the task is nearly over. gridemu ends its current runs, or is killed while there is time to be requeued.
asked='' pid='' late=''
stop() {
    [ -z "$late" ] || return 0
    kill -TERM "$pid"
    (sleep "$((grace - 15))" && kill -KILL "$pid") > /dev/null 2>&1 &
    late=$!
}
trap 'asked=yes; [ -z "$pid" ] || stop' USR1
# TERM: scancel, a requeue, a preemption. SLURM sends that to gridemu, too; a second one would make it drop its current runs.
trap : TERM

found=$(gridemu --version)
if [ "$found" != "$version" ]; then
    say "needs $version, and finds: ${found:-none}"
    exit 127
fi
mkdir -p "$parts" || exit 1

# On a disk of the node the store comes from an archive, and goes back to it; a rename replaces that as a whole.
if [ -n "$scratch" ]; then
    archive=$part.tar
    part=$(mktemp -d "$scratch/gridemu-XXXXXX") || exit 1
    trap 'rm -rf "$part"' EXIT
    [ ! -f "$archive" ] || tar -xf "$archive" -C "$part" || exit 1
fi

campaign --shard "$SLURM_ARRAY_TASK_ID/$shards" --store "$part" &
pid=$!
[ -z "$asked" ] || stop
wait "$pid"
code=$?
# A signal ends `wait`, but not gridemu.
while [ "$code" -gt 128 ] && kill -0 "$pid" 2> /dev/null; do
    wait "$pid"
    code=$?
done
pid=''
[ -z "$late" ] || kill "$late" 2> /dev/null

if [ -n "$scratch" ]; then
    { tar -cf "$archive.new" -C "$part" . && sync "$archive.new" && mv "$archive.new" "$archive"; } || exit 1
fi
# Above 128: it was killed, or has stopped when it was asked to (130).
if [ "$code" -le 128 ]; then
    say "ended with code $code"
    exit "$code"
fi
# SLURM_JOB_ID would not do: that of the last task is the number of the whole array.
job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
# A job that has been cancelled stays so, and one that is being requeued is.
if ! scontrol show job "$job" | grep -q JobState=RUNNING; then
    say "stopped from outside with code $code"
    exit "$code"
fi
# Stops in a row with as many results as before, a line each: after the third, another start would not help.
results=$(campaign --list --json --shard "$SLURM_ARRAY_TASK_ID/$shards" --store "$part" | grep -c '"state": "done"')
stops=$parts/$SLURM_ARRAY_TASK_ID.stops
[ "$(tail -n 1 "$stops" 2> /dev/null)" = "$results" ] || rm -f "$stops"
echo "$results" >> "$stops"
if [ "$(wc -l < "$stops")" -ge 3 ]; then
    rm -f "$stops"
    say "stopped with code $code and $results results, three times without a new one: give it more time or memory"
    exit 1
fi
say "stopped with code $code and $results results; requeued, to continue"
scontrol requeue "$job" || exit "$code"
