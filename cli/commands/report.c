/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `report`: one HTML file with the pages that people click through, as far as
 * they fit in. Pages are made breadth first, from the navigation on; then they are
 * written with links to those that are in the file: the first one as it is, the others
 * packed (report/render/html_pack.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/interner.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/options/operand_words.h"
#include "cli/options/option_take.h"
#include "cli/pages/pages.h"
#include "cli/pages/pages_request.h"
#include "report/render/html_pack.h"

enum { MOST_PAGES = 2000, MOST_QUEUED = 1 << 16, MOST_TOO_LARGE = 20 };
#define MOST_BYTES (20ull << 20)
#define MOST_NS (5 * HI_NS_PER_S) /* of processor time, for making pages */
#define RESERVE (64 << 10)	  /* for what is around the pages */

static const char about_address[] = "about";

struct reported_page {
	struct hi_page *page; /* NULL: not made, or left out */
	bool is_late;	      /* pages like it take long: others come first */
};

/* What ended the making of pages. */
enum report_limit { NO_LIMIT, LIMIT_BYTES, LIMIT_PAGES, LIMIT_TIME };

/* What pages of one command have taken. */
enum { COSTS = 32, COST_NAME = 16 };
struct page_cost {
	char name[COST_NAME];
	uint64_t ns, n;
};

struct reporting {
	struct hi_pages *pages;
	struct hi_html_site site;
	/* Addresses in the order in which they were met: from 1, as their ids. */
	struct hi_interner addresses;
	struct reported_page_list HI_VECTOR(struct reported_page) list;
	uint64_t bytes, most_bytes, ends_ns;
	size_t n_made, n_wrong, n_too_large;
	struct page_cost costs[COSTS];
	enum report_limit limit;
	bool is_written; /* links lead to pages that there are */
	bool failed;
	const char *from; /* the address of the page that is written */
	char link[24];
};

/* ---- links ---- */

/* No form can be sent, and no file but this one is there. */
static bool is_for_file(const char *address)
{
	size_t n = strcspn(address, "/?");

	return !(n == 5 && strncmp(address, "query", n) == 0) &&
	       strcmp(address, "style.css") != 0 && strcmp(address, "app.js") != 0;
}

/* The number of an address, which is queued if it is new. 0: it is not to be made. */
static uint32_t number_of_page(struct reporting *r, const char *address)
{
	uint32_t number;

	if (!is_for_file(address))
		return 0;
	/* Two names of the first page. */
	if (!*address)
		address = "summary";
	number = hi_interner_find(&r->addresses, address);
	if (number || r->is_written || r->list.count >= MOST_QUEUED)
		return number;
	number = hi_interner_add(&r->addresses, address);
	if (!number || !hi_vector_push(&r->list, (struct reported_page){}))
		r->failed = true;
	return number;
}

static const char *link_in_file(void *arg, const char *address)
{
	struct reporting *r = arg;
	uint32_t number;

	if (strcmp(address, about_address) == 0)
		return "#about";
	address = hi_pages_address_from(r->pages, r->from, address);
	number = address ? number_of_page(r, address) : 0;
	if (!number || (r->is_written && !r->list.items[number - 1].page))
		return NULL;
	snprintf(r->link, sizeof(r->link), "#p%u", number);
	return r->link;
}

static const char *address_for_file(void *arg, const char *command)
{
	struct reporting *r = arg;

	return hi_pages_address_of_command(r->pages, command);
}

/* ---- which pages ---- */

/* How long it is in the file, packed unless it is the first; its links are queued. */
static enum hi_status measure_page(struct reporting *r, const struct hi_page *page,
				   bool is_packed, uint64_t *ret, struct hi_error *err)
{
	HI_GUARD(free) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	enum hi_status status;

	if (!out)
		return hi_fail_memory(err, "report");
	status = hi_html_file_page(page, &r->site, "p4294967295", r->from, out, err);
	if (fclose(out) != 0)
		return hi_fail_memory(err, "report");
	*ret = is_packed ? hi_html_packed_size(text, size) : size;
	return status;
}

/* Without the first page there is no report. Other errors are left out: what leads to
 * them is no link. */
static enum hi_status take_wrong_page(struct reporting *r, size_t i, struct hi_error *err)
{
	r->n_wrong++;
	if (i > 0)
		return HI_OK;
	*err = *hi_pages_why(r->pages);
	return err->status;
}

static enum hi_status make_reported_page(struct reporting *r, size_t i,
					 struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = NULL;
	const char *address = hi_interner_name(&r->addresses, (uint32_t)i + 1);
	unsigned code = 0;
	uint64_t size = 0;
	enum hi_status status = hi_pages_make(r->pages, address, &page, &code, err);

	r->from = address;
	if (status != HI_OK)
		return status;
	if (code != 200)
		return take_wrong_page(r, i, err);
	status = measure_page(r, page, i > 0, &size, err);
	if (status != HI_OK)
		return status;
	if (r->bytes + size > r->most_bytes) {
		r->n_too_large++;
		return HI_OK;
	}
	r->bytes += size;
	r->n_made++;
	r->list.items[i].page = hi_take(page);
	return HI_OK;
}

/* Not the time on the wall: a busy machine would make other files. */
static uint64_t used_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * HI_NS_PER_S + (uint64_t)t.tv_nsec;
}

