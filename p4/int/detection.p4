// Decides which INT packets are reported: a table chooses a detector by flow, and the detector decides. p4/README.md
// describes tables, registers and arithmetic; packages/detect implements the same, bit for bit. Of the flows that a rule
// matches, one packet of so many is reported besides the events, if the switch is told so.
#ifndef INT_INT_DETECTION_P4
#define INT_INT_DETECTION_P4

#include "headers.p4"
#include "values.p4"
#include "expression.p4"

#define ALGORITHM_NOOP 0
#define ALGORITHM_PER_HOP 1
#define ALGORITHM_PER_FLOW 2
#define ALGORITHM_MOVING_AVERAGE 3
#define ALGORITHM_THRESHOLD 4
#define SCOPE_HOP 0

#define NO_RULE 0xffffffff

// Cells by flow, and by switch.
#define FLOW_CELLS 65536
#define SWITCH_CELLS 4096

// A table for each IP version and bank. The control plane can fill the tables of the unused bank.
#define ALGORITHM_TABLE_OF(ip) \
    key = { \
        hdr.ip.source: ternary @name("source_address"); \
        hdr.ip.destination: ternary @name("destination_address"); \
        meta.flow.protocol: ternary @name("protocol"); \
        meta.flow.source_port: range @name("source_port"); \
        meta.flow.destination_port: range @name("destination_port"); \
        meta.source_mac: ternary @name("source_mac"); \
        meta.destination_mac: ternary @name("destination_mac"); \
    } \
    actions = { fast_detection; complex_detection; report_all; report_none; } \
    size = 4096; \
    default_action = report_all();

