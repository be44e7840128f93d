// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the prefilter, compiled for the host, on valid, mutated, cut and random
 * frames, each in a block of its own exact size, for the sanitizers to watch; and
 * compares it with the decoder and the detectors in twins/: the same frames are
 * reports, and the same rule finds the same events and leaves the same state.
 *
 * prefilter_fuzz [SEED [FRAMES]]
 */
#include "decode_report2.h"
#include "detect_crc.h"
#include "detect_loops.h"
#include "../../../native-afxdp/xdp/prefilter.bpf.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REPORT_PORT = 32766,
	INT_PORT = 5000,
	LONGEST = 2048,
	EVENTS = 64,
};

static uint64_t random_state;

static uint32_t next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

static uint32_t frame_number;

static void fail(const char *what)
{
	fprintf(stderr, "frame %u: %s\n", frame_number, what);
	exit(1);
}

/* The maps. */
static struct cpu cpu_value;
static struct prefilter_rule_set sets_value[2];
static uint64_t *hops_value;
static uint32_t *switch_value;
static uint32_t *flow_value;
static struct prefilter_average *average_value;
static uint8_t meta_value[32];
static int has_meta;

void *bpf_map_lookup_elem(void *map, const void *key)
{
	const uint32_t index = *(const uint32_t *)key;

	if (map == &totals)
		return index < 1 ? &cpu_value : NULL;
	if (map == &rule_sets)
		return index < 2 ? &sets_value[index] : NULL;
	if (map == &filtered_hops)
		return index < DETECT_SWITCH_CELLS ? &hops_value[index] : NULL;
	if (map == &switch_state)
		return index < DETECT_SWITCH_CELLS ? &switch_value[index] : NULL;
	if (map == &flow_state)
		return index < DETECT_FLOW_CELLS ? &flow_value[index] : NULL;
	if (map == &average_state)
		return index < DETECT_FLOW_CELLS ? &average_value[index] : NULL;
	fail("an unknown map");
	return NULL;
}

long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	(void)map;
	(void)key;
	(void)value;
	(void)flags;
	return -1;
}

/* Even queues have a socket. */
long bpf_redirect_map(void *map, uint64_t key, uint64_t flags)
{
	(void)map;
	return key % 2 ? (long)flags : XDP_REDIRECT;
}

/*
 * Meta data are at a place of their own here, so that the sanitizer sees what is
 * read before the frame; they have to be what the program asked for.
 */
long bpf_xdp_adjust_meta(struct xdp_md *ctx, int delta)
{
	if (delta != -32)
		fail("meta data of another size");
	has_meta = 1;
	ctx->data_meta = (address)meta_value;
	ctx->data = (address)(meta_value + 32);
	return 0;
}

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static unsigned int block_words(uint32_t bitmap)
{
	return __builtin_popcount(bitmap) + __builtin_popcount(bitmap & 0x0e00);
}

/* What a frame was built as, beyond what the decoder in twins/ takes. */
struct shape {
	uint32_t beyond;	/* the twin refuses it: VLAN tags, options, IPv6, TCP, inserted UDP */
	uint32_t hops;		/* with the reporting node's own */
};

/* Words that are often missing, often the same, sometimes large. */
static void put_word(uint8_t *at)
{
	uint32_t kind = next() % 16, value = next() % 200;

	if (kind == 0)
		value = 0xffffffff;
	else if (kind == 1)
		value = next() << 16 ^ next();
	at[0] = value >> 24;
	at[1] = value >> 16;
	put16(at + 2, value);
}

