/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/running_image.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "attach/image.h"
#include "attach/image_internal.h"
#include "attach/target.h"
#include "attach/target_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"

enum { MAX_FILES = 1 << 14 };

struct running {
	struct hi_memory memory;
	int fd; /* /proc/PID/mem */
};

static enum hi_status running_read(struct hi_memory *memory, uint64_t addr, void *buf,
				   size_t size, struct hi_error *err)
{
	struct running *running = (struct running *)memory;
	size_t done = 0;

	if (addr > INT64_MAX)
		return hi_fail(err, HI_FAULT, addr, "not readable");
	while (done < size) {
		ssize_t n = pread(running->fd, (char *)buf + done, size - done,
				  (off_t)(addr + done));

		if (n <= 0)
			return hi_fail(err, HI_FAULT, addr + done, "not readable");
		done += (size_t)n;
	}
	return HI_OK;
}

static void running_destroy(struct hi_memory *memory)
{
	struct running *running = (struct running *)memory;

	if (running->fd >= 0)
		close(running->fd);
	free(running);
}

static const struct hi_memory_ops running_ops = {
	.name = "running process",
	.read = running_read,
	.destroy = running_destroy,
};

bool hi_running_memory_fd(const struct hi_memory *memory, int *fd_ret)
{
	if (memory->ops != &running_ops)
		return false;
	*fd_ret = ((const struct running *)memory)->fd;
	return true;
}

struct hi_memory *hi_running_memory(int fd)
{
	struct running *running = hi_calloc(1, sizeof(*running));

	if (!running) {
		hi_close_fd(fd);
		return NULL;
	}
	running->memory.ops = &running_ops;
	running->fd = fd;
	return &running->memory;
}

/* One descriptor for each file that holds mapped code. */
static enum hi_status add_files(struct hi_image *image, const struct hi_target *target,
				struct hi_error *err)
{
	struct hi_image_files *files = &image->priv->files;

	for (size_t i = 0; i < target->n_mappings && files->count < MAX_FILES; i++) {
		const struct hi_mapping *m = &target->mappings[i];
		struct hi_image_file file = {m->dev_major, m->dev_minor, m->inode, -1};
		enum hi_status status;

		if (m->kind != HI_MAPPING_FILE || !(m->prot & HI_PROT_EXEC) ||
		    hi_image_files_find(files, m))
			continue;
		status = hi_target_open_file(target, m, &file.fd, err);
		if (status != HI_OK && status != HI_NOT_FOUND)
			return status;
		if (!hi_vector_push(files, file)) {
			if (file.fd >= 0)
				close(file.fd);
			return hi_fail_memory(err, "mapped files");
		}
	}
	return HI_OK;
}

static enum hi_status fill_unstopped_image(struct hi_image *image,
					   const struct hi_target *target,
					   struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < target->n_mappings && status == HI_OK; i++)
		status = hi_image_add_mapping(image, &target->mappings[i], err);
	if (status == HI_OK)
		status = add_files(image, target, err);
	if (status != HI_OK)
		return status;
	free(image->exe);
	image->exe = hi_strdup(target->exe ? target->exe : "");
	image->pid = target->pid;
	if (target->other_mount_ns && target->priv->root_fd >= 0)
		image->priv->root_fd = fcntl(target->priv->root_fd, F_DUPFD_CLOEXEC, 3);
	image->priv->has_own_root = image->priv->root_fd >= 0;
	return image->exe ? HI_OK : hi_fail_memory(err, "image");
}

/* mem_fd: -1: nothing is readable. */
static enum hi_status make_unstopped(const struct hi_target *target, int mem_fd,
				     struct hi_image **ret, struct hi_error *err)
{
	HI_GUARD(hi_image_destroy) struct hi_image *image = NULL;
	struct hi_memory *memory = hi_running_memory(mem_fd);
	enum hi_status status;

	if (!memory)
		return hi_fail_memory(err, "image");
	status = hi_image_create(memory, HI_SNAPSHOT_MOCK, &image, err);
	if (status == HI_OK)
		status = fill_unstopped_image(image, target, err);
	if (status == HI_OK)
		*ret = hi_take(image);
	return status;
}

enum hi_status hi_image_unstopped(const struct hi_target *target, struct hi_image **ret,
				  struct hi_error *err)
{
	return make_unstopped(target, hi_proc_open(target->priv->proc_pid, "mem"), ret,
			      err);
}

int hi_image_unstopped_fd(const struct hi_image *image)
{
	return ((const struct running *)image->memory)->fd;
}

enum hi_status hi_image_of_files(const struct hi_target *target, struct hi_image **ret,
				 struct hi_error *err)
{
	return make_unstopped(target, -1, ret, err);
}
