/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/image.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/frozen_memory.h"
#include "attach/image_child.h"
#include "attach/image_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/search.h"
#include "base/text.h"

enum hi_status hi_image_create(struct hi_memory *memory, enum hi_snapshot_mode mode,
			       struct hi_image **ret, struct hi_error *err)
{
	struct hi_image *image = hi_calloc(1, sizeof(*image));
	struct hi_image_private *priv = hi_calloc(1, sizeof(*priv));
	char *exe = hi_strdup("");

	if (!image || !priv || !exe) {
		free(image);
		free(priv);
		free(exe);
		hi_memory_destroy(memory);
		return hi_fail_memory(err, "image");
	}
	image->memory = memory;
	image->mode = mode;
	image->exe = exe;
	image->complete = true;
	image->priv = priv;
	priv->root_fd = -1;
	*ret = image;
	return HI_OK;
}

enum hi_status hi_image_create_mock(struct hi_memory *memory, struct hi_image **ret,
				    struct hi_error *err)
{
	return hi_image_create(memory, HI_SNAPSHOT_MOCK, ret, err);
}

/* Index of the first mapping that ends above addr. */
static size_t first_above(const struct hi_image *image, uint64_t addr)
{
	return hi_search(i, image->n_mappings, image->mappings[i].end <= addr);
}

const struct hi_mapping *hi_image_mapping_at(const struct hi_image *image, uint64_t addr)
{
	size_t i = first_above(image, addr);

	if (i == image->n_mappings || image->mappings[i].start > addr)
		return NULL;
	return &image->mappings[i];
}

bool hi_image_auxv(const struct hi_image *image, uint64_t type, uint64_t *value_ret)
{
	for (size_t i = 0; i < image->n_auxv; i++)
		if (image->auxv[2 * i] == type) {
			*value_ret = image->auxv[2 * i + 1];
			return true;
		}
	return false;
}

uint64_t hi_image_resident(const struct hi_image *image, uint64_t start, uint64_t end)
{
	if (!image->priv->frozen)
		return UINT64_MAX;
	return hi_frozen_resident(image->priv->frozen, start, end);
}

uint64_t hi_image_copied_on_write(const struct hi_image *image)
{
	return image->priv->child ? hi_image_child_copied(image->priv->child)
				  : UINT64_MAX;
}

enum hi_status hi_image_check(const struct hi_image *image, struct hi_error *err)
{
	struct hi_pager_stats stats = {};
	char text[24];

	if (image && hi_image_packed(image).lost)
		return hi_fail(err, HI_NO_MEMORY, 0,
			       "%s of the image could not be unpacked: memory ran out",
			       hi_text_bytes(text, hi_image_packed(image).lost));
	if (image && image->priv->child)
		stats = hi_image_child_stats(image->priv->child);
	if (!stats.lost)
		return HI_OK;
	return hi_fail(err, HI_GONE, 0,
		       "the image of process %d was read in place and %s of it were "
		       "lost, because its copy-on-write child ended: the process exited "
		       "or executed another program, or memory ran out",
		       (int)image->pid, hi_text_bytes(text, stats.lost));
}

bool hi_image_next_held(const struct hi_image *image, uint64_t addr, uint64_t limit,
			uint64_t *start_ret, uint64_t *end_ret)
{
	if (image->mode == HI_SNAPSHOT_MOCK) {
		for (size_t i = first_above(image, addr); i < image->n_mappings; i++) {
			const struct hi_mapping *m = &image->mappings[i];

			if (m->start >= limit)
				return false;
			if (!m->held)
				continue;
			*start_ret = m->start > addr ? m->start : addr;
			*end_ret = m->end < limit ? m->end : limit;
			return *start_ret < *end_ret;
		}
		return false;
	}
	return hi_frozen_next_held((const struct hi_frozen *)image->memory, addr, limit,
				   start_ret, end_ret);
}

uint64_t hi_image_held_bytes(const struct hi_image *image)
{
	uint64_t bytes = 0, at = 0, from, to;

	for (; hi_image_next_held(image, at, UINT64_MAX, &from, &to); at = to)
		bytes += to - from;
	return bytes;
}

