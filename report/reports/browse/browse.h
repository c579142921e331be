/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Browsing a heap: a state that takes keys. It knows no terminal; what it shows is drawn
 * by report/reports/browse/browse_screen.h.
 *
 *	struct hi_browse *browse;
 *	status = hi_browse_create(&heap, &about, &browse, err);
 *	while (!hi_browse_has_ended(browse)) {
 *		status = hi_browse_draw(browse, …);	(browse_screen.h)
 *		status = hi_browse_key(browse, key, err);
 *	}
 *	hi_browse_destroy(browse);
 */
#ifndef HI_REPORT_REPORTS_BROWSE_BROWSE_H
#define HI_REPORT_REPORTS_BROWSE_BROWSE_H

#include "base/cleanup.h"
#include "report/reports/browse/browse_rows.h"

/* Keys are characters, or these. */
enum hi_browse_keys {
	HI_KEY_ESCAPE = 27,
	HI_KEY_BACKSPACE = 127,
	HI_KEY_UP = 0x110000,
	HI_KEY_DOWN,
	HI_KEY_LEFT,
	HI_KEY_RIGHT,
	HI_KEY_PAGE_UP,
	HI_KEY_PAGE_DOWN,
	HI_KEY_HOME,
	HI_KEY_END,
	HI_KEY_ENTER,
};

enum hi_browse_sort { HI_BROWSE_BY_BYTES, HI_BROWSE_BY_OBJECTS, HI_BROWSE_BY_NAME };
enum hi_browse_share {
	HI_BROWSE_BOTH,
	HI_BROWSE_PERCENT,
	HI_BROWSE_GRAPH,
	HI_BROWSE_NO_SHARE
};
enum hi_browse_mode { HI_BROWSE_LIST, HI_BROWSE_TEXT, HI_BROWSE_SEARCH };
enum { HI_BROWSE_SEARCH_MAX = 120 };

/* What the first line says; borrowed. */
struct hi_browse_about {
	const char *title;	 /* safe: "redis-server, pid 4242" */
	uint64_t bytes, objects; /* live */
	bool at_least;		 /* they are lower bounds */
	uint64_t time_ns;	 /* of the heap, since 1970; UINT64_MAX unknown */
};

/* A list, and where one stands in it. */
struct hi_browse_level {
	struct hi_browse_list *list;
	size_t at;    /* the selected row */
	size_t first; /* on the screen */
	enum hi_browse_sort sort;
	bool is_reversed;
};

struct hi_browse {
	const struct hi_browse_heap *heap;
	const struct hi_browse_about *about;
	struct hi_browser browser;
	struct HI_VECTOR(struct hi_browse_level) levels; /* the last one is shown */
	enum hi_browse_mode mode;
	enum hi_browse_sort sort; /* of lists that are opened from now on */
	bool is_reversed;
	enum hi_browse_share share;
	/* TEXT: a page over the list; owned. The screen sets the number of its lines. */
	struct hi_page *text;
	size_t text_first, text_lines;
	char search[HI_BROWSE_SEARCH_MAX]; /* SEARCH: what is typed; UTF-8 */
	char sought[HI_BROWSE_SEARCH_MAX]; /* the last one */
	char message[256]; /* in the last line, until the next key; safe */
	size_t height;	   /* rows of the screen, at least 1 */
	bool has_ended;
};

/* Shows the top of the dominator tree. Borrows heap and about. Linear in the heap.
 * *ret: hi_browse_destroy(). HI_NO_MEMORY, or what reading names returns. */
enum hi_status hi_browse_create(const struct hi_browse_heap *heap,
				const struct hi_browse_about *about,
				struct hi_browse **ret, struct hi_error *err);
/* Takes a key. What cannot be done is a message and no error. HI_NO_MEMORY; or damage
 * that was found in the heap. */
enum hi_status hi_browse_key(struct hi_browse *browse, uint32_t key,
			     struct hi_error *err);
/* The screen has room for so many rows. */
void hi_browse_resize(struct hi_browse *browse, size_t height);
/* Did the user quit? */
bool hi_browse_has_ended(const struct hi_browse *browse);
/* The list that is shown. */
struct hi_browse_level *hi_browse_shown(struct hi_browse *browse);
void hi_browse_destroy(struct hi_browse *browse); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_browse *, hi_browse_destroy)

#endif
