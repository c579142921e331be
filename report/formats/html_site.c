/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats/html_site.h"

#include <string.h>

#include "report/views/svg.h"

const char hi_html_policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
	"connect-src 'self'; form-action 'self'; object-src 'none'; base-uri 'none'; "
	"frame-ancestors 'none'";

const struct hi_html_asset *hi_html_asset(const char *name)
{
	for (const struct hi_html_asset *a = hi_html_assets; a->name; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

/* The title of a page; its first heading if it has none. NULL: neither. */
static const char *title_of_page(const struct hi_page *page, enum hi_item_kind kind)
{
	for (size_t i = 0; i < page->items.count; i++) {
		const struct hi_item *item = &page->items.items[i];

		if (item->kind == kind && item->text && *item->text)
			return item->text;
	}
	return kind == HI_ITEM_TITLE ? title_of_page(page, HI_ITEM_HEADING) : NULL;
}

static bool has_page_title(const struct hi_page *page)
{
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].kind == HI_ITEM_TITLE)
			return true;
	return false;
}

/* ---- navigation ---- */

/* Is `address` below the page `above`: the same command with more behind it? */
static bool is_below(const char *address, const char *above)
{
	size_t n = strcspn(above, "?");

	return strncmp(address, above, n) == 0 && address[n] && strchr("/?", address[n]);
}

/* The page of the navigation that a page belongs to: itself, else the one that is
 * nearest above it; NULL: none. */
static const struct hi_html_link *find_nav(const struct hi_html_site *site,
					   const char *address)
{
	const struct hi_html_link *best = NULL;

	for (size_t i = 0; address && i < site->n_nav; i++) {
		const struct hi_html_link *link = &site->nav[i];

		if (strcmp(link->address, address) == 0)
			return link;
		if (is_below(address, link->address) &&
		    (!best || strlen(link->address) > strlen(best->address)))
			best = link;
	}
	return best;
}

/* current: what aria-current says of the link; NULL: nothing. */
static void put_nav_link(const struct hi_html_site *site, const struct hi_html_link *link,
			 const char *current, FILE *out)
{
	const char *href = site->links.href(site->links.arg, link->address);

	if (!href)
		return;
	fputs("<li><a href=\"", out);
	hi_svg_text(out, href, 0);
	putc('"', out);
	if (current)
		fprintf(out, " aria-current=\"%s\"", current);
	putc('>', out);
	hi_svg_text(out, link->label, 100);
	fputs("</a></li>\n", out);
}

static void put_site_header(const struct hi_html_site *site, const char *address,
			    FILE *out)
{
	const struct hi_html_link *here = find_nav(site, address);

	fputs("<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
	      "<header><p class=\"heap\">",
	      out);
	hi_html_name(site->title, out);
	fputs("</p></header>\n<nav aria-label=\"Pages\"><ul>\n", out);
	for (size_t i = 0; i < site->n_nav; i++) {
		const struct hi_html_link *link = &site->nav[i];
		bool is_page = here == link && strcmp(address, link->address) == 0;

		put_nav_link(site, link,
			     is_page	    ? "page"
			     : here == link ? "true"
					    : NULL,
			     out);
	}
	fputs("</ul></nav>\n<main id=\"main\" tabindex=\"-1\">\n", out);
}

static enum hi_status put_site_page(const struct hi_page *page,
				    const struct hi_html_site *site, FILE *out,
				    struct hi_error *err)
{
	if (!has_page_title(page)) {
		fputs("<h1>", out);
		hi_html_name(site->title, out);
		fputs("</h1>\n", out);
	}
	return hi_html_linked_page(page, &site->links, out, err);
}

/* ---- documents ---- */

static void put_head_link(const struct hi_html_site *site, const char *relation,
			  const char *address, FILE *out)
{
	const char *href = site->links.href(site->links.arg, address);

	if (!href)
		return;
	fprintf(out, "<link rel=\"%s\" href=\"", relation);
	hi_svg_text(out, href, 0);
	fputs("\"/>\n", out);
}

static void put_document_head(const struct hi_page *page, const struct hi_html_site *site,
			      const char *address, FILE *out)
{
	const char *title = title_of_page(page, HI_ITEM_TITLE);
	const struct hi_html_link *up = find_nav(site, address);
	const char *script;
	char both[600];

	snprintf(both, sizeof(both), "%.200s%s%.300s", title ? title : "",
		 title ? " \xc2\xb7 " : "", site->title);
	hi_html_head(both, out);
	put_head_link(site, "icon", "icon.svg", out);
	put_head_link(site, "stylesheet", "style.css", out);
	/* Above a page of the navigation is the first one. */
	if (up && strcmp(up->address, address) == 0)
		up = up == site->nav ? NULL : site->nav;
	if (up)
		put_head_link(site, "up", up->address, out);
	script = site->links.href(site->links.arg, "app.js");
	if (script) {
		fputs("<script defer=\"defer\" src=\"", out);
		hi_svg_text(out, script, 0);
		fputs("\"></script>\n", out);
	}
}

enum hi_status hi_html_document(const struct hi_page *page,
				const struct hi_html_site *site, const char *address,
				FILE *out, struct hi_error *err)
{
	enum hi_status status;

	put_document_head(page, site, address, out);
	fputs("</head><body>\n", out);
	put_site_header(site, address, out);
	status = put_site_page(page, site, out, err);
	fputs("</main></body></html>\n", out);
	return status;
}

/* ---- one file ---- */

void hi_html_file_begin(const struct hi_html_site *site, FILE *out)
{
	hi_html_head(site->title, out);
	fprintf(out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\"/>\n"
		"<style>%s</style></head><body class=\"pages\">\n",
		hi_html_inline.policy, hi_html_inline.style);
	put_site_header(site, NULL, out);
}

enum hi_status hi_html_file_page(const struct hi_page *page,
				 const struct hi_html_site *site, const char *id,
				 FILE *out, struct hi_error *err)
{
	enum hi_status status;

	fprintf(out, "<section id=\"%s\">\n", id);
	status = put_site_page(page, site, out, err);
	fputs("</section>\n", out);
	return status;
}

void hi_html_file_end(FILE *out)
{
	fprintf(out, "</main>\n<script>%s</script></body></html>\n",
		hi_html_inline.script);
}