static enum report_limit reached_limit(const struct reporting *r)
{
	return r->n_too_large > MOST_TOO_LARGE ? LIMIT_BYTES
	       : r->n_made >= MOST_PAGES       ? LIMIT_PAGES
	       : used_cpu_ns() > r->ends_ns    ? LIMIT_TIME
					       : NO_LIMIT;
}

/* NULL: there are too many commands. */
static struct page_cost *cost_of_page(struct reporting *r, const char *address)
{
	char name[COST_NAME];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(address, "/?"), address);
	for (size_t i = 0; i < COSTS; i++) {
		if (!r->costs[i].n)
			memcpy(r->costs[i].name, name, sizeof(name));
		if (strcmp(r->costs[i].name, name) == 0)
			return &r->costs[i];
	}
	return NULL;
}

/* Fewer than fifty of them would use the time up. */
static bool is_costly_page(struct reporting *r, size_t i)
{
	const struct page_cost *cost =
		cost_of_page(r, hi_interner_name(&r->addresses, (uint32_t)i + 1));

	return cost && cost->n >= 2 && cost->ns / cost->n > MOST_NS / 50;
}

static enum hi_status make_measured_page(struct reporting *r, size_t i,
					 struct hi_error *err)
{
	struct page_cost *cost =
		cost_of_page(r, hi_interner_name(&r->addresses, (uint32_t)i + 1));
	uint64_t before = used_cpu_ns();
	enum hi_status status = make_reported_page(r, i, err);

	if (cost) {
		cost->ns += used_cpu_ns() - before;
		cost->n++;
	}
	return status;
}

/* The list grows while it is walked. late: those that were put off. */
static enum hi_status walk_pages(struct reporting *r, size_t from, bool late,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = from; status == HI_OK && !r->failed && i < r->list.count; i++) {
		if (late != r->list.items[i].is_late)
			continue;
		if (!late && is_costly_page(r, i)) {
			r->list.items[i].is_late = true;
			continue;
		}
		r->limit = reached_limit(r);
		if (r->limit != NO_LIMIT)
			break;
		status = make_measured_page(r, i, err);
	}
	return status;
}

/* Of the navigation: they take as long as they take. */
static enum hi_status make_first_pages(struct reporting *r, size_t *n_ret,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < r->site.n_nav; i++)
		(void)link_in_file(r, r->site.nav[i].address);
	*n_ret = r->list.count;
	for (size_t i = 0; status == HI_OK && !r->failed && i < *n_ret; i++)
		status = make_reported_page(r, i, err);
	return status;
}

