/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/PID/maps. A line is
 *	START-END PERMS OFFSET MAJOR:MINOR INODE   PATH
 * numbers in hex except the inode (Linux, fs/proc/task_mmu.c). PATH is what the
 * target made of it; the kernel writes only a newline in it as \012.
 */
#include <stdlib.h>
#include <string.h>

#include "attach/maps.h"
#include "base/alloc.h"

#define MAX_MAPPINGS (1u << 24)

struct cursor {
	const char *at, *end;
};

/* A number of at least one digit in base 10 or 16; false on none or overflow. */
static bool take_maps_number(struct cursor *c, unsigned base, uint64_t *ret)
{
	const char *first = c->at;
	uint64_t value = 0;

	for (; c->at < c->end; c->at++) {
		char ch = *c->at;
		unsigned digit;

		if (ch >= '0' && ch <= '9')
			digit = (unsigned)(ch - '0');
		else if (base == 16 && ch >= 'a' && ch <= 'f')
			digit = (unsigned)(ch - 'a') + 10;
		else
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret = value;
	return c->at > first;
}

static bool take_char(struct cursor *c, char ch)
{
	if (c->at == c->end || *c->at != ch)
		return false;
	c->at++;
	return true;
}

static bool take_spaces(struct cursor *c)
{
	const char *first = c->at;

	while (c->at < c->end && *c->at == ' ')
		c->at++;
	return c->at > first;
}

static bool take_perms(struct cursor *c, struct hi_mapping *m)
{
	const char *p = c->at;

	if (c->end - c->at < 4 || !strchr("r-", p[0]) || !strchr("w-", p[1]) ||
	    !strchr("x-", p[2]) || !strchr("sp", p[3]) || memchr(p, 0, 4))
		return false;
	m->prot = (uint8_t)((p[0] == 'r' ? HI_PROT_READ : 0) |
			    (p[1] == 'w' ? HI_PROT_WRITE : 0) |
			    (p[2] == 'x' ? HI_PROT_EXEC : 0));
	m->shared = p[3] == 's';
	c->at += 4;
	return true;
}

size_t hi_path_cut_deleted(char *path, size_t n, bool *deleted_ret)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;

	*deleted_ret = n > tail && memcmp(path + n - tail, deleted, tail) == 0;
	n -= *deleted_ret ? tail : 0;
	path[n] = 0;
	return n;
}

/* The rest of the line into *pool, with \012 turned back and " (deleted)" cut. */
static void take_path(struct cursor *c, struct hi_mapping *m, char **pool)
{
	char *out = *pool;
	size_t n = 0;

	for (; c->at < c->end; c->at++) {
		if (c->end - c->at >= 4 && memcmp(c->at, "\\012", 4) == 0) {
			out[n++] = '\n';
			c->at += 3;
		} else if (*c->at) {
			out[n++] = *c->at;
		}
	}
	m->path = out;
	*pool += hi_path_cut_deleted(out, n, &m->deleted) + 1;
}

static bool has_path_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum hi_mapping_kind kind_of_special(const char *path)
{
	if (strcmp(path, "[heap]") == 0)
		return HI_MAPPING_HEAP;
	if (strcmp(path, "[stack]") == 0)
		return HI_MAPPING_STACK;
	if (strcmp(path, "[vdso]") == 0)
		return HI_MAPPING_VDSO;
	if (has_path_prefix(path, "[anon:") || has_path_prefix(path, "[stack:"))
		return HI_MAPPING_ANONYMOUS;
	if (has_path_prefix(path, "[anon_shmem:"))
		return HI_MAPPING_SHMEM;
	return HI_MAPPING_OTHER; /* [vvar], [vsyscall], [uprobes] */
}

/*
 * See Note [Kinds of mappings]. /dev/zero shared is how the kernel names shared
 * anonymous memory; any other device may have effects when it is read.
 */
enum hi_mapping_kind hi_mapping_kind_of(const struct hi_mapping *m)
{
	const char *path = m->path;

