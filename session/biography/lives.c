/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/lives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/number.h"
#include "decode/types/types.h"
#include "decode/usage/contents_hash.h"
#include "session/biography/object_retainers.h"
#include "session/inspect/restrictions.h"
#include "session/operands.h"

/* Serials of births. 0: another object may have taken its place unseen. */
enum { SERIAL_UNCERTAIN, SERIAL_BEFORE, SERIAL_FIRST };

/* Objects of the first census whose place in the index is fetched ahead. */
enum { AHEAD = 12 };

/* What was seen of an object, by its number in the biographies. */
struct seen {
	uint64_t address, serial, hash;
	uint32_t era; /* of its birth, as a text of the groups */
	uint32_t group;
	size_t census; /* number of censuses until then; 0: never */
};

struct hi_lives {
	struct hi_lives_options options;
	struct hi_lives_evidence evidence;
	struct hi_bio *bio;
	struct hi_object_groups groups;
	struct HI_VECTOR(struct seen) seen;
	struct HI_VECTOR(struct hi_lives_object) objects; /* of the last census */
	struct HI_VECTOR(double) variances; /* of it, of live bytes by group */
	struct HI_VECTOR(struct hi_lives_census) censuses;
	/* At the last census: all allocations that were recorded, and for how long. */
	struct hi_bio_amount allocated;
	uint64_t recorded_ns;
	uint64_t lost;	       /* events of the recording, until the last census */
	uint64_t certain_from; /* serials from this one on; see note_lost_events() */
	struct hi_era_choice eras;
	bool counts;			     /* what is born now */
	bool has_left_out;		     /* there was an era that does not count */
	struct hi_watch_sample *sample;	     /* of objects that are watched; NULL: none */
	struct hi_watch_counts watch_counts; /* at the last census, as the next one */
	char no_watch[240];
	struct hi_use_counts use_counts; /* the same */
	char no_uses[240];
	uint64_t stops;	    /* of the evidence by pages */
	char no_pages[200]; /* why the last period has none; "": it has */
};

HI_DEFINE_GUARD(struct hi_lives *, hi_lives_destroy)

/* One census while it is added. */
struct addition {
	struct hi_lives *lives;
	const struct hi_inspection *in;
	const struct hi_graph *graph;
	const struct hi_births *births;	      /* NULL: nothing is recorded */
	const struct hi_page_evidence *pages; /* NULL: nothing is known of them */
	struct hi_watch_evidence *watch;      /* NULL: nothing is watched */
	struct hi_use_evidence *uses;	      /* NULL: no calls are seen */
	const uint64_t *live, *hash;	      /* by object */
	struct hi_object_retainers retainers;
	struct hi_lives_census census;
	uint32_t last; /* the number of the last object */
	bool is_first;
};

/* ---- objects of a census ---- */

static uint64_t serial_of(const struct addition *a, hi_node object)
{
	const struct hi_births *b = a->births;

	if (!b || b->context[object] == HI_BIRTH_OTHER)
		return SERIAL_UNCERTAIN;
	if (hi_birth_is_known(b, object))
		return SERIAL_FIRST + b->time_ns[object];
	return b->sample_bytes ? SERIAL_UNCERTAIN : SERIAL_BEFORE;
}

static void count_live_amount(struct hi_bio_amount *amount, uint64_t bytes)
{
	amount->objects++;
	amount->bytes += bytes;
}

/* In samples an object stands for others, and one without a record for none. The
 * variance is that of the estimate (Horvitz and Thompson; each object is chosen by
 * itself). */
