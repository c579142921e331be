/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/image_send.h"
#include "attach/mappings_send.h"
#include "attach/parcel.h"
#include "attach/target_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"

enum hi_status hi_target_send(const struct hi_target *target, int socket,
			      struct hi_error *err)
{
	struct hi_parcel parcel = {};
	struct hi_flat *flat = &parcel.flat;
	enum hi_status status;

	hi_flat_put(flat, target, sizeof(*target));
	hi_flat_put_text(flat, target->exe);
	hi_flat_put_text(flat, target->started_as);
	hi_command_line_put(flat, &target->command_line);
	hi_mappings_put(flat, target->mappings, target->n_mappings);
	hi_flat_put_array(flat, target->children, target->n_children,
			  sizeof(*target->children));
	hi_parcel_add_fd(&parcel, target->pidfd, false);
	status = hi_parcel_send(&parcel, socket, HI_PARCEL_TARGET, err);
	hi_parcel_free(&parcel);
	return status;
}

/* All that is no pointer and no descriptor. */
static void take_target_values(struct hi_target *target, const struct hi_target *sent)
{
	target->pid = sent->pid;
	target->exe_deleted = sent->exe_deleted;
	memcpy(target->name, sent->name, sizeof(target->name));
	target->start_time = sent->start_time;
	target->rss = sent->rss;
	target->pss = sent->pss;
	target->swap = sent->swap;
	target->n_threads = sent->n_threads;
	target->other_mount_ns = sent->other_mount_ns;
	target->other_pid_ns = sent->other_pid_ns;
	target->other_user_ns = sent->other_user_ns;
	target->n_children_total = sent->n_children_total;
}

static enum hi_status take_target(struct hi_parcel_reader *parcel, struct hi_target **ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_target_close) struct hi_target *target = NULL;
	struct hi_flat_reader *flat = &parcel->flat;
	struct hi_target sent;
	enum hi_status status;

	hi_flat_get(flat, &sent, sizeof(sent));
	status = hi_target_create(sent.pid, &target, err);
	if (status != HI_OK)
		return status;
	take_target_values(target, &sent);
	target->pidfd = hi_parcel_take_fd(parcel);
	target->exe = hi_strdup(hi_flat_get_text(flat));
	target->started_as = hi_strdup(hi_flat_get_text(flat));
	status = hi_command_line_get(flat, &target->command_line, err);
	if (status == HI_OK)
		status = hi_mappings_get(flat, &target->mappings, &target->n_mappings,
					 err);
	if (status != HI_OK)
		return status;
	target->children =
		hi_flat_copy_array(flat, &target->n_children, sizeof(*target->children));
	if (!target->exe || !target->started_as || !target->children)
		return hi_fail_memory(err, "target");
	if (flat->is_short)
		return hi_fail(err, HI_BAD_DATA, 0, "a target that was sent");
	*ret = hi_take(target);
	return HI_OK;
}

enum hi_status hi_target_receive(int socket, struct hi_target **ret, struct hi_error *err)
{
	struct hi_parcel_reader parcel;
	enum hi_status status = hi_parcel_receive(socket, HI_PARCEL_TARGET, &parcel, err);

	if (status != HI_OK)
		return status;
	status = take_target(&parcel, ret, err);
	hi_parcel_close(&parcel);
	return status;
}
