/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/lived.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/procfs.h"
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"

enum {
	WORDS_OF_BIO = 24,
	NEWS_TRIES = 6000,
	NEWS_STEP_US = 10000,
	LOOK_US = 500,
	LOOKS = 120000,
	WORDS_SHOWN = 700,
};

const char *const lived_bands[LIVED_BANDS] = {
	"void", "lag", "use", "inherent_use", "drag", "unused_since_attach"};

/* ---- what is true ---- */

static struct lived_object *find_lived(struct lived *l, const char *name)
{
	for (size_t i = l->n; i-- > 0;)
		if (strcmp(l->objects[i].name, name) == 0)
			return &l->objects[i];
	return NULL;
}

const struct lived_object *lived_find(const struct lived *l, const char *name)
{
	for (size_t i = l->n; i-- > 0;)
		if (strcmp(l->objects[i].name, name) == 0)
			return &l->objects[i];
	hi_test_fail(__FILE__, __LINE__, "no object %s", name);
}

size_t lived_cost(const struct lived *l, const char *names)
{
	char copy[128], *rest = copy, *name;
	size_t sum = 0;

	snprintf(copy, sizeof(copy), "%s", names);
	while ((name = strtok_r(rest, " ", &rest)))
		sum += lived_find(l, name)->cost;
	return sum;
}

static unsigned end_of_life(const struct lived *l, const struct lived_object *o)
{
	unsigned dropped = l->live_alloc ? 0 : o->dropped;

	if (dropped && (!o->death || dropped < o->death))
		return dropped;
	return o->death ? o->death : UINT32_MAX;
}

static int place_of_era(const struct lived *l, const char *era)
{
	for (unsigned i = 0; i < l->n_eras; i++)
		if (strcmp(era, l->eras[i]) == 0)
			return (int)i;
	return -1;
}

/* --era */
static bool is_counted(const struct lived *l, const struct lived_object *o)
{
	int era = place_of_era(l, o->era), to = place_of_era(l, l->era_to);

	return !*l->era_from ||
	       (era >= place_of_era(l, l->era_from) && (era <= to || to < 0));
}

static bool is_at_census(const struct lived *l, const struct lived_object *o, unsigned t)
{
	return o->birth <= t && t < end_of_life(l, o) && is_counted(l, o);
}

static bool is_inherent_object(const struct lived *l, const struct lived_object *o)
{
	return l->inherent && strcmp(l->inherent, o->type) == 0;
}

/* Touches in the periods of birth and death are no use, if a whole one is between
 * them; else it may be one, and is counted. */
static uint64_t uses_of(const struct lived *l, const struct lived_object *o)
{
	const unsigned end = end_of_life(l, o);
	const unsigned followed = end < l->censuses + 1 ? end : l->censuses + 1;
	uint64_t used = o->used;

	if (!l->death_is_open && end < 64)
		used &= ~(1ull << end);
	if (!l->birth_is_open && o->birth && followed > o->birth + 1)
		used &= ~(1ull << o->birth);
	return used;
}

/* SPEC section 2: of what was used until the end of its life. */
static const char *band_of(const struct lived *l, const struct lived_object *o,
			   unsigned t)
{
	const uint64_t used = uses_of(l, o);

	if (is_inherent_object(l, o))
		return "inherent_use";
	if (used && t > (unsigned)(63 - __builtin_clzll(used)))
		return "drag";
	if (used && t >= (unsigned)__builtin_ctzll(used))
		return "use";
	return !o->birth ? "unused_since_attach" : used ? "lag" : "void";
}

/* Contents prove a use in a period if they can be compared with those before it. */
static bool is_proved_use(const struct lived *l, const struct lived_object *o, unsigned t)
{
	uint64_t proved = 0;

	for (unsigned p = o->birth + 1; p < 64 && p < end_of_life(l, o); p++)
		proved |= o->written & 1ull << p;
	return !is_inherent_object(l, o) && proved &&
	       t >= (unsigned)__builtin_ctzll(proved) &&
	       t <= (unsigned)(63 - __builtin_clzll(proved));
}