static bool weigh_object(struct addition *a, hi_node object, uint64_t *size_ret,
			 double *variance_ret)
{
	const struct hi_births *b = a->births;
	double probability, estimate;

	*variance_ret = 0;
	*size_ret = hi_objects_cost(a->graph->objects, object);
	if (!b || !b->sample_bytes)
		return true;
	if (!hi_birth_is_known(b, object)) {
		count_live_amount(&a->census.known.left_out, *size_ret);
		return false;
	}
	probability = hi_sample_probability(b->sample_bytes, b->size[object]);
	estimate = (double)*size_ret / probability;
	*size_ret = hi_estimate_round(estimate);
	*variance_ret = estimate * estimate * (1 - probability);
	return true;
}

static bool make_room_for_seen(struct hi_lives *lives, uint32_t number)
{
	while (lives->seen.count <= number)
		if (!hi_vector_push(&lives->seen, (struct seen){}))
			return false;
	return true;
}

static bool is_idle_object(const struct addition *a, hi_node object)
{
	uint64_t start = hi_objects_address(a->graph->objects, object);

	return a->pages && hi_page_evidence_is_idle(
				   a->pages, start,
				   start + hi_objects_usable(a->graph->objects, object));
}

/* Does the recording tell it from another object at its address? */
static bool is_certain(const struct addition *a, uint64_t serial)
{
	return serial != SERIAL_UNCERTAIN && serial >= a->lives->certain_from;
}

/* Where events were lost, a record may be of an object that is gone, and one that is
 * older than the recording may have been freed: only later births are certain. */
static void note_lost_events(struct hi_lives *lives, const struct hi_recorded *recorded)
{
	const struct hi_recording_counts *c = &recorded->counts;
	uint64_t lost = c->lost + c->lost_frees + c->lost_begins + c->lost_ends;

	if (lost != lives->lost)
		lives->certain_from = SERIAL_FIRST + recorded->births->end_ns -
				      recorded->births->start_ns;
	lives->lost = lost;
}

/* Is it the object that the census before has seen? */
static bool is_same_object(const struct seen *before, const struct seen *now)
{
	return before->census && before->census + 1 == now->census &&
	       before->address == now->address && before->serial == now->serial;
}

/* An object that was born in the period may have got what its memory was passed for
 * before. */
static bool was_passed(const struct addition *a, hi_node object)
{
	uint64_t start = hi_objects_address(a->graph->objects, object);

	return a->uses && hi_use_evidence_is_called(
				  a->uses, start,
				  start + hi_objects_usable(a->graph->objects, object));
}

/* Do calls in the period of an object's birth count? */
static bool counts_at_birth(const struct addition *a)
{
	return a->lives->options.birth_use == HI_LIVES_ENDS_SEEN;
}

/* before: what the census before has seen of it; NULL: it is new. */
static void add_use_evidence(const struct addition *a, hi_node object, uint32_t number,
			     const struct seen *before, const struct seen *now)
{
	if (is_idle_object(a, object))
		hi_bio_unused(a->lives->bio, number, HI_BIO_PAGE);
	if (before && is_certain(a, now->serial) && before->hash != HI_CONTENTS_UNREAD &&
	    now->hash != HI_CONTENTS_UNREAD && before->hash != now->hash)
		hi_bio_used(a->lives->bio, number, HI_BIO_CONTENT);
	if (before && is_certain(a, now->serial) && a->watch &&
	    hi_watch_sample_hits(a->lives->sample, now->address, now->serial))
		hi_bio_used(a->lives->bio, number, HI_BIO_WATCH);
	if ((before || counts_at_birth(a)) && is_certain(a, now->serial) &&
	    was_passed(a, object))
		hi_bio_used(a->lives->bio, number, HI_BIO_PROBE);
}

/* An object of an era that does not count, or hidden by a restriction, is in no band. */
static bool is_left_out(const struct hi_lives *lives, uint32_t number, uint32_t group)
{
	struct hi_bio_life life;

	if (lives->groups.list.items[group].is_hidden)
		return true;
	return lives->has_left_out && hi_bio_life(lives->bio, number, &life) &&
	       life.object.group == HI_BIO_LEFT_OUT;
}

