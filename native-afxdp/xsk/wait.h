/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a socket of a network interface.
 */
#ifndef INT_XSK_WAIT_H
#define INT_XSK_WAIT_H

/*
 * Waits until `fd` is readable, at most timeout_ms (negative: for ever), or until `cancel_fd` (-1: none) is. Asks
 * `error` for a failure of the socket now and then: poll(2) alone never tells of a removed interface.
 * Returns 1, 0 (time out or cancelled), or a negative error number.
 */
int int_wait(int fd, int cancel_fd, double timeout_ms, int (*error)(void *), void *argument);

#endif