struct amount {
	size_t bytes, objects;
};

static void add_lived(struct amount *sum, const struct lived_object *o)
{
	sum->bytes += o->cost;
	sum->objects += o->objects;
}

/* by NULL: of all. */
static struct amount truth_of(const struct lived *l, const char *band, unsigned t,
			      const char *by, const char *group)
{
	struct amount sum = {};

	if (!by && strcmp(band, "unused_since_attach") == 0)
		sum = (struct amount){l->other_bytes, l->other_objects};
	for (size_t i = 0; i < l->n; i++)
		if (is_at_census(l, &l->objects[i], t) &&
		    (!by || lived_belongs(&l->objects[i], t, by, group)) &&
		    strcmp(band, band_of(l, &l->objects[i], t)) == 0)
			add_lived(&sum, &l->objects[i]);
	return sum;
}

size_t lived_truth(const struct lived *l, const char *band, unsigned t, const char *type)
{
	char group[32];

	snprintf(group, sizeof(group), "struct %s", type ? type : "");
	return truth_of(l, band, t, type ? "type" : NULL, group).bytes;
}

static struct amount proved_use_at(const struct lived *l, unsigned t)
{
	struct amount sum = {};

	for (size_t i = 0; i < l->n; i++)
		if (is_at_census(l, &l->objects[i], t) &&
		    is_proved_use(l, &l->objects[i], t))
			add_lived(&sum, &l->objects[i]);
	return sum;
}

static struct amount unseen_in(const struct lived *l, unsigned t)
{
	struct amount sum = {};

	for (size_t i = 0; i < l->n; i++) {
		const struct lived_object *o = &l->objects[i];

		if (t && o->birth == t && o->death == t && is_counted(l, o)) {
			sum.bytes += o->requested;
			sum.objects += o->objects;
		}
	}
	return sum;
}

/* ---- commands ---- */

static struct lived_object *add_lived_object(struct lived *l, const char *name,
					     const char *type, size_t requested)
{
	struct lived_object *o = &l->objects[l->n++];

	HI_ASSERT(l->n <= LIVED_OBJECTS);
	*o = (struct lived_object){
		.requested = requested, .objects = 1, .birth = l->period};
	snprintf(o->era, sizeof(o->era), "%s", l->era);
	snprintf(o->name, sizeof(o->name), "%s", name);
	snprintf(o->type, sizeof(o->type), "%s", type);
	return o;
}

/* A resize is the death of the old object and the birth of another one, in place, too
 * (SPEC L3). */
static void note_resize(struct lived *l, const char *name, size_t requested,
			const char *answer)
{
	struct lived_object *old = find_lived(l, name), *o;
	unsigned long address;
	size_t cost;

	HI_ASSERT(old && sscanf(answer, "%*s %lx %zu", &address, &cost) == 2);
	old->death = l->period;
	o = add_lived_object(l, name, old->type, requested);
	o->address = address;
	o->cost = cost;
	o->site = "resize_object";
	o->is_shared = old->is_shared;
	o->shared = l->period;
}

static void note_use(struct lived *l, const char *verb, struct lived_object *o)
{
	const uint64_t now = l->period ? 1ull << l->period : 0;

	HI_ASSERT(o != NULL && l->period < 64);
	if (strcmp(verb, "free") == 0)
		o->death = l->period;
	else if (strcmp(verb, "drop") == 0)
		o->dropped = l->period;
	else if (strcmp(verb, "write") == 0)
		o->written |= now;
	else if (strcmp(verb, "share") == 0) {
		o->is_shared = true;
		o->shared = l->period;
	}
	if (strcmp(verb, "write") == 0 || strcmp(verb, "read") == 0 ||
	    strcmp(verb, "same") == 0 || strcmp(verb, "take") == 0 ||
	    strcmp(verb, "inside") == 0 || strcmp(verb, "hot") == 0)
		o->used |= now;
	else if (strcmp(verb, "spin") == 0)
		o->used |= UINT64_MAX << (l->period ? l->period : 1);
}