/* Bytes that the program has asked for, in words: nobody uses what is after them. */
static uint64_t watchable_bytes(const struct addition *a, hi_node object)
{
	const uint64_t usable = hi_objects_usable(a->graph->objects, object);
	uint64_t asked;

	if (!a->births || !hi_birth_is_known(a->births, object))
		return usable;
	asked = hi_round_up(a->births->size[object], sizeof(uint64_t));
	return asked ? hi_min(asked, usable) : usable;
}

/* A collector reads the objects that it follows: those have a header in front. Such an
 * access would prove no use by the program. */
static enum hi_status offer_to_sample(const struct addition *a, hi_node object,
				      const struct hi_bio_object *o, uint32_t number,
				      struct hi_error *err)
{
	const struct hi_watch_object offered = {.address = o->address,
						.serial = o->serial,
						.usable = watchable_bytes(a, object),
						.size = o->size,
						.number = number};

	if (!a->watch || !is_certain(a, o->serial) || o->is_inherent ||
	    hi_graph_address(a->graph, object) != o->address ||
	    is_left_out(a->lives, number, o->group))
		return HI_OK;
	return hi_watch_sample_offer(a->lives->sample, &offered)
		       ? HI_OK
		       : hi_fail_memory(err, "sample of objects");
}

/* Finds what the census before has seen of it; false: it is new. */
static bool find_before(const struct hi_lives *lives, uint32_t number,
			const struct seen *now, struct seen *ret)
{
	if (number == HI_BIO_NONE || number >= lives->seen.count ||
	    !is_same_object(&lives->seen.items[number], now))
		return false;
	*ret = lives->seen.items[number];
	return true;
}

/* Into `now`. before: NULL for a new object. */
static enum hi_status find_group(struct addition *a, hi_node object,
				 const struct seen *before, struct seen *now,
				 struct hi_error *err)
{
	struct hi_object_groups *groups = &a->lives->groups;
	const struct hi_object_retainers *r = &a->retainers;
	const struct hi_object_labels labels = {.era = before ? before->era : groups->era,
						.root = r->root[object],
						.retainers = r->set ? r->set[object] : 0,
						.is_hidden =
							!hi_naming_shows(a->in, object)};

	now->era = labels.era;
	return hi_object_groups_find(groups, a->graph, object,
				     before ? &groups->list.items[before->group] : NULL,
				     &labels, &now->group, err);
}

/* False: out of memory. */
static bool add_variance(struct hi_lives *lives, uint32_t group, double variance)
{
	while (lives->variances.count <= group)
		if (!hi_vector_push(&lives->variances, 0.0))
			return false;
	lives->variances.items[group] += variance;
	return true;
}

static enum hi_status add_object(struct addition *a, hi_node object, struct hi_error *err)
{
	struct hi_lives *lives = a->lives;
	struct hi_bio_object o = {.address =
					  hi_objects_address(a->graph->objects, object),
				  .serial = serial_of(a, object)};
	struct seen before, now = {.address = o.address,
				   .serial = o.serial,
				   .hash = a->hash[object],
				   .census = lives->censuses.count + 1};
	bool is_known, is_counted;
	double variance;
	uint32_t number;
	enum hi_status status;

	if (!weigh_object(a, object, &o.size, &variance))
		return HI_OK;
	number = a->is_first ? HI_BIO_NONE
			     : hi_bio_find_near(lives->bio, o.address, a->last + 1);
	is_known = find_before(lives, number, &now, &before);
	status = find_group(a, object, is_known ? &before : NULL, &now, err);
	if (status != HI_OK)
		return status;
	o.group = now.group;
	o.is_inherent = lives->groups.list.items[o.group].is_inherent;
	status = a->is_first ? hi_bio_older(lives->bio, &o, &number, err)
			     : hi_bio_see_found(lives->bio, &o, number, &number, err);
	if (status != HI_OK)
		return status;
	a->last = number;
	if (!make_room_for_seen(lives, number) ||
	    !hi_vector_push(&lives->objects, (struct hi_lives_object){object, number}))
		return hi_fail_memory(err, "biographies");
	is_counted = !is_left_out(lives, number, o.group);
	if (is_counted && !add_variance(lives, o.group, variance))
		return hi_fail_memory(err, "biographies");
	if (is_counted)
		count_live_amount(is_certain(a, o.serial) ? &a->census.known.certain
							  : &a->census.known.uncertain,
				  o.size);
	if (!a->is_first)
		add_use_evidence(a, object, number, is_known ? &before : NULL, &now);
	lives->seen.items[number] = now;
	return offer_to_sample(a, object, &o, number, err);
}

