/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/stop_observer.h"

#include <assert.h>

/* ---- the list ---- */

void hi_stop_observers_add(struct hi_stop_observers *list,
			   struct hi_stop_observer *observer)
{
	if (!observer)
		return;
	assert(list->count < HI_STOP_OBSERVERS_MAX);
	observer->number = list->count;
	list->items[list->count++] = observer;
}

void hi_stop_observers_remove(struct hi_stop_observers *list,
			      const struct hi_stop_observer *last)
{
	if (!last)
		return;
	assert(list->count && list->items[list->count - 1] == last);
	list->count--;
}

void hi_stop_observers_close(struct hi_stop_observers *list)
{
	for (uint32_t i = list->count; i-- > 0;)
		if (list->items[i]->ops->close)
			list->items[i]->ops->close(list->items[i]);
	*list = (struct hi_stop_observers){};
}

/* ---- one stop ---- */

static void run_observer_hook(void *arg, const struct hi_stop_moment *moment)
{
	struct hi_stop_observer *observer = arg;

	observer->ops->at_stop(observer, moment);
}

static void run_observer_at_exit(void *arg)
{
	run_observer_hook(arg, NULL);
}

void hi_stop_observers_before(const struct hi_stop_observers *list,
			      struct hi_inspection *in, struct hi_stop_options *stop)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct hi_stop_observer *observer = list->items[i];

		observer->hook = (struct hi_stop_hook){.run = run_observer_hook,
						       .at_exit = run_observer_at_exit,
						       .arg = observer,
						       .next = observer->hook.next};
		if (observer->ops->before_stop)
			observer->ops->before_stop(observer, in, stop);
		if (stop && observer->ops->at_stop)
			hi_stop_hook_add(&stop->hook, &observer->hook);
	}
}

void hi_stop_observers_after(const struct hi_stop_observers *list)
{
	for (uint32_t i = list->count; i-- > 0;)
		if (list->items[i]->ops->after_stop)
			list->items[i]->ops->after_stop(list->items[i]);
}

enum hi_status hi_stop_observers_census(const struct hi_stop_observers *list,
					struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < list->count && status == HI_OK; i++)
		if (list->items[i]->ops->census)
			status = list->items[i]->ops->census(list->items[i], in, err);
	return status;
}

void hi_stop_observers_end_census(const struct hi_stop_observers *list)
{
	for (uint32_t i = list->count; i-- > 0;)
		if (list->items[i]->ops->end_census)
			list->items[i]->ops->end_census(list->items[i]);
}

enum hi_status hi_stop_observers_replace(const struct hi_stop_observers *list,
					 struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = HI_NOT_FOUND;

	for (uint32_t i = 0; i < list->count && status == HI_NOT_FOUND; i++)
		if (list->items[i]->ops->replace_stop)
			status = list->items[i]->ops->replace_stop(list->items[i], in,
								   err);
	return status;
}

/* ---- of another process ---- */

void hi_stop_observers_be_served(const struct hi_stop_observers *list,
				 const struct hi_keeper_client *client)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i]->ops->be_served)
			list->items[i]->ops->be_served(list->items[i], client);
}

bool hi_stop_observers_send(const struct hi_stop_observers *list, int socket)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i]->ops->send &&
		    !list->items[i]->ops->send(list->items[i], socket))
			return false;
	return true;
}

enum hi_status hi_stop_observers_receive(const struct hi_stop_observers *list, int socket,
					 struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < list->count && status == HI_OK; i++)
		if (list->items[i]->ops->receive)
			status =
				list->items[i]->ops->receive(list->items[i], socket, err);
	return status;
}

bool hi_stop_observers_serve(const struct hi_stop_observers *list, uint32_t number,
			     uint32_t detail, int socket, struct hi_keeper_answer *answer)
{
	struct hi_stop_observer *observer =
		number < list->count ? list->items[number] : NULL;

	return observer && observer->ops->serve &&
	       observer->ops->serve(observer, detail, socket, answer);
}
