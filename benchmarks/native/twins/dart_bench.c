// SPDX-License-Identifier: Apache-2.0
/*
 * dart_bench HEADER BYTES FRAMES [huge]: keeps a store, writes it and asks it.
 * HEADER is a file with the 512 bytes of a segment's header, BYTES the size of the
 * segment, FRAMES a file of frames (- for none; below). With "huge", the system is
 * asked for huge pages.
 *
 * Commands, one a line; the answer is one line of JSON:
 *
 *   write MODE LEAD N    writes LEAD keys that do not count, then N that do
 *   query MODE LEAD N    asks for keys drawn from those that were written
 *   raw MODE LEAD N      writes N times 24 bytes to random places of a second
 *                        block of the same size: what the memory can do
 *   frames TURNS         all frames, TURNS times, to the RNIC
 *   sum                  a checksum over all slots
 *
 * MODE: 0 plain, 1 prefetch. Times are nanoseconds a key, a write or a frame,
 * elapsed or processor time, whichever is less; making keys does not count.
 *
 * FRAMES: words: number of frames, bytes of all frames; the state of the RNIC;
 * offsets; lengths; the bytes.
 */
#include "dart_rnic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Keys that are made at a time, and rows of a call. */
enum { KEYS = 8192, BATCH = 2048, VALUE_WORDS = 5, RAW_BYTES = 24, RAW_BLOCK = 64, SUM_LANES = 4 };

#define GOLDEN 0x9e3779b9u

struct bench {
	struct dart_store store;
	size_t bytes;
	int huge;
	uint32_t sequence, drawn;	/* keys written; queries asked */
	uint8_t key[KEYS * DART_FLOW_KEY_BYTES], value[KEYS * VALUE_WORDS * 4];
	uint32_t offset[KEYS], length[KEYS];
	struct dart_keys keys;
	uint8_t status[KEYS], matching[KEYS], agreeing[KEYS], answer[KEYS * VALUE_WORDS * 4];
	struct dart_answers answers;
	uint32_t checksum, found;	/* of answers */
	uint8_t *raw;
	uint64_t random;
	uint32_t raw_slots;
	struct dart_rnic rnic;
	uint32_t *state;
	struct dart_keys frames;
	uint32_t frame_count;
};

static void fail(const char *what)
{
	fprintf(stderr, "dart_bench: %s\n", what);
	exit(1);
}

static double now(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return at.tv_sec * 1e9 + at.tv_nsec;
}

static void *map(size_t bytes, int huge)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		fail("no memory");
	if (huge && madvise(memory, bytes, MADV_HUGEPAGE))
		fail("no huge pages");
	return memory;
}

static void *read_block(FILE *in, size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	if (!memory || fread(memory, 1, bytes, in) != bytes)
		fail("a file is too short");
	return memory;
}

static void read_frames(struct bench *bench, const char *path)
{
	FILE *in = fopen(path, "rb");
	uint32_t about[2];

	if (!in || fread(about, sizeof(about), 1, in) != 1)
		fail("cannot read the frames");
	bench->frame_count = about[0];
	bench->state = read_block(in, DART_RNIC_STATE_WORDS * 4);
	bench->frames.offsets = read_block(in, (size_t)about[0] * 4);
	bench->frames.lengths = read_block(in, (size_t)about[0] * 4);
	bench->frames.bytes = read_block(in, about[1]);
	fclose(in);
	dart_rnic_init(&bench->rnic, &bench->store, bench->state);
}

static void start(struct bench *bench, const char *header, size_t bytes)
{
	FILE *in = fopen(header, "rb");
	uint32_t k;
	uint8_t *segment = map(bytes, bench->huge);

	if (!in || fread(segment, DART_HEADER_BYTES, 1, in) != 1)
		fail("cannot read the header");
	fclose(in);
	if (!dart_attach(&bench->store, segment, bytes) || bench->store.value_bytes != VALUE_WORDS * 4)
		fail("another layout");
	bench->bytes = bytes;
	bench->raw_slots = bytes / RAW_BYTES;
	bench->keys = (struct dart_keys){ bench->key, bench->offset, bench->length };
	bench->answers = (struct dart_answers){ bench->status, bench->matching, bench->agreeing, bench->answer };
	for (k = 0; k < KEYS; k++) {
		bench->offset[k] = k * DART_FLOW_KEY_BYTES;
		bench->length[k] = DART_FLOW_KEY_BYTES;
	}
}

