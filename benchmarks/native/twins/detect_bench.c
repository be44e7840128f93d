// SPDX-License-Identifier: Apache-2.0
/*
 * detect_bench FILE: runs detectors over batches of decoded columns. FILE is
 * little-endian words: magic "INTC", number of batches, capacity in frames,
 * reports and hops of each, bytes of each, ten zeros; then the memory images of
 * the batches, as int_batch_init() lays them out.
 *
 * Commands, one a line; the answer is one line:
 *
 *   rule KIND SLOT THRESHOLD WEIGHT METRICS CONDITIONS
 *        (ID COLUMN SHIFT MASK)...  (METRIC AGGREGATE LOW SPAN LAST)...
 *              a new rule with zeroed registers; prints "ok"
 *   check N    N turns over all batches; prints reports, survivors, events and
 *              a checksum over all event columns
 *   pass N     the same, timed: nanoseconds per report, elapsed or processor
 *              time, whichever is less
 */
#include "detect_crc.h"
#include "detect_loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEADER_WORDS = 16, EVENT_COLUMNS = 8 };

struct workload {
	uint32_t batches;
	struct int_batch *batch;
	struct detect_events events;
};

static void fail(const char *what)
{
	fprintf(stderr, "detect_bench: %s\n", what);
	exit(1);
}

static void *allocate(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!memory)
		fail("no memory");
	return memory;
}

static void read_workload(struct workload *work, const char *path)
{
	FILE *in = fopen(path, "rb");
	uint32_t header[HEADER_WORDS];
	uint32_t capacity, k;
	uint32_t *words;

	if (!in || fread(header, sizeof(header), 1, in) != 1 || memcmp(header, "INTC", 4))
		fail("cannot read the file");
	if (header[5] != int_batch_size(header[2], header[3], header[4]))
		fail("batches of another layout");
	work->batches = header[1];
	work->batch = allocate(sizeof(*work->batch) * work->batches);
	for (k = 0; k < work->batches; k++) {
		void *memory = allocate(header[5]);

		if (fread(memory, header[5], 1, in) != 1)
			fail("the file is too short");
		int_batch_init(&work->batch[k], memory, header[2], header[3], header[4]);
	}
	fclose(in);
	capacity = header[4];
	words = allocate((size_t)capacity * EVENT_COLUMNS * 4);
	memset(words, 0, (size_t)capacity * EVENT_COLUMNS * 4);
	work->events = (struct detect_events){
		.capacity = capacity,
		.report = words,
		.rule = words + (size_t)capacity,
		.kind = words + (size_t)capacity * 2,
		.hop = words + (size_t)capacity * 3,
		.node_id = words + (size_t)capacity * 4,
		.value = words + (size_t)capacity * 5,
		.previous = words + (size_t)capacity * 6,
		.threshold = words + (size_t)capacity * 7,
	};
}

static uint32_t mix(uint32_t sum, const uint32_t *words, uint32_t count)
{
	uint32_t k;

	for (k = 0; k < count; k++)
		sum = (sum + words[k]) * 0x9e3779b1u + 1;
	return sum;
}

/* Goes on with a checksum over the cells that events of this rule define. */
static uint32_t mix_events(uint32_t sum, const struct detect_events *events,
			   enum detect_kind kind)
{
	const uint32_t count = events->count;

	sum = mix(sum, events->report, count);
	sum = mix(sum, events->rule, count);
	sum = mix(sum, events->kind, count);
	if (kind == DETECT_NOOP || kind == DETECT_PATH_CHANGE || kind == DETECT_COMPLEX)
		return sum;
	if (kind == DETECT_PER_HOP || kind == DETECT_THRESHOLD || kind == DETECT_CHANGE) {
		sum = mix(sum, events->hop, count);
		sum = mix(sum, events->node_id, count);
	}
	sum = mix(sum, events->value, count);
	if (kind != DETECT_THRESHOLD)
		sum = mix(sum, events->previous, count);
	return mix(sum, events->threshold, count);
}

