// What dart.p4 has besides the headers and metadata of int.p4.
#ifndef INT_DART_HEADERS_P4
#define INT_DART_HEADERS_P4

#include "../headers/network.p4"
#include "../headers/roce.p4"

// What a slot holds: a checksum of the key, and the value.
header dart_slot_t {
    bit<32> checksum;
    bit<32> value_0;
    bit<32> value_1;
    bit<32> value_2;
    bit<32> value_3;
    bit<32> value_4;
}

// Parts of the key; those that are not valid do not count. Never emitted.
header dart_key_ipv4_t {
    bit<32> source;
    bit<32> destination;
}

header dart_key_ipv6_t {
    bit<128> source;
    bit<128> destination;
}

header dart_key_flow_t {
    bit<8> protocol;
    bit<16> source_port;
    bit<16> destination_port;
}

header dart_key_node_t {
    bit<32> id;
}

#define INT_EXTRA_HEADERS \
    ethernet_t dart_ethernet; \
    ipv4_t dart_ipv4; \
    udp_t dart_udp; \
    bth_t dart_bth; \
    reth_t dart_reth; \
    dart_slot_t dart_slot; \
    icrc_t dart_icrc; \
    dart_key_ipv4_t dart_key_ipv4; \
    dart_key_ipv6_t dart_key_ipv6; \
    dart_key_flow_t dart_key_flow; \
    dart_key_node_t dart_key_node;

#define INT_EXTRA_EMITS \
    packet.emit(hdr.dart_ethernet); \
    packet.emit(hdr.dart_ipv4); \
    packet.emit(hdr.dart_udp); \
    packet.emit(hdr.dart_bth); \
    packet.emit(hdr.dart_reth); \
    packet.emit(hdr.dart_slot); \
    packet.emit(hdr.dart_icrc);

// `copy`: which of the N copies this packet writes; `is_begun`: key and value are there, from the clone before.
struct dart_t {
    @field_list(1)
    bit<8> copy;
    @field_list(1)
    bit<1> is_begun;
}

#define INT_EXTRA_METADATA dart_t dart;

#endif
