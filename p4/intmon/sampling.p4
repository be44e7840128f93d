// Sampling at the INT source: one packet of so many of a flow is watched.
#ifndef INT_INTMON_SAMPLING_P4
#define INT_INTMON_SAMPLING_P4

#include "../headers/mixed.p4"
#include "headers.p4"

control IntmonSampling(in headers_t hdr, inout metadata_t meta) {
    bit<32> value;
    bit<32> count;

    // By flow: packets since the last one that was watched, that one included.
    @name(".IntmonIngress.watch_count")
    @id(0x166b1ba5)
    register<bit<32>>(65536) watch_count;

    apply {
        value = 0;
        if (hdr.ipv4.isValid()) {
            value = mixed(value, hdr.ipv4.source);
            value = mixed(value, hdr.ipv4.destination);
        } else if (hdr.ipv6.isValid()) {
            value = mixed(value, hdr.ipv6.source[127:96]);
            value = mixed(value, hdr.ipv6.source[95:64]);
            value = mixed(value, hdr.ipv6.source[63:32]);
            value = mixed(value, hdr.ipv6.source[31:0]);
            value = mixed(value, hdr.ipv6.destination[127:96]);
            value = mixed(value, hdr.ipv6.destination[95:64]);
            value = mixed(value, hdr.ipv6.destination[63:32]);
            value = mixed(value, hdr.ipv6.destination[31:0]);
        }
        if (hdr.udp.isValid()) {
            value = mixed(value, hdr.udp.source_port ++ hdr.udp.destination_port);
        }
        value = value >> 16;
        watch_count.read(count, value);
        if (count == 0 || count >= meta.one_in) {
            count = 1;
        } else {
            count = count + 1;
            meta.is_watched = 0;
        }
        watch_count.write(value, count);
    }
}

#endif