/* What the fixture answered is the truth about its size. */
static void note_command(struct lived *l, const char *command, const char *answer)
{
	char verb[16] = "", name[16] = "", type[16] = "node";
	size_t n = 0;

	sscanf(command, "%15s %15s %zu %15s", verb, name, &n, type);
	if (strcmp(verb, "threads") == 0 || strcmp(verb, "burst") == 0)
		return;
	if (strcmp(verb, "resize") == 0) {
		note_resize(l, name, n, answer);
		return;
	}
	if (strcmp(verb, "new") && strcmp(verb, "raw") && strcmp(verb, "spread") &&
	    strcmp(verb, "list")) {
		note_use(l, verb, find_lived(l, name));
		return;
	}
	struct lived_object *o = add_lived_object(l, name, type, n);

	HI_ASSERT_EQ(2, sscanf(answer, "%*s %lx %zu", &o->address, &o->cost));
	o->site = strcmp(verb, "list") == 0  ? "make_list"
		  : strcmp(verb, "new") == 0 ? "make_object"
		  : strcmp(verb, "raw") == 0 ? "make_raw"
					     : "work";
	if (strcmp(verb, "list") == 0) {
		if (strcmp(type, "node") == 0)
			snprintf(o->type, sizeof(o->type), "cell");
		o->objects = (unsigned)n;
		o->requested = n * (strcmp(type, "link") == 0	 ? 48
				    : strcmp(type, "chunk") == 0 ? 176
								 : 16);
	}
}

void lived_tell(struct lived *l, const char *command)
{
	char answer[256];

	hi_fixture_tell(l->fx, command);
	HI_ASSERT(hi_fixture_line(l->fx, answer, sizeof(answer)));
	if (!l->is_program)
		note_command(l, command, answer);
}

/* ---- periods ---- */

/* Was a started after b? Times are of 10 ms: within these the numbers tell, which begin
 * again behind the largest one. */
static bool is_later_tracer(struct lived_tracer a, struct lived_tracer b)
{
	long most = 1 << 22;
	FILE *file = fopen("/proc/sys/kernel/pid_max", "r");

	if (file) {
		HI_ASSERT_EQ(1, fscanf(file, "%ld", &most));
		fclose(file);
	}
	if (!a.pid || a.pid == b.pid)
		return false;
	if (a.started != b.started)
		return a.started > b.started;
	return (a.pid - b.pid + most) % most < most / 2;
}

/* The process that traces the target. */
static struct lived_tracer tracer_of(const struct lived *l)
{
	long long pid = hi_process_status(l->fx->pid, "TracerPid");
	struct hi_proc_stat stat = {};

	if (pid <= 0 || !hi_proc_stat((pid_t)pid, &stat))
		return (struct lived_tracer){};
	return (struct lived_tracer){(pid_t)pid, stat.start_time};
}

/* The end of what bio has printed: the log of a failure is short. */
static const char *last_words(const struct lived *l)
{
	size_t n = strlen(l->run.begun);

	return l->run.begun + (n > WORDS_SHOWN ? n - WORDS_SHOWN : 0);
}

/* The process that waits for the next end of a period. Another one traces the target
 * after a census, which was started before. */
static struct lived_tracer await_tracer(const struct lived *l)
{
	for (int i = 0; i < LOOKS; i++) {
		struct lived_tracer tracer = tracer_of(l);

		if (is_later_tracer(tracer, l->tracer))
			return tracer;
		usleep(LOOK_US);
	}
	hi_test_fail(__FILE__, __LINE__, "nothing waits for the end of the period: %s",
		     last_words(l));
}

/* Whether the hit has made a census. A hit is missed if it comes before the probe is
 * armed; then the same process still waits, or a later one and there was no news. */
