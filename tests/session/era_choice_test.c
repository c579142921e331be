/* SPDX-License-Identifier: BSD-2-Clause */
/* Which eras --era FROM-TO means, of eras that begin one after the other. */
#include <stdlib.h>
#include <string.h>

#include "session/era_choice.h"
#include "tests/harness.h"

struct era {
	uint32_t number;
	const char *name;
};

/* As heapinspect era begins them: names have the next number. */
static const struct era eras[] = {{1, "1"}, {2, "warm"},  {3, "load"}, {7, "7"},
				  {0, "0"}, {8, "after"}, {9, "load"}, {10, "pre-stop"}};
enum { ERAS = sizeof(eras) / sizeof(*eras) };

/* A mark for each era: + counts. */
static const char *counted(const char *text, struct hi_era_choice *choice)
{
	static char marks[ERAS + 1];
	struct hi_error err;

	HI_ASSERT_OK(hi_era_choice_parse(text, choice, &err), &err);
	for (unsigned i = 0; i < ERAS; i++)
		marks[i] = hi_era_choice_begin(choice, eras[i].number, eras[i].name)
				   ? '+'
				   : '.';
	return marks;
}

static struct hi_bio *make_bio(void)
{
	struct hi_bio *bio;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	for (unsigned i = 1; i < ERAS; i++)
		HI_ASSERT_OK(hi_bio_begin_era(bio, eras[i].number, eras[i].name, &err),
			     &err);
	return bio;
}

static void expect(const char *text, const char *marks, enum hi_status status,
		   bool is_open)
{
	struct hi_bio *bio = make_bio();
	struct hi_era_choice choice;
	struct hi_error err = {};
	const char *got = counted(text, &choice);
	uint32_t n;
	const struct hi_bio_era_mark *begun = hi_bio_eras(bio, &n);
	enum hi_status checked = hi_era_choice_check(&choice, begun, n, &err);

	hi_bio_destroy(bio);
	HI_ASSERT_MSG(strcmp(marks, got) == 0, "%s: %s", text, got);
	HI_ASSERT_MSG(checked == status, "%s: status %d, %s", text, checked, err.text);
	HI_ASSERT_MSG(is_open == hi_era_choice_is_open(&choice), "%s", text);
}

HI_TEST(era_choice, eras_are_chosen_by_number_and_name)
{
	expect("1", "+.......", HI_OK, false);
	expect("3", "..+.....", HI_OK, false);
	expect("2-7", ".+++....", HI_OK, false);
	/* There is no era 4 to 6. */
	expect("4-8", "...+.+..", HI_OK, false);
	expect("8-100", ".....+++", HI_OK, false);
	expect("warm", ".+......", HI_OK, false);
	expect("warm-after", ".+++.+..", HI_OK, false);
	expect("warm-7", ".+++....", HI_OK, false);
	expect("2-after", ".+++.+..", HI_OK, false);
	/* Each of the name. */
	expect("load", "..+...+.", HI_OK, false);
	expect("load-after", "..++.+++", HI_OK, false);
	expect("pre-stop", ".......+", HI_OK, false);
	expect("after-never", ".....+++", HI_OK, true);
}

HI_TEST(era_choice, unknown_and_decreasing_eras_are_refused)
{
	expect("never", "........", HI_NOT_FOUND, false);
	expect("11", "........", HI_NOT_FOUND, false);
	expect("4-6", "........", HI_NOT_FOUND, false);
	expect("pre-post-stop", "........", HI_NOT_FOUND, false);
	expect("after-warm", ".....+++", HI_USAGE, true);
	expect("after-3", "........", HI_USAGE, false);
}

HI_TEST(era_choice, malformed_choice_is_refused)
{
	static const char *const wrong[] = {
		"",    "-",	"load-", "-load", "0",	    "0-2",	  "4-2",
		"7up", "2-7up", "1-2-3", "2-",	  "load-0", "99999999999"};
	struct hi_era_choice choice;
	struct hi_error err;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		HI_ASSERT_MSG(hi_era_choice_parse(wrong[i], &choice, &err) == HI_USAGE,
			      "\"%s\"", wrong[i]);
}
