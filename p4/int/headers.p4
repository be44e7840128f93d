// Everything a packet carries through int.p4, and what is known of it.
#ifndef INT_INT_HEADERS_P4
#define INT_INT_HEADERS_P4

#include "../headers/network.p4"
#include "../headers/int.p4"
#include "../headers/report.p4"

// Words of a stack that detectors can look into: eight hops of all items that are defined. A longer stack is carried and
// reported as it is.
#define STACK_WORDS 104

// Clones of the egress pipeline: simple_switch's number for them.
const bit<32> INSTANCE_EGRESS_CLONE = 2;
const bit<32> INSTANCE_INGRESS_CLONE = 1;

// Headers in the order in which they leave. What `kept_` holds never leaves: it is the packet as it was before the sink
// restored it, for the clone that becomes the report. simple_switch gives clones of the egress pipeline all headers as
// they are at its end, those that the deparser does not emit too.
struct headers_t {
#ifdef INT_EXTRA_HEADERS
    INT_EXTRA_HEADERS
#endif
    ethernet_t report_ethernet;
    ipv4_t report_ipv4;
    udp_t report_udp;
    report_group_t report_group;
    report_individual_t report_individual;
    report_main_t report_main;
    int_interfaces_t report_interfaces;
    int_hop_latency_t report_hop_latency;
    int_queue_t report_queue;
    int_ingress_time_t report_ingress_time;
    int_egress_time_t report_egress_time;
    int_level2_interfaces_t report_level2_interfaces;
    int_utilization_t report_utilization;
    report_drop_t report_drop;
    report_rule_t report_rule;

    ethernet_t ethernet;
    ipv4_t ipv4;
    ipv4_options_t ipv4_options;
    ipv6_t ipv6;
    // The outermost transport header: of a packet with a UDP header of the source's own, that one.
    tcp_t tcp;
    tcp_options_t tcp_options;
    udp_t udp;
    int_shim_t shim;
    int_md_t md;
    int_mx_t mx;
    // What this switch pushes.
    INT_BLOCK(own);
    // What was on the stack, last hop first; or all of it in `stack`, where it is too long.
    int_word_t[STACK_WORDS] words;
    int_stack_t stack;
    // The original transport header behind INT: whole at a source that inserts a UDP header, its ports elsewhere.
    tcp_t inner_tcp;
    tcp_options_t inner_tcp_options;
    udp_t inner_udp;
    ports_t inner_ports;

    // What the detectors look at, by the number of the metric.
    int_metric_t[12] metrics;

    ipv4_t kept_ipv4;
    ipv6_t kept_ipv6;
    tcp_t kept_tcp;
    udp_t kept_udp;
    int_shim_t kept_shim;
    int_md_t kept_md;
    int_mx_t kept_mx;
    INT_BLOCK(kept);
    int_word_t[STACK_WORDS] kept_words;
    int_stack_t kept_stack;
}

// The monitored packet's flow: its own ports, never those of INT's encapsulation.
struct flow_t {
    @field_list(1)
    bit<8> protocol;
    @field_list(1)
    bit<16> source_port;
    @field_list(1)
    bit<16> destination_port;
}

// What the watchlist of a source says.
struct watch_t {
    bit<1> starts;              // INT starts here
    bit<4> type;                // INT_TYPE_MD or INT_TYPE_MX
    bit<2> npt;
    bit<1> postcard;            // INT-XD: a report of this switch, the packet stays as it is
    bit<1> discard;
    bit<16> instructions;
    bit<8> max_hops;
    bit<16> entropy_port;       // UDP source port with INT_NPT_NEW_UDP; 0: from a hash of the flow
    bit<32> one_in;             // sampling of postcards and MX reports: 0 is none
}

// What the egress port is like.
struct port_settings_t {
    bit<1> is_sink;
    bit<1> mtu_reports;         // a stack that is in the way goes to the collector instead of the M bit being set
    bit<1> complements;         // the Checksum Complement is used where it is asked for
    bit<16> mtu;
    bit<24> congested_above;    // packets in the queue; the Q bit of reports
}