/* First comes what the navigation leads to; what takes long comes last. */
static enum hi_status make_reported_pages(struct reporting *r, struct hi_error *err)
{
	size_t n_first = 0;
	enum hi_status status = make_first_pages(r, &n_first, err);

	r->ends_ns = used_cpu_ns() + MOST_NS;
	if (status == HI_OK)
		status = walk_pages(r, n_first, false, err);
	if (status == HI_OK && r->limit == NO_LIMIT)
		status = walk_pages(r, n_first, true, err);
	if (r->limit == NO_LIMIT && r->n_too_large)
		r->limit = LIMIT_BYTES;
	r->is_written = true;
	return status == HI_OK && r->failed ? hi_fail_memory(err, "report") : status;
}

/* ---- what is not in the file ---- */

static const char *describe_limit(const struct reporting *r, struct hi_page *page)
{
	char bytes[24], count[32];

	switch (r->limit) {
	case LIMIT_BYTES:
		return hi_page_printf(page, "the limit of %s (--max-file)",
				      hi_bytes(bytes, r->most_bytes + RESERVE));
	case LIMIT_PAGES:
		return hi_page_printf(page, "the limit of %s pages",
				      hi_count(count, MOST_PAGES));
	case LIMIT_TIME:
		return hi_page_printf(page,
				      "the limit of %llu s of processor time "
				      "behind the pages of the navigation",
				      MOST_NS / HI_NS_PER_S);
	case NO_LIMIT:
	default:
		return "";
	}
}

static void fill_about_page(const struct reporting *r, const struct hi_options *options,
			    struct hi_page *page)
{
	const char *file = hi_page_shell_word(page, options->target.file);
	size_t left = r->list.count - r->n_made - r->n_wrong;
	char made[32], count[32];

	hi_page_title(page, "About this file", NULL);
	hi_page_fact(page, "made of", hi_page_safe(page, options->target.file));
	hi_page_fact(page, "pages", hi_count(made, r->n_made));
	if (left)
		hi_page_warning(
			page, hi_page_printf(page,
					     "%s%s linked page%s %s left out: %s was "
					     "reached. What leads to them is no link",
					     r->list.count >= MOST_QUEUED ? "over " : "",
					     hi_count(count, left), left == 1 ? "" : "s",
					     left == 1 ? "is" : "are",
					     describe_limit(r, page)));
	else
		hi_page_text(page, "All pages that are linked are in the file.");
	hi_page_text(page, "SQL, other rows and other options need the file itself:");
	hi_page_blank(page);
	hi_page_command(page, hi_page_printf(page, "heapinspect serve %s", file),
			"all pages, in a browser");
	hi_page_command(page, hi_page_printf(page, "heapinspect query %s", file),
			"the tables of SQL");
}

/* ---- writing ---- */

static enum hi_status write_about_page(const struct reporting *r,
				       const struct hi_options *options,
				       struct hi_html_pack *pack, struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();

	if (!page)
		return hi_fail_memory(err, "page");
	fill_about_page(r, options, page);
	return hi_html_pack_page(pack, page, &r->site, about_address, about_address, err);
}

static enum hi_status write_reported_pages(struct reporting *r,
					   const struct hi_options *options, FILE *out,
					   struct hi_error *err)
{
	HI_GUARD(hi_html_pack_destroy) struct hi_html_pack *pack = NULL;
	enum hi_status status = hi_html_pack_create(out, &pack, err);

	r->from = "";
	hi_html_file_begin(&r->site, out);
	for (size_t i = 0; i < r->list.count && status == HI_OK; i++) {
		const struct hi_page *page = r->list.items[i].page;
		char id[24];

		if (!page)
			continue;
		snprintf(id, sizeof(id), "p%zu", i + 1);
		r->from = hi_interner_name(&r->addresses, (uint32_t)i + 1);
		status = i == 0 ? hi_html_file_page(page, &r->site, id, r->from, out, err)
				: hi_html_pack_page(pack, page, &r->site, id, r->from,
						    err);
	}
	if (status == HI_OK)
		status = write_about_page(r, options, pack, err);
	if (status == HI_OK)
		status = hi_html_pack_finish(pack, err);
	hi_html_file_end(out);
	return status;
}

