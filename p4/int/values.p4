// Loads the values of the metrics hop by hop, and aggregates them.
#ifndef INT_INT_VALUES_P4
#define INT_INT_VALUES_P4

#include "headers.p4"

// Numbers of the metrics, as packages/detect gives them.
#define METRIC_HOP_LATENCY 0
#define METRIC_QUEUE_OCCUPANCY 1
#define METRIC_EGRESS_UTILIZATION 2
#define METRIC_BUFFER_OCCUPANCY 3
#define METRIC_NONE 4
#define METRIC_NODE_ID 5
#define METRIC_L1_INGRESS 6
#define METRIC_L1_EGRESS 7
#define METRIC_L2_INGRESS 8
#define METRIC_L2_EGRESS 9
#define METRIC_QUEUE_ID 10
#define METRIC_BUFFER_ID 11

// Adds one value to the metric's header and to its aggregates.
#define TAKE_VALUE(m, i, value) \
    hdr.metrics[m].has_##i = 1; \
    hdr.metrics[m].any = 1; \
    hdr.metrics[m].value_##i = value; \
    hdr.metrics[m].sum = hdr.metrics[m].sum |+| value; \
    hdr.metrics[m].last = value; \
    if (value > hdr.metrics[m].largest) { \
        hdr.metrics[m].largest = value; \
    } \
    if (value < hdr.metrics[m].smallest) { \
        hdr.metrics[m].smallest = value; \
    }

// Hop `i` in path order. An item that is all ones is not available.
#define LOAD_HOP(m, i, shift, mask) \
    if (meta.hops > i) { \
        item = hdr.words[at].value; \
        if (item != 0xffffffff) { \
            item = (item >> shift) & mask; \
            TAKE_VALUE(m, i, item) \
        } \
        at = at - (bit<32>)hdr.md.hop_ml; \
    }

// An item of two words, which is not available if both are all ones.
#define LOAD_LONG_HOP(m, i, second, unused) \
    if (meta.hops > i) { \
        item = hdr.words[at].value; \
        other = hdr.words[at + 1].value; \
        if (item != 0xffffffff || other != 0xffffffff) { \
            if (second == 1) { \
                item = other; \
            } \
            TAKE_VALUE(m, i, item) \
        } \
        at = at - (bit<32>)hdr.md.hop_ml; \
    }

// Metric `m`, whose item instruction bit `b` requests, after the items of the bits in `before`.
#define LOAD_METRIC(m, b, before, HOP, shift, mask, is_known, own) \
    if (wanted[m:m] == 1) { \
        hdr.metrics[m].setValid(); \
        hdr.metrics[m].any = 0; \
        hdr.metrics[m].has_0 = 0; \
        hdr.metrics[m].has_1 = 0; \
        hdr.metrics[m].has_2 = 0; \
        hdr.metrics[m].has_3 = 0; \
        hdr.metrics[m].has_4 = 0; \
        hdr.metrics[m].has_5 = 0; \
        hdr.metrics[m].has_6 = 0; \
        hdr.metrics[m].has_7 = 0; \
        hdr.metrics[m].has_8 = 0; \
        hdr.metrics[m].sum = 0; \
        hdr.metrics[m].last = 0; \
        hdr.metrics[m].delta = 0; \
        hdr.metrics[m].largest = 0; \
        hdr.metrics[m].smallest = 0xffffffff; \
        hdr.metrics[m].value_0 = 0; \
        hdr.metrics[m].value_1 = 0; \
        hdr.metrics[m].value_2 = 0; \
        hdr.metrics[m].value_3 = 0; \
        hdr.metrics[m].value_4 = 0; \
        hdr.metrics[m].value_5 = 0; \
        hdr.metrics[m].value_6 = 0; \
        hdr.metrics[m].value_7 = 0; \
        hdr.metrics[m].value_8 = 0; \
        if (hdr.md.instructions[b:b] == 1) { \
            at = meta.source_block + (bit<32>)defined_words(hdr.md.instructions & before); \
            HOP(m, 0, shift, mask) \
            HOP(m, 1, shift, mask) \
            HOP(m, 2, shift, mask) \
            HOP(m, 3, shift, mask) \
            HOP(m, 4, shift, mask) \
            HOP(m, 5, shift, mask) \
            HOP(m, 6, shift, mask) \
            HOP(m, 7, shift, mask) \
            if (meta.pushed == 1 && is_known) { \
                item = own; \
                TAKE_VALUE(m, 8, item) \
            } \
        } \
    }

// Loads the metrics whose bits are set in `wanted`. At most eight hops are on the stack; the ninth is this switch's.
control IntMetrics(inout headers_t hdr, in metadata_t meta, in bit<12> wanted) {
    bit<32> at;
    bit<32> item;
    bit<32> other;

    apply {
        LOAD_METRIC(METRIC_HOP_LATENCY, 13, 0xc000, LOAD_HOP, 0, 0xffffffff,
            (meta.node.latency != 0xffffffff), meta.node.latency)
        LOAD_METRIC(METRIC_QUEUE_OCCUPANCY, 12, 0xe000, LOAD_HOP, 0, 0xffffff,
            (meta.node.queue_id != 0xff || meta.node.queue_occupancy != 0xffffff), (bit<32>)meta.node.queue_occupancy)
        LOAD_METRIC(METRIC_EGRESS_UTILIZATION, 8, 0xfe00, LOAD_HOP, 0, 0xffffffff,
            (meta.node.utilization != 0xffffffff), meta.node.utilization)
        LOAD_METRIC(METRIC_BUFFER_OCCUPANCY, 7, 0xff00, LOAD_HOP, 0, 0xffffff, (false), 0)
        LOAD_METRIC(METRIC_NODE_ID, 15, 0x0000, LOAD_HOP, 0, 0xffffffff,
            (meta.node.id != 0xffffffff), meta.node.id)
        LOAD_METRIC(METRIC_L1_INGRESS, 14, 0x8000, LOAD_HOP, 16, 0xffff,
            (meta.node.ingress != 0xffff || meta.node.egress != 0xffff), (bit<32>)meta.node.ingress)
        LOAD_METRIC(METRIC_L1_EGRESS, 14, 0x8000, LOAD_HOP, 0, 0xffff,
            (meta.node.ingress != 0xffff || meta.node.egress != 0xffff), (bit<32>)meta.node.egress)
        LOAD_METRIC(METRIC_L2_INGRESS, 9, 0xfc00, LOAD_LONG_HOP, 0, 0,
            (meta.node.ingress_level2 != 0xffffffff || meta.node.egress_level2 != 0xffffffff), meta.node.ingress_level2)
        LOAD_METRIC(METRIC_L2_EGRESS, 9, 0xfc00, LOAD_LONG_HOP, 1, 0,
            (meta.node.ingress_level2 != 0xffffffff || meta.node.egress_level2 != 0xffffffff), meta.node.egress_level2)
        LOAD_METRIC(METRIC_QUEUE_ID, 12, 0xe000, LOAD_HOP, 24, 0xff,
            (meta.node.queue_id != 0xff || meta.node.queue_occupancy != 0xffffff), (bit<32>)meta.node.queue_id)
        LOAD_METRIC(METRIC_BUFFER_ID, 7, 0xff00, LOAD_HOP, 24, 0xff, (false), 0)
    }
}

#endif
