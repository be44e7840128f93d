// SPDX-License-Identifier: Apache-2.0
/*
 * dart_dump FILE [prefetch]: does what FILE says with a store, and writes what
 * came of it to standard output: the whole segment, then the state of the RNIC if
 * there is one, then the answers in order. Little-endian words throughout.
 *
 * FILE: magic "INTD", bytes of the segment, number of operations, words of the
 * RNIC's state (0: none), twelve zeros; the segment's header; the state. Then for
 * each operation: what (see below), rows, a number, bytes of all keys, four
 * zeros; offsets and lengths of the keys; the keys; the values; a byte per row.
 * Keys, values and bytes are filled up to whole words each.
 *
 * | what | number | answer, per row |
 * |---|---|---|
 * | 0 write | copies | none |
 * | 1 write into the slot that the byte says | | none |
 * | 2 query | policy | status, matching, agreeing, a zero; the value, or zeros |
 * | 3 frames, in place of keys, to the RNIC | | a byte: 1 if it took the frame |
 */
#include "dart_rnic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_WORDS = 16, OPERATION_WORDS = 8 };
enum { WRITE, WRITE_COPY, QUERY, FRAMES };

static void fail(const char *what)
{
	fprintf(stderr, "dart_dump: %s\n", what);
	exit(1);
}

/* Blocks of their exact size, so that a sanitizer sees what reads beyond them. */
static void *allocate(size_t bytes)
{
	void *memory = NULL;

	if (posix_memalign(&memory, 64, bytes ? bytes : 1))
		fail("no memory");
	return memory;
}

static void *read_block(FILE *in, size_t bytes)
{
	uint8_t *memory = allocate(bytes), padding[4];
	const size_t filled = -bytes & 3;

	if (fread(memory, 1, bytes, in) != bytes || fread(padding, 1, filled, in) != filled)
		fail("the file is too short");
	return memory;
}

static void write_block(const void *bytes, size_t count)
{
	if (count && fwrite(bytes, 1, count, stdout) != count)
		fail("cannot write");
}

/* What is written in the end. */
static struct { uint8_t *bytes; size_t count, size; } answers;

static void keep(const void *bytes, size_t count)
{
	if (answers.count + count > answers.size) {
		answers.size = 2 * (answers.count + count);
		answers.bytes = realloc(answers.bytes, answers.size);
		if (!answers.bytes)
			fail("no memory");
	}
	memcpy(answers.bytes + answers.count, bytes, count);
	answers.count += count;
}

static void query(const struct dart_store *store, enum dart_mode mode, const struct dart_keys *keys,
		  uint32_t policy, uint32_t rows)
{
	const struct dart_answers out = {
		.status = allocate(rows),
		.matching = allocate(rows),
		.agreeing = allocate(rows),
		.values = allocate((size_t)rows * store->value_bytes),
	};
	uint32_t row;

	dart_query(store, mode, keys, policy, &out, 0, rows);
	for (row = 0; row < rows; row++) {
		uint8_t *value = out.values + (size_t)row * store->value_bytes;
		const uint8_t about[4] = { out.status[row], out.matching[row], out.agreeing[row], 0 };

		if (out.status[row] != DART_VALUE)
			memset(value, 0, store->value_bytes);
		keep(about, sizeof(about));
		keep(value, store->value_bytes);
	}
	free(out.status);
	free(out.matching);
	free(out.agreeing);
	free(out.values);
}

static void receive(struct dart_rnic *rnic, const struct dart_keys *frames, uint32_t rows)
{
	uint32_t row = 0;

	while (row < rows) {
		const uint32_t end = dart_rnic_run(rnic, frames, row, rows);

		for (; row < end; row++)
			keep("\1", 1);
		if (row < rows) {
			keep("", 1);
			row++;
		}
	}
}

int main(int argc, char **argv)
{
	const enum dart_mode mode = argc == 3 ? DART_PREFETCH : DART_PLAIN;
	static struct dart_rnic rnic;
	struct dart_store store;
	uint32_t about[FILE_WORDS], *header, *state, operation;
	uint8_t *segment;
	FILE *in;

	if (argc != 2 && !(argc == 3 && !strcmp(argv[2], "prefetch"))) {
		fprintf(stderr, "usage: dart_dump FILE [prefetch]\n");
		return 2;
	}
	in = fopen(argv[1], "rb");
	if (!in || fread(about, sizeof(about), 1, in) != 1 || memcmp(about, "INTD", 4) ||
	    about[1] < DART_HEADER_BYTES || (about[3] && about[3] != DART_RNIC_STATE_WORDS))
		fail("cannot read the file");
	segment = allocate(about[1]);
	memset(segment, 0, about[1]);
	header = read_block(in, DART_HEADER_BYTES);
	memcpy(segment, header, DART_HEADER_BYTES);
	state = read_block(in, (size_t)about[3] * 4);
	if (!dart_attach(&store, segment, about[1]))
		fail("another layout");
	if (about[3])
		dart_rnic_init(&rnic, &store, state);
	for (operation = 0; operation < about[2]; operation++) {
		uint32_t *what = read_block(in, OPERATION_WORDS * 4);
		const uint32_t rows = what[1];
		uint32_t *offsets = read_block(in, (size_t)rows * 4), *lengths = read_block(in, (size_t)rows * 4);
		uint8_t *bytes = read_block(in, what[3]);
		uint8_t *values = read_block(in, what[0] <= WRITE_COPY ? (size_t)rows * store.value_bytes : 0);
		uint8_t *which = read_block(in, what[0] == WRITE_COPY ? rows : 0);
		const struct dart_keys keys = { bytes, offsets, lengths };

		if (what[0] == WRITE)
			dart_write(&store, mode, &keys, values, 0, rows, what[2]);
		else if (what[0] == WRITE_COPY)
			dart_write_copy(&store, mode, &keys, values, which, 0, rows);
		else if (what[0] == QUERY)
			query(&store, mode, &keys, what[2], rows);
		else if (what[0] == FRAMES && about[3])
			receive(&rnic, &keys, rows);
		else
			fail("an unknown operation");
		free(what);
		free(offsets);
		free(lengths);
		free(bytes);
		free(values);
		free(which);
	}
	fclose(in);
	write_block(segment, about[1]);
	write_block(state, (size_t)about[3] * 4);
	write_block(answers.bytes, answers.count);
	dart_detach(&store);
	free(answers.bytes);
	free(header);
	free(state);
	free(segment);
	return 0;
}
