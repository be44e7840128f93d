// Telemetry report, version 2.0.
#ifndef INT_HEADERS_REPORT_P4
#define INT_HEADERS_REPORT_P4

const bit<4> REPORT_VERSION = 2;

const bit<4> REPORT_TYPE_INT = 1;

const bit<4> REPORT_INNER_ETHERNET = 3;
const bit<4> REPORT_INNER_IPV4 = 4;
const bit<4> REPORT_INNER_IPV6 = 5;

header report_group_t {
    bit<4> version;
    bit<6> hardware_id;
    bit<22> sequence;
    bit<32> node_id;
}

header report_individual_t {
    bit<4> type;
    bit<4> inner_type;
    bit<8> length;              // words behind this one
    bit<8> metadata_length;     // words of items in the main contents
    bit<1> dropped;
    bit<1> queue_congested;
    bit<1> tracked_flow;
    bit<1> intermediate;
    bit<4> reserved;
}

header report_main_t {
    bit<16> metadata_bits;
    bit<16> domain_id;
    bit<16> domain_bits;
    bit<16> domain_status;
}

// Domain-specific: number of the rule that raised an event.
header report_rule_t {
    bit<32> number;
}

header report_drop_t {
    bit<8> queue_id;
    bit<8> reason;
    bit<16> padding;
}

#endif
