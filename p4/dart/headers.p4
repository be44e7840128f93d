// Headers and metadata of dart.p4 in addition to those of int.p4.
#ifndef INT_DART_HEADERS_P4
#define INT_DART_HEADERS_P4

#include "../headers/network.p4"
#include "../headers/roce.p4"

// A slot: a checksum of the key, and the value.
header dart_slot_t {
    bit<32> checksum;
    bit<32> value_0;
    bit<32> value_1;
    bit<32> value_2;
    bit<32> value_3;
    bit<32> value_4;
}

// The key of 13, 17, 37 or 41 bytes, at the end of 41 bytes, because a calculation's input has a fixed width. The bytes
// before the key are chosen so that the CRC is that of the key alone: see DART_KEY. Never emitted.
header dart_key_t {
    bit<32> word_0;
    bit<32> word_1;
    bit<32> word_2;
    bit<32> word_3;
    bit<32> word_4;
    bit<32> word_5;
    bit<32> word_6;
    bit<32> word_7;
    bit<40> word_8;
    bit<32> word_9;
    // All ones where the polynomial's constant belongs, else 0.
    bit<32> fill_0;
    bit<32> fill_5;
    bit<32> fill_6;
}

#define INT_EXTRA_HEADERS \
    ethernet_t dart_ethernet; \
    ipv4_t dart_ipv4; \
    udp_t dart_udp; \
    bth_t dart_bth; \
    reth_t dart_reth; \
    dart_slot_t dart_slot; \
    icrc_t dart_icrc; \
    dart_key_t dart_key;

#define INT_EXTRA_EMITS \
    packet.emit(hdr.dart_ethernet); \
    packet.emit(hdr.dart_ipv4); \
    packet.emit(hdr.dart_udp); \
    packet.emit(hdr.dart_bth); \
    packet.emit(hdr.dart_reth); \
    packet.emit(hdr.dart_slot); \
    packet.emit(hdr.dart_icrc);

// `copy`: the number of the copy that this packet writes, of N. `is_begun`: the clone before has set key and value.
struct dart_t {
    @field_list(1)
    bit<8> copy;
    @field_list(1)
    bit<1> is_begun;
}

#define INT_EXTRA_METADATA dart_t dart;

#define INT_EXTRA_BEGIN \
    meta.dart.copy = 0; \
    meta.dart.is_begun = 0;

#endif
