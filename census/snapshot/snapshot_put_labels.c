/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the names of edges. Other threads make them while the caller writes the other
 * sections: each takes a part of the nodes and numbers the names in it. The parts are
 * then joined in order, so that the file does not depend on the number of threads. The
 * caller itself makes the parts that no thread has begun.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_internal.h"

/* AHEAD: parts that are made and not yet written, and wait in memory. */
enum { AHEAD = 256, MOST_HELPERS = 63, MEMO = 1024 };

struct part {
	hi_node first, end;
	struct hi_snapshot_strings strings;	  /* its own */
	struct values HI_VECTOR(uint32_t) values; /* edge by edge; offsets there */
	uint32_t tails[HI_SNAPSHOT_TAILS];	  /* offsets there */
	uint32_t n_tails;
	bool done;
	enum hi_status status;
	struct hi_error err;
};

/* The meaning of a worker's key in the part at hand: an offset, or a tail's number. */
struct memo {
	uint32_t key, value;
};

struct maker {
	struct hi_snapshot_labels *all;
	unsigned worker;
	pthread_t thread;
	struct memo memo[MEMO];
	struct HI_VECTOR(struct hi_edge_name) names; /* of one node */
};

struct hi_snapshot_labels {
	const struct hi_snapshot_graph *in;
	struct part *parts;
	size_t n_parts, n_of_objects;
	pthread_mutex_t lock; /* next, written, part.done, stop */
	pthread_cond_t changed;
	size_t next;	/* that no thread has begun */
	size_t written; /* so many of them */
	bool stop;
	struct maker *makers; /* the first is the caller */
	unsigned n_all;
	unsigned n_makers; /* that run as threads, with it */
	uint32_t *known;   /* by offset in a part's strings: in all */
	size_t n_known;
	uint32_t tails[HI_SNAPSHOT_TAILS]; /* offsets in all strings */
	uint32_t n_tails;
};

/* ---- one name ---- */

static enum hi_status intern_label_text(struct part *p, struct maker *m,
					const struct hi_edge_name *name, uint32_t *ret)
{
	struct memo *memo = &m->memo[name->key % MEMO];
	enum hi_status status;

	if (name->key && memo->key == name->key) {
		*ret = memo->value;
		return HI_OK;
	}
	status = hi_snapshot_strings_add(&p->strings, name->text, ret, &p->err);
	if (name->key)
		*memo = (struct memo){name->key, *ret};
	return status;
}

/* HI_SNAPSHOT_TAILS: there is no room for one more. */
static enum hi_status tail_of(struct part *p, struct maker *m,
			      const struct hi_edge_name *name, uint32_t *ret)
{
	uint32_t offset;
	enum hi_status status = intern_label_text(p, m, name, &offset);

	for (*ret = 0; *ret < p->n_tails && status == HI_OK; (*ret)++)
		if (p->tails[*ret] == offset)
			return HI_OK;
	if (status == HI_OK && p->n_tails < HI_SNAPSHOT_TAILS)
		p->tails[p->n_tails++] = offset;
	return status;
}

/* As numbers where the number is small enough; else in one piece. */
static enum hi_status put_edge_label(struct part *p, struct maker *m,
				     const struct hi_edge_name *name, uint32_t *ret)
{
	bool has_text = name->text && *name->text;
	struct hi_edge_name whole = {};
	char buffer[HI_EDGE_TEXT];
	enum hi_status status;
	uint32_t tail;

	if (name->kind == HI_NAME_TEXT)
		return intern_label_text(p, m, name, ret);
	if (name->kind == HI_NAME_OFFSET && name->number % 8 == 0 &&
	    name->number / 8 <= HI_SNAPSHOT_NUMBER_MOST) {
		*ret = HI_SNAPSHOT_OFFSET | (uint32_t)(name->number / 8);
		return HI_OK;
	}
	if (name->kind == HI_NAME_INDEX && !has_text &&
	    name->number <= HI_SNAPSHOT_NUMBER_MOST) {
		*ret = HI_SNAPSHOT_INDEX | (uint32_t)name->number;
		return HI_OK;
	}
	if (name->kind == HI_NAME_INDEX && name->number <= HI_SNAPSHOT_TAILED_MOST) {
		status = tail_of(p, m, name, &tail);
		*ret = HI_SNAPSHOT_TAILED | tail << HI_SNAPSHOT_TAIL_SHIFT |
		       (uint32_t)name->number;
		if (status != HI_OK || tail < HI_SNAPSHOT_TAILS)
			return status;
	}
	whole.text = hi_edge_name_text(name, buffer);
	return intern_label_text(p, m, &whole, ret);
}

