# SPDX-License-Identifier: BSD-2-Clause
"""The cells of one column of the matrix: a question, and how it was answered."""
import contextlib
import subprocess
import sys


class Wrong(Exception):
    """What is not ok, in words for the table; the output that shows it."""

    def __init__(self, why, output=""):
        super().__init__(why)
        self.output = output


class Absent(Exception):
    """The suite does not have what the question is about."""


def check(holds, why, output=""):
    if not holds:
        raise Wrong(why, output)


class Cells:
    """Outcomes by section and question, in the order of asking."""

    def __init__(self):
        self.outcomes = {}

    def note(self, section, question, outcome, output=""):
        self.outcomes[section, question] = outcome
        print(f"  {section}: {question}: {outcome}", file=sys.stderr, flush=True)
        if output:
            print("    " + "\n    ".join(output.splitlines()[-20:]), file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def asking(self, sections, questions):
        """What goes wrong within is the outcome of all these cells that have none."""
        try:
            yield
        except Absent as absent:
            outcome, output = f"not there: {absent}", ""
        except Wrong as wrong:
            outcome, output = f"not ok: {wrong}", wrong.output
        except (OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            outcome, output = f"not ok: {type(error).__name__}: {error}", ""
        else:
            outcome, output = "ok", ""
        for section in sections:
            for question in questions:
                if (section, question) not in self.outcomes:
                    self.note(section, question, outcome, output)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            for (section, question), outcome in self.outcomes.items():
                words = " ".join(outcome.split()).replace("|", "/")
                file.write(f"{section}\t{question}\t{words}\n")
