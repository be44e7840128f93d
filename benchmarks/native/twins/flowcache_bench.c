// SPDX-License-Identifier: Apache-2.0
/*
 * flowcache_bench FILE [huge]: keeps a flow cache and updates it with reports
 * that it makes up; see flowcache_work.h for the file. With "huge", the system
 * is asked for huge pages.
 *
 * Commands, one a line; the answer is one line of JSON:
 *
 *   fill N                     the next N reports, of one flow after the other
 *   run MODE MIX LEAD N        LEAD reports that do not count, then N that do.
 *                              MODE: 0 plain, 1 prefetch; MIX: enum work_mix.
 *   thresholds WORD...         32 words, for what follows
 *   sum                        a checksum over all rows and buckets
 *
 * fill and run say how many nanoseconds a report took (elapsed or processor
 * time, whichever is less; making reports does not count), and what the
 * cache's counters were raised by. Handed-on entries and events are counted
 * and dropped.
 */
#include "detect_crc.h"
#include "flowcache_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ENTRIES = 64, EVENTS = 1024, LANES = 4 };

struct bench {
	struct work work;
	struct flowcache cache;
	struct flowcache_outbox entries, events;
	uint64_t handed_on, raised;
};

static void fail(const char *what)
{
	fprintf(stderr, "flowcache_bench: %s\n", what);
	exit(1);
}

static double now(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return at.tv_sec * 1e9 + at.tv_nsec;
}

static uint64_t counter(const struct bench *bench, uint32_t index)
{
	uint64_t value;

	memcpy(&value, bench->cache.words + FLOWCACHE_HEAD_COUNTER + 2 * index, sizeof(value));
	return value;
}

static void start(struct bench *bench, const char *path, int huge)
{
	struct flowcache sized;
	void *words;
	size_t bytes;

	work_read(&bench->work, path);
	if (!flowcache_attach(&sized, bench->work.header))
		fail("the file has the header of another layout");
	bytes = sized.size * 4;
	words = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (words == MAP_FAILED)
		fail("no memory");
	if (huge && madvise(words, bytes, MADV_HUGEPAGE))
		fail("no huge pages");
	memcpy(words, bench->work.header, FLOWCACHE_HEADER_WORDS * 4);
	flowcache_attach(&bench->cache, words);
	flowcache_empty(&bench->cache);
	bench->entries.capacity = ENTRIES;
	bench->entries.words = malloc((size_t)ENTRIES * bench->cache.bucket_stride * 4);
	bench->events.capacity = EVENTS + bench->cache.hops * bench->cache.metrics;
	bench->events.words = malloc((size_t)bench->events.capacity * FLOWCACHE_EVENT_WORDS * 4);
	if (!bench->entries.words || !bench->events.words)
		fail("no memory");
}

static void update(struct bench *bench, enum flowcache_mode mode, uint32_t to)
{
	uint32_t from = 0;

	while (from < to) {
		from = flowcache_update(&bench->cache, mode, &bench->work.batch, &bench->work.times,
					bench->work.thresholds, &bench->entries, &bench->events,
					from, to);
		bench->handed_on += bench->entries.count;
		bench->raised += bench->events.count;
		bench->entries.count = 0;
		bench->events.count = 0;
	}
}

static void run(struct bench *bench, enum flowcache_mode mode, enum work_mix mix,
		uint32_t lead, uint32_t reports)
{
	uint64_t hits = 0, inserted = 0, handed_on = 0, raised = 0;
	double elapsed = 0, used = 0;
	int64_t left = -(int64_t)lead;

	while (left < reports) {
		const int64_t end = left < 0 ? 0 : reports;
		const uint32_t count = end - left < bench->work.size ? end - left : bench->work.size;
		double wall, cpu;

		if (!left) {
			hits = counter(bench, FLOWCACHE_HITS);
			inserted = counter(bench, FLOWCACHE_INSERTED);
			handed_on = bench->handed_on;
			raised = bench->raised;
		}
		work_fill(&bench->work, mix, count);
		cpu = now(CLOCK_PROCESS_CPUTIME_ID);
		wall = now(CLOCK_MONOTONIC);
		update(bench, mode, count);
		if (left >= 0) {
			elapsed += now(CLOCK_MONOTONIC) - wall;
			used += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		}
		left += count;
	}
	printf("{\"ns\":%.4f,\"reports\":%u,\"hits\":%llu,\"inserted\":%llu,\"handedOn\":%llu,"
	       "\"events\":%llu,\"live\":%llu}\n",
	       (used < elapsed ? used : elapsed) / reports, reports,
	       (unsigned long long)(counter(bench, FLOWCACHE_HITS) - hits),
	       (unsigned long long)(counter(bench, FLOWCACHE_INSERTED) - inserted),
	       (unsigned long long)(bench->handed_on - handed_on),
	       (unsigned long long)(bench->raised - raised),
	       (unsigned long long)counter(bench, FLOWCACHE_LIVE));
}

static void sum(const struct bench *bench)
{
	const struct flowcache *cache = &bench->cache;
	uint32_t lane[LANES] = { 0 };
	size_t at;
	uint32_t k;

	for (at = cache->rows_at; at + LANES <= cache->size; at += LANES)
		for (k = 0; k < LANES; k++)
			lane[k] = (lane[k] + cache->words[at + k]) * 0x9e3779b1u + 1;
	for (k = 1; k < LANES; k++)
		lane[0] = (lane[0] ^ lane[k]) * 0x85ebca77u;
	printf("{\"checksum\":%u}\n", lane[0]);
}

static uint32_t number(void)
{
	char *end, *word = strtok(NULL, " \n");
	unsigned long value;

	if (!word)
		fail("a number is missing");
	value = strtoul(word, &end, 10);
	if (*end || value > UINT32_MAX)
		fail("not a 32-bit number");
	return value;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	char line[1024];

	if (argc != 2 && !(argc == 3 && !strcmp(argv[2], "huge"))) {
		fprintf(stderr, "usage: flowcache_bench FILE [huge]\n");
		return 2;
	}
	detect_crc_init();
	start(&bench, argv[1], argc == 3);
	while (fgets(line, sizeof(line), stdin)) {
		const char *command = strtok(line, " \n");

		if (!command)
			continue;
		if (!strcmp(command, "fill")) {
			run(&bench, FLOWCACHE_PLAIN, WORK_EACH, 0, number());
		} else if (!strcmp(command, "run")) {
			const uint32_t mode = number(), mix = number(), lead = number();

			if (mode > FLOWCACHE_PREFETCH || mix > WORK_MIXED)
				fail("a number out of range");
			run(&bench, mode, mix, lead, number());
		} else if (!strcmp(command, "thresholds")) {
			uint32_t k;

			for (k = 0; k < FLOWCACHE_THRESHOLD_WORDS; k++)
				bench.work.thresholds[k] = number();
			printf("{}\n");
		} else if (!strcmp(command, "sum")) {
			sum(&bench);
		} else {
			fail("an unknown command");
		}
		fflush(stdout);
	}
	return 0;
}
