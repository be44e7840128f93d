// Ethernet, IPv4, IPv6, UDP and TCP as the programs here parse them. Options of IPv4 and TCP are separate headers, so
// that packets without options cost nothing extra.
#ifndef INT_HEADERS_NETWORK_P4
#define INT_HEADERS_NETWORK_P4

typedef bit<48> mac_address_t;
typedef bit<32> ipv4_address_t;
typedef bit<128> ipv6_address_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;

const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

header ethernet_t {
    mac_address_t destination;
    mac_address_t source;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_address_t source;
    ipv4_address_t destination;
}

// At most 40 bytes: (ihl - 5) words.
header ipv4_options_t {
    varbit<320> options;
}

header ipv6_t {
    bit<4> version;
    bit<6> dscp;
    bit<2> ecn;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_address_t source;
    ipv6_address_t destination;
}

header udp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header tcp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<4> data_offset;
    bit<4> reserved;
    bit<8> flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

// At most 40 bytes: (data_offset - 5) words.
header tcp_options_t {
    varbit<320> options;
}

#endif
