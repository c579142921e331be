/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/html_site.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "report/address.h"
#include "report/svg.h"

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

static void put_attribute(const char *name, const char *value, FILE *out)
{
	fprintf(out, " %s=\"", name);
	hi_svg_text(out, value, 0);
	putc('"', out);
}

/* ---- navigation ---- */

/* Is `address` below the page `above`: the same command with more behind it? */
static bool is_below(const char *address, const char *above)
{
	size_t n = strlen(above);

	return strncmp(address, above, n) == 0 && address[n] &&
	       strchr(strchr(above, '?') ? "&" : "/?", address[n]);
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
	fputs("<li><a", out);
	put_attribute("href", href, out);
	if (current)
		put_attribute("aria-current", current, out);
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

/* ---- names of pages ---- */

static const struct hi_item *find_title(const struct hi_page *page)
{
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].kind == HI_ITEM_TITLE)
			return &page->items.items[i];
	return NULL;
}

/* Options behind the first `known` ones. NULL: out of memory. */
static char *add_options(char *name, const struct hi_address *parts, size_t known,
			 struct hi_arena *arena)
{
	for (size_t i = known; name && i < parts->n_options; i++) {
		const struct hi_address_option *o = &parts->options[i];
		bool is_said = *o->value && strcasecmp(o->name, name) == 0;

		name = hi_arena_printf(arena, "%s, %s%s%s", name, is_said ? "" : o->name,
				       *o->value && !is_said ? " " : "", o->value);
	}
	return name;
}

/* The command, or the label of its page in the navigation, its argument and options:
 * "Explain 0x55d0c8a2b2a0", "Types, top 100, all". NULL: it is no address. */
static const char *name_of_address(const struct hi_html_site *site, const char *address,
				   struct hi_arena *arena)
{
	const struct hi_html_link *nav = find_nav(site, address);
	struct hi_address parts, known = {};
	struct hi_error unused;
	char *ret;

	if (hi_address_parse(address, arena, &parts, &unused) != HI_OK || !*parts.name)
		return nav ? nav->label : NULL;
	if (nav && hi_address_parse(nav->address, arena, &known, &unused) != HI_OK)
		return NULL;
	if (nav && (!parts.argument || known.argument))
		ret = hi_arena_printf(arena, "%s", nav->label);
	else
		ret = hi_arena_printf(arena, "%c%s%s%s", toupper(parts.name[0]),
				      parts.name + 1, parts.argument ? " " : "",
				      parts.argument ? parts.argument : "");
	return add_options(ret, &parts, known.n_options, arena);
}

/* What a page is called on a site, where it has no title of its own: none, or that of the
 * heap. NULL: its title. */
static const char *name_of_page(const struct hi_page *page,
				const struct hi_html_site *site, const char *address,
				struct hi_arena *arena)
{
	const struct hi_item *title = find_title(page);
	const char *name;

	if (title && title->text &&
	    strncmp(title->text, site->title, strlen(site->title)) != 0)
		return NULL;
	name = address ? name_of_address(site, address, arena) : NULL;
	return name || title ? name : site->title;
}

static enum hi_status put_site_page(const struct hi_page *page, const char *name,
				    const struct hi_html_site *site, FILE *out,
				    struct hi_error *err)
{
	if (!find_title(page)) {
		fputs("<h1>", out);
		hi_html_name(name, out);
		fputs("</h1>\n", out);
	}
	return hi_html_named_page(page, name, &site->links, out, err);
}

/* ---- documents ---- */

static void put_head_link(const struct hi_html_site *site, const char *relation,
			  const char *address, FILE *out)
{
	const char *href = site->links.href(site->links.arg, address);

	if (!href)
		return;
	fprintf(out, "<link rel=\"%s\"", relation);
	put_attribute("href", href, out);
	fputs("/>\n", out);
}

/* The page above: of one of the navigation the first one, of another that of the
 * navigation that it belongs to. NULL: none. */
