// SPDX-License-Identifier: Apache-2.0
#include "interface.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ioctl of an interface over a socket of its own. */
static int interface_ioctl(unsigned long request, struct ifreq *interface)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = 0;

	/* A namespace or kernel without IPv4 still has local sockets. */
	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, request, interface) != 0)
		error = -errno;
	close(fd);
	return error;
}

static int named(struct ifreq *interface, const char *name)
{
	size_t length = strlen(name);

	memset(interface, 0, sizeof(*interface));
	if (length == 0 || length >= sizeof(interface->ifr_name))
		return -ENODEV;
	memcpy(interface->ifr_name, name, length);
	return 0;
}

int int_interface_index(const char *name)
{
	struct ifreq interface;
	int error = named(&interface, name);

	if (error == 0)
		error = interface_ioctl(SIOCGIFINDEX, &interface);
	return error == 0 ? interface.ifr_ifindex : error;
}

int int_interface_is_up(const char *name)
{
	struct ifreq interface;
	int error = named(&interface, name);

	if (error == 0)
		error = interface_ioctl(SIOCGIFFLAGS, &interface);
	return error == 0 ? (interface.ifr_flags & IFF_UP) != 0 : error;
}

int int_interface_exists(uint32_t index)
{
	struct ifreq interface = { .ifr_ifindex = (int)index };

	return interface_ioctl(SIOCGIFNAME, &interface);
}

int int_interface_queues(const char *name)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct ethtool_rxnfc rings = { .cmd = ETHTOOL_GRXRINGS };
	struct ifreq interface;
	int error = int_interface_index(name);

	if (error < 0)
		return error;
	error = named(&interface, name);
	if (error != 0)
		return error;
	interface.ifr_data = (char *)&channels;
	if (interface_ioctl(SIOCETHTOOL, &interface) == 0 && channels.rx_count + channels.combined_count > 0)
		return (int)(channels.rx_count + channels.combined_count);
	interface.ifr_data = (char *)&rings;
	if (interface_ioctl(SIOCETHTOOL, &interface) == 0 && rings.data > 0)
		return (int)rings.data;
	/* The driver does not say, as that of the loopback interface: such have one. */
	return 1;
}
