#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Puts load on the service: opens and closes sessions, and waits for each answer.
# heap-gate.sh made its stdin and its output. $COMMANDS: other commands.
set -eu
pid=${1:?usage: load.sh PID}
say() {
	echo "$1" >"/proc/$pid/fd/0"
	until grep -q "^done $1" "/proc/$pid/fd/1"; do
		kill -0 "$pid"
		sleep 0.1
	done
}

until grep -q ready "/proc/$pid/fd/1"; do
	kill -0 "$pid"
	sleep 0.1
done
say "open 1000"
say "close"
say "${COMMANDS:-open 10}"