/* Further censuses find most objects without the index. */
static void expect_object(const struct addition *a, hi_node object)
{
	if (a->is_first && object < a->graph->n_objects)
		hi_bio_expect(a->lives->bio,
			      hi_objects_address(a->graph->objects, object));
}

static enum hi_status add_objects(struct addition *a, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	a->lives->objects.count = 0;
	a->lives->variances.count = 0;
	if (a->watch)
		hi_watch_sample_begin(a->lives->sample, a->watch);
	for (hi_node i = 0; status == HI_OK && i < a->graph->n_objects; i++) {
		expect_object(a, i + AHEAD);
		if (hi_bit(a->live, i))
			status = add_object(a, i, err);
	}
	if (status == HI_OK && a->watch)
		hi_watch_sample_end(a->lives->sample, a->watch);
	return status;
}

/* ---- what no census sees ---- */

static struct hi_bio_amount sum_allocations(const struct hi_recorded *recorded)
{
	struct hi_bio_amount sum = {};

	for (uint32_t i = 0; i < recorded->contexts.n_contexts; i++) {
		sum.objects += recorded->totals[i].allocs;
		sum.bytes += recorded->totals[i].bytes;
	}
	return sum;
}

/* Allocations of this period that are still there, as requested. */
static struct hi_bio_amount sum_births(const struct addition *a)
{
	const struct hi_births *b = a->births;
	struct hi_bio_amount sum = {};

	for (hi_node i = 0; i < b->n_objects; i++) {
		if (hi_birth_is_known(b, i) && b->time_ns[i] >= a->lives->recorded_ns)
			count_live_amount(&sum, b->size[i]);
		i = hi_births_last_piece(a->graph->objects, i);
	}
	return sum;
}

