/* SPDX-License-Identifier: BSD-2-Clause */
/* The document of bio_report.h. */
#include "report/reports/bio/bio_report.h"

#include <math.h>

#include "report/parts/object_life.h"

#define QUANTILE_95 1.959964

static void put_amount(struct hi_json *json, const char *key, struct hi_bio_amount amount)
{
	hi_json_object(json, key);
	hi_json_number(json, "bytes", amount.bytes);
	hi_json_number(json, "objects", amount.objects);
	hi_json_end(json);
}

static void put_bounds(struct hi_json *json, const char *key, struct hi_bio_bounds bounds)
{
	hi_json_object(json, key);
	hi_json_number(json, "proved", bounds.proved);
	hi_json_number(json, "possible", bounds.possible);
	hi_json_end(json);
}

/* For samples; null: figures are no estimates. */
static void put_sampled_interval(struct hi_json *json, const struct hi_bio_report *r,
				 uint64_t live, double variance)
{
	struct hi_interval interval = hi_bio_live_interval(live, variance);

	if (!r->sample_bytes) {
		hi_json_null(json, "live_interval");
		return;
	}
	hi_json_object(json, "live_interval");
	hi_json_number(json, "low", interval.low);
	hi_json_number(json, "high", interval.high);
	hi_json_end(json);
}

struct hi_interval hi_bio_live_interval(uint64_t live, double variance)
{
	const double reach = QUANTILE_95 * sqrt(variance);

	return (struct hi_interval){(uint64_t)fmax(0, floor((double)live - reach)),
				    (uint64_t)ceil((double)live + reach)};
}

