// Pushes the values of this switch.
#ifndef INT_INTMON_PUSH_P4
#define INT_INTMON_PUSH_P4

#include "headers.p4"

#define PUSH_ITEM(i, bit_of_it, item) \
    if (hdr.intmon.instructions[bit_of_it:bit_of_it] == 1) { \
        hdr.own[i].setValid(); \
        hdr.own[i].bottom = 0; \
        hdr.own[i].value = item; \
        meta.own_sum = meta.own_sum + (bit<32>)hdr.own[i].value[30:16] + (bit<32>)hdr.own[i].value[15:0]; \
    }

#define END_AT(i) \
    if (hdr.own[i].isValid()) { \
        hdr.own[i].bottom = 1; \
    }

control IntmonPush(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {
    bit<31> latency;
    bit<31> depth;

    apply {
        latency = standard_metadata.deq_timedelta[30:0];
        if (standard_metadata.deq_timedelta > 0x7ffffffe) {
            latency = 0x7ffffffe;
        }
        depth = (bit<31>)standard_metadata.deq_qdepth;

        PUSH_ITEM(0, 15, meta.node_id)
        PUSH_ITEM(1, 14, (bit<31>)standard_metadata.ingress_port)
        PUSH_ITEM(2, 13, latency)
        PUSH_ITEM(3, 12, depth)
        PUSH_ITEM(4, 11, standard_metadata.ingress_global_timestamp[30:0])
        PUSH_ITEM(5, 10, (bit<31>)standard_metadata.egress_port)
        PUSH_ITEM(6, 9, meta.congestion)
        PUSH_ITEM(7, 8, meta.utilization)
        // Instructions that are not defined.
        PUSH_ITEM(8, 7, INTMON_NOT_AVAILABLE)
        PUSH_ITEM(9, 6, INTMON_NOT_AVAILABLE)
        PUSH_ITEM(10, 5, INTMON_NOT_AVAILABLE)
        PUSH_ITEM(11, 4, INTMON_NOT_AVAILABLE)
        PUSH_ITEM(12, 3, INTMON_NOT_AVAILABLE)
        PUSH_ITEM(13, 2, INTMON_NOT_AVAILABLE)
        PUSH_ITEM(14, 1, INTMON_NOT_AVAILABLE)
        PUSH_ITEM(15, 0, INTMON_NOT_AVAILABLE)

        // The first switch's last value is the bottom of the stack.
        if (hdr.intmon.total_hops == 0) {
            meta.own_sum = meta.own_sum + 0x8000;
            END_AT(15) else END_AT(14) else END_AT(13) else END_AT(12) else END_AT(11) else END_AT(10)
            else END_AT(9) else END_AT(8) else END_AT(7) else END_AT(6) else END_AT(5) else END_AT(4)
            else END_AT(3) else END_AT(2) else END_AT(1) else END_AT(0)
        }
    }
}

#endif