/* A frame with a valid report; its length. */
static uint32_t build(uint8_t *out, struct shape *shape)
{
	static const uint16_t bitmaps[] = { 0x8000, 0xb000, 0xf000, 0xf1c1, 0xffff, 0x9c00, 0x2000 };
	const uint32_t bitmap = next() & 3 ? bitmaps[next() % 7] : (next() & 0xffff) | 1;
	const uint32_t bits = next() & 3 ? 0 : next() & 0x7ffe;
	const unsigned int words = block_words(bitmap), own = block_words(bits);
	const unsigned int most = 200 / words > 32 ? 32 : 200 / words;
	const unsigned int hops = next() & 7 ? next() % 7 % (most + 1) : next() % (most + 1);
	const unsigned int type = 3 + next() % 2, tags = next() & 7 ? 0 : 1 + next() % 2;
	const unsigned int options = next() & 15 ? 0 : next() % 11, outer6 = !(next() & 7);
	const unsigned int inner6 = !(next() & 7), tcp = !(next() & 7), dscp = tcp || !(next() & 3);
	const unsigned int inserted = !dscp && !(next() & 7);
	uint8_t *at = out, *ip, *l4, *shim, *report;
	uint32_t size, k;

	shape->beyond = tags || options || outer6 || inner6 || tcp || inserted;
	shape->hops = hops + !!bits;
	memset(out, 0, LONGEST);
	at += 12;
	for (k = 0; k < tags; k++, at += 4)
		put16(at, next() & 1 ? 0x8100 : 0x88a8);
	put16(at, outer6 ? 0x86dd : 0x0800);
	ip = at + 2;
	at = ip + (outer6 ? 40 : 20 + 4 * options);
	report = at + 8;
	size = 20 + 4 * own + (type == 3 ? 14 : 0) + (inner6 ? 40 : 20) + (tcp ? 20 : 8) + 16 +
	       4 * words * hops + (inserted ? 4 : 0);
	size = 12 + (size - 12 + 3 + next() % 9) / 4 * 4;
	if (outer6) {
		ip[0] = 0x60;
		put16(ip + 4, 8 + size);
		ip[6] = 17;
	} else {
		ip[0] = 0x45 + options;
		put16(ip + 2, 28 + 4 * options + size);
		ip[9] = 17;
	}
	put16(at + 2, REPORT_PORT);
	put16(at + 4, 8 + size);

	at = report;
	for (k = 0; k < size; k++)
		at[k] = next();
	at[0] = 0x20 | (at[0] & 15);
	put_word(at + 4);
	at[8] = 0x10 | (type == 3 ? 3 : inner6 ? 5 : 4);
	at[9] = (size - 12) / 4;
	at[10] = own;
	at[11] |= 0x20;
	put16(at + 12, bits);
	put16(at + 16, 0);
	for (k = 0; k < own; k++)
		put_word(at + 20 + 4 * k);
	ip = at + 20 + 4 * own;
	if (type == 3) {
		put16(ip + 12, inner6 ? 0x86dd : 0x0800);
		ip += 14;
	}
	l4 = ip + (inner6 ? 40 : 20);
	shim = l4 + (tcp ? 20 : 8);
	/* Few flows. */
	if (inner6) {
		put16(ip, 0x6000 | (dscp ? 0x17 << 6 : 0) | (next() & 15));
		put16(ip + 4, next() & 1 ? 1500 : shim + 16 + 4 * words * hops + 8 - l4);
		ip[6] = tcp ? 6 : 17;
		for (k = 8; k < 40; k++)
			ip[k] = next() & 1;
	} else {
		ip[0] = 0x45;
		ip[1] = dscp ? 0x17 << 2 | (next() & 3) : 0;
		put16(ip + 2, next() & 1 ? 1500 : shim + 16 + 4 * words * hops + 8 - ip);
		put16(ip + 6, 0x4000);
		ip[9] = tcp ? 6 : 17;
		for (k = 12; k < 20; k++)
			ip[k] = next() & 1;
	}
	put16(l4, next() & 1);
	put16(l4 + 2, dscp ? 80 : INT_PORT);
	if (tcp)
		l4[12] = 0x50;
	shim[0] = dscp ? 0x10 : 0x14;
	shim[1] = 3 + words * hops;
	if (!dscp)
		put16(shim + 2, 80 + (next() & 1));
	if (inserted) {
		static const uint8_t protocols[] = { 1, 6, 17, 58, 132, 136, 255 };

		shim[0] = 0x18;
		shim[3] = protocols[next() % sizeof(protocols)];
		put16(shim + 16 + 4 * words * hops, next() & 1);
		put16(shim + 18 + 4 * words * hops, next() & 1);
	}
	shim[4] = 0x20 | (shim[4] & 15);
	shim[6] = (shim[6] & 0xe0) | words;
	put16(shim + 8, bitmap);
	put16(shim + 12, 0);
	for (k = 0; k < words * hops; k++)
		put_word(shim + 16 + 4 * k);
	/* Switch ids: few, two of which share a cell. */
	for (k = 0; k < hops && bitmap & 0x8000; k++)
		put16(shim + 16 + 4 * words * k, next() & 3 ? 0 : DETECT_SWITCH_CELLS >> 16);
	return report + size - out;
}