static void free_reporting(struct reporting *r)
{
	for (size_t i = 0; i < r->list.count; i++)
		hi_page_destroy(r->list.items[i].page);
	hi_vector_free(&r->list);
	hi_interner_free(&r->addresses);
}

static enum hi_status write_report_file(const struct hi_options *options,
					struct hi_pages *pages, FILE *out,
					struct hi_error *err)
{
	struct hi_html_link nav[32];
	struct hi_html_site site = hi_pages_site_of(pages);
	uint64_t most = options->series.max_file ? options->series.max_file : MOST_BYTES;
	struct reporting r = {.pages = pages,
			      .from = "",
			      .most_bytes = most > RESERVE ? most - RESERVE : 0,
			      .ends_ns = UINT64_MAX};
	enum hi_status status;

	r.site = site;
	r.site.nav = nav;
	for (r.site.n_nav = 0; r.site.n_nav < site.n_nav && r.site.n_nav < 31;
	     r.site.n_nav++)
		nav[r.site.n_nav] = site.nav[r.site.n_nav];
	nav[r.site.n_nav++] = (struct hi_html_link){"About this file", about_address};
	r.site.links = (struct hi_html_links){link_in_file, address_for_file, &r};
	status = make_reported_pages(&r, err);
	if (status == HI_OK)
		status = write_reported_pages(&r, options, out, err);
	free_reporting(&r);
	return status;
}

static enum hi_status run_report_command(const struct hi_options *options,
					 struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_pages_close) struct hi_pages *pages = NULL;
	enum hi_status status = hi_pages_open(options, &pages, err);

	return status == HI_OK ? write_report_file(options, pages, output->file, err)
			       : status;
}

/* Pages are about the first file; the second is what it is compared with. */
static int take_reported_file(char *word, struct hi_options *o)
{
	const char *census = NULL;

	hi_operand_split_census(word, &census);
	if (!hi_operand_is_snapshot(word))
		return hi_operand_refuse(word, o);
	if (o->target.file && o->comparison.baseline)
		return hi_option_wrong("%s: there are two files already, %s and %s", word,
				       o->target.file, o->comparison.baseline);
	*(o->target.file ? &o->comparison.baseline : &o->target.file) = word;
	*(o->comparison.baseline ? &o->comparison.baseline_census : &o->target.census) =
		census;
	return 0;
}

static int check_report(const struct hi_given *given)
{
	const struct hi_options *o = given->options;

	if (!o->target.file)
		return hi_option_wrong("report: FILE is missing; see heapinspect report "
				       "--help");
	if (o->comparison.baseline && strcmp(o->comparison.baseline, o->target.file) == 0)
		return hi_option_wrong("%s: the file is given twice", o->target.file);
	if (!o->output.file)
		return hi_option_wrong("report: -o FILE.html is missing: what is "
				       "written is for a browser; -o - writes it to "
				       "standard output");
	return 0;
}

const struct hi_command hi_command_report = {
	.id = HI_COMMAND_REPORT,
	.name = "report",
	.arguments = "FILE.hisnap [FILE.hisnap]",
	.purpose = "Write the reports of a snapshot file as one HTML file with links.",
	.help = "The file needs no network and no server. It has the pages of the other "
		"commands\n"
		"that are linked with each other, the most important first, as far as "
		"they fit\n"
		"in; it says what was left out. With a second file, the differences "
		"between the\n"
		"two, from the earlier one to the later one.\n"
		"\n"
		"Examples:\n"
		"  heapinspect report app.hisnap -o app.html\n"
		"  heapinspect report app.hisnap@peak -o peak.html\n"
		"  heapinspect report app.hisnap yesterday.hisnap -o app.html\n"
		"  heapinspect report app.hirec --max-file 5MiB -o app.html",
	.run_alone = run_report_command,
	.targets = "",
	.take_word = take_reported_file,
	.check = check_report,
};
