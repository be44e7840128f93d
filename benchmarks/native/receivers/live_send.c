// SPDX-License-Identifier: Apache-2.0
/*
 * Sends telemetry reports as fast as one core can: the kernel runs an eBPF
 * program on copies of a frame (BPF_PROG_TEST_RUN with live frames), and the
 * program redirects them to an interface. No frame passes through user space.
 *
 *   live_send INTERFACE FRAME key=value ...
 *
 * FRAME is a file with one Ethernet frame. The program writes into each copy a
 * sequence number, a source port, the switch ids of a path and one value:
 *
 *   count=N      frames to send
 *   start=N      number of the first one (0)
 *   pps=N        frames a second, 0: no limit (0)
 *   sequence=B   byte of the report's group header
 *   port=B       byte of the monitored flow's source port
 *   stack=B      byte of the metadata stack; hops=N, words=N a hop
 *   node=W       word of the switch id within a hop, -1: none (-1)
 *   value=W      word of the value within the first hop, -1: none (-1)
 *   paths=N      number of paths, a power of two (64); path p has the switches
 *                1 + p * hops to (p + 1) * hops
 *   low=V high=V the values, below 2^31; a path's value goes from one to the
 *                other every `period`th of its frames, 0: never (0)
 *
 * Frame n belongs to path n mod paths. Prints a line of JSON.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef BPF_F_TEST_XDP_LIVE_FRAMES
#define BPF_F_TEST_XDP_LIVE_FRAMES (1u << 1)
#endif

enum {
	MOST_BYTES = 3520,
	MOST_HOPS = 63,
	MOST_INSTRUCTIONS = 1024,
	/* Some 50 us of waiting for a frame's time, then it goes early. */
	MOST_SPINS = 2000,
	/* A sender that was behind for longer does not catch up. */
	MOST_LATENESS = 2000000,
};

/* The one cell of the map. */
struct progress {
	uint64_t number;
	uint64_t due;
};

struct plan {
	unsigned int interface;
	uint64_t count, start, pps;
	int sequence, port, stack, hops, words, node, value;
	int paths, period;
	int low, high;
};

static struct bpf_insn code[MOST_INSTRUCTIONS];
static int used;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "live_send: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(__NR_bpf, command, attr, sizeof(*attr));
}

static int put(uint8_t op, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	if (used == MOST_INSTRUCTIONS) {
		errno = E2BIG;
		fail("program");
	}
	code[used] = (struct bpf_insn){ op, dst, src, off, imm };
	return used++;
}

/* Makes the jump at `from` go to the next instruction. */
static void land(int from)
{
	code[from].off = used - from - 1;
}

#define MOV(dst, src) put(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define MOV_K(dst, k) put(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, k)
#define ALU(op, dst, src) put(BPF_ALU64 | (op) | BPF_X, dst, src, 0, 0)
#define ALU_K(op, dst, k) put(BPF_ALU64 | (op) | BPF_K, dst, 0, 0, k)
#define LOAD(size, dst, src, off) put(BPF_LDX | (size) | BPF_MEM, dst, src, off, 0)
#define STORE(size, dst, off, src) put(BPF_STX | (size) | BPF_MEM, dst, src, off, 0)
#define BIG_ENDIAN_32(dst) put(BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, 32)
#define BIG_ENDIAN_16(dst) put(BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, 16)
#define CALL(helper) put(BPF_JMP | BPF_CALL, 0, 0, 0, helper)

/* Waits until r9->due, if that is not too far, and moves it on. */
static void wait_for_time(uint64_t interval)
{
	int early, again, late;

	MOV_K(BPF_REG_6, MOST_SPINS);
	again = CALL(BPF_FUNC_ktime_get_ns);
	LOAD(BPF_DW, BPF_REG_2, BPF_REG_9, offsetof(struct progress, due));
	early = put(BPF_JMP | BPF_JGE | BPF_X, BPF_REG_0, BPF_REG_2, 0, 0);
	ALU_K(BPF_SUB, BPF_REG_6, 1);
	put(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_6, 0, again - used - 1, 0);
	land(early);
	MOV(BPF_REG_3, BPF_REG_2);
	ALU_K(BPF_ADD, BPF_REG_3, MOST_LATENESS);
	late = put(BPF_JMP | BPF_JGE | BPF_X, BPF_REG_3, BPF_REG_0, 0, 0);
	MOV(BPF_REG_2, BPF_REG_0);
	land(late);
	ALU_K(BPF_ADD, BPF_REG_2, interval);
	STORE(BPF_DW, BPF_REG_9, offsetof(struct progress, due), BPF_REG_2);
}

