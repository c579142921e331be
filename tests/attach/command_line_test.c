/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/command_line.h"

#include <stdlib.h>

#include "tests/harness.h"

/* A literal with \0 between the arguments; its own NUL ends the last. */
#define LINE(text)                                                                       \
	((struct hi_command_line){(char *)(uintptr_t)(text), sizeof(text), false})

static void check_line(struct hi_command_line line, bool first_only, const char *expected)
{
	char *text = hi_command_line_text(&line, first_only);

	HI_ASSERT_STREQ(expected, text);
	free(text);
}

static void check_script(const char *exe, struct hi_command_line line,
			 const char *expected)
{
	char *script = hi_command_line_script(exe, &line);

	HI_ASSERT_STREQ(expected, script);
	free(script);
}

HI_TEST(command_line, text_is_quoted_for_a_shell)
{
	check_line(LINE("redis-server\0--port\0"
			"6379"),
		   false, "redis-server --port 6379");
	check_line(LINE("a\0b c\0it's\0\0$HOME"), false, "a 'b c' 'it'\\''s' '' '$HOME'");
	check_line(LINE("a\0--password=secret"), true, "a");
}

HI_TEST(command_line, a_title_is_shown_as_it_is)
{
	check_line(LINE("nginx: worker process\0\0\0\0"), false, "nginx: worker process");
	check_line(LINE("postgres: secret 10.0.0.1 idle"), true, "postgres:");
	check_line(LINE(""), false, "");
	check_line((struct hi_command_line){}, false, "");
	check_line((struct hi_command_line){}, true, "");
}

HI_TEST(command_line, truncated_command_line_is_marked)
{
	struct hi_command_line line = LINE("java\0-jar\0app.j");

	line.is_cut = true;
	line.size--;
	check_line(line, false, "java -jar app.j...");
	/* Half a name is not a name. */
	check_script("/usr/bin/java", line, "-jar ");
	check_line(line, true, "java");
}

HI_TEST(command_line, an_interpreter_runs_a_script)
{
	check_script("/usr/bin/python3.11", LINE("python3\0app.py\0-m\0x"), "app.py");
	check_script("/usr/bin/python3.11", LINE("python3\0-u\0-X\0dev\0/srv/app.py"),
		     "/srv/app.py");
	check_script("/usr/bin/python3.11", LINE("python3\0-Xdev\0-Wignore\0app.py"),
		     "app.py");
	check_script("/usr/bin/python3.11",
		     LINE("python3\0-m\0http.server\0"
			  "80"),
		     "-m http.server");
	check_script("/usr/bin/python3.11", LINE("python3\0-uBm\0celery"), "-m celery");
	check_script("/usr/bin/python3.11", LINE("python3\0-mcelery"), "-m celery");
	check_script("/usr/bin/python3.11",
		     LINE("python3\0--check-hash-based-pycs\0never\0a.py"), "a.py");
	check_script("/usr/bin/perl", LINE("perl\0-w\0-I\0lib\0serve.pl"), "serve.pl");
	check_script("/usr/bin/node", LINE("node\0--require\0x\0--inspect\0s.js"),
		     "s.js");
	check_script("/usr/lib/jvm/bin/java", LINE("java\0-Xmx1g\0-cp\0a.jar\0com.Main"),
		     "com.Main");
	check_script("/usr/bin/java", LINE("java\0-jar\0app.jar"), "-jar app.jar");
	check_script("/bin/bash", LINE("bash\0-x\0run.sh"), "run.sh");
}

HI_TEST(command_line, other_programs_run_no_script)
{
	check_script("/usr/bin/redis-server", LINE("redis-server\0redis.conf"), "");
	check_script("/usr/bin/python3.11", LINE("python3\0-c\0import x\0y.py"), "");
	check_script("/usr/bin/python3.11", LINE("python3\0-Bc\0import x\0y.py"), "");
	check_script("/usr/bin/python3.11", LINE("python3"), "");
	check_script("/usr/bin/python3.11", LINE("python3\0-"), "");
	check_script("/usr/bin/python3.11", LINE("python3\0-m"), "");
	check_script("/usr/bin/python3.11", LINE("python3\0-X"), "");
	check_script("/usr/bin/perl", LINE("perl\0-we\0print\0x"), "");
	check_script("/usr/bin/java", LINE("java\0-jar"), "-jar ");
	check_script("/usr/bin/python3-config", LINE("python3-config\0x"), "");
	check_script("", (struct hi_command_line){}, "");
	check_script("/usr/bin/python3", (struct hi_command_line){}, "");
}

HI_TEST(command_line, a_cores_note_has_blanks_between_arguments)
{
	char note[80] = "python3 /srv/app.py --port 80 ";
	char full[80];
	struct hi_command_line line;

	HI_ASSERT(hi_command_line_of_note(&line, note, sizeof(note)));
	check_line(line, false, "python3 /srv/app.py --port 80");
	check_script("/usr/bin/python3", line, "/srv/app.py");
	hi_command_line_free(&line);
	memset(full, 'x', sizeof(full));
	memcpy(full, "sh ", 3);
	full[79] = 0;
	HI_ASSERT(hi_command_line_of_note(&line, full, sizeof(full)));
	HI_ASSERT(line.is_cut);
	check_script("/bin/sh", line, "");
	hi_command_line_free(&line);
}
