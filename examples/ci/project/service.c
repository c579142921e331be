/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A service with sessions, for the examples. It reads commands from stdin and answers
 * on stdout:
 *
 *	open N		opens N sessions
 *	close		closes all of them
 *	lose N		opens N sessions and forgets them: a leak
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
	struct session *next;
	char *name;
	char buffer[400];
};

static struct session *sessions;

static struct session *open_session(int number)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->name = malloc(32);
	if (!s->name)
		abort();
	snprintf(s->name, 32, "session %d", number);
	return s;
}

static void open_sessions(int n)
{
	for (int i = 0; i < n; i++) {
		struct session *s = open_session(i);

		s->next = sessions;
		sessions = s;
	}
}

static void close_sessions(void)
{
	while (sessions) {
		struct session *next = sessions->next;

		free(sessions->name);
		free(sessions);
		sessions = next;
	}
}

static void lose_sessions(int n)
{
	struct session *volatile forgotten = NULL;

	for (int i = 0; i < n; i++)
		forgotten = open_session(i);
	forgotten = NULL;
	(void)forgotten;
}

int main(void)
{
	char line[64];
	int n = 0;

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "open %d", &n) == 1)
			open_sessions(n);
		else if (sscanf(line, "lose %d", &n) == 1)
			lose_sessions(n);
		else if (strncmp(line, "close", 5) == 0)
			close_sessions();
		printf("done %s", line);
		fflush(stdout);
	}
	close_sessions();
	return 0;
}
