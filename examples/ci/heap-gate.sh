#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Starts a service, puts load on it, takes a snapshot of its heap and checks it:
#
#	heap-gate.sh OUT-DIRECTORY SERVICE [ARGUMENT…]
#
# Environment:
#	HEAPINSPECT	the program (heapinspect on PATH)
#	SUDO		"sudo": take the snapshot as root; the file becomes yours
#	LOAD		a command that puts load on it, run by sh with $SERVICE_PID
#	BUDGET		a file of gates (see GATES.md)
#	GATES		expressions, one a line; without both: leak.bytes > 0
#	BASELINE	an earlier snapshot; it is replaced when every gate holds, and
#			made when there is none yet
#
# Leaves heap.hisnap, heap.json and heap.xml (JUnit) in OUT-DIRECTORY. On GitHub it
# also writes annotations and the summary of the step. Exit status: that of
# heapinspect check.
set -eu

out=${1:?usage: heap-gate.sh OUT-DIRECTORY SERVICE [ARGUMENT...]}
shift
heapinspect=${HEAPINSPECT:-heapinspect}
# Runners of some services have 000, and nothing is written into directories in which others
# may replace files.
umask 022
mkdir -p "$out"
rm -f "$out/stdin" "$out/heap.hisnap"

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
if [ -n "${SUDO:-}" ]; then
	$SUDO "$heapinspect" snap -q --pid "$SERVICE_PID" -o "$out/heap.hisnap"
	$SUDO chown "$(id -u):$(id -g)" "$out/heap.hisnap"
else
	"$heapinspect" snap -q --pid "$SERVICE_PID" -o "$out/heap.hisnap"
fi

# One --fail-on for each line; an expression may have blanks and quotes.
set --
[ -z "${BUDGET:-}" ] || set -- --budget "$BUDGET"
[ -n "${BUDGET:-}${GATES:-}" ] || GATES='leak.bytes > 0'
while IFS= read -r gate; do
	[ -z "$gate" ] || set -- "$@" --fail-on "$gate"
done <<END
${GATES:-}
END

check() { # options of the report
	"$heapinspect" check "$out/heap.hisnap" "$@"
}
[ -z "${BASELINE:-}" ] || mkdir -p "$(dirname "$BASELINE")"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	# Against a copy: the check below may replace the baseline.
	rm -f "$out/baseline.hisnap"
	[ ! -e "${BASELINE:-}" ] || cp "$BASELINE" "$out/baseline.hisnap"
	check "$@" ${BASELINE:+--baseline "$out/baseline.hisnap" --update-baseline} \
		-f markdown >>"$GITHUB_STEP_SUMMARY" || true
	rm -f "$out/baseline.hisnap"
fi
status=0
check "$@" ${BASELINE:+--baseline "$BASELINE" --update-baseline} \
	--junit "$out/heap.xml" ${GITHUB_ACTIONS:+--github} || status=$?
[ $status -le 1 ] || exit $status
"$heapinspect" "$out/heap.hisnap" --json -o "$out/heap.json"
exit $status
