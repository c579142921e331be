/* SPDX-License-Identifier: BSD-2-Clause */
/* snap --redact: no text of the heap is in the file. The bytes of the file are searched
 * for a secret that was planted, in all ways that it may be written. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

#define SECRET "hunter2xyzzy"
#define PYTHON "/usr/bin/python3.11"

/* Is the secret there, as it is or in wide characters? */
static bool holds_secret(const char *file)
{
	static const char narrow[] = SECRET;
	char wide[2 * sizeof(narrow)] = "";
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	char *bytes;
	bool found;

	HI_ASSERT(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 4096);
	HI_ASSERT_EQ(0600, st.st_mode & 0777);
	bytes = malloc((size_t)st.st_size);
	HI_ASSERT(bytes && read(fd, bytes, (size_t)st.st_size) == st.st_size);
	close(fd);
	for (size_t i = 0; i + 1 < sizeof(narrow); i++)
		wide[2 * i] = narrow[i];
	found = memmem(bytes, (size_t)st.st_size, SECRET, strlen(SECRET)) ||
		memmem(bytes, (size_t)st.st_size, wide, 2 * strlen(SECRET));
	free(bytes);
	return found;
}

static int64_t live_bytes(const char *file)
{
	return doc_number(doc_of(hi_heapinspect("--json", file)), "bytes.live");
}

HI_TEST_SCENARIO(redact, leaves_no_text_of_a_heap_of_c)
{
	const char *file =
		target_snap(target_start("secret_heap", SECRET, NULL), "--redact");

	HI_ASSERT(!holds_secret(file));
	HI_ASSERT(live_bytes(file) > 8 * 64);
}

static struct target *start_python(void)
{
	static const char program[] =
		"import sys\n"
		"s = sys.argv[1]\n"
		"class Account: pass\n"
		"keep = [s + str(i) for i in range(9)]\n"
		"table = {s: [1], s + 'k': {s: (2,)}, 3: bytes(s, 'ascii')}\n"
		"wide = {s + chr(0x20ac): [s]}\n"
		"a = Account()\n"
		"setattr(a, s, [a])\n"
		"def wait(text):\n"
		"    local = {text: [text]}\n"
		"    print('ready', flush=True)\n"
		"    sys.stdin.read()\n"
		"    return local\n"
		"wait(s)\n";

	return target_start(PYTHON, "-c", program, SECRET, NULL);
}

HI_TEST_SCENARIO(redact, leaves_no_text_of_a_heap_of_python)
{
	struct target *t;
	const char *plain, *redacted;
	struct hi_command *c;

	if (access(PYTHON, X_OK) != 0)
		HI_SKIP("needs python3.11");
	t = start_python();
	plain = target_snap(t);
	redacted = target_snap(t, "--redact");
	/* Keys of dicts are names of edges: it is there to be found. */
	HI_ASSERT(holds_secret(plain));
	HI_ASSERT(!holds_secret(redacted));
	HI_ASSERT_EQ(live_bytes(plain), live_bytes(redacted));
	/* What the program itself calls its things stays, and the ways lead there. */
	c = hi_heapinspect("paths", "bytes", redacted, "-k", "900");
	HI_ASSERT_MSG(c->exit_code == 0 && strstr(c->out, "[\"…\"]"), "%s%s", c->err,
		      c->out);
	c = hi_heapinspect("census", "--all", redacted);
	HI_ASSERT_MSG(strstr(c->out, "__main__.Account"), "%s", c->out);
}
