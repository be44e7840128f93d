// The counters that probes report to the monitor.
#ifndef INT_GPINT_MEASUREMENTS_P4
#define INT_GPINT_MEASUREMENTS_P4

#include "headers.p4"

// One constant index each, because v1model has no loops over header stacks in controls.
#define APPEND_MEASUREMENT(i) \
    if (meta.left > i) { \
        if (meta.type == GPINT_PORT_PACKETS) { \
            port_packets.read(value, (bit<32>)meta.next_index + i); \
        } else { \
            rule_hits.read(value, (bit<32>)meta.next_index + i); \
        } \
        hdr.appended[i].setValid(); \
        hdr.appended[i].value = value; \
        hdr.udp.length = hdr.udp.length + 4; \
    }

control GpintMeasurements(
    inout headers_t hdr, inout metadata_t meta, in bit<1> is_arrival, in bit<9> port, in bit<1> has_hit, in bit<9> rule)
{
    @brief("Packets that came in by each port")
    @id(0x16a4986a)
    register<bit<32>>(512) port_packets;
    @brief("Packets that each entry of the forwarding table has forwarded")
    @id(0x16cfb752)
    register<bit<32>>(512) rule_hits;

    bit<32> value;

    apply {
        if (is_arrival == 1) {
            port_packets.read(value, (bit<32>)port);
            port_packets.write((bit<32>)port, value + 1);
        }
        if (has_hit == 1) {
            rule_hits.read(value, (bit<32>)rule);
            rule_hits.write((bit<32>)rule, value + 1);
        }
        if (meta.stage == STAGE_APPEND && hdr.udp.isValid()) {
            APPEND_MEASUREMENT(0)
            APPEND_MEASUREMENT(1)
            APPEND_MEASUREMENT(2)
            APPEND_MEASUREMENT(3)
            APPEND_MEASUREMENT(4)
            APPEND_MEASUREMENT(5)
            APPEND_MEASUREMENT(6)
            APPEND_MEASUREMENT(7)
            meta.left = meta.left |-| APPENDED_AT_ONCE;
            meta.next_index = meta.next_index + APPENDED_AT_ONCE;
        }
    }
}

#endif