enum hi_status hi_image_add_mapping(struct hi_image *image,
				    const struct hi_mapping *mapping,
				    struct hi_error *err)
{
	struct hi_image_private *priv = image->priv;
	struct hi_mapping copy = *mapping;
	size_t at = first_above(image, mapping->start);

	if (mapping->start >= mapping->end)
		return hi_fail(err, HI_BAD_DATA, mapping->start, "mapping is empty");
	if (at < image->n_mappings && image->mappings[at].start < mapping->end)
		return hi_fail(err, HI_BAD_DATA, mapping->start, "mappings overlap");
	copy.path = "";
	if (mapping->path && *mapping->path)
		copy.path = hi_arena_strdup(&priv->arena, mapping->path);
	if (!copy.path ||
	    (image->n_mappings == priv->mappings_capacity &&
	     !hi_vector_grow((void **)&image->mappings, &priv->mappings_capacity,
			     image->n_mappings + 1, sizeof(copy))))
		return hi_fail_memory(err, "mapping");
	memmove(image->mappings + at + 1, image->mappings + at,
		(image->n_mappings - at) * sizeof(copy));
	image->mappings[at] = copy;
	image->n_mappings++;
	return HI_OK;
}

enum hi_status hi_image_add_thread(struct hi_image *image, const struct hi_thread *thread,
				   struct hi_error *err)
{
	struct hi_image_private *priv = image->priv;

	if (image->n_threads == priv->threads_capacity &&
	    !hi_vector_grow((void **)&image->threads, &priv->threads_capacity,
			    image->n_threads + 1, sizeof(*thread)))
		return hi_fail_memory(err, "thread");
	image->threads[image->n_threads++] = *thread;
	return HI_OK;
}

const struct hi_image_file *hi_image_files_find(const struct hi_image_files *files,
						const struct hi_mapping *mapping)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct hi_image_file *f = &files->items[i];

		if (f->inode == mapping->inode && f->dev_major == mapping->dev_major &&
		    f->dev_minor == mapping->dev_minor)
			return f;
	}
	return NULL;
}

void hi_image_files_close(struct hi_image_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].fd >= 0)
			close(files->items[i].fd);
	hi_vector_free(files);
}

/* A new open file description, so that offsets are the caller's own. */
static enum hi_status reopen_mapped_file(int fd, int *fd_ret, struct hi_error *err)
{
	char path[64];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = open(path, O_RDONLY | O_CLOEXEC);
	if (copy < 0)
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return hi_fail_errno(err, "opening a mapped file again");
	*fd_ret = copy;
	return HI_OK;
}

/* Only regular files: opening anything else may block or have effects. */
static enum hi_status open_regular(const char *path, int *fd_ret, struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_files_open(path);
	struct stat st;

	if (fd < 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "%.150s: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return hi_fail(err, HI_NOT_FOUND, 0, "%.150s: not a regular file", path);
	*fd_ret = hi_take_fd(fd);
	return HI_OK;
}

static enum hi_status open_core_file(const struct hi_image *image,
				     const struct hi_mapping *mapping, int *fd_ret,
				     struct hi_error *err)
{
	const struct hi_image_private *priv = image->priv;
	char path[8192];
	int n;

	if (priv->core_exe && strcmp(mapping->path, image->exe) == 0)
		return open_regular(priv->core_exe, fd_ret, err);
	n = snprintf(path, sizeof(path), "%s%s", priv->sysroot ? priv->sysroot : "",
		     mapping->path);
	if (n < 0 || (size_t)n >= sizeof(path) || mapping->path[0] != '/')
		return hi_fail(err, HI_NOT_FOUND, 0, "no path for this mapping");
	return open_regular(path, fd_ret, err);
}

enum hi_status hi_image_ask_for_file(const struct hi_mapping *mapping, int *fd_ret,
				     struct hi_error *err)
{
	char start[32];

	snprintf(start, sizeof(start), "%llx", (unsigned long long)mapping->start);
	*fd_ret = hi_files_ask(HI_FILES_MAPPING, start, "", NULL);
	return *fd_ret >= 0 ? HI_OK
			    : hi_fail(err, HI_NOT_FOUND, 0, "%.120s: %s", mapping->path,
				      strerror(errno));
}

enum hi_status hi_image_open_file(const struct hi_image *image,
				  const struct hi_mapping *mapping, int *fd_ret,
				  struct hi_error *err)
{
	const struct hi_image_file *file;

	if (image->mode == HI_SNAPSHOT_CORE)
		return open_core_file(image, mapping, fd_ret, err);
	file = hi_image_files_find(&image->priv->files, mapping);
	if (file && file->fd == HI_FILE_SERVED && mapping->inode)
		return hi_image_ask_for_file(mapping, fd_ret, err);
	if (!file || file->fd < 0 || !mapping->inode)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.150s: cannot open the mapped file (deleted, or in "
			       "another mount namespace)",
			       mapping->path);
	return reopen_mapped_file(file->fd, fd_ret, err);
}

int hi_image_root(const struct hi_image *image)
{
	return image->priv->root_fd;
}

enum hi_status hi_image_open_path(const struct hi_image *image, const char *path,
				  int *fd_ret, struct hi_error *err)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	HI_GUARD(close) int fd = -1;
	struct stat st;
	char again[64];

	if ((!image->priv->has_own_root && !image->priv->root_is_served) ||
	    path[0] != '/')
		return hi_fail(err, HI_NOT_FOUND, 0, "the target has no root of its own");
	if (hi_files_are_served()) {
		*fd_ret = hi_files_ask(HI_FILES_OPEN_IN_ROOT, path, "", NULL);
		return *fd_ret >= 0 ? HI_OK
				    : hi_fail(err, HI_NOT_FOUND, 0, "%.150s: %s", path,
					      strerror(errno));
	}
	fd = (int)syscall(SYS_openat2, image->priv->root_fd, path, &how, sizeof(how));
	if (fd < 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "%.150s: %s", path, strerror(errno));
	/* Checked before it is opened: opening a pipe or a device could block or have
	 * effects. */
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return hi_fail(err, HI_NOT_FOUND, 0, "%.150s: not a regular file", path);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	return open_regular(again, fd_ret, err);
}