	if (*path == '[')
		return kind_of_special(path);
	if (!*path)
		return m->inode ? HI_MAPPING_OTHER : HI_MAPPING_ANONYMOUS;
	if (*path != '/')
		return HI_MAPPING_OTHER; /* anon_inode:…, socket:… */
	if (has_path_prefix(path, "/dev/zero"))
		return m->shared || m->deleted ? HI_MAPPING_SHMEM : HI_MAPPING_ANONYMOUS;
	if (m->deleted &&
	    (has_path_prefix(path, "/memfd:") || has_path_prefix(path, "/SYSV") ||
	     has_path_prefix(path, "/anon_hugepage")))
		return HI_MAPPING_SHMEM;
	if (has_path_prefix(path, "/dev/shm/"))
		return HI_MAPPING_SHMEM;
	if (has_path_prefix(path, "/dev/") && !has_path_prefix(path, "/dev/hugepages/"))
		return HI_MAPPING_OTHER;
	return HI_MAPPING_FILE;
}

static bool parse_maps_line(struct cursor *c, struct hi_mapping *m, char **pool)
{
	uint64_t major, minor;

	*m = (struct hi_mapping){.resident = UINT64_MAX, .swapped = UINT64_MAX};
	if (!take_maps_number(c, 16, &m->start) || !take_char(c, '-') ||
	    !take_maps_number(c, 16, &m->end) || !take_spaces(c) || !take_perms(c, m) ||
	    !take_spaces(c) || !take_maps_number(c, 16, &m->file_offset) ||
	    !take_spaces(c) || !take_maps_number(c, 16, &major) || !take_char(c, ':') ||
	    !take_maps_number(c, 16, &minor) || !take_spaces(c) ||
	    !take_maps_number(c, 10, &m->inode))
		return false;
	if (c->at < c->end && !take_spaces(c))
		return false;
	if (major > UINT32_MAX || minor > UINT32_MAX || m->start >= m->end)
		return false;
	m->dev_major = (uint32_t)major;
	m->dev_minor = (uint32_t)minor;
	take_path(c, m, pool);
	m->kind = hi_mapping_kind_of(m);
	return true;
}

static size_t count_lines(const char *text, size_t n)
{
	size_t lines = 0;

	for (const char *at = text, *end = text + n; at < end; lines++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline ? newline + 1 : end;
	}
	return lines;
}

/* A running target may remap what was already read: the first line wins. */
static bool clip_mapping(struct hi_mapping *m, uint64_t previous_end)
{
	if (m->start >= previous_end)
		return true;
	if (m->end <= previous_end)
		return false;
	m->file_offset += previous_end - m->start;
	m->start = previous_end;
	return true;
}

enum hi_status hi_maps_parse(const char *text, size_t n, struct hi_mapping **ret,
			     size_t *n_ret, struct hi_error *err)
{
	size_t lines = count_lines(text, n), count = 0, line = 0;
	struct hi_mapping *mappings;
	uint64_t previous_end = 0;
	char *pool;

	if (lines > MAX_MAPPINGS)
		return hi_fail(err, HI_LIMIT, 0, "maps: over %u mappings", MAX_MAPPINGS);
	/* One block: the array, then the paths, each no longer than its line. */
	mappings = hi_alloc(lines * sizeof(*mappings) + n + lines + 1);
	if (!mappings)
		return hi_fail_memory(err, "mappings");
	pool = (char *)(mappings + lines);
	for (const char *at = text, *end = text + n; at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct cursor c = {at, newline ? newline : end};

		if (!parse_maps_line(&c, &mappings[count], &pool)) {
			free(mappings);
			return hi_fail(err, HI_BAD_DATA, 0,
				       "maps: line %zu has an unknown format", line + 1);
		}
		if (clip_mapping(&mappings[count], previous_end))
			previous_end = mappings[count++].end;
		at = newline ? newline + 1 : end;
	}
	*ret = mappings;
	*n_ret = count;
	return HI_OK;
}

void hi_mappings_free(struct hi_mapping *mappings, size_t n)
{
	(void)n;
	free(mappings);
}

/*
 * Note [Kinds of mappings]
 *
 * The kind decides what may be read (devices may not), which missing pages are zeros
 * (only private anonymous ones: a shared page that this process has not touched may well
 * hold what another one wrote), and what is reported. A name that the target chose can
 * only make it lie about itself: a file that is called "[heap]" is shown by its full
 * path, which starts with a slash.
 */
