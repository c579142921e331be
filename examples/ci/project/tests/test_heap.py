# SPDX-License-Identifier: BSD-2-Clause
"""The heap as a test of pytest: python3 -m pytest tests (or python3 tests/test_heap.py).

$SERVICE is the service, $HEAPINSPECT the program.
"""
import os
import subprocess

SERVICE = os.environ.get("SERVICE", "build/service")
HEAPINSPECT = os.environ.get("HEAPINSPECT", "heapinspect")


def check(pid, *gates):
    """Fails with heapinspect's report, which names what is behind a gate."""
    options = [word for gate in gates for word in ("--fail-on", gate)]
    done = subprocess.run([HEAPINSPECT, "check", "--pid", str(pid), *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def tell(service, command):
    service.stdin.write(command + "\n")
    service.stdin.flush()
    assert service.stdout.readline() == f"done {command}\n"


def test_closed_sessions_are_gone():
    with subprocess.Popen([SERVICE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as service:
        assert service.stdout.readline() == "ready\n"
        tell(service, "open 500")
        tell(service, os.environ.get("LAST_COMMAND", "close"))
        check(service.pid, "leak.bytes > 0", 'type("struct session").count > 0')


if __name__ == "__main__":
    test_closed_sessions_are_gone()
