/* SPDX-License-Identifier: BSD-2-Clause */
/* Biographies in files (`bio -o`): the same report without the process, restrictions of
 * other commands to bands, and the life of one object. The truth is what the fixture
 * lives was told to do. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/lived.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

/* Blocks of their own pages: whether they are used is proved in each period. */
#define BLOCK "400000"
#define ALL_BANDS "void,lag,use,inherent,drag,unused"

struct kept_lives {
	struct lived *l;
	char path[320];
	json_t *live;  /* what the series printed */
	unsigned last; /* census */
};

/* At the end young is in USE, dead in DRAG, never in VOID, old is UNUSED. */
static struct kept_lives keep_lives(const char *by)
{
	struct kept_lives k = {};

	snprintf(k.path, sizeof(k.path), "%s/lives.hisnap", workshop_open());
	k.l = lived_start(LIVED("new old " BLOCK),
			  LIVED("-o", k.path, "--by", by, "--bio", ALL_BANDS, "--all"));
	lived_period(k.l, LIVED("new young " BLOCK, "new dead " BLOCK " buf",
				"new never " BLOCK " arena"));
	lived_period(k.l, LIVED("write young", "write dead"));
	lived_period(k.l, LIVED("write dead", "read young"));
	lived_period(k.l, LIVED("write young"));
	lived_tell(k.l, "write young");
	k.live = lived_end(k.l);
	k.last = (unsigned)json_array_size(json_object_get(k.live, "censuses"));
	return k;
}

static void forget_document(void *doc)
{
	json_decref(doc);
}

static json_t *read_document(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(forget_document, doc);
	return doc;
}

HI_TEST_ROOT(bio_file, shows_the_figures_of_the_process)
{
	static const char *const ways[] = {"type", "site", "module", "era", "root"};

	for (unsigned i = 0; i < 5; i++) {
		struct kept_lives k = keep_lives(ways[i]);
		struct hi_command *c =
			hi_heapinspect("bio", k.path, "--json", "--by", ways[i], "--bio",
				       ALL_BANDS, "--all");
		json_t *doc = read_document(c);

		hi_check_schema(c, "bio.v1.json");
		HI_ASSERT_MSG(json_equal(k.live, doc), "--by %s: %s\nof the process: %s",
			      ways[i], c->out, k.l->command->out);
		lived_check_invariants(doc);
		lived_check(k.l, doc);
	}
}
