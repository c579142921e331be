/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pages/pages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/pages/pages_heaps.h"
#include "cli/pages/pages_kept.h"
#include "cli/pages/pages_site.h"
#include "report/json_writer.h"
#include "cli/command/complaints.h"
#include "cli/command/user.h"
#include "session/deep/deep_kept.h"

struct hi_pages {
	struct hi_pages_files files;
	struct hi_pages_site site;
	struct hi_pages_heaps heaps;
	struct hi_pages_kept kept;
	struct hi_deep_kept deep; /* of the last page of it */
	unsigned warmed;	  /* steps of hi_pages_warm_up() */
	/* Of the page that is written. */
	const char *base;
	const char *address;
	bool has_forms;
	struct hi_error why; /* the last page is about it */
	char *link;	     /* the last one */
	size_t link_size;
	struct hi_page *texts; /* of this page: addresses of commands, and the above */
};

enum hi_status hi_pages_open(const struct hi_options *options, struct hi_pages **ret,
			     struct hi_error *err)
{
	HI_GUARD(hi_pages_close) struct hi_pages *pages = hi_calloc(1, sizeof(*pages));
	enum hi_status status;

	hi_cli_user_be();
	if (!pages)
		return hi_fail_memory(err, "pages");
	pages->files.file = options->target.file;
	pages->files.census = options->target.census;
	pages->files.other = options->comparison.baseline;
	pages->files.other_census = options->comparison.baseline_census;
	pages->files.full_names = options->output.full_names;
	pages->files.threads = options->decoding.threads;
	status = hi_pages_site_read(&pages->files, options->profile.n_roots, &pages->site,
				    err);
	if (status == HI_OK)
		*ret = hi_take(pages);
	return status;
}

void hi_pages_close(struct hi_pages *pages)
{
	if (!pages)
		return;
	hi_pages_heaps_free(&pages->heaps);
	hi_pages_kept_free(&pages->kept);
	hi_deep_kept_free(&pages->deep);
	hi_pages_site_free(&pages->site);
	hi_page_destroy(pages->texts);
	free(pages->link);
	free(pages);
}

/* ---- running the command ---- */

struct answer {
	struct hi_page *page; /* NULL: JSON, in text */
	bool is_kept;	      /* the page belongs to pages->kept */
	char *text;
	size_t size;
};

/* The command's own is freed when it is over. */
static enum hi_status take_shown_page(void *arg, struct hi_page *page,
				      struct hi_error *err)
{
	struct answer *a = arg;

	if (page->failed)
		return hi_fail_memory(err, "page");
	hi_page_destroy(a->page);
	a->page = hi_page_move(page);
	if (!a->page)
		return hi_fail_memory(err, "page");
	/* They are for what is added, and may be all types of the heap. */
	hi_type_names_free(&a->page->type_names);
	a->page->type_names = (struct hi_type_names){};
	return HI_OK;
}

static enum hi_status run_on_heap(struct hi_pages *pages,
				  const struct hi_pages_request *r,
				  struct hi_output *output, struct hi_error *err)
{
	struct hi_pages_heap *heap = NULL;
	struct hi_report_header header;
	enum hi_status status = hi_pages_heap_enter(&pages->heaps, r, &heap, err);

	if (status != HI_OK)
		return status;
	status = hi_inspect_make_header(heap->in, &header, err);
	if (status == HI_OK)
		status = hi_write_report(heap->in, &header, output, err);
	hi_pages_heap_leave(heap, status);
	return status;
}

static enum hi_status run_request(struct hi_pages *pages,
				  const struct hi_pages_request *r,
				  struct hi_output *output, struct hi_error *err)
{
	const struct hi_options *o = &r->options;
	const struct hi_command *c = o->command;

	if (c->wants_series && c->wants_series(o))
		return c->write_series(o, output, err);
	if (c->run_kept)
		return c->run_kept(o, &pages->deep, output, err);
	return c->run_alone ? c->run_alone(o, output, err)
			    : run_on_heap(pages, r, output, err);
}

/* ---- forms ---- */

static const char *option_value(const struct hi_address *a, const char *name)
{
	for (size_t i = 0; i < a->n_options; i++)
		if (strcmp(a->options[i].name, name) == 0)
			return a->options[i].value;
	return "";
}

