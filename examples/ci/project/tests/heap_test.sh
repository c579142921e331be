#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The heap as a test of ctest: starts the service, opens and closes sessions, and
# expects that none is left. $HEAPINSPECT: the program.
set -eu
service=${1:?usage: heap_test.sh SERVICE}
heapinspect=${HEAPINSPECT:-heapinspect}
dir=$(mktemp -d)
mkfifo "$dir/in" "$dir/out"
"$service" <"$dir/in" >"$dir/out" &
pid=$!
trap 'kill $pid 2>/dev/null; rm -rf "$dir"' EXIT
exec 8>"$dir/in" 9<"$dir/out"
read -r line <&9 && [ "$line" = ready ]
echo "open 500" >&8 && read -r line <&9
echo "${LAST_COMMAND:-close}" >&8 && read -r line <&9

# Exit status 1 is a gate that failed; its report names the culprits.
"$heapinspect" check --pid $pid --fail-on 'leak.bytes > 0' \
	--fail-on 'type("struct session").count > 0'