static bool await_census(struct lived *l, struct lived_tracer tracer)
{
	const char *later = l->is_alloc ? "of the recording are live" : "(provisional)";
	const char *news = l->period ? later : "the first period begins";

	for (int i = 0; i < NEWS_TRIES; i++) {
		struct lived_tracer now = tracer_of(l);

		if (recording_says(&l->run, news, 0))
			return true;
		if (now.pid == tracer.pid || is_later_tracer(now, tracer))
			return false;
		usleep(NEWS_STEP_US);
	}
	hi_test_fail(__FILE__, __LINE__, "no census, traced by %d, not %d: %s",
		     (int)tracer_of(l).pid, (int)tracer.pid, last_words(l));
}

void lived_ready(const struct lived *l)
{
	(void)await_tracer(l);
}

/* last: a command right before the place, when the tracer waits for it; NULL: none. */
static void tell_end(struct lived *l, const char *last)
{
	char lines[64], answer[64];

	snprintf(lines, sizeof(lines), "%s%send", last ? last : "", last ? "\n" : "");
	hi_fixture_tell(l->fx, lines);
	if (last)
		HI_ASSERT(hi_fixture_line(l->fx, answer, sizeof(answer)));
	if (last)
		note_command(l, last, answer);
	HI_ASSERT(hi_fixture_line(l->fx, answer, sizeof(answer)));
}

static void end_period(struct lived *l, const char *last)
{
	struct lived_tracer tracer;

	do {
		usleep(LOOK_US);
		tracer = await_tracer(l);
		tell_end(l, last);
		last = NULL;
	} while (!await_census(l, tracer));
	l->tracer = tracer;
	l->period++;
}

/* value: NULL: no word follows. */
static void take_option(struct lived *l, const char *option, const char *value)
{
	l->is_watched |= strcmp(option, "--watch") == 0 || strcmp(option, "--uses") == 0;
	if (!value)
		return;
	if (strcmp(option, "--live") == 0)
		l->live_alloc = strcmp(value, "alloc") == 0;
	l->birth_is_open |= strcmp(option, "--birth-use") == 0 && strcmp(value, "no");
	l->death_is_open |= strcmp(option, "--death-use") == 0 && !strcmp(value, "maybe");
	l->has_scan |= strcmp(option, "--scan") == 0;
	l->is_unrecorded |= strcmp(option, "--sample") == 0 && strcmp(value, "none") == 0;
	if (strcmp(option, "--era") == 0 &&
	    sscanf(value, "%15[^-]-%15s", l->era_from, l->era_to) == 1)
		snprintf(l->era_to, sizeof(l->era_to), "%s", l->era_from);
	if (strcmp(option, "--inherent") == 0)
		l->inherent = strncmp(value, "struct ", 7) == 0 ? value + 7 : value;
}

static void start_bio(struct lived *l, const char *place, const char *const *options)
{
	const char *words[WORDS_OF_BIO] = {"--at", place,      "--for",
					   "600s", "--sample", "all"};
	size_t n = 6;

	for (size_t i = 0; options[i]; i++) {
		HI_ASSERT(n + 1 < WORDS_OF_BIO);
		words[n++] = options[i];
		take_option(l, options[i], options[i + 1]);
	}
	if (!l->is_alloc && !l->is_page)
		words[n++] = "--json";
	/* When there is a sample of time depends on the machine. */
	if (l->is_alloc && !l->has_scan) {
		words[n++] = "--scan";
		words[n++] = "0";
	}
	HI_ASSERT(n < WORDS_OF_BIO);
	l->run = recording_start_as(l->is_alloc ? "alloc" : "bio", "waiting for ",
				    l->fx->pid, words);
	end_period(l, NULL);
}

static struct lived *new_lived(void)
{
	struct lived *l = calloc(1, sizeof(*l));

	HI_ASSERT(l);
	hi_test_defer(free, l);
	snprintf(l->era, sizeof(l->era), "1");
	snprintf(l->eras[l->n_eras++], sizeof(l->eras[0]), "1");
	return l;
}

