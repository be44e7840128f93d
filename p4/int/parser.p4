// Finds INT in UDP and TCP, and splits the stack into words.
#ifndef INT_INT_PARSER_P4
#define INT_INT_PARSER_P4

#include "headers.p4"

parser IntParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata)
{
    // Initialise metadata, which is undefined before, for packets that leave unchanged.
    state start {
        meta.flow.protocol = 0;
        meta.flow.source_port = 0;
        meta.flow.destination_port = 0;
        meta.dscp = 0;
        meta.stack_words = 0;
        meta.hops = 0;
        meta.stack_sum = 0;
        meta.has_md = 0;
        meta.has_mx = 0;
        meta.fragment = 0;
        meta.packet_out = PACKET_OUT_NONE;
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: packet_out;
            default: ethernet;
        }
    }

    state packet_out {
        packet.extract(hdr.packet_out);
        meta.packet_out = PACKET_OUT(hdr.packet_out);
        hdr.packet_out.setInvalid();
        transition ethernet;
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        meta.flow.protocol = hdr.ipv4.protocol;
        meta.dscp = hdr.ipv4.dscp;
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5): ipv4_transport;
            (4, 6 .. 15): ipv4_options;
            default: accept;
        }
    }

    state ipv4_options {
        packet.extract(hdr.ipv4_options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition ipv4_transport;
    }

    // A fragment has no transport header, or only the first one has it: no byte may be added or removed.
    state ipv4_transport {
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.flags & 1, hdr.ipv4.protocol) {
            (0, 0, PROTOCOL_TCP): tcp;
            (0, 0, PROTOCOL_UDP): udp;
            (0, 0, _): accept;
            default: fragment;
        }
    }

    state fragment {
        meta.fragment = 1;
        transition accept;
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        meta.flow.protocol = hdr.ipv6.next_header;
        meta.dscp = hdr.ipv6.dscp;
        transition select(hdr.ipv6.version, hdr.ipv6.next_header) {
            (6, PROTOCOL_TCP): tcp;
            (6, PROTOCOL_UDP): udp;
            default: accept;
        }
    }

    state tcp {
        packet.extract(hdr.tcp);
        meta.flow.source_port = hdr.tcp.source_port;
        meta.flow.destination_port = hdr.tcp.destination_port;
        transition select(hdr.tcp.data_offset) {
            5: marked_by_dscp;
            6 .. 15: tcp_options;
            default: accept;
        }
    }

    state tcp_options {
        packet.extract(hdr.tcp_options, (bit<32>)(hdr.tcp.data_offset - 5) << 5);
        transition marked_by_dscp;
    }

    state udp {
        packet.extract(hdr.udp);
        meta.flow.source_port = hdr.udp.source_port;
        meta.flow.destination_port = hdr.udp.destination_port;
        transition select(hdr.udp.destination_port) {
            INT_UDP_PORT: marked_by_port;
            default: marked_by_dscp;
        }
    }

    state marked_by_dscp {
        transition select(meta.dscp) {
            INT_DSCP: dscp_shim;
            default: accept;
        }
    }

    // Checked before extraction, so that other data stays payload.
    state dscp_shim {
        transition select(packet.lookahead<bit<16>>()) {
            0x1000 &&& 0xfc00: shim;
            0x3000 &&& 0xfc00: shim;
            default: accept;
        }
    }

    state marked_by_port {
        transition select(packet.lookahead<bit<16>>()) {
            0x1400 &&& 0xfc00: shim;
            0x1800 &&& 0xfc00: shim;
            0x3400 &&& 0xfc00: shim;
            0x3800 &&& 0xfc00: shim;
            default: accept;
        }
    }

    state shim {
        packet.extract(hdr.shim);
        meta.words_left = hdr.shim.length - INT_HEADER_WORDS;
        transition select(hdr.shim.length, hdr.shim.type) {
            (0 .. 2, _): accept;
            (_, INT_TYPE_MD): md;
            default: mx;
        }
    }

    state mx {
        packet.extract(hdr.mx);
        transition select(hdr.mx.version, meta.words_left) {
            (INT_VERSION, 0): sound_mx;
            (INT_VERSION, _): mx_stack;
            default: accept;
        }
    }

    // Metadata that the source inserted.
    state mx_stack {
        packet.extract(hdr.stack, (bit<32>)meta.words_left << 5);
        transition sound_mx;
    }

    state sound_mx {
        meta.has_mx = 1;
        transition transport;
    }

    state md {
        packet.extract(hdr.md);
        meta.stack_words = meta.words_left;
        transition select(hdr.md.version, meta.words_left, hdr.md.hop_ml) {
            (INT_VERSION, 0, _): sound_md;
            (INT_VERSION, _, 0): accept;
            (INT_VERSION, 1 .. STACK_WORDS, _): hop;
            (INT_VERSION, _, _): long_stack;
            default: accept;
        }
    }

    state long_stack {
        packet.extract(hdr.stack, (bit<32>)meta.words_left << 5);
        transition sound_md;
    }

    // A stack consists of hops of Hop ML words each. A remainder makes the stack invalid.
    state hop {
        meta.hops = meta.hops + 1;
        meta.words_of_hop = hdr.md.hop_ml;
        transition word;
    }

    state word {
        packet.extract(hdr.words.next);
        meta.stack_sum = meta.stack_sum + (bit<32>)hdr.words.last.value[31:16] + (bit<32>)hdr.words.last.value[15:0];
        meta.words_left = meta.words_left - 1;
        meta.words_of_hop = meta.words_of_hop - 1;
        transition select(meta.words_of_hop, meta.words_left) {
            (0, 0): sound_md;
            (0, _): hop;
            (_, 0): accept;
            default: word;
        }
    }

    state sound_md {
        meta.has_md = 1;
        transition transport;
    }

    state transport {
        transition select(hdr.shim.npt) {
            INT_NPT_PORT: original_port;
            INT_NPT_NEW_UDP: original_transport;
            default: accept;
        }
    }

    state original_port {
        meta.flow.destination_port = hdr.shim.original;
        transition accept;
    }

    state original_transport {
        meta.flow.protocol = hdr.shim.original[7:0];
        meta.flow.source_port = 0;
        meta.flow.destination_port = 0;
        transition select(hdr.shim.original[7:0]) {
            PROTOCOL_TCP: original_ports;
            PROTOCOL_UDP: original_ports;
            default: accept;
        }
    }

    state original_ports {
        packet.extract(hdr.inner_ports);
        meta.flow.source_port = hdr.inner_ports.source;
        meta.flow.destination_port = hdr.inner_ports.destination;
        transition accept;
    }
}

#endif