static const struct page_form {
	const char *name, *option, *label, *button;
	enum hi_form_input input;
	const char *address; /* NULL: its own */
} page_forms[] = {
	{"summary", "of", "Address or type", "Find", HI_FORM_LINE, "paths"},
	{"query", "sql", "SQL", "Run", HI_FORM_TEXT, NULL},
	{"paths", "of", "Address or type", "Show paths", HI_FORM_LINE, NULL},
	{"explain", "of", "Address or expression", "Explain", HI_FORM_LINE, NULL},
	{"up", "type", "Type", "Show retainers", HI_FORM_LINE, NULL},
	{"roots", "root", "NAME=EXPRESSION", "Show what it holds", HI_FORM_LINE, NULL},
	{"retainers", "retainer", "Retainer (a type, auto, global, frame)", "Show sets",
	 HI_FORM_LINE, NULL},
};

static const struct page_form *find_form(const char *name)
{
	for (size_t i = 0; i < sizeof(page_forms) / sizeof(*page_forms); i++)
		if (strcmp(page_forms[i].name, name) == 0)
			return &page_forms[i];
	return NULL;
}

/* What the page was asked for is in it. */
static void add_form(struct hi_page *page, const struct hi_address *a)
{
	const struct page_form *from = find_form(a->name);
	const char *census = option_value(a, "census");
	struct hi_form form = {.n_fields = 1};

	if (!from)
		return;
	form.address = from->address ? from->address : a->name;
	form.fields[0] = (struct hi_form_field){
		.input = from->input,
		.name = from->option,
		.label = from->label,
		.value = a->argument ? a->argument : option_value(a, from->option)};
	if (*census)
		form.fields[form.n_fields++] = (struct hi_form_field){
			.input = HI_FORM_HIDDEN, .name = "census", .value = census};
	hi_page_form(page, &form, from->button);
}

/* ---- what is wrong ---- */

static unsigned code_of(enum hi_status status)
{
	switch (status) {
	case HI_OK:
		return 200;
	case HI_NOT_FOUND:
	case HI_UNSUPPORTED:
		return 404;
	case HI_USAGE:
	case HI_LIMIT:
		return 400;
	default:
		return 500;
	}
}

/* Lines of text that is escaped: the first without the name of the program. */
static void show_complaint(struct hi_page *page, char *complaint)
{
	static const char program[] = "heapinspect: ";
	char *rest = complaint, *line;
	bool is_first = true;

	while ((line = strsep(&rest, "\n"))) {
		if (is_first && strncmp(line, program, sizeof(program) - 1) == 0)
			line += sizeof(program) - 1;
		if (*line && is_first)
			hi_page_warning(page, hi_page_safe_again(page, line));
		else if (*line)
			hi_page_code(page, hi_page_safe_again(page, line));
		is_first = false;
	}
}

static void fill_error_page(const struct hi_pages *pages, const char *address,
			    const struct hi_pages_request *r, char *complaint,
			    const struct hi_error *why, struct hi_page *page)
{
	unsigned code = code_of(why->status);

	hi_page_title(page,
		      code == 404   ? "There is no such page"
		      : code == 400 ? "This page cannot be asked for"
				    : "This page cannot be shown",
		      NULL);
	if (complaint && *complaint)
		show_complaint(page, complaint);
	if (*why->text)
		hi_page_warning(page, hi_page_safe(page, why->text));
	hi_page_fact(page, "address", hi_page_safe(page, address));
	if (r && r->address.name)
		add_form(page, &r->address);
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect %s",
				       hi_page_shell_word(page, pages->files.file)),
			"the first page");
}

static enum hi_status make_error_page(const struct hi_pages *pages, const char *address,
				      const struct hi_pages_request *r, char *complaint,
				      const struct hi_error *why, struct hi_page **ret,
				      struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();

	if (page)
		fill_error_page(pages, address, r, complaint, why, page);
	if (!page || page->failed)
		return hi_fail_memory(err, "page");
	*ret = hi_take(page);
	return HI_OK;
}

static enum hi_status make_error_json(const char *complaint, const struct hi_error *why,
				      struct answer *ret, struct hi_error *err)
{
	struct hi_json json;
	FILE *out = open_memstream(&ret->text, &ret->size);

