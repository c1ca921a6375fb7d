#!/bin/sh
# The main job on a copy of the fixture workspace, on one screen; `sh bench/demo.sh tour` goes on to the other commands.
# `make demo` and `make tour` set RUN (where memctl is) and NOW (the demo's day).
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/fixtures/workspace" "$work/workspace"
cd "$work/workspace"
export MEMCTL_NOW="$NOW"

show() {
    printf '\n$ memctl'
    for word in "$@"; do case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
    printf '\n'
    "$RUN/memctl" "$@" || printf '(exit code %s)\n' "$?"
}

show index --quiet
show recall "Should I power-cycle the gateway?" -k 1
show fact history db --about Curlew
show recall "Как Ирина относится к голосовым сообщениям?" -k 1
show retain "Irina wants the night report in eight lines" --about Irina --confidence 0.8
show recall "night report in eight lines" -k 1
if [ "${1:-}" = tour ]; then
show recall "Why did Curlew move away from MongoDB?" -k 2
show recall "夏令时结束那天丢了什么录音？" -k 1
show fact get db --about Curlew --as-of 2025-08-31
show recall @Ирина kind:opinion since:60d -k 2
show recall "chess tournament in Reykjavik"
show reflect --since 150d --quiet
show belief show o-n3wk7vfa
show recall "do Petrov's battery estimates hold?" -k 1
show conflicts
show review
show forget --id petrov-battery
show context "why did we leave MongoDB?" --budget 1200
show ingest "$here/tests/data/transcripts/small.md" --review
show import "$here/tests/data/mem0.json" --dry-run
fi
printf '\nThis was a copy of fixtures/workspace; it is gone now. Your own notes: memctl recall "…" --workspace DIR\n'
