/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seed of fuzz_program, committed as fuzz_program/program:
 *	gcc -g1 -gdwarf-5 -Os …  (fuzz/seeds/make)
 */
struct node {
	struct node *next;
	int value;
};

static struct node nodes[4] = {{&nodes[1], 1}, {&nodes[2], 2}, {&nodes[3], 3}, {0, 4}};
static int total;

static inline int twice(int x)
{
	return x * 2 + total;
}

__attribute__((noinline)) int visit(struct node *node, int depth)
{
	int sum = 0;

	__asm__ volatile(".pushsection .note.stapsdt,\"\",\"note\"\n"
			 ".balign 4\n.4byte 8, 992f-991f, 3\n"
			 ".asciz \"stapsdt\"\n"
			 "991: .8byte 990f, 0, 0\n"
			 ".asciz \"fuzz\"\n.asciz \"visit\"\n.asciz \"8@%%rdi\"\n"
			 "992: .balign 4\n.popsection\n990: nop");
	for (; node && depth; node = node->next, depth--)
		sum += twice(node->value);
	return sum;
}

void *malloc(unsigned long size)
{
	static char heap[64];

	return size < sizeof(heap) ? heap : 0;
}

void free(void *block)
{
	total -= block != 0;
}

void _start(void)
{
	total = visit(nodes, 3);
	free(malloc(4));
	for (;;)
		__asm__ volatile("");
}
