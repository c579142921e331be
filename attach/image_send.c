/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/image_send.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/dense.h"
#include "attach/frozen_send.h"
#include "attach/image_child.h"
#include "attach/image_internal.h"
#include "attach/image_rest.h"
#include "attach/maps.h"
#include "attach/mappings_send.h"
#include "attach/parcel.h"
#include "attach/sealed.h"
#include "attach/tracer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"

/* How the memory is sent. */
enum memory_kind { MEMORY_FROZEN, MEMORY_RUNNING };

struct facts {
	enum hi_snapshot_mode mode;
	enum memory_kind memory;
	bool complete, has_child;
	bool knows_residency; /* hi_image_resident() has an answer */
	bool has_root;	      /* of its own */
	pid_t pid;
	uint64_t kernel_unread;
	struct hi_image_stats stats;
};

struct child_facts {
	bool ended, has_rest;
	bool in_place; /* the rest is read when it is touched */
	uint64_t copied;
	uint64_t area_block, budget; /* of the rest */
	unsigned threads;
};

/* The host of a range as an offset into the area. */
struct sent_range {
	uint64_t offset, addr, size;
};

/* ---- send ---- */

static void put_child(struct hi_parcel *parcel, const struct hi_image_child_parts *parts,
		      const struct hi_frozen *frozen)
{
	const struct hi_pager_request *rest = parts->rest;
	struct child_facts facts = {.ended = parts->ended,
				    .has_rest = rest,
				    .in_place = parts->in_place,
				    .copied = parts->copied};
	const int fds[] = {parts->mem_fd, parts->pidfd, parts->rollup_fd,
			   parts->target_pidfd, parts->socket};
	uint64_t n = rest ? rest->n_ranges : 0;

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		hi_parcel_add_fd(parcel, parts->ended ? -1 : fds[i], false);
	if (rest) {
		facts.budget = rest->budget;
		facts.threads = rest->threads;
	}
	for (size_t i = 0; rest && i < hi_frozen_blocks(frozen); i++)
		if (hi_frozen_block_pages(frozen, i) == rest->area)
			facts.area_block = i;
	hi_flat_put(&parcel->flat, &facts, sizeof(facts));
	hi_flat_put(&parcel->flat, &n, sizeof(n));
	for (size_t i = 0; i < n; i++) {
		const struct hi_pager_range *r = &rest->ranges[i];
		struct sent_range sent = {(uint64_t)(r->host - rest->area), r->addr,
					  r->size};

		hi_flat_put(&parcel->flat, &sent, sizeof(sent));
	}
}

static enum hi_status cannot_be_sent(const struct hi_image *image, struct hi_error *err)
{
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "the image of process %d was not made to be sent",
		       (int)image->pid);
}

/* Private pages cannot be sent; those of a child are filled by the receiver. */
static enum hi_status put_frozen(struct hi_parcel *parcel, const struct hi_image *image,
				 const struct hi_frozen *frozen,
				 const unsigned char *area, struct hi_error *err)
{
	for (size_t i = 0; i < hi_frozen_blocks(frozen); i++) {
		int fd = hi_frozen_block_fd(frozen, i), copy;

		if (fd < 0 && hi_frozen_block_pages(frozen, i) == area) {
			hi_parcel_add_fd(parcel, -1, false);
			continue;
		}
		if (fd < 0)
			return cannot_be_sent(image, err);
		copy = hi_sealed_open(fd);
		if (copy < 0)
			return hi_fail_errno(err, "memory of the image");
		hi_parcel_add_fd(parcel, copy, true);
	}
	hi_frozen_put(frozen, &parcel->flat);
	return HI_OK;
}

static enum hi_status put_live_memory(struct hi_parcel *parcel,
				      const struct hi_image *image, struct hi_error *err)
{
	const struct hi_frozen *frozen = image->priv->frozen;
	uint64_t n_blocks = hi_frozen_blocks(frozen);
	struct hi_image_child_parts parts = {};

	hi_flat_put(&parcel->flat, &n_blocks, sizeof(n_blocks));
	if (image->priv->child) {
		parts = hi_image_child_take_apart(image->priv->child);
		if (parts.rest && parts.ended)
			return hi_fail(err, HI_GONE, 0,
				       "the copy-on-write child of process %d has ended",
				       (int)image->pid);
		put_child(parcel, &parts, frozen);
	}
	return put_frozen(parcel, image, frozen, parts.rest ? parts.rest->area : NULL,
			  err);
}