static void put_bands_of_row(struct hi_json *json, const struct hi_bio_row *row)
{
	put_amount(json, "live", row->live);
	put_amount(json, "final", row->settled);
	put_bounds(json, "not_used", hi_bio_row_sum(row, HI_BIO_NOT_USED).bytes);
	hi_json_object(json, "bands");
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		hi_json_object(json, hi_life_band_key((enum hi_bio_band)band));
		put_bounds(json, "bytes", row->bytes[band]);
		put_bounds(json, "objects", row->objects[band]);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void put_line(struct hi_json *json, const struct hi_bio_census_row *line)
{
	hi_json_object(json, NULL);
	hi_json_number(json, "at_ns", line->at_ns);
	put_bands_of_row(json, &line->row);
	put_amount(json, "unseen", line->unseen);
	hi_json_object(json, "evidence");
	for (unsigned i = 0; i < HI_BIO_EVIDENCE; i++)
		put_amount(json, hi_life_evidence_key((enum hi_bio_evidence)i),
			   line->evidence[i]);
	hi_json_end(json);
	hi_json_bool(json, "pages", line->has_pages);
	hi_json_end(json);
}

static void put_idle(struct hi_json *json, const struct hi_bio_idle *idle)
{
	hi_json_object(json, "idle");
	hi_json_number(json, "for_ns", idle->for_ns);
	put_amount(json, "all", idle->all);
	hi_json_text(json, "type", idle->type);
	put_amount(json, "of_type", idle->of_type);
	hi_json_text(json, "site", idle->site);
	put_amount(json, "of_site", idle->of_site);
	hi_json_text(json, "root", idle->root);
	put_amount(json, "of_root", idle->of_root);
	hi_json_text(json, "retainers", idle->retainers);
	put_amount(json, "of_retainers", idle->of_retainers);
	hi_json_end(json);
}

static void put_checks(struct hi_json *json, const struct hi_bio_checks *c)
{
	hi_json_object(json, "checks");
	hi_json_number(json, "live", c->live);
	hi_json_number(json, "inherent", c->inherent);
	hi_json_number(json, "void", c->void_band);
	hi_json_number(json, "drag", c->drag_band);
	hi_json_number(json, "use", c->use_band);
	hi_json_number(json, "bounds", c->bounds);
	hi_json_number(json, "balance", c->balance);
	hi_json_number(json, "void_area", c->void_area);
	hi_json_number(json, "order", c->order);
	hi_json_number(json, "groups", c->groups);
	hi_json_end(json);
}

static void put_estimate(struct hi_json *json, const char *key,
			 const struct hi_bio_estimate *e)
{
	hi_json_object(json, key);
	hi_json_real(json, "proved", e->proved);
	hi_json_real(json, "possible", e->possible);
	hi_json_number(json, "low", e->interval.low);
	hi_json_number(json, "high", e->interval.high);
	hi_json_real(json, "estimate", e->estimate);
	hi_json_number(json, "estimate_low", e->range.low);
	hi_json_number(json, "estimate_high", e->range.high);
	hi_json_end(json);
}

static void put_counted(struct hi_json *json, const struct hi_bio_report *r)
{
	hi_json_array(json, "counts");
	for (size_t i = 0; i < r->n_counted; i++) {
		hi_json_object(json, NULL);
		hi_json_address(json, "address", r->counted[i].address);
		hi_json_text(json, "type", r->counted[i].type);
		hi_json_number(json, "bytes", r->counted[i].bytes);
		hi_json_number(json, "periods", r->counted[i].periods);
		hi_json_number(json, "hits", r->counted[i].hits);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void put_watch(struct hi_json *json, const struct hi_bio_report *r)
{
	const struct hi_bio_watch *w = &r->watch;

	if (!w->slots) {
		hi_json_null(json, "watch");
		return;
	}
	hi_json_object(json, "watch");
	hi_json_number(json, "watchpoints", w->slots);
	hi_json_text(json, "missing", w->missing);
	hi_json_number(json, "objects", w->objects);
	hi_json_number(json, "used", w->used);
	hi_json_number(json, "hits", w->hits);
	hi_json_number(json, "all_hits", w->all_hits);
	hi_json_number(json, "moved_on", w->moved_on);
	hi_json_number(json, "waited", w->waited);
	put_amount(json, "population", w->population);
	hi_json_number(json, "sampled", w->estimates.sampled);
	hi_json_number(json, "estimated", w->estimates.watched);
	put_counted(json, r);
	hi_json_object(json, "bands");
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		hi_json_object(json, hi_life_band_key((enum hi_bio_band)band));
		put_estimate(json, "bytes", &w->estimates.bytes[band]);
		put_estimate(json, "objects", &w->estimates.objects[band]);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

static void put_era(struct hi_json *json, const struct hi_bio_report *r)
{
	if (!r->era) {
		hi_json_null(json, "era");
		return;
	}
	hi_json_object(json, "era");
	hi_json_text(json, "eras", r->era);
	hi_json_bool(json, "open", r->era_is_open);
	put_amount(json, "hidden", r->hidden_by_era);
	hi_json_end(json);
}

static void put_uses(struct hi_json *json, const struct hi_bio_calls *u)
{
	if (!u->is_asked) {
		hi_json_null(json, "uses");
		return;
	}
	hi_json_object(json, "uses");
	hi_json_text(json, "missing", u->missing);
	hi_json_number(json, "functions", u->functions);
	hi_json_number(json, "wanted", u->wanted);
	hi_json_number(json, "probed", u->probed);
	hi_json_number(json, "dropped", u->dropped);
	hi_json_number(json, "left_out", u->left_out);
	hi_json_number(json, "hits", u->hits);
	hi_json_number(json, "not_stored", u->not_stored);
	hi_json_number(json, "waited", u->waited);
	hi_json_end(json);
}

void hi_bio_json(const struct hi_bio_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/bio/v1");
	hi_json_object(json, "target");
	hi_json_number(json, "pid", (uint64_t)r->pid);
	hi_json_text(json, "exe", r->exe);
	hi_json_end(json);
	hi_json_number(json, "lasted_ns", r->lasted_ns);
	hi_json_bool(json, "recorded", r->is_recorded);
	hi_json_text(json, "birth_use",
		     r->birth_is_idle	? "no"
		     : r->birth_is_seen ? "seen"
					: "maybe");
	hi_json_text(json, "death_use", r->death_is_idle ? "no" : "maybe");
	hi_json_number(json, "sample_bytes", r->sample_bytes);
	put_sampled_interval(json, r,
			     r->n_lines ? r->lines[r->n_lines - 1].row.live.bytes : 0,
			     r->variance);
	hi_json_text(json, "no_pages", r->no_pages);
	put_era(json, r);
	put_amount(json, "restricted", r->restricted);
	put_amount(json, "certain", r->certain);
	put_amount(json, "uncertain", r->uncertain);
	put_amount(json, "left_out", r->left_out);
	put_idle(json, &r->idle);
	hi_json_array(json, "censuses");
	for (size_t i = 0; i < r->n_lines; i++)
		put_line(json, &r->lines[i]);
	hi_json_end(json);
	hi_json_text(json, "by", r->by);
	hi_json_array(json, "groups");
	for (size_t i = 0; i < r->n_groups; i++) {
		hi_json_object(json, NULL);
		hi_json_text(json, "name", r->groups[i].name);
		put_sampled_interval(json, r, r->groups[i].row.live.bytes,
				     r->groups[i].variance);
		put_bands_of_row(json, &r->groups[i].row);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_object(json, "hidden");
	hi_json_number(json, "rows", r->hidden.rows);
	hi_json_number(json, "bytes", r->hidden.bytes);
	hi_json_end(json);
	put_watch(json, r);
	put_uses(json, &r->uses);
	put_checks(json, &r->checks);
	hi_json_end(json);
}
