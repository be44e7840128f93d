/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the prefilter have in hands: its maps, and the frame that a CPU is at.
 */
#ifndef INT_PREFILTER_CONTEXT_H
#define INT_PREFILTER_CONTEXT_H

#include "bpf.h"
#include "report.h"

/*
 * Where a report's metric is. All offsets are in bytes; words "or" what is read,
 * so that it is all ones where it is missing.
 */
struct place {
	uint32_t metric;		/* of the word in a block */
	uint32_t pair;			/* of the other word of its item, or the same */
	uint32_t missing;
	uint32_t node_missing;
	uint32_t own_metric;		/* likewise in the reporting node's words */
	uint32_t own_pair;
	uint32_t own_missing;
};

/* What the program keeps of the frame in its hands, behind the totals of a CPU. */
struct cpu {
	struct prefilter_totals totals;
	struct prefilter_verdict verdict;
	struct report report;
	struct place place;
	uint32_t udp;			/* offset of the UDP header */
	uint32_t udp_bytes;
	uint32_t source[4];		/* as on the wire; IPv4: the first word, the others 0 */
	uint32_t destination[4];
	uint32_t rule;
	struct prefilter_sender_key sender;
};

SECTION("maps") struct bpf_map_def sockets = {
	.type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = PREFILTER_QUEUES,
};

SECTION("maps") struct bpf_map_def totals = {
	.type = BPF_MAP_TYPE_PERCPU_ARRAY, .key_size = 4,
	.value_size = sizeof(struct cpu), .max_entries = 1,
};

SECTION("maps") struct bpf_map_def rule_sets = {
	.type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
	.value_size = sizeof(struct prefilter_rule_set), .max_entries = 2,
};

SECTION("maps") struct bpf_map_def senders = {
	.type = BPF_MAP_TYPE_LPM_TRIE, .key_size = sizeof(struct prefilter_sender_key),
	.value_size = 4, .max_entries = PREFILTER_SENDERS, .flags = BPF_F_NO_PREALLOC,
};

SECTION("maps") struct bpf_map_def switches = {
	.type = BPF_MAP_TYPE_HASH, .key_size = 4,
	.value_size = 4, .max_entries = PREFILTER_SWITCHES, .flags = BPF_F_NO_PREALLOC,
};

SECTION("maps") struct bpf_map_def filtered_hops = {
	.type = BPF_MAP_TYPE_PERCPU_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 4096,
};

#ifdef STATE_HASH
SECTION("maps") struct bpf_map_def switch_state = {
	.type = BPF_MAP_TYPE_HASH, .key_size = sizeof(struct prefilter_switch_key),
	.value_size = 4, .max_entries = 4096,
};

SECTION("maps") struct bpf_map_def flow_state = {
	.type = BPF_MAP_TYPE_HASH, .key_size = sizeof(struct prefilter_flow_key),
	.value_size = 4, .max_entries = 65536,
};

SECTION("maps") struct bpf_map_def average_state = {
	.type = BPF_MAP_TYPE_HASH, .key_size = sizeof(struct prefilter_flow_key),
	.value_size = sizeof(struct prefilter_average), .max_entries = 65536,
};
#else
SECTION("maps") struct bpf_map_def switch_state = {
	.type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 4096,
};

SECTION("maps") struct bpf_map_def flow_state = {
	.type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 65536,
};

SECTION("maps") struct bpf_map_def average_state = {
	.type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
	.value_size = sizeof(struct prefilter_average), .max_entries = 65536,
};
#endif

SECTION(".data.ports") volatile struct prefilter_ports ports;
SECTION(".data.config") volatile struct prefilter_config config;

/*
 * What was stored is read anew behind this: the verifier then knows nothing of
 * it, so that it need not follow what comes next once for every way to get here.
 * The same goes for the frame's pointers, and for what has been checked of them.
 */
#define forget() asm volatile("" ::: "memory")

enum {
	NONE = 0xffffffffu,
	NO_HOP = 255,
	/* What detectors return. */
	LOOKED = 0,
	NO_STATE = -1,
};

INLINE const uint8_t *start_of(const struct xdp_md *ctx)
{
	return (const uint8_t *)(long)ctx->data;
}

INLINE const uint8_t *end_of(const struct xdp_md *ctx)
{
	return (const uint8_t *)(long)ctx->data_end;
}

/* A frame, its report and the rule that decides it. */
struct view {
	const uint8_t *data;
	const uint8_t *end;
	struct cpu *cpu;
	const struct prefilter_rule *rule;
};

#endif