	if (!out)
		return hi_fail_memory(err, "page");
	hi_json_init(&json, out);
	hi_json_object(&json, NULL);
	hi_json_text(&json, "schema", "heapinspect/error/v1");
	hi_json_text(&json, "error", *why->text ? why->text : complaint ? complaint : "");
	hi_json_end(&json);
	(void)hi_json_finish(&json);
	return fclose(out) == 0 ? HI_OK : hi_fail_memory(err, "page");
}

/* ---- the answer ---- */

static void free_answer(struct answer *a)
{
	if (!a->is_kept)
		hi_page_destroy(a->page);
	free(a->text);
	*a = (struct answer){};
}

static enum hi_status run_for_answer(struct hi_pages *pages,
				     const struct hi_pages_request *r, struct answer *ret,
				     struct hi_error *err)
{
	struct hi_output output = {.show = take_shown_page, .arg = ret};
	enum hi_status status;

	output.file = open_memstream(&ret->text, &ret->size);
	if (!output.file)
		return hi_fail_memory(err, "page");
	status = run_request(pages, r, &output, err);
	if (fclose(output.file) != 0 && status == HI_OK)
		status = hi_fail_memory(err, "page");
	if (status == HI_OK && ret->page && pages->has_forms)
		add_form(ret->page, &r->address);
	return status;
}

/* The request of an address, and what was written about it. */
struct asking {
	struct hi_pages_request *r;
	struct hi_error why; /* there is no answer */
	char *complaint;
	size_t size;
};

static void free_asking(struct asking *a)
{
	hi_pages_request_destroy(a->r);
	free(a->complaint);
}

static enum hi_status ask_for_answer(struct hi_pages *pages, const char *address,
				     struct asking *a, struct answer *ret)
{
	FILE *complaints = open_memstream(&a->complaint, &a->size);
	enum hi_status status;

	if (!complaints)
		return hi_fail_memory(&a->why, "page");
	hi_complaints_to(complaints);
	status = hi_pages_request_read(address, &pages->files, &a->r, &a->why);
	if (status == HI_OK)
		status = run_for_answer(pages, a->r, ret, &a->why);
	hi_complaints_to(NULL);
	if (fclose(complaints) != 0)
		return hi_fail_memory(&a->why, "page");
	return status;
}

static enum hi_status renew_texts(struct hi_pages *pages, struct hi_error *err)
{
	hi_page_destroy(pages->texts);
	pages->texts = hi_page_create();
	return pages->texts ? HI_OK : hi_fail_memory(err, "page");
}

static enum hi_status answer_address(struct hi_pages *pages, const char *address,
				     struct answer *ret, unsigned *code_ret,
				     struct hi_error *err)
{
	struct asking a = {};
	enum hi_status status = ask_for_answer(pages, address, &a, ret);
	bool is_json = a.r && a.r->is_json;

	*code_ret = code_of(status);
	pages->why = a.why;
	if (status != HI_OK)
		free_answer(ret);
	/* What a comparison links to is in the later heap. */
	if (status == HI_OK && ret->page && pages->files.other_is_later &&
	    strcmp(a.r->address.name, "diff") == 0)
		hi_page_drop_links(ret->page);
	if (status == HI_NO_MEMORY)
		*err = a.why;
	else if (status != HI_OK)
		status = is_json ? make_error_json(a.complaint, &a.why, ret, err)
				 : make_error_page(pages, address, a.r, a.complaint,
						   &a.why, &ret->page, err);
	if (status == HI_OK)
		status = renew_texts(pages, err);
	free_asking(&a);
	if (status != HI_OK)
		free_answer(ret);
	return status;
}

enum hi_status hi_pages_make(struct hi_pages *pages, const char *address,
			     struct hi_page **ret, unsigned *code_ret,
			     struct hi_error *err)
{
	struct answer answer = {};
	enum hi_status status;

	pages->has_forms = false;
	status = answer_address(pages, address, &answer, code_ret, err);
	if (status == HI_OK)
		*ret = hi_take(answer.page);
	free_answer(&answer);
	return status;
}

const struct hi_error *hi_pages_why(const struct hi_pages *pages)
{
	return &pages->why;
}

