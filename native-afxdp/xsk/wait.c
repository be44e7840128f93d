// SPDX-License-Identifier: Apache-2.0
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <time.h>

/* Longest sleep in poll(2) between two looks for an error. */
#define SLICE_MS 200

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int int_wait(int fd, int cancel_fd, double timeout_ms, int (*error)(void *), void *argument)
{
	/* poll(2) passes over negative descriptors. */
	struct pollfd polled[2] = { { .fd = fd, .events = POLLIN }, { .fd = cancel_fd, .events = POLLIN } };
	double end = now_ms() + timeout_ms;
	double left = timeout_ms;

	for (;;) {
		int slice = timeout_ms < 0 || left > SLICE_MS ? SLICE_MS : (int)left;
		int failure;

		/* Up, so as not to return early and not to spin through the last part of a millisecond. */
		if (slice < SLICE_MS && (double)slice < left)
			slice++;
		if (poll(polled, 2, slice) < 0 && errno != EINTR)
			return -errno;
		if (polled[1].revents != 0)
			return 0;
		if ((polled[0].revents & POLLIN) != 0)
			return 1;
		failure = error(argument);
		if (failure != 0)
			return failure;
		if (timeout_ms >= 0) {
			left = end - now_ms();
			if (left <= 0)
				return 0;
		}
	}
}
