/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/heap_profile/hp_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The words with which lines of the format begin. */
static const char *const words[] = {
	"JOB", "DATE", "SAMPLE_UNIT", "VALUE_UNIT", "BEGIN_SAMPLE", "END_SAMPLE", "MARK"};

static bool is_reserved_label(const char *label)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(label, words[i]) == 0)
			return true;
	return false;
}

/* Copies text into size bytes; what does not fit ends in "...", not in the middle of
 * a character. False if something is missing. */
static bool cut_label_text(char *out, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n < size) {
		memcpy(out, text, n + 1);
		return true;
	}
	n = size - 4;
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	memcpy(out, text, n);
	memcpy(out + n, "...", 4);
	return false;
}

/* The name without white space, control bytes, double quotes and bytes that are no
 * UTF-8. False if something is missing. */
static bool clean_label_text(char *out, size_t size, const char *name)
{
	char safe[4 * HI_HP_LABEL_SIZE + 8], part[HI_HP_LABEL_SIZE];
	size_t n = strnlen(name, sizeof(part));

	for (size_t i = 0; i < n; i++) {
		part[i] = name[i];
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f)
			part[i] = '_';
		else if (name[i] == '"')
			part[i] = '\'';
	}
	hi_text_escape(safe, sizeof(safe), part, n);
	return cut_label_text(out, size, safe) && n < sizeof(part);
}

/* "(71)…" is how the label of a set begins. */
static bool looks_like_a_set(const char *label)
{
	return label[0] == '(' && label[1] >= '0' && label[1] <= '9';
}

/* The label of a name that has none yet, and its number, 0 if it needs none. */
static void make_hp_label(struct hi_hp_labels *labels, const char *name,
			  char out[HI_HP_LABEL_SIZE], uint64_t *number_ret)
{
	char text[HI_HP_LABEL_MAX + 1];
	bool whole =
		clean_label_text(text, sizeof(text), name) && !looks_like_a_set(text);

	*number_ret = 0;
	if (!text[0])
		strcpy(text, "(unnamed)");
	snprintf(out, HI_HP_LABEL_SIZE, "%s%s", text, is_reserved_label(text) ? "_" : "");
	while (!whole ||
	       hi_hp_names_find(&labels->taken, out, strlen(out)) != HI_HP_NO_NAME) {
		whole = true;
		*number_ret = ++labels->numbers;
		snprintf(out, HI_HP_LABEL_SIZE, "(n%" PRIu64 ")%s", *number_ret, text);
	}
}

bool hi_hp_label_of_name(struct hi_hp_labels *labels, const char *name,
			 struct hi_hp_label *ret)
{
	uint32_t i = hi_hp_names_find(&labels->names, name, strlen(name)), taken;
	struct hi_hp_label label = {};
	char text[HI_HP_LABEL_SIZE];

	if (i != HI_HP_NO_NAME) {
		*ret = labels->of_name.items[i];
		return true;
	}
	make_hp_label(labels, name, text, &label.number);
	if (!hi_vector_reserve(&labels->of_name, labels->of_name.count + 1))
		return false;
	taken = hi_hp_names_add(&labels->taken, text, strlen(text));
	if (taken == HI_HP_NO_NAME)
		return false;
	/* Last: a name is in it only when its label is. */
	if (hi_hp_names_add(&labels->names, name, strlen(name)) == HI_HP_NO_NAME)
		return false;
	label.text = labels->taken.texts.items[taken];
	labels->of_name.items[labels->of_name.count++] = label;
	*ret = label;
	ret->is_new = true;
	return true;
}

/* "(71)a,b": what does not fit ends in "...". */
static void make_set(char out[HI_HP_LABEL_SIZE], uint64_t set, const char *const *members,
		     size_t n)
{
	char all[HI_HP_LABEL_MAX + 64] = "", text[HI_HP_LABEL_MAX + 1];
	size_t used = 0;

	for (size_t i = 0; i < n && used < HI_HP_LABEL_MAX + 8; i++) {
		if (i)
			all[used++] = ',';
		clean_label_text(all + used, sizeof(all) - used - 8, members[i]);
		used += strlen(all + used);
	}
	all[used] = 0;
	cut_label_text(text, sizeof(text), all);
	snprintf(out, HI_HP_LABEL_SIZE, "(%" PRIu64 ")%s", set, text);
}

bool hi_hp_label_of_set(struct hi_hp_labels *labels, uint64_t set,
			const char *const *members, size_t n, struct hi_hp_label *ret)
{
	char text[HI_HP_LABEL_SIZE];
	uint64_t i;

	*ret = (struct hi_hp_label){.number = set};
	if (!hi_table_get(&labels->sets, set, &i)) {
		make_set(text, set, members, n);
		i = hi_hp_names_add(&labels->taken, text, strlen(text));
		if (i == HI_HP_NO_NAME || !hi_table_put(&labels->sets, set, i))
			return false;
		ret->is_new = true;
	}
	ret->text = labels->taken.texts.items[i];
	return true;
}

void hi_hp_labels_free(struct hi_hp_labels *labels)
{
	hi_hp_names_free(&labels->names);
	hi_hp_names_free(&labels->taken);
	hi_vector_free(&labels->of_name);
	hi_table_free(&labels->sets);
}
