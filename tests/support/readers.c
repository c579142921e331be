/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/readers.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

const char *readers_directory(void)
{
	static const char built[] = HI_SOURCE_DIR "/build/readers";

	if (access(HI_SOURCE_DIR "/build/readers/pprof", X_OK) != 0 ||
	    access(HI_SOURCE_DIR "/build/readers/node_modules", X_OK) != 0)
		HI_SKIP("no readers: run scripts/build-readers build/readers");
	return built;
}

void readers_need(const char *program)
{
	struct hi_command *c =
		hi_command_run(0, "sh", "-c", "command -v \"$0\"", program, NULL);
	char reason[100];

	snprintf(reason, sizeof(reason), "no %s: run scripts/install-packages", program);
	if (c->exit_code != 0)
		HI_SKIP(reason);
}

const char *readers_hp2ps(void)
{
	static const char built[] = HI_SOURCE_DIR "/build/targets/hp2ps";

	if (access(built, X_OK) != 0)
		HI_SKIP("no hp2ps: run scripts/build-targets build/targets hp2ps");
	return built;
}

const char *readers_snapshot(const char *in, pid_t pid)
{
	const char *file = snapshot_path(in, "real.hisnap");
	char number[16];
	struct hi_command *c;

	snprintf(number, sizeof(number), "%d", (int)pid);
	c = hi_heapinspect("snap", "-q", "--pid", number, "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return file;
}

const char *readers_python(const char *in)
{
	struct hi_fixture *fx =
		hi_fixture_start("/usr/bin/python3.11", "-X", "utf8",
				 HI_SOURCE_DIR "/fixtures/python_truth.py", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return readers_snapshot(in, fx->pid);
}

const char *readers_export(const char *file, const char *format, const char *table,
			   const char *in, const char *name)
{
	const char *path = snapshot_path(in, name);
	struct hi_command *c = hi_heapinspect("export", file, "-q", "-f", format, "-o",
					      path, table ? "--table" : NULL, table);

	HI_ASSERT_MSG(c->exit_code == 0 && !*c->err, "-f %s: exit %d: %s", format,
		      c->exit_code, c->err);
	return path;
}

const char *readers_ask(const char *const argv[])
{
	struct hi_command *c = hi_command_runv(0, (char *const *)(uintptr_t)argv);

	HI_ASSERT_MSG(c->exit_code == 0, "%s %s: exit %d: %.700s", argv[0],
		      argv[1] ? argv[1] : "", c->exit_code, c->err);
	return c->out;
}

json_t *readers_ask_json(const char *const argv[])
{
	return doc_of(hi_command_runv(0, (char *const *)(uintptr_t)argv));
}