static enum hi_status put_edge_labels_of_node(const struct hi_snapshot_graph *in,
					      struct part *p, struct maker *m,
					      hi_node node)
{
	uint32_t n = hi_graph_edges(in->graph, node).count;
	size_t need = p->values.count + n;
	enum hi_status status;

	if (!n)
		return HI_OK;
	if (!hi_vector_reserve(&m->names, n) || !hi_vector_reserve(&p->values, need))
		return hi_fail_memory(&p->err, "labels");
	status = in->label(in->arg, m->worker, node, m->names.items, &p->err);
	for (uint32_t i = 0; i < n && status == HI_OK; i++)
		status = put_edge_label(p, m, &m->names.items[i],
					&p->values.items[p->values.count++]);
	return status;
}

/* No larger than they are. Where that fails, they stay as they were. */
static void shrink_values(struct part *p)
{
	uint32_t *values = NULL;

	if (p->values.count)
		values = hi_realloc_array(p->values.items, p->values.count,
					  sizeof(*values));
	if (!values)
		return;
	p->values.items = values;
	p->values.capacity = p->values.count;
}

static void make_part(struct maker *m, struct part *p)
{
	memset(m->memo, 0, sizeof(m->memo));
	p->status = HI_OK;
	for (hi_node i = p->first; i < p->end && p->status == HI_OK; i++)
		p->status = put_edge_labels_of_node(m->all->in, p, m, i);
	shrink_values(p);
}

/* ---- parts ---- */

/* NULL: none now; with the lock held. */
static struct part *begin_part(struct hi_snapshot_labels *l)
{
	if (l->next == l->n_parts || l->next >= l->written + AHEAD)
		return NULL;
	return &l->parts[l->next++];
}

