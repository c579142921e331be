#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Starts a service, puts load on it, takes a snapshot of its heap and gates it:
#
#	heap-gate.sh OUT-DIRECTORY SERVICE [ARGUMENT…]
#
# Environment:
#	HEAPINSPECT	the program (heapinspect on PATH)
#	LOAD		a command that puts load on it, run by sh with $SERVICE_PID
#	GATES		expressions, one a line ("leak.bytes > 0")
#	BASELINE	an earlier snapshot; without it, only absolute gates
#
# Leaves heap.hisnap, heap.json and heap.xml (JUnit) in OUT-DIRECTORY. Exit status: that
# of heapinspect check.
set -eu

out=${1:?usage: heap-gate.sh OUT-DIRECTORY SERVICE [ARGUMENT...]}
shift
heapinspect=${HEAPINSPECT:-heapinspect}
gates=${GATES:-leak.bytes > 0}
mkdir -p "$out"

# Its stdin stays open as long as this script runs: some services end with it.
mkfifo "$out/stdin"
"$@" <"$out/stdin" >"$out/service.log" 2>&1 &
SERVICE_PID=$!
export SERVICE_PID
exec 9>"$out/stdin"
tidy() {
	exec 9>&-
	kill "$SERVICE_PID" 2>/dev/null || true
	wait "$SERVICE_PID" 2>/dev/null || true
	rm -f "$out/stdin"
}
trap tidy EXIT

sh -c "${LOAD:-sleep 1}"
kill -0 "$SERVICE_PID" || { echo "heap-gate: the service has ended" >&2; exit 2; }
"$heapinspect" snap -q --pid "$SERVICE_PID" -o "$out/heap.hisnap"

# One --fail-on for each line; an expression may have blanks and quotes.
set --
while IFS= read -r gate; do
	[ -z "$gate" ] || set -- "$@" --fail-on "$gate"
done <<END
$gates
END
[ -z "${BASELINE:-}" ] || set -- "$@" --baseline "$BASELINE"
[ -z "${GITHUB_ACTIONS:-}" ] || set -- "$@" --github

status=0
"$heapinspect" check "$out/heap.hisnap" "$@" --junit "$out/heap.xml" || status=$?
"$heapinspect" "$out/heap.hisnap" --json -o "$out/heap.json"
exit $status