static const struct hi_html_link *find_up(const struct hi_html_site *site,
					  const char *address)
{
	const struct hi_html_link *up = find_nav(site, address);

	if (up && strcmp(up->address, address) == 0)
		return up == site->nav ? NULL : site->nav;
	return up;
}

static void put_document_head(const char *name, const struct hi_html_site *site,
			      const char *address, FILE *out)
{
	const struct hi_html_link *up = find_up(site, address);
	const char *script;
	char both[600];

	snprintf(both, sizeof(both), "%.200s%s%.300s", name, *name ? " \xc2\xb7 " : "",
		 site->title);
	hi_html_head(both, out);
	put_head_link(site, "icon", "icon.svg", out);
	put_head_link(site, "stylesheet", "style.css", out);
	if (up)
		put_head_link(site, "up", up->address, out);
	script = site->links.href(site->links.arg, "app.js");
	if (script) {
		fputs("<script defer=\"defer\"", out);
		put_attribute("src", script, out);
		fputs("></script>\n", out);
	}
}

/* Pages that have titles of their own say there which census they are of. */
static const char *add_census(const char *title, const char *address,
			      struct hi_arena *arena)
{
	struct hi_address parts;
	struct hi_error unused;
	const char *ret = NULL;

	if (!address || hi_address_parse(address, arena, &parts, &unused) != HI_OK)
		return title;
	for (size_t i = 0; i < parts.n_options && !ret; i++)
		if (strcmp(parts.options[i].name, "census") == 0)
			ret = hi_arena_printf(arena, "%s, census %s", title,
					      parts.options[i].value);
	return ret ? ret : title;
}

enum hi_status hi_html_document(const struct hi_page *page,
				const struct hi_html_site *site, const char *address,
				FILE *out, struct hi_error *err)
{
	struct hi_arena arena = {};
	const char *name = name_of_page(page, site, address, &arena);
	const struct hi_item *title = find_title(page);
	const char *shown = name ? name : title && title->text ? title->text : "";
	enum hi_status status;

	if (!name)
		shown = add_census(shown, address, &arena);
	put_document_head(shown == site->title ? "" : shown, site, address, out);
	fputs("</head><body>\n", out);
	put_site_header(site, address, out);
	status = put_site_page(page, name, site, out, err);
	fputs("</main></body></html>\n", out);
	hi_arena_free(&arena);
	return status;
}

/* ---- one file ---- */

void hi_html_file_begin(const struct hi_html_site *site, FILE *out)
{
	hi_html_head(site->title, out);
	fprintf(out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\"/>\n"
		"<style>%s</style><noscript><style>%s</style></noscript></head>"
		"<body class=\"pages\">\n",
		hi_html_inline.policy, hi_html_inline.style, hi_html_inline.noscript);
	put_site_header(site, NULL, out);
	fputs("<noscript><p class=\"note\">Without scripts this is the first page alone: "
	      "the "
	      "other pages of this file are packed, and a script opens them."
	      "</p></noscript>\n",
	      out);
}

enum hi_status hi_html_file_page(const struct hi_page *page,
				 const struct hi_html_site *site, const char *id,
				 const char *address, FILE *out, struct hi_error *err)
{
	struct hi_arena arena = {};
	const char *name = name_of_page(page, site, address, &arena);
	const struct hi_html_link *up = find_up(site, address);
	const char *href = up ? site->links.href(site->links.arg, up->address) : NULL;
	enum hi_status status;

	fprintf(out, "<section id=\"%s\"", id);
	if (href)
		put_attribute("data-up", href, out);
	fputs(">\n", out);
	status = put_site_page(page, name, site, out, err);
	fputs("</section>\n", out);
	hi_arena_free(&arena);
	return status;
}

void hi_html_file_end(FILE *out)
{
	fprintf(out, "</main>\n<script>%s</script></body></html>\n",
		hi_html_inline.script);
}
