/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/parcel.h"

#include <unistd.h>

#include "attach/sealed.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/packet.h"
#include "base/vector.h"

/* The first packet; the flat data comes with it, then a packet for each descriptor. */
struct head {
	uint32_t kind, n_fds;
	uint64_t size;
};

void hi_parcel_add_fd(struct hi_parcel *parcel, int fd, bool owned)
{
	if (parcel->n_fds == HI_PARCEL_FDS) {
		parcel->is_full = true;
		if (owned)
			hi_close_fd(fd);
		return;
	}
	parcel->fds[parcel->n_fds] = fd;
	parcel->owned[parcel->n_fds++] = owned;
}

enum hi_status hi_parcel_send(const struct hi_parcel *parcel, int socket,
			      enum hi_parcel_kind kind, struct hi_error *err)
{
	struct head head = {kind, (uint32_t)parcel->n_fds, parcel->flat.count};
	HI_GUARD(close) int data = -1;
	bool done;

	if (parcel->flat.is_short)
		return hi_fail_memory(err, "data for another process");
	if (parcel->is_full)
		return hi_fail(err, HI_LIMIT, 0,
			       "more than %d descriptors for another process",
			       HI_PARCEL_FDS);
	data = hi_sealed_copy(parcel->flat.items, parcel->flat.count);
	if (data < 0)
		return hi_fail_errno(err, "data for another process");
	done = hi_packet_send(socket, &head, sizeof(head), data);
	for (uint32_t i = 0; done && i < head.n_fds; i++)
		done = hi_packet_send(socket, &i, sizeof(i), parcel->fds[i]);
	return done ? HI_OK
		    : hi_fail(err, HI_GONE, 0, "the process that decodes has ended");
}

void hi_parcel_free(struct hi_parcel *parcel)
{
	for (size_t i = 0; i < parcel->n_fds; i++)
		if (parcel->owned[i])
			hi_close_fd(parcel->fds[i]);
	hi_vector_free(&parcel->flat);
	*parcel = (struct hi_parcel){};
}

static enum hi_status receive_head(int socket, enum hi_parcel_kind kind,
				   struct head *head, int *fd_ret, struct hi_error *err)
{
	if (!hi_packet_receive(socket, head, sizeof(*head), 0, fd_ret))
		return hi_fail(err, HI_GONE, 0, "the process with the image has ended");
	if (*fd_ret < 0 || head->kind != kind || head->n_fds > HI_PARCEL_FDS ||
	    head->size > SIZE_MAX)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "something else was sent than expected");
	return HI_OK;
}

static enum hi_status receive_descriptors(int socket, const struct head *head,
					  struct hi_parcel_reader *reader,
					  struct hi_error *err)
{
	for (uint32_t i = 0; i < head->n_fds; i++) {
		int *fd = &reader->fds[reader->n_fds];
		uint32_t index;

		if (!hi_packet_receive(socket, &index, sizeof(index), 0, fd))
			return hi_fail(err, HI_GONE, 0,
				       "the process with the image has ended");
		reader->n_fds++;
	}
	return HI_OK;
}

enum hi_status hi_parcel_receive(int socket, enum hi_parcel_kind kind,
				 struct hi_parcel_reader *ret, struct hi_error *err)
{
	struct hi_parcel_reader reader = {};
	HI_GUARD(close) int data = -1;
	enum hi_status status;
	struct head head;

	status = receive_head(socket, kind, &head, &data, err);
	if (status != HI_OK)
		return status;
	status = receive_descriptors(socket, &head, &reader, err);
	reader.size = head.size;
	if (status == HI_OK) {
		reader.pages = hi_sealed_map(data, reader.size);
		if (!reader.pages)
			status = hi_fail_errno(err, "mapping what was sent");
	}
	reader.flat = (struct hi_flat_reader){.at = reader.pages, .left = reader.size};
	if (status != HI_OK) {
		hi_parcel_close(&reader);
		return status;
	}
	*ret = reader;
	return HI_OK;
}

int hi_parcel_take_fd(struct hi_parcel_reader *reader)
{
	int *fd = &reader->fds[reader->next_fd];

	if (reader->next_fd == reader->n_fds)
		return -1;
	reader->next_fd++;
	return hi_take_fd(*fd);
}

void hi_parcel_close(struct hi_parcel_reader *reader)
{
	for (size_t i = 0; i < reader->n_fds; i++)
		hi_close_fd(reader->fds[i]);
	hi_pages_free(reader->pages, reader->size);
	*reader = (struct hi_parcel_reader){};
}