/* The same with forms, out of those that are kept, if it can be. */
static enum hi_status answer_or_recall(struct hi_pages *pages, const char *address,
				       struct answer *ret, unsigned *code_ret,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	pages->has_forms = true;
	ret->page = hi_pages_kept_find(&pages->kept, address);
	ret->is_kept = ret->page;
	*code_ret = 200;
	if (ret->is_kept)
		return renew_texts(pages, err);
	status = answer_address(pages, address, ret, code_ret, err);
	if (status == HI_OK && ret->page && *code_ret == 200)
		ret->is_kept = hi_pages_kept_add(&pages->kept, address, ret->page);
	return status;
}

/* ---- links ---- */

/* Longer ones are cut where they are written. */
/* Totals of types are there for every census. */
static bool needs_graph(const char *address)
{
	return strncmp(address, "snapshots", 9) != 0 &&
	       strncmp(address, "census?census=", 14) != 0;
}

const char *hi_pages_address_from(struct hi_pages *pages, const char *from,
				  const char *address)
{
	const char *kept = hi_pages_keep_census(pages->texts, from, address);
	const char *census = hi_pages_census_in(pages->texts, kept);

	if (!census || !needs_graph(kept) ||
	    !hi_pages_site_lacks_graph(&pages->site, census))
		return kept;
	return hi_pages_site_has_nav(&pages->site, address) ? address : NULL;
}

enum { LINK_MOST = 4000 };

static const char *link_to(void *arg, const char *address)
{
	struct hi_pages *pages = arg;
	size_t size;

	address = hi_pages_address_from(pages, pages->address, address);
	if (!address)
		return NULL;
	size = strlen(pages->base) + strlen(address) + 1;
	if (size > LINK_MOST)
		return NULL;
	if (size > pages->link_size) {
		char *more = hi_realloc_array(pages->link, size, 1);

		if (!more)
			return NULL;
		pages->link = more;
		pages->link_size = size;
	}
	snprintf(pages->link, size, "%s%s", pages->base, address);
	return pages->link;
}

const char *hi_pages_address_of_command(struct hi_pages *pages, const char *command)
{
	return hi_pages_address_of(command, &pages->files, pages->texts);
}

static const char *address_of_command(void *arg, const char *command)
{
	return hi_pages_address_of_command(arg, command);
}

struct hi_html_site hi_pages_site_of(const struct hi_pages *pages)
{
	return (struct hi_html_site){.title = pages->site.title,
				     .nav = pages->site.nav,
				     .n_nav = pages->site.n_nav};
}

/* ---- all of it ---- */

static bool write_asset(const char *address, FILE *out, struct hi_pages_answer *ret)
{
	const struct hi_html_asset *asset = hi_html_asset(address);

	if (!asset)
		return false;
	fwrite(asset->bytes, 1, asset->size, out);
	*ret = (struct hi_pages_answer){200, asset->type};
	return true;
}

static enum hi_status write_answer_page(struct hi_pages *pages, const char *address,
					const struct hi_page *page, FILE *out,
					struct hi_error *err)
{
	struct hi_html_site site = hi_pages_site_of(pages);

	site.links = (struct hi_html_links){link_to, address_of_command, pages};
	return hi_html_document(page, &site, address, out, err);
}

enum hi_status hi_pages_write(struct hi_pages *pages, const char *address,
			      const char *base, FILE *out, struct hi_pages_answer *ret,
			      struct hi_error *err)
{
	struct answer answer = {};
	unsigned code = 500;
	enum hi_status status;

	if (write_asset(address, out, ret))
		return HI_OK;
	pages->base = base;
	pages->address = address;
	status = answer_or_recall(pages, address, &answer, &code, err);
	if (status == HI_OK && answer.page)
		status = write_answer_page(pages, address, answer.page, out, err);
	else if (status == HI_OK)
		fwrite(answer.text, 1, answer.size, out);
	if (status == HI_OK)
		*ret = (struct hi_pages_answer){
			code, answer.page ? "text/html; charset=utf-8"
					  : "application/json; charset=utf-8"};
	free_answer(&answer);
	return status;
}

/* The pages of the navigation, in its order, then what pages of single objects need: what
 * takes long is there when it is asked for. */
bool hi_pages_warm_up(struct hi_pages *pages)
{
	struct answer answer = {};
	struct hi_error unused = {};
	unsigned code;

	if (pages->warmed == pages->site.n_nav)
		return hi_pages_heaps_warm_up(&pages->heaps);
	(void)!answer_or_recall(pages, pages->site.nav[pages->warmed++].address, &answer,
				&code, &unused);
	free_answer(&answer);
	return true;
}
