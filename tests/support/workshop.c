/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/workshop.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

static char directory[256];

const char workshop_main[] =
	"\n#include <stdio.h>\n#include <unistd.h>\n"
	"int main(void)\n{\n\talarm(600);\n\tputs(\"ready\");\n\tfflush(stdout);\n"
	"\twhile (getchar() != EOF)\n\t\t;\n\treturn 0;\n}\n";

static void remove_directory(void *arg)
{
	(void)arg;
	hi_command_run(0, "rm", "-rf", directory, NULL);
}

const char *workshop_open(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(directory, sizeof(directory), "%.200s/hi-test-XXXXXX",
		 tmp ? tmp : "/tmp");
	HI_ASSERT(mkdtemp(directory));
	hi_test_defer(remove_directory, NULL);
	return directory;
}

void workshop_write(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	HI_ASSERT(file);
	fputs(text, file);
	HI_ASSERT(fclose(file) == 0);
}

void workshop_run(const char *fmt, ...)
{
	char line[2048], script[2400];
	struct hi_command *command;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	snprintf(script, sizeof(script), "cd %s && %s", directory, line);
	command = hi_command_run(0, "sh", "-c", script, NULL);
	HI_ASSERT_MSG(command->exit_code == 0, "%s: %d: %s", line, command->exit_code,
		      command->err);
}

pid_t workshop_start(const char *name)
{
	char path[512];
	struct hi_fixture *fx;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fx = hi_fixture_start(path, NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx->pid;
}