static inline uint32_t mix32(uint32_t word)
{
	word = (word ^ word >> 16) * 0x85ebca6bu;
	word = (word ^ word >> 13) * 0xc2b2ae35u;
	return word ^ word >> 16;
}

static inline void store_big32(uint8_t *to, uint32_t word)
{
	word = __builtin_bswap32(word);
	memcpy(to, &word, sizeof(word));
}

static void make_key(struct bench *bench, uint32_t row, uint32_t number)
{
	uint8_t *key = bench->key + row * DART_FLOW_KEY_BYTES;
	const uint32_t a = mix32(number);

	store_big32(key, 0x0a000000u + number);
	store_big32(key + 4, a);
	key[8] = a >> 28 & 1 ? 17 : 6;
	store_big32(key + 9, mix32(a + GOLDEN));
}

static void make_writes(struct bench *bench, uint32_t count)
{
	uint32_t row, word;

	for (row = 0; row < count; row++) {
		const uint32_t number = bench->sequence++;

		make_key(bench, row, number);
		for (word = 0; word < VALUE_WORDS; word++)
			store_big32(bench->value + (row * VALUE_WORDS + word) * 4, number * GOLDEN + word);
	}
}

static void make_queries(struct bench *bench, uint32_t count)
{
	uint32_t row;

	for (row = 0; row < count; row++)
		make_key(bench, row, mix32(bench->drawn++ ^ 0x2545f491u) % bench->sequence);
}

static void write_keys(struct bench *bench, enum dart_mode mode, uint32_t count)
{
	uint32_t from;

	for (from = 0; from < count; from += BATCH)
		dart_write(&bench->store, mode, &bench->keys, bench->value, from,
			   count - from < BATCH ? count : from + BATCH, bench->store.copies);
}

static void query_keys(struct bench *bench, enum dart_mode mode, uint32_t count)
{
	uint32_t from;

	for (from = 0; from < count; from += BATCH)
		dart_query(&bench->store, mode, &bench->keys, 1, &bench->answers, from,
			   count - from < BATCH ? count : from + BATCH);
}

static void sum_answers(struct bench *bench, uint32_t count)
{
	uint32_t row, word;

	for (row = 0; row < count; row++) {
		uint32_t sum = bench->checksum;

		sum = (sum ^ (bench->status[row] | bench->matching[row] << 8 | bench->agreeing[row] << 16)) * GOLDEN + 1;
		for (word = 0; bench->status[row] == DART_VALUE && word < VALUE_WORDS; word++) {
			uint32_t value;

			memcpy(&value, bench->answer + (row * VALUE_WORDS + word) * 4, sizeof(value));
			sum = (sum ^ value) * GOLDEN + 1;
		}
		bench->checksum = sum;
		bench->found += bench->status[row] == DART_VALUE;
	}
}

static inline uint8_t *random_place(struct bench *bench)
{
	bench->random ^= bench->random << 13;
	bench->random ^= bench->random >> 7;
	bench->random ^= bench->random << 17;
	return bench->raw + ((bench->random & 0xffffffff) * bench->raw_slots >> 32) * RAW_BYTES;
}

static inline void write_raw(uint8_t *to, uint64_t word)
{
	const uint64_t words[3] = { word, word + 1, word + 2 };

	memcpy(to, words, sizeof(words));
}

static void write_places(struct bench *bench, enum dart_mode mode, uint32_t count)
{
	uint8_t *place[2][RAW_BLOCK];
	uint32_t turn = 0, k;

	if (mode == DART_PLAIN) {
		for (k = 0; k < count; k++)
			write_raw(random_place(bench), k);
		return;
	}
	/* A whole number of blocks, as KEYS is. */
	for (k = 0; k < RAW_BLOCK; k++)
		place[0][k] = random_place(bench);
	for (; count >= RAW_BLOCK; count -= RAW_BLOCK, turn ^= 1) {
		for (k = 0; k < RAW_BLOCK; k++) {
			uint8_t *next = random_place(bench);

			place[turn ^ 1][k] = next;
			__builtin_prefetch(next, 1);
			__builtin_prefetch(next + RAW_BYTES - 1, 1);
		}
		for (k = 0; k < RAW_BLOCK; k++)
			write_raw(place[turn][k], k);
	}
}

enum what { WRITE, QUERY, RAW };