/* Files that the receiver may ask for. */
static void put_sent_files(struct hi_flat *flat, const struct hi_image_files *files)
{
	uint64_t n = files->count;

	hi_flat_put(flat, &n, sizeof(n));
	for (size_t i = 0; i < n; i++) {
		struct hi_image_file file = files->items[i];

		file.fd = file.fd < 0 ? file.fd : HI_FILE_SERVED;
		hi_flat_put(flat, &file, sizeof(file));
	}
}

static void put_image(struct hi_flat *flat, const struct hi_image *image,
		      enum memory_kind memory)
{
	const struct hi_image_private *priv = image->priv;
	struct facts facts = {
		.mode = image->mode,
		.memory = memory,
		.complete = image->complete,
		.has_child = priv->child,
		.knows_residency = priv->frozen,
		.has_root = priv->root_fd >= 0 || priv->root_is_served,
		.pid = image->pid,
		.kernel_unread = image->kernel_unread,
		.stats = image->stats,
	};

	hi_flat_put(flat, &facts, sizeof(facts));
	hi_flat_put_text(flat, image->exe);
	hi_command_line_put(flat, &image->command_line);
	hi_mappings_put(flat, image->mappings, image->n_mappings);
	hi_flat_put_array(flat, image->threads, image->n_threads,
			  sizeof(*image->threads));
	hi_flat_put_array(flat, image->kernel_words, image->n_kernel_words,
			  sizeof(*image->kernel_words));
	hi_flat_put_array(flat, image->auxv, image->n_auxv, 2 * sizeof(*image->auxv));
	put_sent_files(flat, &priv->files);
}

static enum hi_status fill_parcel(struct hi_parcel *parcel, const struct hi_image *image,
				  struct hi_error *err)
{
	int fd;

	if (hi_image_is_live(image) && image->priv->frozen) {
		put_image(&parcel->flat, image, MEMORY_FROZEN);
		return put_live_memory(parcel, image, err);
	}
	if (!hi_running_memory_fd(image->memory, &fd))
		return cannot_be_sent(image, err);
	put_image(&parcel->flat, image, MEMORY_RUNNING);
	hi_parcel_add_fd(parcel, fd, false);
	return HI_OK;
}

bool hi_images_can_be_sent(void)
{
	return hi_sealed_is_possible();
}

enum hi_status hi_image_send(struct hi_image *image, int socket, struct hi_error *err)
{
	struct hi_parcel parcel = {};
	enum hi_status status = fill_parcel(&parcel, image, err);

	if (status == HI_OK)
		status = hi_parcel_send(&parcel, socket, HI_PARCEL_IMAGE, err);
	hi_parcel_free(&parcel);
	return status;
}

/* ---- receive ---- */

static struct hi_image_child_parts take_sent_child(struct hi_parcel_reader *parcel,
						   struct child_facts *facts)
{
	struct hi_image_child_parts parts = {};

	parts.mem_fd = hi_parcel_take_fd(parcel);
	parts.pidfd = hi_parcel_take_fd(parcel);
	parts.rollup_fd = hi_parcel_take_fd(parcel);
	parts.target_pidfd = hi_parcel_take_fd(parcel);
	parts.socket = hi_parcel_take_fd(parcel);
	hi_flat_get(&parcel->flat, facts, sizeof(*facts));
	parts.ended = facts->ended;
	parts.copied = facts->copied;
	return parts;
}

static struct hi_pager_range *copy_ranges(const struct sent_range *sent, size_t n,
					  unsigned char *area)
{
	struct hi_pager_range *ranges = hi_realloc_array(NULL, n, sizeof(*ranges));

	for (size_t i = 0; ranges && i < n; i++)
		ranges[i] = (struct hi_pager_range){area + sent[i].offset, sent[i].addr,
						    sent[i].size};
	return ranges;
}