// What is to be reported, carried by the clone that becomes the report.
struct report_t {
    @field_list(1)
    bit<1> wanted;
    @field_list(1)
    bit<4> type;
    @field_list(1)
    bit<1> dropped;
    @field_list(1)
    bit<1> queue_congested;
    @field_list(1)
    bit<1> tracked_flow;
    @field_list(1)
    bit<1> intermediate;
    // Bits of the items in the main contents.
    @field_list(1)
    bit<16> items;
    @field_list(1)
    bit<8> drop_reason;
    // The rule that decided, if one did.
    @field_list(1)
    bit<1> has_rule;
    @field_list(1)
    bit<32> rule;
    // Bytes of the monitored packet from its IP header on, and whether there is a payload behind its headers.
    @field_list(1)
    bit<16> length;
    @field_list(1)
    bit<1> has_payload;
    // The clone is of a packet that was restored: its INT is in the kept headers.
    @field_list(1)
    bit<1> was_kept;
    // Mirror session of reports.
    @field_list(1)
    bit<32> session;
    // Bytes of the packet that the collector wants at most.
    bit<16> most;
}

// This switch's own metadata for one packet.
struct node_t {
    @field_list(1)
    bit<32> id;
    @field_list(1)
    bit<16> ingress;
    @field_list(1)
    bit<16> egress;
    @field_list(1)
    bit<32> latency;
    @field_list(1)
    bit<8> queue_id;
    @field_list(1)
    bit<24> queue_occupancy;
    @field_list(1)
    bit<64> ingress_time;
    @field_list(1)
    bit<64> egress_time;
    @field_list(1)
    bit<32> ingress_level2;
    @field_list(1)
    bit<32> egress_level2;
    @field_list(1)
    bit<32> utilization;
}

// What the tables of detection say of a packet.
#define DETECT_NONE 0
#define DETECT_FAST 1
#define DETECT_COMPLEX 2
#define DETECT_ALL 3

struct detect_t {
    bit<8> kind;
    bit<32> rule;
    bit<8> algorithm;
    bit<8> metric;
    bit<8> scope;
    bit<32> threshold;
    bit<8> weight;
    bit<8> expression;
    bit<32> one_in;
    bit<48> every;
}

struct metadata_t {
#ifdef INT_EXTRA_METADATA
    INT_EXTRA_METADATA
#endif
    flow_t flow;
    bit<6> dscp;
    watch_t watch;
    port_settings_t port;
    report_t report;
    node_t node;
    // Words of the stack, and its hops if the words are in hdr.words.
    @field_list(1)
    bit<8> stack_words;
    @field_list(1)
    bit<8> hops;
    // Those not extracted yet, of all and of the hop under way.
    bit<8> words_left;
    bit<5> words_of_hop;
    // One's complement sum of hdr.words.
    bit<32> stack_sum;
    // Of hdr.words, where the block of the source begins.
    bit<32> source_block;
    // Of what this switch has pushed, without the Checksum Complement.
    bit<32> pushed_sum;
    // Sound INT of the type was found.
    @field_list(1)
    bit<1> has_md;
    bit<1> has_mx;
    // The time to live is counted down.
    bit<1> routed;
    // One's complement sums of what this switch has taken out of and put into what the transport checksum covers.
    bit<32> removed;
    bit<32> added;
    // Bytes that INT has made the packet longer.
    bit<16> growth;
    // Bytes of INT that were taken out to make room.
    bit<16> shrink;
    // Bytes of the IP packet, and of what stands behind its IP header.
    bit<16> ip_length;
    bit<16> ip_payload;
    // Bytes that its length fields, and the MTU of the egress port, have room for.
    bit<16> ip_room;
    bit<16> mtu_room;
    bit<1> fragment;
    bit<1> pushed;
    bit<1> discarded;
    // The UDP header is this source's own.
    bit<1> new_udp;
    // MAC addresses that it arrived with.
    bit<48> source_mac;
    bit<48> destination_mac;
}

#endif
