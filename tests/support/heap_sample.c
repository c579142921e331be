/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/heap_sample.h"

struct heap_sample heap_sample_make(unsigned minor)
{
	struct heap_sample s = {.h = hi_mock_heap_create(minor, 132 << 10)};
	struct hi_mock_heap *h = s.h;

	s.live[0] = hi_mock_heap_malloc(h, 1);
	for (int i = 0; i < 3; i++)
		s.tcache[i] = hi_mock_heap_malloc(h, i < 2 ? 40 : 1000);
	s.live[1] = hi_mock_heap_malloc(h, 24);
	for (int i = 0; i < 3; i++)
		s.fast[i] = hi_mock_heap_malloc(h, i < 2 ? 40 : 100);
	s.live[2] = hi_mock_heap_malloc(h, 5000);
	s.bin[0] = hi_mock_heap_malloc(h, 2000);
	s.live[3] = hi_mock_heap_malloc(h, 25);
	s.bin[1] = hi_mock_heap_malloc(h, 300);
	s.live[4] = hi_mock_heap_malloc(h, 8);
	for (int i = 0; i < 3; i++) {
		hi_mock_heap_free_to_tcache(h, s.tcache[i]);
		hi_mock_heap_free_to_fastbin(h, s.fast[i]);
	}
	hi_mock_heap_free_to_bin(h, s.bin[0]);
	hi_mock_heap_free_to_bin(h, s.bin[1]);
	s.mmapped = hi_mock_heap_mmap(h, 49, 0);
	s.aligned = hi_mock_heap_mmap(h, 40, 0x8000);
	s.arena = hi_mock_heap_add_arena(h, &s.arena_block);
	s.live[5] = s.arena_block;
	hi_mock_heap_finish(h);
	return s;
}
