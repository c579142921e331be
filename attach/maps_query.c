/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/maps_query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/alloc.h"

enum {
	NAME_SIZE = 4096,
	LINE_SIZE = 4 * NAME_SIZE + 128, /* each byte of the name may become four */
	MOST_MAPPINGS = 1 << 20,
	OR_NEXT = 0x10, /* PROCMAP_QUERY_COVERING_OR_NEXT_VMA */
	READABLE = 1,
	WRITABLE = 2,
	EXECUTABLE = 4,
	SHARED = 8,
};

/* struct procmap_query of linux/fs.h since 6.11; the headers may be older. */
struct maps_query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name_address, build_id_address;
};
#define MAPS_QUERY _IOWR('f', 17, struct maps_query)

static bool ask_mapping(int fd, uint64_t address, struct maps_query *query,
			char name[NAME_SIZE])
{
	*query = (struct maps_query){.size = sizeof(*query),
				     .flags = OR_NEXT,
				     .address = address,
				     .name_size = NAME_SIZE,
				     .name_address = (uintptr_t)name};
	name[0] = 0;
	if (ioctl(fd, MAPS_QUERY, query) == 0)
		return true;
	if (errno != ENAMETOOLONG)
		return false;
	query->name_size = 0;
	query->name_address = 0;
	name[0] = 0;
	return ioctl(fd, MAPS_QUERY, query) == 0;
}

/* As the kernel writes it: a newline is \012. */
static size_t put_maps_name(char *out, const char *name)
{
	size_t n = 0;

	for (; *name; name++) {
		if (*name == '\n') {
			memcpy(out + n, "\\012", 4);
			n += 4;
		} else {
			out[n++] = *name;
		}
	}
	out[n++] = '\n';
	return n;
}

static size_t put_maps_line(char *out, const struct maps_query *q, const char *name)
{
	int n = snprintf(
		out, 128,
		"%" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %02x:%02x %" PRIu64 " ",
		q->start, q->end, q->vma_flags & READABLE ? 'r' : '-',
		q->vma_flags & WRITABLE ? 'w' : '-',
		q->vma_flags & EXECUTABLE ? 'x' : '-', q->vma_flags & SHARED ? 's' : 'p',
		q->offset, q->dev_major, q->dev_minor, q->inode);

	return (size_t)n + put_maps_name(out + n, name);
}

static bool has_room_for_line(char **text, size_t *capacity, size_t used)
{
	size_t more = *capacity * 2 + LINE_SIZE;
	char *grown;

	if (*capacity - used > LINE_SIZE)
		return true;
	grown = hi_realloc(*text, more);
	if (!grown)
		return false;
	*text = grown;
	*capacity = more;
	return true;
}

enum hi_status hi_maps_query_check(int maps_fd, struct hi_error *err)
{
	struct maps_query query;
	char name[NAME_SIZE];

	if (ask_mapping(maps_fd, 0, &query, name) || errno == ENOENT)
		return HI_OK;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "this kernel does not tell the mappings of a process that has "
		       "exited (Linux 6.11 and later do)");
}

enum hi_status hi_maps_query(int maps_fd, char **text, size_t *capacity, size_t *size_ret,
			     struct hi_error *err)
{
	struct maps_query query = {};
	char name[NAME_SIZE];
	size_t used = 0;

	for (int i = 0; i < MOST_MAPPINGS; i++) {
		if (!has_room_for_line(text, capacity, used))
			return hi_fail_memory(err, "mappings");
		if (!ask_mapping(maps_fd, query.end, &query, name))
			break;
		used += put_maps_line(*text + used, &query, name);
		errno = 0;
	}
	if (errno == ESRCH || used == 0)
		return hi_fail(err, HI_GONE, 0, "its memory is gone");
	if (errno != ENOENT)
		return hi_fail_errno(err, "mappings");
	(*text)[used] = 0;
	*size_ret = used;
	return HI_OK;
}
