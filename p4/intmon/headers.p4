#ifndef INT_INTMON_HEADERS_P4
#define INT_INTMON_HEADERS_P4

#include "../headers/controller.p4"
#include "../headers/network.p4"
#include "../headers/intmon.p4"

// Most values of a stack: eight switches with all fields. A longer stack is passed on unchanged.
#define STACK_WORDS 64

const bit<32> INSTANCE_EGRESS_CLONE = 2;

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    ipv4_t ipv4;
    ipv4_options_t ipv4_options;
    ipv6_t ipv6;
    udp_t udp;
    intmon_t intmon;
    // The values that this switch pushes: the item of instruction bit i is at index i.
    intmon_value_t[16] own;
    intmon_value_t[STACK_WORDS] words;

    // At the sink: the packet with its INT, for the copy. Never emitted, and so not part of the packet.
    ipv4_t kept_ipv4;
    ipv6_t kept_ipv6;
    udp_t kept_udp;
    intmon_t kept_intmon;
    intmon_value_t[16] kept_own;
    intmon_value_t[STACK_WORDS] kept_words;
}

struct metadata_t {
    // Of the parser: sound UDP, sound INT behind it.
    bit<1> is_udp;
    bit<1> has_int;
    bit<32> ip_bytes;           // of the IP packet
    bit<32> ip_header_bytes;
    bit<32> room;               // bytes behind the UDP header
    bit<32> overrun;
    bit<32> stack_bytes;
    bit<16> words_left;
    bit<16> stack_words;
    bit<32> stack_sum;
    bit<5> instructions_set;

    bit<48> destination_mac;
    // Of a packet from the controller (PACKET_OUT), and the reason of one to it.
    bit<16> packet_out;
    bit<7> reason;
    // Port by which the packet came in.
    @field_list(1)
    bit<9> ingress;

    // Of the watch rules.
    bit<1> is_watched;
    bit<16> instructions;
    bit<8> max_hops;
    bit<32> one_in;             // packets of a flow of which one is watched; 0 or 1: all

    // Of egress.
    bit<1> has_node;
    bit<31> node_id;
    bit<1> is_sink;
    bit<16> mtu;
    bit<31> congestion;
    bit<31> utilization;
    bit<32> session;

    // Changes: bytes added and removed, sums of words before and after.
    bit<16> grown;
    bit<16> shrunk;
    bit<32> removed;
    bit<32> added;
    bit<32> own_sum;            // of what this switch pushes
}

#endif
