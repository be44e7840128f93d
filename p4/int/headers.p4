// Headers and metadata of packets in int.p4.
#ifndef INT_INT_HEADERS_P4
#define INT_INT_HEADERS_P4

#include "../headers/controller.p4"
#include "../headers/network.p4"
#include "../headers/int.p4"
#include "../headers/report.p4"

// Most words of a stack for detectors: eight hops of all defined items. A longer stack is carried and reported
// unchanged.
#define STACK_WORDS 104

// Clones of the egress pipeline: simple_switch's number for them.
const bit<32> INSTANCE_EGRESS_CLONE = 2;
const bit<32> INSTANCE_INGRESS_CLONE = 1;

// Headers in the order in which they leave. `kept_` headers never leave: they hold the packet before the sink restored
// it, for the clone that becomes the report. simple_switch gives clones of the egress pipeline all headers at its end,
// including those that the deparser does not emit.
struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
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
    // The outermost transport header, which is the source's UDP header if it inserted one.
    tcp_t tcp;
    tcp_options_t tcp_options;
    udp_t udp;
    int_shim_t shim;
    int_md_t md;
    int_mx_t mx;
    // The block that this switch pushes.
    INT_BLOCK(own);
    // The received stack, last hop first; a stack that is too long is in `stack` as a whole.
    int_word_t[STACK_WORDS] words;
    int_stack_t stack;
    // The original transport header behind INT: whole at a source that inserts a UDP header, its ports elsewhere.
    tcp_t inner_tcp;
    tcp_options_t inner_tcp_options;
    udp_t inner_udp;
    ports_t inner_ports;

    // Values for the detectors, by the number of the metric.
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

// The source's settings from the watchlist.
struct watch_t {
    bit<1> starts;              // INT starts here
    bit<4> type;                // INT_TYPE_MD or INT_TYPE_MX
    bit<2> npt;
    bit<1> postcard;            // INT-XD: a report of this switch, the packet stays as it is
    bit<1> discard;
    bit<16> instructions;
    bit<8> max_hops;
    bit<16> entropy_port;       // UDP source port with INT_NPT_NEW_UDP; 0: from a hash of the flow
    bit<32> one_in;             // sampling of postcards and MX reports, or of MD by the source: 0 is none
}

// Settings of the egress port.
struct port_settings_t {
    bit<1> is_sink;
    bit<1> mtu_reports;         // a stack without room goes to the collector, and the M bit is not set
    bit<1> complements;         // the Checksum Complement is used where it is requested
    bit<16> mtu;
    bit<24> congested_above;    // packets in the queue; the Q bit of reports
}

// The data of a report, carried by the clone that becomes the report.
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
    // Whether that rule found an event, and whether the packet is one of the flow's regular reports.
    @field_list(1)
    bit<1> event;
    @field_list(1)
    bit<1> regular;
    // Bytes of the monitored packet from its IP header on, and whether there is a payload behind its headers.
    @field_list(1)
    bit<16> length;
    @field_list(1)
    bit<1> has_payload;
    // The clone's original was restored: its INT is in the kept headers.
    @field_list(1)
    bit<1> was_kept;
    // Mirror session of reports.
    @field_list(1)
    bit<32> session;
    // Most bytes of the packet in a report.
    bit<16> most;
    // Whether the packet may enter: ACCESS_GRANTED and so on.
    bit<8> access;
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

// Results of the detection tables for a packet.
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
    // Of a packet from the controller (PACKET_OUT), and the reason of one to it.
    bit<16> packet_out;
    bit<7> reason;
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
    // Words not extracted yet, of the stack and of the current hop.
    bit<8> words_left;
    bit<5> words_of_hop;
    // One's complement sum of hdr.words.
    bit<32> stack_sum;
    // Index in hdr.words at which the source's block begins.
    bit<32> source_block;
    // Sum of this switch's block, without the Checksum Complement.
    bit<32> pushed_sum;
    // Sound INT of the type was found.
    @field_list(1)
    bit<1> has_md;
    bit<1> has_mx;
    // The time to live is counted down.
    bit<1> routed;
    // One's complement sums of the data removed and added by this switch, as far as the transport checksum covers it.
    bit<32> removed;
    bit<32> added;
    // Bytes that INT has added to the packet.
    bit<16> growth;
    // Bytes of INT removed to make room.
    bit<16> shrink;
    // Bytes of the IP packet, and of its payload.
    bit<16> ip_length;
    bit<16> ip_payload;
    // Free bytes within its length fields and the MTU of the egress port.
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
    // A group of next hops, 0: none; and the hash that chooses one.
    bit<16> next_hops;
    bit<16> flow_hash;
}

#endif