/* Twin and reference. */
static struct int_settings settings = { 1, REPORT_PORT, { INT_PORT, INT_NO_PORT }, 0xfc, 0x17 << 2 };
static struct int_plans *plans;
static struct int_batch batch;
static struct detect_rule detect;
static struct detect_state reference;
static struct detect_events events;

/* Instruction bits, words and columns of metrics. */
static const struct {
	uint8_t bit, word, shift, column;
	uint32_t mask;
} metrics[] = {
	{ 0, 0, 0, 0, 0xffffffff },  { 1, 0, 16, 1, 0xffff },	 { 1, 0, 0, 2, 0xffff },
	{ 2, 0, 0, 3, 0xffffffff },  { 3, 0, 0, 5, 0xffffff },	 { 3, 0, 24, 4, 0xff },
	{ 7, 0, 0, 12, 0xffffffff }, { 8, 0, 0, 14, 0xffffff }, { 9, 0, 0, 19, 0xffffffff },
	{ 14, 0, 0, 24, 0xffffffff },
};

/* One rule for all frames to come, with all state forgotten. */
static void new_rule(void)
{
	static const uint8_t kinds[] = { PREFILTER_NOOP, PREFILTER_PER_HOP, PREFILTER_PER_FLOW,
					 PREFILTER_MOVING_AVERAGE, PREFILTER_THRESHOLD };
	struct prefilter_rule *rule = &sets_value[1].rules[0];
	const uint32_t metric = next() & 1 ? 3 : next() % (sizeof(metrics) / sizeof(metrics[0]));

	memset(sets_value, 0, sizeof(sets_value));
	memset(hops_value, 0, DETECT_SWITCH_CELLS * sizeof(*hops_value));
	memset(switch_value, 0, DETECT_SWITCH_CELLS * sizeof(*switch_value));
	memset(flow_value, 0, DETECT_FLOW_CELLS * sizeof(*flow_value));
	memset(average_value, 0, DETECT_FLOW_CELLS * sizeof(*average_value));
	memset(&cpu_value, 0, sizeof(cpu_value));
	config.active = 1;
	sets_value[1].count = 1;
	sets_value[1].generation = next();
	rule->kind = kinds[next() % sizeof(kinds)];
	rule->weight = next() & 15;
	rule->bit = metrics[metric].bit;
	rule->word = metrics[metric].word;
	rule->shift = metrics[metric].shift;
	rule->mask = metrics[metric].mask;
	rule->threshold = next() & 7 ? next() % 200 : next();

	detect_state_free(&reference);
	memset(&detect, 0, sizeof(detect));
	detect.kind = (enum detect_kind)rule->kind;
	detect.threshold = rule->threshold;
	detect.weight = rule->weight;
	detect.metrics = 1;
	detect.metric[0].column = metrics[metric].column;
	detect_state_init(&reference, &detect);
}

static void same(uint32_t a, uint32_t b, const char *what)
{
	if (a != b) {
		fprintf(stderr, "%u and %u: ", a, b);
		fail(what);
	}
}

/* The first event of the report that the twin has just looked at, and how many there are. */
static void compare_events(const struct prefilter_verdict *verdict)
{
	same(verdict->events, events.count & 255, "another number of events");
	if (!events.count || detect.kind == DETECT_NOOP)
		return;
	same(verdict->value, events.value[0], "another value");
	same(verdict->threshold, events.threshold[0], "another threshold");
	if (detect.kind != DETECT_THRESHOLD)
		same(verdict->previous, events.previous[0], "another previous value");
	if (detect.kind == DETECT_PER_HOP || detect.kind == DETECT_THRESHOLD) {
		same(verdict->hop, events.hop[0], "another hop");
		same(verdict->node, events.node_id[0], "another switch");
	}
}

