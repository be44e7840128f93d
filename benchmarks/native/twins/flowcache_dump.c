// SPDX-License-Identifier: Apache-2.0
/*
 * flowcache_dump FILE [prefetch]: updates a cache with batches and writes what
 * came of it to standard output: the cache, the number of entries and of events
 * handed on, the entries, the events. Little-endian words throughout.
 *
 * FILE: magic "INTK"; words of the cache; number of batches; capacity in
 * frames, reports and hops of each; bytes of each; records that fit into the
 * outboxes for entries and for events; rows of the times (0: none); seven
 * zeros. Then the cache, the thresholds (32 words), and for each batch: first
 * row of its times, rows from and to, a zero; its memory as int_batch_init()
 * lays it out; upper words of the times, lower words.
 */
#include "detect_crc.h"
#include "flowcache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_WORDS = 16, BATCH_WORDS = 4 };

/* Records that left the outboxes. */
struct records {
	uint32_t *words;
	size_t size, count;	/* in words */
	uint32_t number;
};

static void fail(const char *what)
{
	fprintf(stderr, "flowcache_dump: %s\n", what);
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
	void *memory = allocate(bytes);

	if (fread(memory, 1, bytes, in) != bytes)
		fail("the file is too short");
	return memory;
}

static void take(struct records *records, struct flowcache_outbox *outbox, uint32_t stride)
{
	const size_t words = (size_t)outbox->count * stride;

	while (records->count + words > records->size) {
		records->size = records->size ? 2 * records->size : 1 << 16;
		records->words = realloc(records->words, records->size * 4);
		if (!records->words)
			fail("no memory");
	}
	if (words)
		memcpy(records->words + records->count, outbox->words, words * 4);
	records->count += words;
	records->number += outbox->count;
	outbox->count = 0;
}

static void write_words(const void *words, size_t count)
{
	if (count && fwrite(words, 4, count, stdout) != count)
		fail("cannot write");
}

int main(int argc, char **argv)
{
	struct flowcache cache;
	struct flowcache_outbox entries, events;
	struct records handed_on = { 0 }, raised = { 0 };
	enum flowcache_mode mode = argc == 3 ? FLOWCACHE_PREFETCH : FLOWCACHE_PLAIN;
	uint32_t header[FILE_WORDS], *words, *thresholds, number;
	FILE *in;

	if (argc != 2 && !(argc == 3 && !strcmp(argv[2], "prefetch"))) {
		fprintf(stderr, "usage: flowcache_dump FILE [prefetch]\n");
		return 2;
	}
	detect_crc_init();
	in = fopen(argv[1], "rb");
	if (!in || fread(header, sizeof(header), 1, in) != 1 || memcmp(header, "INTK", 4))
		fail("cannot read the file");
	words = read_block(in, (size_t)header[1] * 4);
	thresholds = read_block(in, FLOWCACHE_THRESHOLD_WORDS * 4);
	if (header[1] < FLOWCACHE_HEADER_WORDS || !flowcache_attach(&cache, words) ||
	    cache.size != header[1] || header[6] != int_batch_size(header[3], header[4], header[5]))
		fail("another layout");
	entries = (struct flowcache_outbox){
		.capacity = header[7],
		.words = allocate((size_t)header[7] * cache.bucket_stride * 4),
	};
	events = (struct flowcache_outbox){
		.capacity = header[8],
		.words = allocate((size_t)header[8] * FLOWCACHE_EVENT_WORDS * 4),
	};
	if (!entries.capacity || events.capacity < cache.hops * cache.metrics + 2)
		fail("outboxes too small for one report");
	for (number = 0; number < header[2]; number++) {
		uint32_t *about = read_block(in, BATCH_WORDS * 4);
		void *memory = read_block(in, header[6]);
		uint32_t *high = read_block(in, (size_t)header[9] * 4);
		uint32_t *low = read_block(in, (size_t)header[9] * 4);
		struct flowcache_times times = { 0 };
		struct int_batch batch;
		uint32_t row = about[1];

		int_batch_init(&batch, memory, header[3], header[4], header[5]);
		if (header[9])
			times = (struct flowcache_times){ high, low, about[0] };
		while (row < about[2]) {
			row = flowcache_update(&cache, mode, &batch, &times, thresholds, &entries,
					       &events, row, about[2]);
			take(&handed_on, &entries, cache.bucket_stride);
			take(&raised, &events, FLOWCACHE_EVENT_WORDS);
		}
		free(about);
		free(memory);
		free(high);
		free(low);
	}
	fclose(in);
	write_words(words, cache.size);
	write_words(&handed_on.number, 1);
	write_words(&raised.number, 1);
	write_words(handed_on.words, handed_on.count);
	write_words(raised.words, raised.count);
	free(handed_on.words);
	free(raised.words);
	free(entries.words);
	free(events.words);
	free(thresholds);
	free(words);
	return 0;
}