static struct lived *start_lived(const char *const *before, const char *const *options,
				 bool is_page)
{
	struct lived *l = new_lived();

	l->is_page = is_page;
	l->fx = hi_fixture_start("lives", NULL);
	hi_fixture_read_until(l->fx, "ready", NULL, NULL);
	while (*before)
		lived_tell(l, *before++);
	start_bio(l, "period_end", options);
	return l;
}

struct lived *lived_start(const char *const *before, const char *const *options)
{
	return start_lived(before, options, false);
}

struct lived *lived_start_page(const char *const *before, const char *const *options)
{
	return start_lived(before, options, true);
}

struct lived *lived_start_program(struct hi_fixture *fx, const char *place,
				  const char *const *options)
{
	struct lived *l = new_lived();

	l->fx = fx;
	l->is_program = true;
	start_bio(l, place, options);
	return l;
}

void lived_begin_era(struct lived *l, const char *name)
{
	char pid[16], news[64];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)l->fx->pid);
	snprintf(news, sizeof(news), "era %s begins", name);
	c = hi_heapinspect("era", "--pid", pid, name);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(recording_says(&l->run, news, RECORDING_PATIENCE_MS), "%s",
		      l->run.begun);
	HI_ASSERT(l->n_eras < sizeof(l->eras) / sizeof(l->eras[0]));
	snprintf(l->era, sizeof(l->era), "%s", name);
	snprintf(l->eras[l->n_eras++], sizeof(l->eras[0]), "%s", name);
}

struct lived *lived_start_alloc(struct hi_fixture *fx, const char *const *options)
{
	struct lived *l = new_lived();

	l->fx = fx;
	l->is_program = l->is_alloc = true;
	start_bio(l, "period_end", options);
	return l;
}

void lived_period(struct lived *l, const char *const *commands)
{
	while (*commands)
		lived_tell(l, *commands++);
	end_period(l, NULL);
}

void lived_period_before(struct lived *l, const char *last)
{
	end_period(l, last);
}

/* ---- documents ---- */

static struct amount amount_of(json_t *object, const char *key)
{
	return (struct amount){(size_t)doc_number(object, "%s.bytes", key),
			       (size_t)doc_number(object, "%s.objects", key)};
}

static size_t bound_of(json_t *row, const char *band, const char *what, const char *which)
{
	return (size_t)doc_number(row, "bands.%s.%s.%s", band, what, which);
}

size_t lived_bound(json_t *doc, unsigned t, const char *band, const char *what,
		   const char *which)
{
	return bound_of(doc_at(doc, "censuses.%u", t - 1), band, what, which);
}

/* ---- invariants ---- */

static void check_sums(json_t *row, const char *what, size_t live)
{
	size_t proved = 0, possible = 0;

	for (unsigned i = 0; i < LIVED_BANDS; i++) {
		size_t low = bound_of(row, lived_bands[i], what, "proved");
		size_t high = bound_of(row, lived_bands[i], what, "possible");

		HI_ASSERT_MSG(low <= high, "%s: proved %zu, possible %zu", lived_bands[i],
			      low, high);
		proved += low;
		possible += high;
	}
	HI_ASSERT_MSG(proved <= live && live <= possible,
		      "%s: proved %zu, live %zu, possible %zu", what, proved, live,
		      possible);
}

static void check_row(json_t *row)
{
	struct amount live = amount_of(row, "live"), final = amount_of(row, "final");

	check_sums(row, "bytes", live.bytes);
	check_sums(row, "objects", live.objects);
	HI_ASSERT(final.bytes <= live.bytes && final.objects <= live.objects);
	HI_ASSERT_EQ(bound_of(row, "inherent_use", "bytes", "proved"),
		     bound_of(row, "inherent_use", "bytes", "possible"));
}

