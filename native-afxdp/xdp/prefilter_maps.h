/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the prefilter program shares with user space: the values of its maps,
 * and the verdict in front of a frame. All numbers are in the host's byte
 * order except where it says "as on the wire"; there is no padding but the
 * members named reserved, which are 0.
 *
 * Maps by name (key: u32 index, unless said otherwise):
 *   config          ARRAY[1]            struct prefilter_config
 *   ports           ARRAY[1]            struct prefilter_ports
 *   rule_sets       ARRAY[2]            struct prefilter_rule_set
 *   totals          PERCPU_ARRAY[1]     struct prefilter_totals, and behind it what the program keeps for itself
 *   filtered_hops   PERCPU_ARRAY[switch_cells]  u64, by switch id % switch_cells
 *   sockets         XSKMAP[1024]        socket fd, by RX queue
 *   senders         LPM_TRIE  key struct prefilter_sender_key  value u32 family, 4 or 6: who may send
 *   switches        HASH  key u32 switch id  value u32 1: the switches that there are
 * and the state, in the array form
 *   switch_state    ARRAY[slots * switch_cells] u32: value last reported,
 *                   at slot * switch_cells + switch id % switch_cells
 *   flow_state      ARRAY[slots * flow_cells]   u32: sum last reported,
 *                   at slot * flow_cells + CRC-32 % flow_cells
 *   average_state   ARRAY[slots * flow_cells]   struct prefilter_average, likewise
 * or in the hash form, under the same names
 *   switch_state    HASH  key struct prefilter_switch_key  value u32
 *   flow_state      HASH  key struct prefilter_flow_key    value u32
 *   average_state   HASH  key struct prefilter_flow_key    value struct prefilter_average
 *
 * Who loads the program chooses the sizes of the state maps and of
 * filtered_hops; a cell beyond a map's size is no state: such a report is
 * handed to user space, counted as undecided.
 */
#ifndef INT_PREFILTER_MAPS_H
#define INT_PREFILTER_MAPS_H

#include <stdint.h>

enum {
	PREFILTER_RULES = 16,
	PREFILTER_HOPS = 32,		/* most hops of a stack; the reporting node's own comes on top */
	PREFILTER_QUEUES = 1024,
	PREFILTER_SENDERS = 4096,	/* most prefixes */
	PREFILTER_SWITCHES = 65536,	/* most switches */
	PREFILTER_NO_RULE = 255,	/* rule of a verdict: the default, or none */
};

/* A value that no 16-bit port equals. */
#define PREFILTER_NO_PORT 0x10000u

/* Ports of reports. */
struct prefilter_ports {
	uint64_t bits[1024];		/* UDP destination port p: bit p % 64 of bits[p / 64] */
};

/* Size 40. */
struct prefilter_config {
	uint32_t active;		/* 0 or 1: the rule set in use. It and the flags may change while packets flow */
	uint32_t flags;			/* enum prefilter_flag */
	uint32_t int_port[2];		/* INT's UDP destination ports, or PREFILTER_NO_PORT */
	uint32_t tos_mask;		/* DSCP marking: (TOS or traffic class) & mask == value; none: 0 and 1 */
	uint32_t tos_value;
	uint32_t switch_cells;		/* at least 1 */
	uint32_t switch_mask;		/* switch_cells - 1 if that is a power of two, else 0 */
	uint32_t flow_cells;		/* at least 1; the array form only */
	uint32_t flow_mask;		/* likewise */
};

enum prefilter_flag {
	PREFILTER_COUNT_HOPS = 1,	/* count in filtered_hops */
	PREFILTER_CHECK_SENDERS = 2,	/* drop datagrams from addresses that are not in senders */
	PREFILTER_CHECK_SWITCHES = 4,	/* drop reports that name a switch that is not in switches */
};

/* What decides a report. The numbers up to 4 are those of the detectors of @int/detect. */
enum prefilter_kind {
	PREFILTER_NOOP = 0,		/* always an event */
	PREFILTER_PER_HOP = 1,
	PREFILTER_PER_FLOW = 2,
	PREFILTER_MOVING_AVERAGE = 3,
	PREFILTER_THRESHOLD = 4,
	PREFILTER_PASS = 64,		/* not decidable here: handed on, counted as handed_on */
	PREFILTER_DROP = 65,		/* never an event */
	PREFILTER_UNDECIDED = 66,	/* of verdicts only: not understood, handed on */
};

enum prefilter_scope {
	PREFILTER_SCOPE_HOP = 0,
	PREFILTER_SCOPE_END_TO_END = 1,
};

/* What a rule asks of the flow. 0: matches everything. */
enum prefilter_match {
	PREFILTER_MATCH_PROTOCOL = 1,
	PREFILTER_MATCH_FAMILY = 2,
	PREFILTER_MATCH_SOURCE = 4,		/* wants PREFILTER_MATCH_FAMILY as well */
	PREFILTER_MATCH_DESTINATION = 8,	/* wants PREFILTER_MATCH_FAMILY as well */
	PREFILTER_MATCH_SOURCE_PORT = 16,
	PREFILTER_MATCH_DESTINATION_PORT = 32,
};