static uint64_t subtract_births(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What was allocated in this period and is gone. */
static void count_unseen_births(struct addition *a, const struct hi_recorded *recorded)
{
	struct hi_bio_amount all = sum_allocations(recorded), born = sum_births(a);
	struct hi_lives *lives = a->lives;

	if (!a->is_first && lives->counts) {
		a->census.unseen.objects = subtract_births(
			all.objects - lives->allocated.objects, born.objects);
		a->census.unseen.bytes =
			subtract_births(all.bytes - lives->allocated.bytes, born.bytes);
	}
	lives->allocated = all;
	lives->recorded_ns = a->births->end_ns - a->births->start_ns;
}

/* ---- a census ---- */

static bool is_type_of_program(struct hi_inspection *in, const char *name)
{
	struct hi_error quiet;
	hi_type_id unused;

	return in->decoders.types &&
	       hi_types_find(in->decoders.types, name, &unused, &quiet) == HI_OK;
}

/* Might objects of these types come? Each name is one of the program's types, or a
 * pattern, of which nothing can be said. */
static bool may_have_types(struct hi_inspection *in, const char *names)
{
	char name[256];
	size_t n;

	for (;; names += n + 1) {
		names += strspn(names, " ");
		n = strcspn(names, ",");
		snprintf(name, sizeof(name), "%.*s", (int)hi_min(n, sizeof(name) - 1),
			 names);
		if (!strchr(name, '*') && !is_type_of_program(in, name))
			return false;
		if (!names[n])
			return true;
	}
}

static enum hi_status find_inherent(struct hi_lives *lives, struct hi_inspection *in,
				    struct hi_type_set *set, struct hi_error *err)
{
	enum hi_status status;

	if (!lives->options.inherent)
		return HI_OK;
	status = hi_lookup_types(in, lives->options.inherent, set, err);
	/* The type may have no object yet, or none any more. */
	if (status == HI_NOT_FOUND &&
	    (lives->censuses.count || may_have_types(in, lives->options.inherent)))
		return HI_OK;
	return status;
}

static enum hi_status end_period(struct addition *a, struct hi_error *err)
{
	struct hi_lives *lives = a->lives;

	a->census.has_pages = a->pages != NULL;
	a->census.is_recorded = a->births != NULL;
	a->census.sample_bytes = a->births ? a->births->sample_bytes : 0;
	a->census.took_ns = hi_clock_ns() - a->census.took_ns;
	if (!hi_vector_push(&lives->censuses, a->census))
		return hi_fail_memory(err, "biographies");
	return a->is_first ? HI_OK : hi_bio_end_period(lives->bio, true, err);
}

/* The types that the census has; functions that take them are probed from now on. */
static enum hi_status choose_uses(const struct addition *a,
				  const struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_graph *g = a->graph;
	HI_GUARD(free)
	struct hi_use_type *types = hi_calloc(g->n_types + 1u, sizeof(*types));

	if (in->image->stats.at_exit)
		return HI_OK;
	if (!types)
		return hi_fail_memory(err, "types");
	for (uint32_t i = 0; i < g->n_types; i++)
		types[i].name = g->types[i].name ? g->types[i].name : "";
	for (hi_node i = 0; i < g->n_objects; i++)
		if (hi_bit(a->live, i) && g->objects->type[i] < g->n_types)
			types[g->objects->type[i]].bytes +=
				hi_objects_cost(g->objects, i);
	hi_use_evidence_choose(a->uses, types, g->n_types);
	return HI_OK;
}

static enum hi_status add_with_columns(struct addition *a, struct hi_inspection *in,
				       const uint64_t *live, uint64_t *hash,
				       struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	struct hi_lives *lives = a->lives;
	struct hi_type_set inherent = {};
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);

	/* A program that has traced itself does not know when. */
	if (recorded && recorded->births->is_traced)
		recorded = NULL;
	a->births = recorded ? recorded->births : NULL;
	if (recorded)
		note_lost_events(lives, recorded);
	a->live = live;
	a->hash = hash;
	if (status == HI_OK)
		status = find_inherent(lives, in, &inherent, err);
	if (status == HI_OK)
		status = hi_contents_hash(in->image, in->graph, live,
					  hi_inspection_threads(in), hash, err);
	if (status == HI_OK)
		status = hi_object_groups_begin(&lives->groups, in->graph, recorded,
						inherent.has, err);
	/* Before watchpoints are set: it needs some, too. */
	if (status == HI_OK && a->uses)
		status = choose_uses(a, in, err);
	if (status == HI_OK)
		status = add_objects(a, err);
	hi_type_set_free(&inherent);
	if (status == HI_OK && recorded && !recorded->births->sample_bytes)
		count_unseen_births(a, recorded);
	return status == HI_OK ? end_period(a, err) : status;
}

/* Of what the program has not freed: the allocator's own blocks are no objects. */
static uint64_t *copy_allocated_bits(const struct hi_graph *graph)
{
	uint64_t *bits = hi_calloc(1, hi_bits_size(graph->n_objects) + 8);

	for (hi_node i = 0; bits && i < graph->n_objects; i++)
		if (!hi_is_internal(graph, i))
			hi_bit_set(bits, i);
	return bits;
}

/* A stop without a census has ended the time that pages tell of: what was referenced
 * before is not known any more. */