static uint64_t turn(struct workload *work, const struct detect_rule *rule,
		     struct detect_state *state, uint64_t *count, uint32_t *sum)
{
	uint64_t reports = 0;
	uint32_t k;

	for (k = 0; k < work->batches; k++) {
		const struct int_batch *batch = &work->batch[k];
		const uint32_t to = batch->state[INT_STATE_REPORTS];
		uint32_t from = 0;

		while (from < to) {
			work->events.count = 0;
			from = detect_run(rule, state, batch, &work->events, from, to);
			*count += work->events.count;
			if (sum)
				*sum = mix_events(*sum, &work->events, rule->kind);
		}
		reports += to;
	}
	return reports;
}

static void check(struct workload *work, const struct detect_rule *rule,
		  struct detect_state *state, uint32_t turns)
{
	uint64_t events = 0;
	uint32_t sum = 0;

	state->reports = 0;
	state->survivors = 0;
	while (turns--)
		turn(work, rule, state, &events, &sum);
	printf("{\"reports\":%llu,\"survivors\":%llu,\"events\":%llu,\"checksum\":%u}\n",
	       (unsigned long long)state->reports, (unsigned long long)state->survivors,
	       (unsigned long long)events, sum);
}

static double now(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return at.tv_sec * 1e9 + at.tv_nsec;
}

static void pass(struct workload *work, const struct detect_rule *rule,
		 struct detect_state *state, uint32_t turns)
{
	double elapsed = now(CLOCK_MONOTONIC);
	double used = now(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t events = 0, reports = 0;

	while (turns--)
		reports += turn(work, rule, state, &events, NULL);
	elapsed = now(CLOCK_MONOTONIC) - elapsed;
	used = now(CLOCK_PROCESS_CPUTIME_ID) - used;
	printf("%.4f\n", (used < elapsed ? used : elapsed) / reports);
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

static void read_rule(struct detect_rule *rule)
{
	uint32_t k;

	memset(rule, 0, sizeof(*rule));
	rule->kind = number();
	rule->slot = number();
	rule->threshold = number();
	rule->weight = number();
	rule->metrics = number();
	rule->conditions = number();
	if (rule->kind > DETECT_COMPLEX || rule->metrics > DETECT_METRICS ||
	    rule->conditions > DETECT_CONDITIONS || rule->weight > 15)
		fail("a rule out of range");
	for (k = 0; k < rule->metrics; k++) {
		struct detect_metric *metric = &rule->metric[k];

		metric->id = number();
		metric->column = number();
		if (metric->column >= INT_HOP_COLUMNS)
			fail("a metric out of range");
	}
	for (k = 0; k < rule->conditions; k++) {
		struct detect_condition *condition = &rule->condition[k];

		condition->metric = number();
		condition->aggregate = number();
		condition->low = number();
		condition->span = number();
		condition->last = number();
		if (condition->aggregate >= DETECT_AGGREGATES ||
		    (condition->aggregate == DETECT_COUNT
			     ? condition->metric != DETECT_METRICS
			     : condition->metric >= rule->metrics))
			fail("a condition out of range");
		if (condition->aggregate == DETECT_DELTA)
			rule->metric[condition->metric].delta = 1;
	}
}

int main(int argc, char **argv)
{
	struct workload work;
	struct detect_rule rule = { .kind = DETECT_NOOP };
	struct detect_state state;
	char line[4096];

	if (argc != 2) {
		fprintf(stderr, "usage: detect_bench FILE\n");
		return 2;
	}
	detect_crc_init();
	read_workload(&work, argv[1]);
	detect_state_init(&state, &rule);
	while (fgets(line, sizeof(line), stdin)) {
		const char *command = strtok(line, " \n");

		if (!command)
			continue;
		if (!strcmp(command, "rule")) {
			read_rule(&rule);
			detect_state_free(&state);
			detect_state_init(&state, &rule);
			printf("ok\n");
		} else if (!strcmp(command, "check")) {
			check(&work, &rule, &state, number());
		} else if (!strcmp(command, "pass")) {
			pass(&work, &rule, &state, number());
		} else {
			fail("an unknown command");
		}
		fflush(stdout);
	}
	return 0;
}