#define PER_HOP(i) \
    if (values.has_##i == 1 && hdr.metrics[METRIC_NODE_ID].has_##i == 1) { \
        index = ((bit<32>)detect.metric << 12) + (bit<32>)hdr.metrics[METRIC_NODE_ID].value_##i[11:0]; \
        per_hop_previous.read(previous, index); \
        difference = values.value_##i |-| previous; \
        if (previous > values.value_##i) { \
            difference = previous - values.value_##i; \
        } \
        if (difference > detect.threshold) { \
            event = 1; \
            per_hop_previous.write(index, values.value_##i); \
        } \
    }

control IntDetection(
    inout headers_t hdr,
    inout metadata_t meta,
    in standard_metadata_t standard_metadata)
{
    IntMetrics() metrics;
    IntExpression() expression;

    detect_t detect;
    int_metric_t values;
    bit<12> wanted;
    bit<1> event;
    bit<1> looked_at;
    bit<8> bank_in_use;
    bit<32> named;
    bit<32> history;
    bit<32> cell;
    bit<32> index;
    bit<32> previous;
    bit<32> difference;
    bit<32> count;
    bit<48> time;
    bit<48> accumulator;
    bit<48> shifted;
    bit<32> average;
    bit<32> regular_one_in;

    @name(".IntSink.bank")
    @id(0x1673a778)
    register<bit<8>>(1) bank;
    @name(".IntSink.sample_count")
    @id(0x1670f114)
    register<bit<32>>(FLOW_CELLS) sample_count;
    @name(".IntSink.sample_time")
    @id(0x16b5576d)
    register<bit<48>>(FLOW_CELLS) sample_time;
    @name(".IntSink.regular_count")
    @id(0x16e6a6ff)
    register<bit<32>>(FLOW_CELLS) regular_count;
    @name(".IntSink.per_hop_previous")
    @id(0x160da0cb)
    register<bit<32>>(12 * SWITCH_CELLS) per_hop_previous;
    @name(".IntSink.per_flow_previous")
    @id(0x16467992)
    register<bit<32>>(12 * FLOW_CELLS) per_flow_previous;
    @name(".IntSink.average_accumulator")
    @id(0x1635ad16)
    register<bit<48>>(12 * FLOW_CELLS) average_accumulator;
    @name(".IntSink.average_reported")
    @id(0x1687fdc4)
    register<bit<32>>(12 * FLOW_CELLS) average_reported;

    // By expression: metrics that it names, and metrics whose previous values it needs.
    @name(".IntSink.logic_metrics")
    @id(0x16909eba)
    register<bit<32>>(128) logic_metrics;
    @name(".IntSink.logic_history")
    @id(0x16569082)
    register<bit<32>>(128) logic_history;

    @name(".IntSink.fast_detection")
    @id(0x0127ff13)
    action fast_detection(
        bit<32> rule, bit<8> algorithm, bit<8> metric, bit<8> scope, bit<32> threshold, bit<8> weight, bit<32> one_in,
        bit<48> every)
    {
        detect.kind = DETECT_FAST;
        detect.rule = rule;
        detect.algorithm = algorithm;
        detect.metric = metric;
        detect.scope = scope;
        detect.threshold = threshold;
        detect.weight = weight;
        detect.one_in = one_in;
        detect.every = every;
    }

    @name(".IntSink.complex_detection")
    @id(0x01f0f054)
    action complex_detection(bit<32> rule, bit<8> index, bit<32> one_in, bit<48> every) {
        detect.kind = DETECT_COMPLEX;
        detect.rule = rule;
        detect.expression = index;
        detect.one_in = one_in;
        detect.every = every;
    }

    @name(".IntSink.report_all")
    @id(0x01405b69)
    action report_all() {
        detect.kind = DETECT_ALL;
        detect.rule = NO_RULE;
    }

    @name(".IntSink.report_none")
    @id(0x01c9c3c0)
    action report_none() {
        detect.kind = DETECT_NONE;
    }

    @name(".IntSink.set_regular")
    @id(0x011c3c05)
    action set_regular(bit<32> one_in) {
        regular_one_in = one_in;
    }
    @name(".IntSink.regular")
    @id(0x028cec6f)
    @brief("Of a flow with a rule, one packet of so many is reported, event or not; 0: events alone")
    table regular {
        actions = { set_regular; }
        default_action = set_regular(0);
    }

    @name(".IntSink.algorithm_ipv4_a")
    @brief("Rules for IPv4 flows, bank a: the algorithm that looks for events")
    @id(0x029ae423)
    table algorithm_ipv4_a {
        ALGORITHM_TABLE_OF(ipv4)
    }
    @name(".IntSink.algorithm_ipv4_b")
    @brief("Rules for IPv4 flows, bank b: the algorithm that looks for events")
    @id(0x02230b31)
    table algorithm_ipv4_b {
        ALGORITHM_TABLE_OF(ipv4)
    }
    @name(".IntSink.algorithm_ipv6_a")
    @brief("Rules for IPv6 flows, bank a: the algorithm that looks for events")
    @id(0x022d3fd7)
    table algorithm_ipv6_a {
        ALGORITHM_TABLE_OF(ipv6)
    }
    @name(".IntSink.algorithm_ipv6_b")
    @brief("Rules for IPv6 flows, bank b: the algorithm that looks for events")
    @id(0x0226d1cd)
    table algorithm_ipv6_b {
        ALGORITHM_TABLE_OF(ipv6)
    }

    apply {
        event = 0;
        detect.kind = DETECT_NONE;
        detect.rule = NO_RULE;
        detect.algorithm = ALGORITHM_NOOP;
        detect.metric = METRIC_NONE;
        detect.scope = SCOPE_HOP;
        detect.threshold = 0;
        detect.weight = 0;
        detect.expression = 0;
        detect.one_in = 0;
        detect.every = 0;
        named = 0;
        history = 0;
        cell = 0;
        bank.read(bank_in_use, 0);
        if (hdr.ipv4.isValid()) {
            if (bank_in_use == 0) {
                algorithm_ipv4_a.apply();
            } else {
                algorithm_ipv4_b.apply();
            }
            hash(cell, HashAlgorithm.crc32, 32w0,
                {
                    hdr.ipv4.source, hdr.ipv4.destination,
                    meta.flow.protocol, meta.flow.source_port, meta.flow.destination_port
                },
                (bit<32>)FLOW_CELLS);
        } else if (hdr.ipv6.isValid()) {
            if (bank_in_use == 0) {
                algorithm_ipv6_a.apply();
            } else {
                algorithm_ipv6_b.apply();
            }
            hash(cell, HashAlgorithm.crc32, 32w0,
                {
                    hdr.ipv6.source, hdr.ipv6.destination,
                    meta.flow.protocol, meta.flow.source_port, meta.flow.destination_port
                },
                (bit<32>)FLOW_CELLS);
        }

        if (detect.kind == DETECT_FAST || detect.kind == DETECT_COMPLEX) {
            regular_one_in = 0;
            regular.apply();
            if (regular_one_in != 0) {
                regular_count.read(count, cell);
                if (count == 0 || count >= regular_one_in) {
                    count = 1;
                    meta.report.regular = 1;
                } else {
                    count = count + 1;
                }
                regular_count.write(cell, count);
            }
        }

        if (meta.hops + (bit<8>)meta.pushed > 8 || hdr.stack.isValid()
            || defined_words(hdr.md.instructions) > hdr.md.hop_ml)
        {
            // More hops than the detectors can read, or other words than the instructions demand: reported, unless the
            // rules forbid all reports.
            if (detect.kind != DETECT_NONE) {
                event = 1;
            }
        } else if (detect.kind == DETECT_ALL) {
            event = 1;
        } else if (detect.kind != DETECT_NONE) {
            // Position of the source's block: the last hop comes first in the stack.
            meta.source_block = (bit<32>)(meta.stack_words - (bit<8>)hdr.md.hop_ml);

            looked_at = 1;
            if (detect.one_in != 0) {
                sample_count.read(count, cell);
                if (count == 0 || count >= detect.one_in) {
                    count = 1;
                } else {
                    count = count + 1;
                    looked_at = 0;
                }
                sample_count.write(cell, count);
            } else if (detect.every != 0) {
                sample_time.read(time, cell);
                if (time == 0 || standard_metadata.ingress_global_timestamp - time >= detect.every) {
                    sample_time.write(cell, standard_metadata.ingress_global_timestamp);
                } else {
                    looked_at = 0;
                }
            }

            if (looked_at == 1 && detect.kind == DETECT_FAST && detect.algorithm == ALGORITHM_NOOP) {
                event = 1;
                looked_at = 0;
            }

            // An unknown number of a metric, algorithm or expression detects nothing.
            if (detect.kind == DETECT_COMPLEX) {
                if (detect.expression > 127) {
                    looked_at = 0;
                }
            } else if (detect.metric > METRIC_BUFFER_ID || detect.metric == METRIC_NONE) {
                looked_at = 0;
            }

            if (looked_at == 1) {
                if (detect.kind == DETECT_COMPLEX) {
                    logic_metrics.read(named, (bit<32>)detect.expression);
                    logic_history.read(history, (bit<32>)detect.expression);
                    wanted = named[11:0] | history[11:0];
                } else {
                    wanted = 12w1 << detect.metric;
                    if (detect.algorithm == ALGORITHM_PER_HOP) {
                        wanted = wanted | 12w1 << METRIC_NODE_ID;
                    }
                }
                metrics.apply(hdr, meta, wanted);

                if (detect.kind == DETECT_COMPLEX) {
                    expression.apply(hdr, detect.expression, named, history, cell, event);
                } else {
                    values = hdr.metrics[detect.metric];
                    index = ((bit<32>)detect.metric << 16) + cell;
                    if (values.any == 1) {
                        if (detect.algorithm == ALGORITHM_PER_HOP) {
                            if (hdr.metrics[METRIC_NODE_ID].isValid()) {
                                PER_HOP(0)
                                PER_HOP(1)
                                PER_HOP(2)
                                PER_HOP(3)
                                PER_HOP(4)
                                PER_HOP(5)
                                PER_HOP(6)
                                PER_HOP(7)
                                PER_HOP(8)
                            }
                        } else if (detect.algorithm == ALGORITHM_PER_FLOW) {
                            per_flow_previous.read(previous, index);
                            difference = values.sum |-| previous;
                            if (previous > values.sum) {
                                difference = previous - values.sum;
                            }
                            if (difference > detect.threshold) {
                                event = 1;
                                per_flow_previous.write(index, values.sum);
                            }
                        } else if (detect.algorithm == ALGORITHM_MOVING_AVERAGE) {
                            average_accumulator.read(accumulator, index);
                            accumulator = accumulator + (bit<48>)values.sum - (accumulator >> detect.weight);
                            average_accumulator.write(index, accumulator);
                            shifted = accumulator >> detect.weight;
                            average = shifted[31:0];
                            if (shifted[47:32] != 0) {
                                // Only after the weight was made smaller.
                                average = 0xffffffff;
                            }
                            average_reported.read(previous, index);
                            difference = average |-| previous;
                            if (previous > average) {
                                difference = previous - average;
                            }
                            if (difference > detect.threshold) {
                                event = 1;
                                average_reported.write(index, average);
                            }
                        } else if (detect.algorithm == ALGORITHM_THRESHOLD) {
                            if (detect.scope == SCOPE_HOP) {
                                if (values.largest > detect.threshold) {
                                    event = 1;
                                }
                            } else if (values.sum > detect.threshold) {
                                event = 1;
                            }
                        }
                    }
                }
            }
        }

        if (event == 1 || meta.report.regular == 1) {
            meta.report.wanted = 1;
            meta.report.event = event;
            meta.report.has_rule = 1;
            meta.report.rule = detect.rule;
        }
    }
}

#endif