static void compare_state(void)
{
	uint32_t cell;

	if (reference.switch_previous &&
	    memcmp(reference.switch_previous, switch_value, DETECT_SWITCH_CELLS * 4))
		fail("another state of switches");
	for (cell = 0; cell < DETECT_FLOW_CELLS; cell++) {
		if (reference.accumulator) {
			if (reference.accumulator[cell] != average_value[cell].accumulator ||
			    reference.flow_previous[cell] != average_value[cell].reported)
				fail("another state of averages");
		} else if (reference.flow_previous && reference.flow_previous[cell] != flow_value[cell]) {
			fail("another state of flows");
		}
	}
}

/* What the twin makes of the prefilter's report: the same hops with the same words. */
static void compare_hops(const uint8_t *frame)
{
	const struct report *report = &cpu_value.report;
	const uint32_t rows = report->hops + !!report->own_bits;
	uint32_t hop;

	same(batch.hop_count[0], rows, "another number of hops");
	same(batch.protocol[0], report->protocol, "another protocol");
	same(batch.report_words[6 * batch.report_stride], report->ports, "other ports");
	for (hop = 0; hop < report->hops && report->bitmap & 0x8000; hop++)
		same(batch.hop_words[hop],
		     be32(frame + report->stack + (report->hops - 1 - hop) * report->block),
		     "another switch id");
	if (report->own_bits)
		same(batch.hop_words[report->hops], report->own_node, "another own switch id");
}

/* Puts a block's words where the decoder would. */
static void fill_block(const uint8_t *at, uint32_t bitmap, uint32_t row)
{
	static const uint8_t first_column[16] = {
		0, 1, 3, 4, 6, 8, 10, 12, 13, 19, 20, 21, 22, 23, 24, 15,
	};
	static const uint8_t split_bits[16] = { [1] = 16, [3] = 24, [8] = 24 };
	uint32_t bit, k;

	for (bit = 0; bit < 16; bit++) {
		for (k = 0; bitmap & 0x8000 >> bit && k < (bit >= 4 && bit <= 6 ? 2 : 1); k++) {
			uint32_t *cell = batch.hop_words +
					 (first_column[bit] + k) * batch.hop_stride + row;
			const uint32_t word = be32(at);

			*cell = word;
			if (split_bits[bit] && ~word) {
				*cell = word >> split_bits[bit];
				cell[batch.hop_stride] = word & ((1u << split_bits[bit]) - 1);
			}
			at += 4;
		}
	}
}

/* A report that only the prefilter takes, as a row of the batch, for the detectors. */
static void fill_batch(const uint8_t *frame)
{
	const struct report *report = &cpu_value.report;
	const uint8_t *address = frame + report->addresses;
	const size_t stride = batch.report_stride;
	uint32_t k, words = report->family == 6 ? 4 : 1;

	for (k = 0; k < report->hops; k++)
		fill_block(frame + report->stack + (report->hops - 1 - k) * report->block,
			   report->bitmap, k);
	if (report->own_bits) {
		fill_block(frame + report->own, report->own_bits, k);
		batch.hop_words[k++] = report->own_node;
	}
	batch.hop_count[0] = k;
	batch.code[0] = 0;
	batch.protocol[0] = report->protocol;
	batch.report_words[1 * stride] = 1u << 18 | (report->family == 6 ? 1u << 19 : 0);
	batch.report_words[5 * stride] = 0;
	batch.report_words[6 * stride] = report->ports;
	for (k = 0; k < words; k++) {
		batch.report_words[(7 + k) * stride] = be32(address + 4 * k);
		batch.report_words[(11 + k) * stride] = be32(address + 4 * (words + k));
	}
}

static void mutate(uint8_t *frame, uint32_t *length)
{
	uint32_t kind = next() % 8, k;

	if (kind < 4) {
		while (kind--)
			frame[next() % *length] ^= 1u << next() % 8;
	} else if (kind == 4) {
		*length = next() % (*length + 1);
	} else if (kind == 5) {
		*length = next() % 200;
		for (k = 0; k < *length; k++)
			frame[k] = next();
	}
}

