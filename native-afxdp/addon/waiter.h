/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that waits in poll(2) for one socket and tells JavaScript: the event loop goes on meanwhile.
 */
#ifndef INT_WAITER_H
#define INT_WAITER_H

#include <node_api.h>

#include <stdbool.h>

struct int_waiter;

/* Waits for a socket in the thread: as int_xsk_poll. */
typedef int (*int_waiter_poll)(void *socket, int cancel_fd, double timeout_ms);

/*
 * Starts the thread, and puts the waiter into `*slot`, which is NULL again as soon as the waiter has been stopped, also
 * by the end of the environment. `callback` is called with the result of every wait: 1, 0, or a negative error number.
 * Returns -1 with an exception pending if that fails.
 */
int int_waiter_start(napi_env env, int_waiter_poll poll, void *socket, napi_value callback, struct int_waiter **slot);
/*
 * Asks for one wait of timeout_ms (negative: for ever); the process stays alive until its result is there. False if one
 * is on its way already.
 */
bool int_waiter_wait(struct int_waiter *waiter, double timeout_ms);
/* Ends the wait early: its result is 0, unless it has another already. */
void int_waiter_cancel(struct int_waiter *waiter);
/* Ends the thread; no results come after it. */
void int_waiter_stop(struct int_waiter *waiter);

#endif
