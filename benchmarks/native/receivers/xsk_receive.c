// SPDX-License-Identifier: Apache-2.0
/*
 * xsk_receive INTERFACE MODE WAITING WORK: receives telemetry reports by AF_XDP
 * from queue 0, in MODE driver or generic, and does WORK (count, decode,
 * message) with them where they lie. While there is nothing it waits: until
 * there is something (WAITING is wait) or for a millisecond (sleep). See work.h
 * for what it says and when.
 */
#define _GNU_SOURCE
#include "work.h"

#include "../../../native-afxdp/xdp/steer_maps.h"
#include "../../../native-afxdp/xsk/interface.h"
#include "../../../native-afxdp/xsk/program.h"
#include "../../../native-afxdp/xsk/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	REPORT_PORT = 32766,
	FRAMES = 4096,
	FRAME_SIZE = 2048,
	/* A queue becomes free some 20 ms after its socket was closed. */
	BIND_TRIES = 100,
	BIND_PAUSE_US = 5000,
};

static _Noreturn void fail(const char *step, int error, const char *more)
{
	fprintf(stderr, "xsk_receive: %s: %s\n%s", step, strerror(-error), more);
	exit(1);
}

static void *open_socket(struct int_xsk *xsk, uint32_t ifindex)
{
	struct int_xsk_config config = {
		.ifindex = ifindex,
		.rx_chunks = FRAMES,
		.chunk_size = FRAME_SIZE,
	};
	const char *step = "";
	int tries, error;

	config.memory = mmap(NULL, (size_t)FRAMES * FRAME_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (config.memory == MAP_FAILED)
		fail("mmap", -errno, "");
	error = int_xsk_open(xsk, &config, &step);
	if (error)
		fail(step, error, "");
	error = int_xsk_bind(xsk, &config);
	for (tries = 0; error == -EBUSY && tries < BIND_TRIES; tries++) {
		usleep(BIND_PAUSE_US);
		error = int_xsk_bind(xsk, &config);
	}
	if (error)
		fail("bind", error, "");
	return config.memory;
}

static void steer(struct xsk_program *program, const struct int_xsk *xsk, int is_driver)
{
	struct xsk_program_failure failure = { 0 };
	static struct steer_ports ports;
	uint32_t queue = 0, zero = 0, fd = xsk->fd;
	int error;

	ports.bits[REPORT_PORT >> 6] = 1ull << (REPORT_PORT & 63);
	error = xsk_program_load(program, xsk_program_find("steer"), NULL, 0, &failure);
	if (error)
		fail(failure.step, error, failure.log);
	error = xsk_bpf_map_update(program->maps[xsk_program_map_index(program, "ports")],
				   &zero, &ports, 0);
	if (error)
		fail("ports", error, "");
	error = xsk_bpf_map_update(program->maps[xsk_program_map_index(program, "sockets")],
				   &queue, &fd, 0);
	if (error)
		fail("sockets", error, "");
	error = xsk_program_attach(program, xsk->ifindex, is_driver, &failure);
	if (error)
		fail(failure.step, error, failure.log);
}

static void answer(struct int_xsk *xsk, struct work *work)
{
	struct int_xsk_kernel_counters counters = { 0 };
	char details[64];

	int_xsk_kernel_counters(xsk, &counters);
	snprintf(details, sizeof(details), ",\"dropped\":%llu",
		 (unsigned long long)(counters.rx_dropped + counters.rx_ring_full));
	work_answer(work, details);
}

int main(int argc, char **argv)
{
	uint32_t offsets[WORK_BATCH], lengths[WORK_BATCH];
	struct int_xsk_problem problem;
	struct xsk_program program;
	struct pollfd waits[2];
	struct int_xsk xsk;
	struct work work;
	int ifindex, is_driver, sleeps;
	uint8_t *memory;

	if (argc != 5 || (strcmp(argv[2], "driver") && strcmp(argv[2], "generic")) ||
	    (strcmp(argv[3], "wait") && strcmp(argv[3], "sleep"))) {
		fprintf(stderr, "usage: xsk_receive INTERFACE driver|generic wait|sleep WORK\n");
		return 2;
	}
	sleeps = !strcmp(argv[3], "sleep");
	is_driver = !strcmp(argv[2], "driver");
	ifindex = int_interface_index(argv[1]);
	if (ifindex < 0)
		fail(argv[1], ifindex, "");
	work_init(&work, argv[4], 1);
	memory = open_socket(&xsk, ifindex);
	steer(&program, &xsk, is_driver);
	/* A negative descriptor is not looked at. */
	waits[0] = (struct pollfd){ .fd = sleeps ? -1 : xsk.fd, .events = POLLIN };
	waits[1] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	work_ready("");
	for (;;) {
		uint32_t count = int_xsk_receive(&xsk, offsets, lengths, WORK_BATCH);

		if (count) {
			work_frames(&work, memory, (size_t)FRAMES * FRAME_SIZE, offsets,
				    lengths, count);
			int_xsk_release(&xsk, offsets, count, &problem);
			continue;
		}
		if (poll(waits, 2, sleeps ? 1 : -1) < 0)
			fail("poll", -errno, "");
		if (waits[1].revents)
			answer(&xsk, &work);
	}
}
