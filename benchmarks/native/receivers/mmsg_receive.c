// SPDX-License-Identifier: Apache-2.0
/*
 * mmsg_receive PORT WORK: receives telemetry reports by recvmmsg, up to 64
 * datagrams a call, and does WORK (count, decode, message) with them. See
 * work.h for what it says and when.
 */
#define _GNU_SOURCE
#include "work.h"

#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	DATAGRAMS = 64,
	MOST_BYTES = 2048,
	RECEIVE_BUFFER = 32 << 20,
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int size = RECEIVE_BUFFER;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		fail("socket");
	/* Beyond net.core.rmem_max, where that is permitted. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		fail("bind");
	return fd;
}

static unsigned int drops(int fd)
{
	uint32_t info[SK_MEMINFO_VARS];
	socklen_t length = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &length))
		return 0;
	return info[SK_MEMINFO_DROPS];
}

int main(int argc, char **argv)
{
	static uint8_t bytes[DATAGRAMS * MOST_BYTES];
	struct mmsghdr messages[DATAGRAMS] = { 0 };
	struct iovec vectors[DATAGRAMS];
	uint32_t offsets[DATAGRAMS], lengths[DATAGRAMS];
	struct pollfd waits[2];
	struct work work;
	int fd, k;

	if (argc != 3) {
		fprintf(stderr, "usage: mmsg_receive PORT WORK\n");
		return 2;
	}
	work_init(&work, argv[2], 0);
	fd = listen_on(strtoul(argv[1], NULL, 10));
	for (k = 0; k < DATAGRAMS; k++) {
		offsets[k] = k * MOST_BYTES;
		vectors[k] = (struct iovec){ bytes + offsets[k], MOST_BYTES };
		messages[k].msg_hdr.msg_iov = &vectors[k];
		messages[k].msg_hdr.msg_iovlen = 1;
	}
	waits[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
	waits[1] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	work_ready("");
	for (;;) {
		int count = recvmmsg(fd, messages, DATAGRAMS, 0, NULL);

		if (count > 0) {
			for (k = 0; k < count; k++)
				lengths[k] = messages[k].msg_len;
			work_frames(&work, bytes, sizeof(bytes), offsets, lengths, count);
			if (count == DATAGRAMS)
				continue;
		}
		if (poll(waits, 2, -1) < 0)
			fail("poll");
		if (waits[1].revents) {
			char details[64];

			snprintf(details, sizeof(details), ",\"dropped\":%u", drops(fd));
			work_answer(&work, details);
		}
	}
}