/* Each at least half full gets a huge page. */
static void advise_ranges(const struct hi_pager_request *request)
{
	struct hi_dense dense = {.floor = (uintptr_t)request->area,
				 .ceiling = (uintptr_t)request->area + request->size};

	(void)madvise(request->area, request->size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < request->n_ranges; i++)
		hi_dense_add(&dense, request->ranges[i].host, request->ranges[i].size);
	hi_dense_end(&dense);
}

/* The next image is to find half of the free memory free, too. */
static void keep_runs(const struct hi_pager_request *request,
		      struct hi_image_private *priv)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < request->n_ranges; i++)
		sum += request->ranges[i].size;
	if (sum > request->budget / 2)
		return;
	hi_pager_join_ranges(request, &priv->runs);
	if (priv->runs.count)
		priv->room_to_keep = request->budget / 2 - sum;
}

static enum hi_status read_at_once(struct hi_image *image,
				   const struct hi_pager_request *request,
				   struct hi_error *err)
{
	bool all = false;
	enum hi_status status;

	advise_ranges(request);
	status = hi_image_read_rest(image, request, &all, err);
	if (status == HI_OK && all)
		keep_runs(request, image->priv);
	free((void *)(uintptr_t)request->ranges);
	if (status == HI_OK)
		hi_image_child_end(image->priv->child);
	return status;
}

static enum hi_status read_rest(struct hi_image *image, const struct child_facts *facts,
				const struct sent_range *sent, size_t n,
				struct hi_image_kept *kept, struct hi_error *err)
{
	const struct hi_frozen *frozen = image->priv->frozen;
	struct hi_pager_request request = {
		.budget = facts->budget, .threads = facts->threads, .n_ranges = n};

	if (facts->area_block >= hi_frozen_blocks(frozen))
		return hi_fail(err, HI_BAD_DATA, 0, "memory of an image that was sent");
	request.area = hi_frozen_block_pages(frozen, facts->area_block);
	request.size = hi_frozen_block_size(frozen, facts->area_block);
	request.ranges = copy_ranges(sent, n, request.area);
	if (!request.ranges)
		return hi_fail_memory(err, "plan of the image");
	if (kept && !facts->in_place)
		hi_image_kept_move(kept, &request, &image->priv->changes);
	return facts->in_place
		       ? hi_image_child_read_in_place(image->priv->child, &request, err)
		       : read_at_once(image, &request, err);
}

static enum hi_status take_frozen(struct hi_parcel_reader *parcel, struct hi_image *image,
				  uint64_t n_blocks, struct hi_error *err)
{
	const char *name =
		image->mode == HI_SNAPSHOT_FORK ? "copy-on-write child" : "process copy";
	struct hi_frozen *frozen = NULL;
	int fds[HI_PARCEL_FDS];
	enum hi_status status;

	if (n_blocks > HI_PARCEL_FDS)
		return hi_fail(err, HI_BAD_DATA, 0, "memory of an image that was sent");
	for (size_t i = 0; i < n_blocks; i++)
		fds[i] = hi_parcel_take_fd(parcel);
	status = hi_frozen_get(&parcel->flat, name, fds, n_blocks, &frozen, err);
	for (size_t i = 0; i < n_blocks; i++)
		hi_close_fd(fds[i]);
	if (status == HI_OK)
		image->memory = hi_frozen_memory(frozen);
	return status;
}

static enum hi_status take_live_memory(struct hi_parcel_reader *parcel,
				       struct hi_image *image, const struct facts *facts,
				       struct hi_image_kept *kept, struct hi_error *err)
{
	const struct sent_range *ranges = NULL;
	struct child_facts child = {};
	enum hi_status status = HI_OK;
	uint64_t n_blocks;
	size_t n_ranges = 0;

	hi_flat_get(&parcel->flat, &n_blocks, sizeof(n_blocks));
	if (facts->has_child) {
		struct hi_image_child_parts parts = take_sent_child(parcel, &child);

		status = hi_image_child_join(&parts, hi_tracer_ask_to_end_child,
					     &image->priv->child, err);
		ranges = hi_flat_get_array(&parcel->flat, &n_ranges, sizeof(*ranges));
	}
	if (status == HI_OK)
		status = take_frozen(parcel, image, n_blocks, err);
	if (status != HI_OK)
		return status;
	if (facts->knows_residency)
		image->priv->frozen = (const struct hi_frozen *)image->memory;
	return child.has_rest ? read_rest(image, &child, ranges, n_ranges, kept, err)
			      : HI_OK;
}