/* Size 96. */
struct prefilter_rule {
	uint8_t kind;			/* enum prefilter_kind */
	uint8_t scope;			/* enum prefilter_scope; PREFILTER_THRESHOLD only */
	uint8_t weight;			/* 0 to 15; PREFILTER_MOVING_AVERAGE only */
	uint8_t match;			/* enum prefilter_match */
	uint8_t protocol;
	uint8_t family;			/* 4 or 6 */
	uint8_t bit;			/* metric: instruction bit, 0 (0x8000) to 14 */
	uint8_t word;			/* metric: its word in the item, 0 or 1; 1 only for a bit from 4 to 6 */
	uint8_t shift;			/* metric: (word >> shift) & mask */
	uint8_t reserved[3];
	uint32_t mask;
	uint32_t threshold;		/* an event is above it */
	uint32_t slot;			/* which state: one per kind of state and metric, however many rules use it */
	uint16_t source_port[2];	/* from, to; both included */
	uint16_t destination_port[2];
	uint8_t source[16];		/* as on the wire, masked; IPv4: the first 4 bytes */
	uint8_t source_mask[16];
	uint8_t destination[16];
	uint8_t destination_mask[16];
};

/* Size 1552. The one that config.active does not name may be written at any time. */
struct prefilter_rule_set {
	uint32_t generation;		/* goes into verdicts */
	uint32_t count;			/* rules, 0 to PREFILTER_RULES, the first that matches decides */
	uint32_t default_kind;		/* reports that no rule matches: PREFILTER_NOOP, PREFILTER_PASS or PREFILTER_DROP */
	uint32_t reserved;
	struct prefilter_rule rules[PREFILTER_RULES];
};

/* Counts of one CPU; add up over all. */
struct prefilter_totals {
	uint64_t passed;		/* frames that are not for us: to the network stack */
	uint64_t reports;		/* reports understood: events + handed_on + filtered */
	uint64_t events;		/* reports with at least one event */
	uint64_t handed_on;		/* reports of a PREFILTER_PASS rule */
	uint64_t filtered;		/* reports dropped */
	uint64_t filtered_hops;		/* their hops */
	uint64_t undecided;		/* frames to a port of reports, not understood: handed on */
	uint64_t no_socket;		/* of events, handed_on and undecided: no socket at the queue, to the network stack */
	uint64_t no_verdict;		/* of those: without a verdict, the driver has no room for one */
	uint64_t state_full;		/* new switches and flows for which a HASH had no room */
	uint64_t unknown_source;	/* datagrams to a port of reports from who may not send: dropped unread */
	uint64_t unknown_switch;	/* reports that name a switch that there is not: dropped before any rule */
};

/*
 * Size 20. IPv4 addresses are IPv4-mapped IPv6 addresses, their prefixes 96 bits longer. A prefix of IPv6 addresses that
 * has the mapped ones among its own (::/0) holds none of them: an IPv4 address needs an entry of family 4.
 */
struct prefilter_sender_key {
	uint32_t length;		/* bits of the prefix; of an address to look up: 128 */
	uint32_t address[4];		/* as on the wire */
};

struct prefilter_average {
	uint64_t accumulator;		/* scaled, 48 bits */
	uint32_t reported;		/* average last reported */
	uint32_t reserved;
};

struct prefilter_switch_key {
	uint32_t node;
	uint32_t slot;
};

/* Size 44. */
struct prefilter_flow_key {
	uint8_t source[16];		/* as on the wire; IPv4: the first 4 bytes, the others 0 */
	uint8_t destination[16];
	uint16_t source_port;
	uint16_t destination_port;	/* the original one */
	uint8_t protocol;
	uint8_t family;			/* 4 or 6 */
	uint16_t reserved;
	uint32_t slot;
};

/*
 * In the last 32 bytes before a frame that was handed to a socket, as XDP meta
 * data. Every frame that the program redirects has one, or none has (a driver
 * without meta data): then what lies there is not of this frame. `length` is
 * there to be compared, should a filter have used the memory before.
 */
#define PREFILTER_MAGIC 0x31564e49u	/* "INV1" in memory on little-endian hosts */

/* Size 32. */
struct prefilter_verdict {
	uint32_t magic;
	uint32_t generation;		/* of the rule set */
	uint8_t rule;			/* index in the rule set, or PREFILTER_NO_RULE */
	uint8_t kind;			/* enum prefilter_kind */
	uint8_t hop;			/* of the first event, in path order; 255: of no single hop */
	uint8_t events;			/* number of events; 0: handed on, or undecided */
	uint32_t node;			/* switch of the first event; all ones: none, or it did not say */
	uint32_t value;			/* of the first event: value, sum or average; 0 if there is none */
	uint32_t previous;		/* what it was compared with; 0 for PREFILTER_THRESHOLD */
	uint32_t threshold;
	uint32_t length;		/* of the frame, in bytes: to be checked against the descriptor's */
};

#endif
