/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a table may be read. Lengths come from the target, and the table may belong
 * to another object, or to none.
 *
 * Note [Tables and their blocks]
 *
 * The items of a list, dict or set lie in a block of their own. They are read up to the
 * end of that block, whatever length the object has; where the block is another object,
 * or free, nothing is read. Outside of all known heaps (in the data of a module, in the
 * heap of an unknown allocator) the mapping is the bound.
 *
 * Objects that share one table would be read once for each of them. A sound heap has an
 * owner for each table, so that all together have no more bytes than the image. The pass
 * that finds types adds up what all objects would read; if that is more than it can be,
 * each gets the same share (hi_py_type_of). So the work is linear in the heap's size, and
 * does not depend on the order of objects or on threads.
 */
#include "base/search.h"
#include "decode/runtimes/cpython.h"

enum { MAX_IN_FRONT = 64 }; /* of a table: a header of an allocator, sizes of values */

bool hi_py_is_cycle(struct hi_py_chain *chain, uint64_t at)
{
	if (at == chain->mark)
		return true;
	chain->n++;
	if ((chain->n & (chain->n - 1)) == 0)
		chain->mark = at;
	return false;
}

static bool is_in_region(const struct hi_objects *objects, uint64_t addr)
{
	uint32_t low = hi_search(i, objects->n_regions, objects->regions[i].end <= addr);

	return low < objects->n_regions && objects->regions[low].start <= addr;
}

static uint64_t room_in_mapping(const struct hi_py *py, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(py->image, addr);

	return m ? m->end - addr : 0;
}

/* A table may look like an object: where its first word is an address (that is no count
 * of references), or by what is left of an object that was there before, whose count is
 * zero. */
static bool holds_object(struct hi_runtime_cursor *c, uint64_t block, uint64_t size)
{
	struct hi_py_object o;

	return hi_py_object_in(c, block, size, &o) && o.refcnt &&
	       !hi_image_mapping_at(c->py->image, o.refcnt);
}

static uint64_t room_in_block(struct hi_runtime_cursor *c, hi_node id, uint64_t addr)
{
	const struct hi_objects *objects = c->py->base.objects;
	uint64_t block = hi_objects_address(objects, id);
	uint64_t size = hi_objects_usable(objects, id), start = block, room = size;

	hi_py_skip_marks(c, &start, &room);
	if (addr < start || addr - start > MAX_IN_FRONT || addr - start >= room ||
	    holds_object(c, block, size))
		return 0;
	return start + room - addr;
}

static uint64_t room_in_stack(const struct hi_py *py, uint64_t addr)
{
	size_t low = hi_search(i, py->own.count, py->own.items[i].start <= addr);

	return low && py->own.items[low - 1].end > addr
		       ? py->own.items[low - 1].end - addr
		       : 0;
}

/* Free memory of a known heap, and stacks of frames. _PyRuntime has objects of its own.
 */
static bool has_no_tables(const struct hi_py *py, uint64_t addr)
{
	return (py->base.objects && is_in_region(py->base.objects, addr)) ||
	       (addr - py->runtime >= py->runtime_size && room_in_stack(py, addr));
}

/* Bytes from addr to the end of what holds it: a block, where another one's table may
 * not begin (0), or else a mapping. */
static uint64_t room_behind(struct hi_runtime_cursor *c, uint64_t addr)
{
	const struct hi_objects *objects = c->py->base.objects;
	hi_node id = objects ? hi_objects_find(objects, addr, NULL) : HI_NODE_NONE;

	if (id != HI_NODE_NONE)
		return room_in_block(c, id, addr);
	return has_no_tables(c->py, addr) ? 0 : room_in_mapping(c->py, addr);
}

uint64_t hi_py_room_inside(struct hi_runtime_cursor *c, uint64_t addr)
{
	const struct hi_objects *objects = c->py->base.objects;
	uint64_t offset = 0, room = room_in_stack(c->py, addr);
	hi_node id;

	if (room)
		return room;
	id = objects ? hi_objects_find(objects, addr, &offset) : HI_NODE_NONE;
	if (id != HI_NODE_NONE)
		return hi_objects_usable(objects, id) - offset;
	return objects && is_in_region(objects, addr) ? 0 : room_in_mapping(c->py, addr);
}

uint64_t hi_py_bound(struct hi_py_visit *v, uint64_t addr, uint64_t head, uint64_t n,
		     uint64_t size)
{
	uint64_t share = v->share ? v->share : v->c->py->share, room, left;

	if (n == 0)
		return 0;
	room = room_behind(v->c, addr);
	room = room > head ? (room - head) / size : 0;
	left = share > v->used ? (share - v->used) / size : 0;
	room = room < left ? room : left;
	if (n > room) {
		v->is_cut = true;
		n = room;
	}
	v->used += n * size;
	return n;
}