static const struct hi_page_evidence *find_pages(struct hi_lives *lives,
						 const struct hi_page_evidence *pages)
{
	uint64_t before = lives->stops;
	const char *missing =
		pages ? hi_page_evidence_missing(pages) : "they are not looked at";

	lives->stops = pages ? hi_page_evidence_stops(pages) : 0;
	if (!missing && lives->stops != before + 1)
		missing = "a census has failed";
	snprintf(lives->no_pages, sizeof(lives->no_pages), "%s", missing ? missing : "");
	return missing ? NULL : pages;
}

static enum hi_status make_sample(struct hi_lives *lives,
				  const struct hi_watch_evidence *watch,
				  struct hi_error *err)
{
	uint64_t seed = hi_clock_ns();

	if (!watch || lives->sample)
		return HI_OK;
	(void)getrandom(&seed, sizeof(seed), 0);
	return hi_watch_sample_create(hi_watch_evidence_slots(watch), seed,
				      &lives->sample, err);
}

static void note_watch(struct hi_lives *lives, struct hi_watch_evidence *watch)
{
	if (!watch)
		return;
	lives->watch_counts = hi_watch_evidence_counts(watch);
	hi_watch_evidence_missing(watch, lives->no_watch);
}

static void note_uses(struct hi_lives *lives, struct hi_use_evidence *uses)
{
	if (!uses)
		return;
	lives->use_counts = hi_use_evidence_counts(uses);
	hi_use_evidence_missing(uses, lives->no_uses);
}

enum hi_status hi_lives_add(struct hi_lives *lives, struct hi_inspection *in,
			    uint64_t at_ns, struct hi_error *err)
{
	HI_GUARD(free)
	uint64_t *live = lives->options.live == HI_LIVES_REACHABLE
				 ? hi_inspect_reached_bits(in)
				 : copy_allocated_bits(in->graph);
	HI_GUARD(free)
	uint64_t *hash = hi_alloc(((size_t)in->graph->n_objects + 1) * sizeof(*hash));
	enum hi_status status = make_sample(lives, lives->evidence.watch, err);
	struct addition a = {.lives = lives,
			     .in = in,
			     .graph = in->graph,
			     .pages = find_pages(lives, lives->evidence.pages),
			     .watch = lives->evidence.watch,
			     .uses = lives->evidence.uses,
			     .census = {.at_ns = at_ns, .took_ns = hi_clock_ns()},
			     .is_first = lives->censuses.count == 0};

	if (status != HI_OK)
		return status;
	if (!live || !hash)
		return hi_fail_memory(err, "biographies");
	status = hi_object_retainers_find(&lives->groups, in, lives->options.retainers,
					  &a.retainers, err);
	if (status == HI_OK)
		status = add_with_columns(&a, in, live, hash, err);
	hi_object_retainers_free(&a.retainers);
	note_watch(lives, lives->evidence.watch);
	note_uses(lives, lives->evidence.uses);
	return status;
}

/* ---- all of them ---- */

/* What is born now is of this era. */
static enum hi_status count_era(struct hi_lives *lives, uint32_t era, const char *name,
				struct hi_error *err)
{
	lives->counts = hi_era_choice_begin(&lives->eras, era, name) && era;
	lives->has_left_out |= !lives->counts;
	hi_bio_leave_out(lives->bio, !lives->counts);
	return hi_object_groups_text(&lives->groups, name, &lives->groups.era, err);
}

enum hi_status hi_lives_create(const struct hi_lives_options *options,
			       struct hi_lives **ret, struct hi_error *err)
{
	HI_GUARD(hi_lives_destroy) struct hi_lives *lives = hi_calloc(1, sizeof(*lives));
	const struct hi_bio_options bio = {
		.birth_is_idle = options->birth_use != HI_LIVES_ENDS_MAYBE,
		.death_is_idle = options->death_use != HI_LIVES_ENDS_MAYBE};
	enum hi_status status;