int main(int argc, char **argv)
{
	const uint32_t frames = argc > 2 ? strtoul(argv[2], NULL, 10) : 60000;
	static const uint32_t zero;
	uint32_t understood = 0, compared = 0, with_events = 0, beyond = 0, column[8][EVENTS];
	uint8_t built[LONGEST];

	random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 0x243f6a8885a308d3;
	plans = calloc(1, sizeof(*plans));
	hops_value = calloc(DETECT_SWITCH_CELLS, sizeof(*hops_value));
	switch_value = calloc(DETECT_SWITCH_CELLS, sizeof(*switch_value));
	flow_value = calloc(DETECT_FLOW_CELLS, sizeof(*flow_value));
	average_value = calloc(DETECT_FLOW_CELLS, sizeof(*average_value));
	int_batch_init(&batch, aligned_alloc(64, int_batch_size(4, 4, 64)), 4, 4, 64);
	int_batch_reset(&batch);
	detect_crc_init();
	events = (struct detect_events){ EVENTS, 0, column[0], column[1], column[2], column[3],
					 column[4], column[5], column[6], column[7] };
	ports.bits[REPORT_PORT / 64] = 1ull << REPORT_PORT % 64;
	config.flags = PREFILTER_COUNT_HOPS;
	config.int_port[0] = INT_PORT;
	config.int_port[1] = PREFILTER_NO_PORT;
	config.tos_mask = settings.tos_mask;
	config.tos_value = settings.tos_value;
	config.switch_cells = DETECT_SWITCH_CELLS;
	config.switch_mask = DETECT_SWITCH_CELLS - 1;
	config.flow_cells = DETECT_FLOW_CELLS;
	config.flow_mask = DETECT_FLOW_CELLS - 1;

	for (frame_number = 0; frame_number < frames; frame_number++) {
		struct prefilter_totals before;
		struct xdp_md ctx = { 0 };
		struct shape shape;
		uint32_t length;
		int action, taken, decided, untouched;
		uint8_t *frame;

		if (frame_number % 2000 == 0) {
			if (frame_number)
				compare_state();
			new_rule();
		}
		length = build(built, &shape);
		untouched = next() & 1;
		if (!untouched)
			mutate(built, &length);
		frame = malloc(length ? length : 1);
		memcpy(frame, built, length);
		ctx.data = ctx.data_meta = (address)frame;
		ctx.data_end = (address)(frame + length);
		ctx.rx_queue_index = next() & 1;
		before = cpu_value.totals;
		has_meta = 0;
		action = prefilter(&ctx);
		decided = cpu_value.totals.reports != before.reports;
		understood += decided;
		if (decided + (cpu_value.totals.passed - before.passed) +
			    (cpu_value.totals.undecided - before.undecided) != 1)
			fail("not counted once");
		if ((action == XDP_DROP) != (cpu_value.totals.filtered != before.filtered))
			fail("dropped, but not counted as filtered");
		if (has_meta != (action != XDP_DROP && cpu_value.totals.passed == before.passed))
			fail("a verdict too many, or too few");
		if (has_meta && memcmp(meta_value, &cpu_value.verdict, 32))
			fail("another verdict");
		if (has_meta)
			same(cpu_value.verdict.length, length, "another length");
		if (untouched && !decided)
			fail("a valid report is not understood");
		if (untouched)
			same(cpu_value.report.hops + !!cpu_value.report.own_bits, shape.hops,
			     "not all hops");

		int_batch_reset(&batch);
		taken = int_decode_report2(&settings, plans, &batch, frame, length, &zero, &length, 0, 1);
		if (taken && !decided && batch.hop_count[0] <= PREFILTER_HOPS)
			fail("the decoder takes it, the prefilter does not");
		if (decided && !taken && untouched && !shape.beyond)
			fail("the prefilter takes it, the decoder does not");
		if (decided) {
			compared += taken;
			beyond += !taken;
			if (!taken)
				fill_batch(frame);
			compare_hops(frame);
			events.count = 0;
			if (detect_run(&detect, &reference, &batch, &events, 0, 1) != 1)
				fail("too many events");
			with_events += events.count != 0;
			if ((action != XDP_DROP) != (events.count != 0))
				fail("dropped with an event, or passed without one");
			compare_events(&cpu_value.verdict);
		}
		free(frame);
	}
	printf("%u frames, %u understood, %u of them by the decoder, %u with events\n", frames,
	       understood, compared, with_events);
	if (understood < frames / 2 || compared < frames / 8 || with_events < understood / 20 ||
	    beyond < frames / 8)
		fail("too few of a kind: the generator is at fault");
	detect_state_free(&reference);
	free(plans);
	free(hops_value);
	free(switch_value);
	free(flow_value);
	free(average_value);
	free(batch.state);
	return 0;
}