static enum hi_status take_sent_memory(struct hi_parcel_reader *parcel,
				       struct hi_image *image, const struct facts *facts,
				       struct hi_image_kept *kept, struct hi_error *err)
{
	if (facts->memory == MEMORY_FROZEN)
		return take_live_memory(parcel, image, facts, kept, err);
	image->memory = hi_running_memory(hi_parcel_take_fd(parcel));
	return image->memory ? HI_OK : hi_fail_memory(err, "image");
}

static enum hi_status take_mappings(struct hi_flat_reader *flat, struct hi_image *image,
				    struct hi_error *err)
{
	struct hi_mapping *mappings = NULL;
	size_t n = 0;
	enum hi_status status = hi_mappings_get(flat, &mappings, &n, err);

	for (size_t i = 0; status == HI_OK && i < n; i++)
		status = hi_image_add_mapping(image, &mappings[i], err);
	hi_mappings_free(mappings, n);
	return status;
}

static enum hi_status take_image_parts(struct hi_flat_reader *flat,
				       struct hi_image *image, struct hi_error *err)
{
	struct hi_image_files *files = &image->priv->files;
	enum hi_status status = HI_OK;

	free(image->exe);
	image->exe = hi_strdup(hi_flat_get_text(flat));
	status = hi_command_line_get(flat, &image->command_line, err);
	if (status == HI_OK)
		status = take_mappings(flat, image, err);
	if (status != HI_OK)
		return status;
	image->threads =
		hi_flat_copy_array(flat, &image->n_threads, sizeof(*image->threads));
	image->priv->threads_capacity = image->n_threads;
	image->kernel_words = hi_flat_copy_array(flat, &image->n_kernel_words,
						 sizeof(*image->kernel_words));
	image->auxv = hi_flat_copy_array(flat, &image->n_auxv, 2 * sizeof(*image->auxv));
	files->items = hi_flat_copy_array(flat, &files->count, sizeof(*files->items));
	files->capacity = files->count;
	if (!image->exe || !image->threads || !image->kernel_words || !image->auxv ||
	    !files->items)
		return hi_fail_memory(err, "image");
	return HI_OK;
}

static enum hi_status take_image(struct hi_parcel_reader *parcel,
				 struct hi_image_kept *kept, struct hi_image **ret,
				 struct hi_error *err)
{
	HI_GUARD(hi_image_destroy) struct hi_image *image = NULL;
	enum hi_status status;
	struct facts facts;

	hi_flat_get(&parcel->flat, &facts, sizeof(facts));
	status = hi_image_create(NULL, facts.mode, &image, err);
	if (status == HI_OK)
		status = take_image_parts(&parcel->flat, image, err);
	if (status != HI_OK)
		return status;
	image->complete = facts.complete;
	image->priv->root_is_served = facts.has_root;
	image->pid = facts.pid;
	image->kernel_unread = facts.kernel_unread;
	image->stats = facts.stats;
	status = take_sent_memory(parcel, image, &facts, kept, err);
	if (status == HI_OK && parcel->flat.is_short)
		status = hi_fail(err, HI_BAD_DATA, 0, "an image that was sent");
	if (status != HI_OK)
		return status;
	*ret = hi_take(image);
	return HI_OK;
}

enum hi_status hi_image_receive(int socket, struct hi_image_kept *kept,
				struct hi_image **ret, struct hi_error *err)
{
	struct hi_parcel_reader parcel;
	enum hi_status status = hi_parcel_receive(socket, HI_PARCEL_IMAGE, &parcel, err);

	if (status != HI_OK)
		return status;
	status = take_image(&parcel, kept, ret, err);
	hi_parcel_close(&parcel);
	/* An image of another kind. */
	if (kept)
		hi_image_kept_free(kept);
	return status;
}
