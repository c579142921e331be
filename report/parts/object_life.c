/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/object_life.h"

#include <inttypes.h>

#include "base/text.h"

static const char *const band_keys[HI_BIO_BANDS] = {
	[HI_BIO_VOID] = "void", [HI_BIO_LAG] = "lag",
	[HI_BIO_USE] = "use",	[HI_BIO_INHERENT] = "inherent_use",
	[HI_BIO_DRAG] = "drag", [HI_BIO_UNUSED] = "unused_since_attach",
};

static const struct {
	const char *key, *text;
} evidences[HI_BIO_EVIDENCE] = {
	[HI_BIO_UNKNOWN] = {"none", "without evidence"},
	[HI_BIO_WATCH] = {"watchpoint", "a watchpoint was hit"},
	[HI_BIO_PROBE] = {"probe", "a function was called with it"},
	[HI_BIO_CONTENT] = {"contents", "its contents changed"},
	[HI_BIO_PAGE] = {"pages", "its pages were not referenced"},
};

static const struct {
	const char *key, *text;
} states[HI_BIO_STATES] = {
	[HI_BIO_STATE_INHERENT] = {"inherent", "its use cannot be seen"},
	[HI_BIO_STATE_NEVER_USED] = {"never_used", "proved not to have been used"},
	[HI_BIO_STATE_NO_USE_SEEN] = {"no_use_seen",
				      "no use is proved, and none is excluded"},
	[HI_BIO_STATE_USED] = {"used", "used in the last period"},
	[HI_BIO_STATE_NOT_USED_SINCE] = {"not_used_since",
					 "proved not to be used any more"},
	[HI_BIO_STATE_NOT_SEEN_SINCE] = {"not_seen_since",
					 "used; whether it was used since is not known"},
};

const char *hi_life_band_key(enum hi_bio_band band)
{
	return band_keys[band];
}

const char *hi_life_evidence_key(enum hi_bio_evidence evidence)
{
	return evidences[evidence].key;
}

/* ---- as text ---- */

/* "period 3 (2.0 s to 3.0 s)", since the first census. */
static const char *period_text(const struct hi_bio_summary *lives, uint32_t period,
			       struct hi_page *page)
{
	char from[24], to[24];

	if (period > hi_bio_summary_periods(lives))
		return hi_page_printf(page, "period %" PRIu32, period);
	return hi_page_printf(page, "period %" PRIu32 " (%s to %s)", period,
			      hi_text_duration(from, lives->censuses[period - 1].at_ns),
			      hi_text_duration(to, lives->censuses[period].at_ns));
}

static void show_use(const struct hi_bio_summary *lives, const char *name,
		     uint32_t period, uint8_t evidence, struct hi_page *page)
{
	hi_page_fact(page, name,
		     period ? hi_page_printf(page, "in %s: %s",
					     period_text(lives, period, page),
					     evidences[evidence].text)
			    : "none is proved");
}

/* "DRAG"; "USE or DRAG" where the evidence leaves it open. */
static const char *text_of_bands(uint32_t bands, struct hi_page *page)
{
	const char *text = "";

	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		if (bands & HI_BIO_BIT(band))
			text = hi_page_printf(page, "%s%s%s", text, *text ? " or " : "",
					      hi_bio_band_name((enum hi_bio_band)band));
	return *text ? text : "in no band";
}

void hi_life_show_facts(const struct hi_bio_summary *lives,
			const struct hi_bio_life_row *row, struct hi_page *page)
{
	if (!row)
		return;
	hi_page_fact(page, "born",
		     row->flags & HI_BIO_LIFE_OLDER
			     ? "before it was followed"
			     : hi_page_printf(page, "in %s",
					      period_text(lives, row->from, page)));
	if (!(row->flags & HI_BIO_LIFE_INHERENT)) {
		show_use(lives, "first use", row->first_proved, row->first_evidence,
			 page);
		show_use(lives, "last use", row->last_proved, row->last_evidence, page);
	}
	if (row->quiet_from)
		hi_page_fact(page, "unused from",
			     hi_page_printf(page, "%s on: %s",
					    period_text(lives, row->quiet_from, page),
					    evidences[HI_BIO_PAGE].text));
	hi_page_fact(page, "now",
		     hi_page_printf(page, "%s at census %" PRIu64 ": %s",
				    text_of_bands(hi_bio_summary_bands(lives, row), page),
				    hi_bio_summary_periods(lives),
				    states[row->state].text));
}

/* ---- as JSON ---- */

static void put_period(const struct hi_bio_summary *lives, const char *key,
		       uint32_t period, const char *evidence, struct hi_json *json)
{
	if (!period || period > hi_bio_summary_periods(lives)) {
		hi_json_null(json, key);
		return;
	}
	hi_json_object(json, key);
	hi_json_number(json, "period", period);
	hi_json_number(json, "from_ns", lives->censuses[period - 1].at_ns);
	hi_json_number(json, "to_ns", lives->censuses[period].at_ns);
	hi_json_text(json, "evidence", evidence);
	hi_json_end(json);
}

void hi_life_json(const struct hi_bio_summary *lives, const struct hi_bio_life_row *row,
		  struct hi_json *json)
{
	uint32_t bands;

	if (!row)
		return;
	bands = hi_bio_summary_bands(lives, row);
	hi_json_object(json, "biography");
	hi_json_number(json, "periods", hi_bio_summary_periods(lives));
	put_period(lives, "born", row->flags & HI_BIO_LIFE_OLDER ? 0 : row->from, NULL,
		   json);
	hi_json_text(json, "era",
		     hi_interner_name(lives->texts, lives->groups[row->group].era));
	put_period(lives, "first_use", row->first_proved,
		   evidences[row->first_evidence].key, json);
	put_period(lives, "last_use", row->last_proved, evidences[row->last_evidence].key,
		   json);
	put_period(lives, "unused_from", row->quiet_from, evidences[HI_BIO_PAGE].key,
		   json);
	hi_json_text(json, "state", states[row->state].key);
	hi_json_array(json, "bands");
	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		if (bands & HI_BIO_BIT(band))
			hi_json_text(json, NULL, band_keys[band]);
	hi_json_end(json);
	hi_json_end(json);
}