static void check_evidence(json_t *census)
{
	static const char *const kinds[] = {"none", "watchpoint", "probe", "contents",
					    "pages"};
	json_t *evidence = doc_at(census, "evidence");
	size_t sum = 0;

	for (unsigned i = 0; i < 5; i++)
		sum += amount_of(evidence, kinds[i]).bytes;
	HI_ASSERT_EQ(amount_of(census, "live").bytes -
			     bound_of(census, "inherent_use", "bytes", "proved"),
		     sum);
}

/* Where none is left out. */
static void check_groups(json_t *doc, json_t *last)
{
	json_t *groups = doc_at(doc, "groups"), *group;
	size_t live = 0;

	doc_each (group, groups) {
		check_row(group);
		live += amount_of(group, "live").bytes;
	}
	if (live != amount_of(last, "live").bytes)
		return;
	for (unsigned band = 0; band < LIVED_BANDS; band++) {
		size_t low = 0, high = 0;

		doc_each (group, groups) {
			low += bound_of(group, lived_bands[band], "bytes", "proved");
			high += bound_of(group, lived_bands[band], "bytes", "possible");
		}
		HI_ASSERT_EQ(bound_of(last, lived_bands[band], "bytes", "proved"), low);
		HI_ASSERT_EQ(bound_of(last, lived_bands[band], "bytes", "possible"),
			     high);
	}
}

void lived_check_invariants(json_t *doc)
{
	json_t *censuses = doc_at(doc, "censuses"), *checks = doc_at(doc, "checks");
	size_t n = json_array_size(censuses);
	json_t *value;
	long long before = 0;
	const char *key;

	json_object_foreach(checks, key, value)
		HI_ASSERT_MSG(doc_number(checks, "%s", key) == 0, "check %s", key);
	doc_each (value, censuses) {
		check_row(value);
		/* Evidence is of all, also of what a restriction hides. */
		if (!doc_number(doc, "restricted.bytes"))
			check_evidence(value);
		HI_ASSERT(doc_number(value, "at_ns") >= before);
		before = doc_number(value, "at_ns");
	}
	if (n)
		check_groups(doc, doc_at(censuses, "%zu", n - 1));
}

/* ---- truth and bounds ---- */

static void check_bound(json_t *row, const char *band, const char *what, size_t truth,
			unsigned t, const char *type)
{
	size_t low = bound_of(row, band, what, "proved");
	size_t high = bound_of(row, band, what, "possible");

	HI_ASSERT_MSG(low <= truth && truth <= high,
		      "census %u %s, %s of %s: %zu, not in [%zu, %zu]", t, type, what,
		      band, truth, low, high);
}

/* What the recording gives: uses that contents prove, and what came and went. */
static void check_counted(const struct lived *l, json_t *census, unsigned t)
{
	struct amount use = proved_use_at(l, t), unseen = unseen_in(l, t);

	if (l->is_lossy)
		return;
	if (l->is_unrecorded)
		use = unseen = (struct amount){};
	HI_ASSERT(use.bytes <= bound_of(census, "use", "bytes", "proved"));
	HI_ASSERT(l->is_watched ||
		  use.bytes == bound_of(census, "use", "bytes", "proved"));
	HI_ASSERT(l->is_watched ||
		  use.objects == bound_of(census, "use", "objects", "proved"));
	HI_ASSERT_EQ(unseen.objects, amount_of(census, "unseen").objects);
	HI_ASSERT_EQ(unseen.bytes, amount_of(census, "unseen").bytes);
}

static void check_census(const struct lived *l, json_t *doc, unsigned t)
{
	json_t *census = doc_at(doc, "censuses.%u", t - 1);
	struct amount live = {};

	for (unsigned i = 0; i < LIVED_BANDS; i++) {
		struct amount truth = truth_of(l, lived_bands[i], t, NULL, NULL);

		check_bound(census, lived_bands[i], "bytes", truth.bytes, t, "");
		check_bound(census, lived_bands[i], "objects", truth.objects, t, "");
		live.bytes += truth.bytes;
		live.objects += truth.objects;
	}
	HI_ASSERT_EQ(live.bytes, amount_of(census, "live").bytes);
	HI_ASSERT_EQ(live.objects, amount_of(census, "live").objects);
	check_counted(l, census, t);
	HI_ASSERT_EQ(truth_of(l, "inherent_use", t, NULL, NULL).bytes,
		     bound_of(census, "inherent_use", "bytes", "proved"));
}