static void run(struct bench *bench, enum what what, enum dart_mode mode, uint32_t lead, uint32_t number)
{
	double elapsed = 0, used = 0;
	int64_t left = -(int64_t)lead;

	bench->checksum = 0;
	bench->found = 0;
	while (left < number) {
		const int64_t end = left < 0 ? 0 : number;
		const uint32_t count = end - left < KEYS ? end - left : KEYS;
		double wall, cpu;

		if (what == WRITE)
			make_writes(bench, count);
		else if (what == QUERY)
			make_queries(bench, count);
		cpu = now(CLOCK_PROCESS_CPUTIME_ID);
		wall = now(CLOCK_MONOTONIC);
		if (what == WRITE)
			write_keys(bench, mode, count);
		else if (what == QUERY)
			query_keys(bench, mode, count);
		else
			write_places(bench, mode, count);
		if (left >= 0) {
			elapsed += now(CLOCK_MONOTONIC) - wall;
			used += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		}
		if (what == QUERY)
			sum_answers(bench, count);
		left += count;
	}
	printf("{\"ns\":%.4f,\"found\":%u,\"checksum\":%u}\n", (used < elapsed ? used : elapsed) / number,
	       bench->found, bench->checksum);
}

static void run_raw(struct bench *bench, enum dart_mode mode, uint32_t lead, uint32_t number)
{
	if (!bench->raw) {
		bench->raw = map(bench->bytes, bench->huge);
		memset(bench->raw, 1, bench->bytes);
		bench->random = 0x9e3779b97f4a7c15u;
	}
	run(bench, RAW, mode, lead, number);
}

/* Every turn begins with the sequence numbers that the first frames have. */
static void run_frames(struct bench *bench, uint32_t turns)
{
	uint32_t first[DART_RNIC_STATE_WORDS], turn, taken = 0;
	double elapsed = 0, used = 0;

	memcpy(first, bench->state, sizeof(first));
	for (turn = 0; turn < turns; turn++) {
		const double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
		uint32_t from;

		for (from = 0; from < bench->frame_count; from += BATCH) {
			const uint32_t rest = bench->frame_count - from, to = from + (rest < BATCH ? rest : BATCH);

			taken += dart_rnic_run(&bench->rnic, &bench->frames, from, to) - from;
		}
		elapsed += now(CLOCK_MONOTONIC) - wall;
		used += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		memcpy(bench->state, first, sizeof(first));
	}
	printf("{\"ns\":%.4f,\"found\":%u,\"checksum\":0}\n",
	       (used < elapsed ? used : elapsed) / ((double)turns * bench->frame_count), taken);
}

/* Words behind the last multiple of four do not count. */
static void sum(const struct bench *bench)
{
	const size_t words = (size_t)bench->store.slots * bench->store.slot_bytes / 4;
	uint32_t lane[SUM_LANES] = { 0 }, k;
	size_t at;

	for (at = 0; at + SUM_LANES <= words; at += SUM_LANES) {
		for (k = 0; k < SUM_LANES; k++) {
			uint32_t word;

			memcpy(&word, bench->store.slot + (at + k) * 4, sizeof(word));
			lane[k] = (lane[k] + word) * 0x9e3779b1u + 1;
		}
	}
	for (k = 1; k < SUM_LANES; k++)
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

static enum dart_mode mode_number(void)
{
	const uint32_t mode = number();

	if (mode > DART_PREFETCH)
		fail("a number out of range");
	return mode;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	char line[1024];

	if (argc != 4 && !(argc == 5 && !strcmp(argv[4], "huge"))) {
		fprintf(stderr, "usage: dart_bench HEADER BYTES FRAMES [huge]\n");
		return 2;
	}
	bench.huge = argc == 5;
	start(&bench, argv[1], strtoull(argv[2], NULL, 10));
	if (strcmp(argv[3], "-"))
		read_frames(&bench, argv[3]);
	while (fgets(line, sizeof(line), stdin)) {
		const char *command = strtok(line, " \n");

		if (!command)
			continue;
		if (!strcmp(command, "sum")) {
			sum(&bench);
		} else if (!strcmp(command, "frames")) {
			run_frames(&bench, number());
		} else {
			const enum dart_mode mode = mode_number();
			const uint32_t lead = number(), count = number();

			if (!strcmp(command, "write"))
				run(&bench, WRITE, mode, lead, count);
			else if (!strcmp(command, "query") && bench.sequence)
				run(&bench, QUERY, mode, lead, count);
			else if (!strcmp(command, "raw"))
				run_raw(&bench, mode, lead, count);
			else
				fail("an unknown command");
		}
		fflush(stdout);
	}
	return 0;
}
