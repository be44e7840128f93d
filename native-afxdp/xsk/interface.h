/* SPDX-License-Identifier: Apache-2.0 */
/* Network interfaces of this network namespace, by ioctl. Negative error numbers on failure. */
#ifndef INT_XSK_INTERFACE_H
#define INT_XSK_INTERFACE_H

#include <stdint.h>

/* Index of the interface, or -ENODEV. */
int int_interface_index(const char *name);
/* 1 if the interface has been set up, 0 if it has been set down, or -ENODEV. */
int int_interface_is_up(const char *name);
/* 0 if there is an interface of that index, or -ENODEV. */
int int_interface_exists(uint32_t index);
/* Number of receive queues in use. */
int int_interface_queues(const char *name);

#endif