static void check_group(const struct lived *l, json_t *group, const char *by, unsigned t)
{
	const char *name = doc_text(group, "name");
	size_t live = 0;

	for (unsigned band = 0; band < LIVED_BANDS; band++) {
		size_t truth = truth_of(l, lived_bands[band], t, by, name).bytes;

		check_bound(group, lived_bands[band], "bytes", truth, t, name);
		live += truth;
	}
	HI_ASSERT_MSG(live == amount_of(group, "live").bytes, "%s \"%s\": %zu, not %zu",
		      by, name, amount_of(group, "live").bytes, live);
}

/* What threads have is in groups, too, which are not known. */
static void check_known_groups(const struct lived *l, json_t *doc, unsigned t)
{
	const char *by = doc_text(doc, "by");
	json_t *groups = doc_at(doc, "groups"), *group;
	bool is_type = strcmp(by, "type") == 0;

	if (strcmp(by, "module") == 0 || (l->other_objects && !is_type))
		return;
	doc_each (group, groups) {
		const char *name = doc_text(group, "name");

		if (!is_type || strncmp(name, "struct ", 7) == 0)
			check_group(l, group, by, t);
	}
}

void lived_check(const struct lived *l, json_t *doc)
{
	unsigned n = (unsigned)doc_size(doc, "censuses");

	for (unsigned t = 1; t <= n; t++)
		check_census(l, doc, t);
	if (n)
		check_known_groups(l, doc, n);
}

/* What was told behind the last census has not happened. */
static void forget_uses_behind(struct lived *l, unsigned last)
{
	for (size_t i = 0; i < l->n; i++) {
		l->objects[i].used &= (2ull << last) - 1;
		l->objects[i].written &= (2ull << last) - 1;
	}
}

static json_t *read_lived(struct lived *l, unsigned censuses)
{
	json_t *doc = doc_checked(l->command, "bio.v1.json");

	HI_ASSERT_MSG(doc_size(doc, "censuses") == censuses, "%zu censuses, not %u: %s",
		      doc_size(doc, "censuses"), censuses, l->command->err);
	l->censuses = censuses;
	lived_check_invariants(doc);
	forget_uses_behind(l, censuses);
	if (!l->is_program)
		lived_check(l, doc);
	return doc;
}

json_t *lived_end(struct lived *l)
{
	unsigned last = l->period;

	/* It stops at its exit, until its census is there. */
	close(l->fx->in);
	l->fx->in = -1;
	l->command = recording_end(&l->run, 0);
	if (strstr(l->command->err, "there is no sample of its exit"))
		last--;
	return read_lived(l, last);
}

static void exit_after(struct lived *l, const char *command)
{
	end_period(l, NULL);
	lived_tell(l, command);
	close(l->fx->in);
	l->fx->in = -1;
	l->command = recording_end(&l->run, 0);
}

json_t *lived_end_after(struct lived *l, const char *command)
{
	exit_after(l, command);
	return read_lived(l, l->period);
}

const char *lived_end_page(struct lived *l, const char *command)
{
	exit_after(l, command);
	return l->command->out;
}

void lived_end_alloc(struct lived *l)
{
	end_period(l, NULL);
	l->command = recording_end(&l->run, SIGINT);
}

json_t *lived_interrupt(struct lived *l)
{
	l->command = recording_end(&l->run, SIGINT);
	return read_lived(l, l->period - 1);
}

json_t *lived_kill(struct lived *l)
{
	HI_ASSERT_EQ(0, kill(l->fx->pid, SIGKILL));
	l->command = recording_end(&l->run, 0);
	return read_lived(l, l->period - 1);
}