	if (!lives)
		return hi_fail_memory(err, "biographies");
	lives->options = *options;
	status = hi_bio_create(&bio, &lives->bio, err);
	if (status == HI_OK && options->era)
		status = hi_era_choice_parse(options->era, &lives->eras, err);
	if (status == HI_OK)
		status = count_era(lives, 1, "1", err);
	if (status == HI_OK)
		*ret = hi_take(lives);
	return status;
}

void hi_lives_use_evidence(struct hi_lives *lives,
			   const struct hi_lives_evidence *evidence)
{
	lives->evidence = *evidence;
}

enum hi_status hi_lives_begin_era(struct hi_lives *lives, const char *name,
				  struct hi_error *err)
{
	uint32_t era;
	enum hi_status status;

	if (!hi_era_number(lives->bio, name, &era))
		return hi_fail(err, HI_LIMIT, 0, "era %.60s: not a number", name);
	status = hi_bio_begin_era(lives->bio, era, name, err);
	if (status == HI_USAGE) /* the sender is told, the series goes on */
		return err->status = HI_LIMIT;
	return status == HI_OK ? count_era(lives, era, name, err) : status;
}

void hi_lives_destroy(struct hi_lives *lives)
{
	if (!lives)
		return;
	hi_bio_destroy(lives->bio);
	hi_object_groups_free(&lives->groups);
	hi_vector_free(&lives->seen);
	hi_vector_free(&lives->objects);
	hi_vector_free(&lives->variances);
	hi_vector_free(&lives->censuses);
	hi_watch_sample_destroy(lives->sample);
	free(lives);
}

const struct hi_lives_options *hi_lives_asked(const struct hi_lives *lives)
{
	return &lives->options;
}

struct hi_bio *hi_lives_bio(struct hi_lives *lives)
{
	return lives->bio;
}

const struct hi_era_choice *hi_lives_eras(const struct hi_lives *lives)
{
	return &lives->eras;
}

const struct hi_object_groups *hi_lives_groups(const struct hi_lives *lives)
{
	return &lives->groups;
}

const struct hi_lives_census *hi_lives_censuses(const struct hi_lives *lives,
						size_t *n_ret)
{
	*n_ret = lives->censuses.count;
	return lives->censuses.items;
}

const struct hi_watch_sample *hi_lives_sample(const struct hi_lives *lives)
{
	return lives->sample;
}

const char *hi_lives_no_pages(const struct hi_lives *lives)
{
	return lives->no_pages[0] ? lives->no_pages : NULL;
}

unsigned hi_lives_watch(const struct hi_lives *lives, const char **missing_ret,
			struct hi_watch_counts *ret)
{
	const char *none = lives->options.no_watch;

	*missing_ret = none && *none ? none : lives->no_watch;
	*ret = lives->watch_counts;
	return lives->options.watch;
}

bool hi_lives_uses(const struct hi_lives *lives, const char **missing_ret,
		   struct hi_use_counts *ret)
{
	const char *none = lives->options.no_uses;

	*missing_ret = none && *none ? none : lives->no_uses;
	*ret = lives->use_counts;
	return lives->options.uses;
}

double hi_lives_variance(const struct hi_lives *lives, uint32_t group)
{
	return group < lives->variances.count ? lives->variances.items[group] : 0;
}

const struct hi_lives_object *hi_lives_objects(const struct hi_lives *lives,
					       size_t *n_ret)
{
	*n_ret = lives->objects.count;
	return lives->objects.items;
}

bool hi_lives_at_end(const struct hi_lives *lives, uint32_t number,
		     struct hi_bio_life *ret)
{
	struct hi_bio_life life;

	if (lives->seen.items[number].census != lives->censuses.count ||
	    !hi_bio_life(lives->bio, number, &life) ||
	    life.object.group == HI_BIO_LEFT_OUT ||
	    lives->groups.list.items[life.object.group].is_hidden)
		return false;
	*ret = life;
	return true;
}
