// The block of metadata that this switch pushes as a source or transit.
#ifndef INT_INT_PUSH_P4
#define INT_INT_PUSH_P4

#include "headers.p4"
#include "../headers/sums.p4"

// Words of the items that bits 0 to 8 and 15 of a bitmap request.
bit<5> defined_words(in bit<16> instructions) {
    return (bit<5>)instructions[15:15] + (bit<5>)instructions[14:14] + (bit<5>)instructions[13:13]
        + (bit<5>)instructions[12:12] + ((bit<5>)instructions[11:11] << 1) + ((bit<5>)instructions[10:10] << 1)
        + ((bit<5>)instructions[9:9] << 1) + (bit<5>)instructions[8:8] + (bit<5>)instructions[7:7]
        + (bit<5>)instructions[0:0];
}

// Words of the bits that the specification reserves: one each.
bit<5> reserved_words(in bit<16> instructions) {
    return (bit<5>)instructions[6:6] + (bit<5>)instructions[5:5] + (bit<5>)instructions[4:4]
        + (bit<5>)instructions[3:3] + (bit<5>)instructions[2:2] + (bit<5>)instructions[1:1];
}

// Pushes `hop_ml` words. The caller ensures that they fit, and that the bitmap requests no more. The caller also
// updates lengths and checksums: `meta.added` is the sum of the pushed words.
control IntPush(
    inout headers_t hdr,
    inout metadata_t meta,
    in bit<16> instructions,
    in bit<5> hop_ml)
{
    bit<5> rest;
    bit<32> sum;

    apply {
        sum = 0;
        if (instructions[15:15] == 1) {
            hdr.own_node_id.setValid();
            hdr.own_node_id.id = meta.node.id;
            sum = words_32(meta.node.id);
        }
        if (instructions[14:14] == 1) {
            hdr.own_interfaces.setValid();
            hdr.own_interfaces.ingress = meta.node.ingress;
            hdr.own_interfaces.egress = meta.node.egress;
            sum = sum + (bit<32>)meta.node.ingress + (bit<32>)meta.node.egress;
        }
        if (instructions[13:13] == 1) {
            hdr.own_hop_latency.setValid();
            hdr.own_hop_latency.latency = meta.node.latency;
            sum = sum + words_32(meta.node.latency);
        }
        if (instructions[12:12] == 1) {
            hdr.own_queue.setValid();
            hdr.own_queue.id = meta.node.queue_id;
            hdr.own_queue.occupancy = meta.node.queue_occupancy;
            sum = sum + words_32(meta.node.queue_id ++ meta.node.queue_occupancy);
        }
        if (instructions[11:11] == 1) {
            hdr.own_ingress_time.setValid();
            hdr.own_ingress_time.time = meta.node.ingress_time;
            sum = sum + words_64(meta.node.ingress_time);
        }
        if (instructions[10:10] == 1) {
            hdr.own_egress_time.setValid();
            hdr.own_egress_time.time = meta.node.egress_time;
            sum = sum + words_64(meta.node.egress_time);
        }
        if (instructions[9:9] == 1) {
            hdr.own_level2_interfaces.setValid();
            hdr.own_level2_interfaces.ingress = meta.node.ingress_level2;
            hdr.own_level2_interfaces.egress = meta.node.egress_level2;
            sum = sum + words_32(meta.node.ingress_level2) + words_32(meta.node.egress_level2);
        }
        if (instructions[8:8] == 1) {
            hdr.own_utilization.setValid();
            hdr.own_utilization.utilization = meta.node.utilization;
            sum = sum + words_32(meta.node.utilization);
        }
        if (instructions[7:7] == 1) {
            // v1model has no shared buffer.
            hdr.own_buffer.setValid();
            hdr.own_buffer.id = 0xff;
            hdr.own_buffer.occupancy = 0xffffff;
        }
        rest = hop_ml - defined_words(instructions);
        if (rest[0:0] == 1) {
            hdr.own_ones_1.setValid();
            hdr.own_ones_1.words = ~32w0;
        }
        if (rest[1:1] == 1) {
            hdr.own_ones_2.setValid();
            hdr.own_ones_2.words = ~64w0;
        }
        if (rest[2:2] == 1) {
            hdr.own_ones_4.setValid();
            hdr.own_ones_4.words = ~128w0;
        }
        if (rest[3:3] == 1) {
            hdr.own_ones_8.setValid();
            hdr.own_ones_8.words = ~256w0;
        }
        if (rest[4:4] == 1) {
            hdr.own_ones_16.setValid();
            hdr.own_ones_16.words = ~512w0;
        }

        // Words of all ones count as 0 in a one's complement sum.
        meta.pushed_sum = sum;
        meta.added = meta.added + sum;

        if (instructions[0:0] == 1) {
            // All ones: the checksum field is updated instead. IntEgress writes the value of a complement that is used.
            hdr.own_complement.setValid();
            hdr.own_complement.value = 0xffffffff;
        }
    }
}

#endif