/* r7: frame, r8: number of the frame. */
static void write_path(const struct plan *plan)
{
	int block = 4 * plan->words;
	int last = plan->stack + (plan->hops - 1) * block;
	int hop;

	/* r4: the path; r5: its first switch, in path order. */
	MOV(BPF_REG_4, BPF_REG_8);
	ALU_K(BPF_AND, BPF_REG_4, plan->paths - 1);
	if (plan->node >= 0) {
		MOV(BPF_REG_5, BPF_REG_4);
		ALU_K(BPF_MUL, BPF_REG_5, plan->hops);
		for (hop = 0; hop < plan->hops; hop++) {
			ALU_K(BPF_ADD, BPF_REG_5, 1);
			MOV(BPF_REG_1, BPF_REG_5);
			BIG_ENDIAN_32(BPF_REG_1);
			STORE(BPF_W, BPF_REG_7, last - hop * block + 4 * plan->node,
			      BPF_REG_1);
		}
	}
	if (plan->value < 0)
		return;
	MOV_K(BPF_REG_1, plan->low);
	if (plan->period) {
		int is_low;

		/* r2: which turn the path is in; paths take theirs one after another. */
		MOV(BPF_REG_2, BPF_REG_8);
		ALU_K(BPF_DIV, BPF_REG_2, plan->paths);
		ALU(BPF_ADD, BPF_REG_2, BPF_REG_4);
		ALU_K(BPF_DIV, BPF_REG_2, plan->period);
		ALU_K(BPF_AND, BPF_REG_2, 1);
		is_low = put(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_2, 0, 0, 0);
		MOV_K(BPF_REG_1, plan->high);
		land(is_low);
	}
	BIG_ENDIAN_32(BPF_REG_1);
	STORE(BPF_W, BPF_REG_7, last + 4 * plan->value, BPF_REG_1);
}

static void assemble(const struct plan *plan, int map, int length)
{
	int is_short, no_cell;

	LOAD(BPF_W, BPF_REG_7, BPF_REG_1, offsetof(struct xdp_md, data));
	LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data_end));
	MOV(BPF_REG_3, BPF_REG_7);
	ALU_K(BPF_ADD, BPF_REG_3, length);
	is_short = put(BPF_JMP | BPF_JGT | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0);

	put(BPF_ST | BPF_W | BPF_MEM, BPF_REG_10, 0, -4, 0);
	MOV(BPF_REG_2, BPF_REG_10);
	ALU_K(BPF_ADD, BPF_REG_2, -4);
	put(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map);
	put(0, 0, 0, 0, 0);
	CALL(BPF_FUNC_map_lookup_elem);
	no_cell = put(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
	MOV(BPF_REG_9, BPF_REG_0);
	if (plan->pps)
		wait_for_time(1000000000 / plan->pps);
	LOAD(BPF_DW, BPF_REG_8, BPF_REG_9, offsetof(struct progress, number));
	MOV(BPF_REG_1, BPF_REG_8);
	ALU_K(BPF_ADD, BPF_REG_1, 1);
	STORE(BPF_DW, BPF_REG_9, offsetof(struct progress, number), BPF_REG_1);

	MOV(BPF_REG_1, BPF_REG_8);
	ALU_K(BPF_AND, BPF_REG_1, 0x3fffff);
	ALU_K(BPF_OR, BPF_REG_1, 0x20000000);
	BIG_ENDIAN_32(BPF_REG_1);
	STORE(BPF_W, BPF_REG_7, plan->sequence, BPF_REG_1);
	MOV(BPF_REG_1, BPF_REG_8);
	ALU_K(BPF_AND, BPF_REG_1, 0x3fff);
	ALU_K(BPF_ADD, BPF_REG_1, 1024);
	BIG_ENDIAN_16(BPF_REG_1);
	STORE(BPF_H, BPF_REG_7, plan->port, BPF_REG_1);
	write_path(plan);

	MOV_K(BPF_REG_1, plan->interface);
	MOV_K(BPF_REG_2, 0);
	CALL(BPF_FUNC_redirect);
	put(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	land(is_short);
	land(no_cell);
	MOV_K(BPF_REG_0, XDP_ABORTED);
	put(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int load(void)
{
	static char log[1 << 16];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)code,
		.insn_cnt = used,
		.license = (uintptr_t)"Apache-2.0",
	};
	int program = bpf(BPF_PROG_LOAD, &attr);

	if (program < 0) {
		int error = errno;

		attr.log_level = 1;
		attr.log_buf = (uintptr_t)log;
		attr.log_size = sizeof(log);
		bpf(BPF_PROG_LOAD, &attr);
		fputs(log, stderr);
		errno = error;
		fail("BPF_PROG_LOAD");
	}
	return program;
}

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000ull + at.tv_nsec;
}

