parts=$folder/parts-$shards
set --
if [ -n "$scratch" ]; then
    unpacked=$(mktemp -d "$scratch/gridemu-XXXXXX") || exit 1
    trap 'rm -rf "$unpacked"' EXIT
    for archive in "$parts"/*.tar; do
        [ -f "$archive" ] || continue
        mkdir "$unpacked/$(basename "$archive" .tar)"
        tar -xf "$archive" -C "$unpacked/$(basename "$archive" .tar)" || exit 1
    done
    parts=$unpacked
fi
# A part whose task was killed before it had made its store has no marker.
for marker in "$parts"/*/gridemu-campaign; do
    [ ! -f "$marker" ] || set -- "$@" "${marker%/*}"
done
if [ $# -eq 0 ]; then
    echo "no part has a result; see the logs in $folder/log"
    exit 1
fi
(campaign --merge "$@")
code=$?
[ "$code" -eq 0 ] || echo 'what is missing or failed is done when both jobs are submitted again'
exit "$code"