void hi_image_share(struct hi_image *image)
{
	if (hi_image_is_live(image) && image->priv->frozen)
		hi_frozen_advise((struct hi_frozen *)image->memory, MADV_DOFORK);
}

static void close_image_root(struct hi_image *image)
{
	if (image->priv->root_fd >= 0)
		close(image->priv->root_fd);
	image->priv->root_fd = -1;
}

enum hi_status hi_image_adopt(struct hi_image *image, struct hi_error *err)
{
	close_image_root(image);
	return image->priv->child ? hi_image_child_adopt(image->priv->child, err) : HI_OK;
}

void hi_image_give_away(struct hi_image *image)
{
	if (hi_image_is_live(image) && image->priv->frozen)
		hi_frozen_give_away((struct hi_frozen *)image->memory);
}

/* A pager of the child's has the pages itself. */
static bool is_read_in_place(const struct hi_image *image)
{
	return image->priv->child &&
	       hi_image_child_take_apart(image->priv->child).in_place;
}

enum hi_status hi_image_pack(struct hi_image *image, uint64_t least, uint64_t most,
			     struct hi_error *err)
{
	if (!hi_image_is_live(image) || !image->priv->frozen || is_read_in_place(image))
		return hi_fail(err, HI_UNSUPPORTED, 0, "the image is not packed");
	return hi_frozen_pack((struct hi_frozen *)image->memory, least, most, err);
}

struct hi_packed_stats hi_image_packed(const struct hi_image *image)
{
	return image->priv->frozen ? hi_frozen_packed(image->priv->frozen)
				   : (struct hi_packed_stats){};
}

void hi_image_end_child(struct hi_image *image)
{
	if (image->priv->child)
		hi_image_child_end(image->priv->child);
}

void hi_image_destroy(struct hi_image *image)
{
	if (!image)
		return;
	hi_image_child_destroy(image->priv->child); /* before the memory that it fills */
	hi_memory_destroy(image->memory);
	hi_image_files_close(&image->priv->files);
	hi_image_changes_free(&image->priv->changes);
	hi_vector_free(&image->priv->runs);
	close_image_root(image);
	hi_arena_free(&image->priv->arena);
	free(image->priv->core_exe);
	free(image->priv->sysroot);
	free(image->priv);
	free(image->mappings);
	free(image->threads);
	free(image->kernel_words);
	free(image->auxv);
	free(image->exe);
	hi_command_line_free(&image->command_line);
	free(image);
}