static void end_part(struct hi_snapshot_labels *l, struct part *p)
{
	pthread_mutex_lock(&l->lock);
	p->done = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

static void *maker_main(void *arg)
{
	struct maker *m = arg;
	struct hi_snapshot_labels *l = m->all;
	struct part *p;

	pthread_mutex_lock(&l->lock);
	while (!l->stop && l->next < l->n_parts) {
		p = begin_part(l);
		if (!p) {
			pthread_cond_wait(&l->changed, &l->lock);
			continue;
		}
		pthread_mutex_unlock(&l->lock);
		make_part(m, p);
		end_part(l, p);
		pthread_mutex_lock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* The lock is held, but not while parts are made. */
static void make_parts(struct hi_snapshot_labels *l, struct maker *m)
{
	struct part *p;

	while ((p = begin_part(l))) {
		pthread_mutex_unlock(&l->lock);
		make_part(m, p);
		end_part(l, p);
		pthread_mutex_lock(&l->lock);
	}
}

/* Helps until the part is made. */
static void await_part(struct hi_snapshot_labels *l, const struct part *wanted)
{
	struct part *p;

	pthread_mutex_lock(&l->lock);
	while (!wanted->done) {
		p = begin_part(l);
		if (!p) {
			pthread_cond_wait(&l->changed, &l->lock);
			continue;
		}
		pthread_mutex_unlock(&l->lock);
		make_part(&l->makers[0], p);
		end_part(l, p);
		pthread_mutex_lock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
}

static void free_part(struct part *p)
{
	hi_snapshot_strings_free(&p->strings);
	hi_vector_free(&p->values);
}

static void pass_part(struct hi_snapshot_labels *l, struct part *p)
{
	hi_snapshot_strings_free(&p->strings);
	if (!l->in->kept)
		hi_vector_free(&p->values);
	pthread_mutex_lock(&l->lock);
	l->written++;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

/* ---- the beginning and the end ---- */

static size_t list_parts(struct part *parts, size_t n, hi_node first, hi_node end)
{
	for (; first < end; n++) {
		hi_node left = end - first;

		parts[n].first = first;
		first += left < HI_CHUNK_NODES ? left : HI_CHUNK_NODES;
		parts[n].end = first;
	}
	return n;
}

static void start_makers(struct hi_snapshot_labels *l, unsigned threads)
{
	for (l->n_makers = 1; l->n_makers < threads; l->n_makers++) {
		struct maker *m = &l->makers[l->n_makers];

		if (pthread_create(&m->thread, NULL, maker_main, m) != 0)
			return;
	}
}

/* callers: makers that are no threads of their own, beside the first one. */
static enum hi_status begin_labels(const struct hi_snapshot_graph *graph,
				   unsigned callers, struct hi_snapshot_labels **ret,
				   struct hi_error *err)
{
	const struct hi_graph *g = graph->graph;
	unsigned threads = graph->threads ? graph->threads : 1;
	struct hi_snapshot_labels *l = hi_calloc(1, sizeof(*l));
	size_t most = (g->n_objects >> HI_CHUNK_SHIFT) + (g->n_roots >> HI_CHUNK_SHIFT);

	if (!l)
		return hi_fail_memory(err, "labels");
	*ret = l;
	l->in = graph;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	if (threads > MOST_HELPERS + 1)
		threads = MOST_HELPERS + 1;
	l->parts = hi_calloc(most + 2, sizeof(*l->parts));
	if (threads <= callers)
		threads = callers + 1;
	l->makers = hi_calloc(threads, sizeof(*l->makers));
	if (!l->parts || !l->makers)
		return hi_fail_memory(err, "labels");
	l->n_all = threads;
	for (unsigned i = 0; i < threads; i++)
		l->makers[i] = (struct maker){.all = l, .worker = i};
	l->n_of_objects = list_parts(l->parts, 0, 0, g->n_objects);
	l->n_parts = list_parts(l->parts, l->n_of_objects, g->first_root, g->first_kind);
	start_makers(l, threads - callers);
	return HI_OK;
}

enum hi_status hi_snapshot_labels_begin(const struct hi_snapshot_graph *graph,
					struct hi_snapshot_labels **ret,
					struct hi_error *err)
{
	return begin_labels(graph, 0, ret, err);
}

enum hi_status hi_snapshot_labels_begin_beside(const struct hi_snapshot_graph *graph,
					       struct hi_error *err)
{
	return begin_labels(graph, 1, graph->kept, err);
}

void hi_snapshot_labels_make(struct hi_snapshot_labels *l)
{
	pthread_mutex_lock(&l->lock);
	make_parts(l, &l->makers[0]);
	for (size_t i = 0; i < l->next; i++)
		while (!l->parts[i].done)
			pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

void hi_snapshot_labels_help(struct hi_snapshot_labels *l)
{
	struct maker *m = &l->makers[l->n_all - 1];

	pthread_mutex_lock(&l->lock);
	make_parts(l, m);
	pthread_mutex_unlock(&l->lock);
}

void hi_snapshot_labels_stop(struct hi_snapshot_labels *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	for (unsigned i = 1; i < l->n_makers; i++)
		pthread_join(l->makers[i].thread, NULL);
	for (unsigned i = 0; l->makers && i < l->n_all; i++)
		hi_vector_free(&l->makers[i].names);
	l->n_makers = 0;
	free(hi_take(l->makers));
	free(hi_take(l->known));
}

void hi_snapshot_labels_end(struct hi_snapshot_labels *l)
{
	if (!l)
		return;
	hi_snapshot_labels_stop(l);
	for (size_t i = 0; i < l->n_parts; i++)
		free_part(&l->parts[i]);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l->parts);
	free(l);
}

/* ---- parts become one ---- */

/* Finds the place of each string of a part among all of them. */
static enum hi_status join_strings(struct hi_snapshot_labels *l, const struct part *p,
				   struct hi_snapshot_writer *w, struct hi_error *err)
{
	const struct hi_snapshot_strings *own = &p->strings;

	if (own->size > l->n_known) {
		uint32_t *known = hi_realloc_array(l->known, own->size, sizeof(*known));

		if (!known)
			return hi_fail_memory(err, "labels");
		l->known = known;
		l->n_known = own->size;
	}
	for (size_t at = 0; at < own->size; at += strlen(own->text + at) + 1) {
		enum hi_status status =
			hi_snapshot_put_string(w, own->text + at, &l->known[at], err);

		if (status != HI_OK)
			return status;
	}
	return HI_OK;
}

/* numbers[i]: which one of all the part's i-th tail is; HI_SNAPSHOT_TAILS: none. */
static void join_tails(struct hi_snapshot_labels *l, const struct part *p,
		       uint32_t *numbers)
{
	for (uint32_t i = 0; i < p->n_tails; i++) {
		uint32_t offset = l->known[p->tails[i]], n = 0;

		while (n < l->n_tails && l->tails[n] != offset)
			n++;
		if (n == l->n_tails && n < HI_SNAPSHOT_TAILS)
			l->tails[l->n_tails++] = offset;
		numbers[i] = n;
	}
}

/* The name in one piece, where there is no room for its tail. */
static enum hi_status put_whole(const struct part *p, uint32_t value,
				struct hi_snapshot_writer *w, uint32_t *ret,
				struct hi_error *err)
{
	uint32_t own = value >> HI_SNAPSHOT_TAIL_SHIFT & (HI_SNAPSHOT_TAILS - 1);
	struct hi_edge_name name = {.kind = HI_NAME_INDEX,
				    .number = value & HI_SNAPSHOT_TAILED_MOST,
				    .text = p->strings.text + p->tails[own]};
	char buffer[HI_EDGE_TEXT];

	return hi_snapshot_put_string(w, hi_edge_name_text(&name, buffer), ret, err);
}

static enum hi_status join_value(const struct hi_snapshot_labels *l, const struct part *p,
				 const uint32_t *tails, struct hi_snapshot_writer *w,
				 uint32_t *value, struct hi_error *err)
{
	uint32_t was = *value, tail;

	if (was < HI_SNAPSHOT_INDEX) {
		*value = l->known[was];
		return HI_OK;
	}
	if (was < HI_SNAPSHOT_TAILED)
		return HI_OK;
	tail = tails[was >> HI_SNAPSHOT_TAIL_SHIFT & (HI_SNAPSHOT_TAILS - 1)];
	if (tail == HI_SNAPSHOT_TAILS)
		return put_whole(p, was, w, value, err);
	*value = HI_SNAPSHOT_TAILED | tail << HI_SNAPSHOT_TAIL_SHIFT |
		 (was & HI_SNAPSHOT_TAILED_MOST);
	return HI_OK;
}

/* They stay where they are, or are not needed any more. */
static enum hi_status append_values(const struct hi_snapshot_labels *l, struct part *p,
				    struct hi_snapshot_writer *w, struct hi_error *err)
{
	size_t size = p->values.count * sizeof(*p->values.items);

	if (l->in->kept)
		return hi_snapshot_append_lasting(w, p->values.items, size, err);
	return hi_snapshot_append_owned(w, hi_take(p->values.items), size, err);
}

static enum hi_status put_part(struct hi_snapshot_labels *l, struct part *p,
			       struct hi_snapshot_writer *w, struct hi_error *err)
{
	uint32_t tails[HI_SNAPSHOT_TAILS];
	enum hi_status status;

	await_part(l, p);
	if (p->status != HI_OK) {
		*err = p->err;
		return p->status;
	}
	status = join_strings(l, p, w, err);
	if (status == HI_OK)
		join_tails(l, p, tails);
	for (size_t i = 0; i < p->values.count && status == HI_OK; i++)
		status = join_value(l, p, tails, w, &p->values.items[i], err);
	if (status == HI_OK)
		status = append_values(l, p, w, err);
	pass_part(l, p);
	return status;
}

static enum hi_status put_column(struct hi_snapshot_labels *l,
				 struct hi_snapshot_writer *w, const char *name,
				 size_t first, size_t end, struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin_rows(w, name, err);

	for (size_t i = first; i < end && status == HI_OK; i++)
		status = put_part(l, &l->parts[i], w, err);
	return status == HI_OK ? hi_snapshot_end(w, err) : status;
}

enum hi_status hi_snapshot_put_labels(struct hi_snapshot_writer *w,
				      struct hi_snapshot_labels *l, struct hi_error *err)
{
	enum hi_status status = put_column(l, w, "edges.name", 0, l->n_of_objects, err);

	if (status == HI_OK)
		status = put_column(l, w, "roots.name", l->n_of_objects, l->n_parts, err);
	return status == HI_OK ? hi_snapshot_put_section(w, "edges.tail", l->tails,
							 l->n_tails, err)
			       : status;
}

/* Finds the names of a node's edges; NULL: it has none. */
static const uint32_t *find_values(const struct hi_snapshot_labels *l,
				   const struct hi_graph *g, hi_node node)
{
	hi_node at = node - g->first_root;
	const struct part *p;

	if (node < g->n_objects)
		return l->parts[node >> HI_CHUNK_SHIFT].values.items +
		       g->chunks[node >> HI_CHUNK_SHIFT].row[node & (HI_CHUNK_NODES - 1)];
	if (at >= g->n_roots)
		return NULL;
	p = &l->parts[l->n_of_objects + (at >> HI_CHUNK_SHIFT)];
	return p->values.items + g->root_chunk.row[at] -
	       g->root_chunk.row[p->first - g->first_root];
}

struct hi_edge_name hi_snapshot_label_put(const struct hi_snapshot_writer *w,
					  const struct hi_snapshot_labels *l,
					  const struct hi_graph *g, hi_node node,
					  uint32_t index)
{
	const uint32_t *values = find_values(l, g, node);

	return values ? hi_snapshot_label_decode(values[index],
						 hi_snapshot_strings_put(w), l->tails)
		      : (struct hi_edge_name){};
}

void hi_snapshot_label_prefetch(const struct hi_snapshot_labels *l,
				const struct hi_graph *g, hi_node object)
{
	__builtin_prefetch(find_values(l, g, object));
}