static void parse(struct plan *plan, const char *argument)
{
	static const char *const names[] = {
		"count", "start", "pps", "sequence", "port", "stack", "hops", "words",
		"node", "value", "paths", "period", "low", "high",
	};
	const char *equals = strchr(argument, '=');
	long long value;
	unsigned int k;
	int *ints[] = {
		&plan->sequence, &plan->port, &plan->stack, &plan->hops, &plan->words,
		&plan->node, &plan->value, &plan->paths, &plan->period, &plan->low,
		&plan->high,
	};
	uint64_t *wide[] = { &plan->count, &plan->start, &plan->pps };

	errno = EINVAL;
	if (!equals)
		fail(argument);
	value = strtoll(equals + 1, NULL, 10);
	for (k = 0; k < sizeof(names) / sizeof(*names); k++) {
		if (strlen(names[k]) != (size_t)(equals - argument) ||
		    strncmp(names[k], argument, equals - argument))
			continue;
		if (k < 3)
			*wide[k] = value;
		else
			*ints[k - 3] = value;
		return;
	}
	fail(argument);
}

static void check(const struct plan *plan, int length)
{
	int stack_end = plan->stack + 4 * plan->words * plan->hops;

	errno = EINVAL;
	if (!plan->count || plan->count > UINT32_MAX || plan->pps > 1000000000)
		fail("count or pps");
	if (plan->hops < 1 || plan->hops > MOST_HOPS || plan->words < 1 ||
	    plan->node >= plan->words || plan->value >= plan->words)
		fail("hops, words, node or value");
	if (plan->sequence < 0 || plan->port < 0 || plan->stack < 0 ||
	    plan->sequence + 4 > length || plan->port + 2 > length ||
	    stack_end > length)
		fail("a position outside the frame");
	if (plan->paths < 1 || plan->paths & (plan->paths - 1) || plan->period < 0)
		fail("paths or period");
}

int main(int argc, char **argv)
{
	struct plan plan = { .node = -1, .value = -1, .paths = 64 };
	static uint8_t frame[MOST_BYTES];
	union bpf_attr attr;
	struct progress progress;
	uint32_t key = 0;
	uint64_t begun;
	int map, program, length, k;
	FILE *file;

	if (argc < 3) {
		fprintf(stderr, "usage: live_send INTERFACE FRAME key=value ...\n");
		return 2;
	}
	plan.interface = if_nametoindex(argv[1]);
	if (!plan.interface)
		fail(argv[1]);
	file = fopen(argv[2], "rb");
	if (!file)
		fail(argv[2]);
	length = fread(frame, 1, sizeof(frame), file);
	fclose(file);
	for (k = 3; k < argc; k++)
		parse(&plan, argv[k]);
	check(&plan, length);

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(key);
	attr.value_size = sizeof(progress);
	attr.max_entries = 1;
	map = bpf(BPF_MAP_CREATE, &attr);
	if (map < 0)
		fail("BPF_MAP_CREATE");
	assemble(&plan, map, length);
	program = load();

	begun = now();
	progress = (struct progress){ plan.start, begun };
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&progress;
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		fail("BPF_MAP_UPDATE_ELEM");
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = program;
	attr.test.repeat = plan.count;
	attr.test.data_in = (uintptr_t)frame;
	attr.test.data_size_in = length;
	attr.test.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
	if (bpf(BPF_PROG_TEST_RUN, &attr))
		fail("BPF_PROG_TEST_RUN");
	/* The kernel's own clock leaves setting up, some 25 ms, out. */
	printf("{\"sent\":%llu,\"elapsedNs\":%llu,\"nsPerFrame\":%u}\n",
	       (unsigned long long)plan.count,
	       (unsigned long long)(now() - begun), attr.test.duration);
	return 0;
}
