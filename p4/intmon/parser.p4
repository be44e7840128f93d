// Finds IntMon headers and parses their stacks. Packets without valid INT are passed on unchanged.
#ifndef INT_INTMON_PARSER_P4
#define INT_INTMON_PARSER_P4

#include "headers.p4"

parser IntmonParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata)
{
    // Initialise metadata, which is undefined before, for packets that leave unchanged.
    state start {
        meta.is_udp = 0;
        meta.has_int = 0;
        meta.ip_bytes = 0;
        meta.stack_words = 0;
        meta.stack_sum = 0;
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
        meta.ip_bytes = (bit<32>)hdr.ipv4.total_length;
        meta.ip_header_bytes = (bit<32>)hdr.ipv4.ihl << 2;
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.total_length) {
            (4, 5 .. 15, 0): ipv4_unknown_length;
            (4, 5 .. 15, _): ipv4_options;
            default: accept;
        }
    }

    // A packet that will be segmented later.
    state ipv4_unknown_length {
        meta.ip_bytes = standard_metadata.packet_length - 14;
        transition ipv4_options;
    }

    state ipv4_options {
        transition select(hdr.ipv4.ihl) {
            5: ipv4_transport;
            default: read_ipv4_options;
        }
    }

    state read_ipv4_options {
        packet.extract(hdr.ipv4_options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition ipv4_transport;
    }

    // No byte may be inserted into a fragment.
    state ipv4_transport {
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.flags & 1, hdr.ipv4.protocol) {
            (0, 0, PROTOCOL_UDP): udp;
            default: accept;
        }
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        meta.ip_bytes = (bit<32>)hdr.ipv6.payload_length + 40;
        meta.ip_header_bytes = 40;
        transition select(hdr.ipv6.version, hdr.ipv6.payload_length, hdr.ipv6.next_header) {
            (6, 0, PROTOCOL_UDP): ipv6_unknown_length;
            (6, _, PROTOCOL_UDP): udp;
            default: accept;
        }
    }

    state ipv6_unknown_length {
        meta.ip_bytes = standard_metadata.packet_length - 14;
        transition udp;
    }

    state udp {
        packet.extract(hdr.udp);
        meta.overrun = ((meta.ip_header_bytes + 8) |-| meta.ip_bytes)
            + ((meta.ip_bytes + 14) |-| standard_metadata.packet_length);
        meta.room = (meta.ip_bytes - meta.ip_header_bytes) - 8;
        transition select(meta.overrun, hdr.udp.destination_port) {
            (0, INTMON_PORT): intmon;
            (0, _): plain_udp;
            default: accept;
        }
    }

    state plain_udp {
        meta.is_udp = 1;
        transition accept;
    }

    state intmon {
        packet.extract(hdr.intmon);
        meta.instructions_set = (bit<5>)hdr.intmon.instructions[15:15] + (bit<5>)hdr.intmon.instructions[14:14]
            + (bit<5>)hdr.intmon.instructions[13:13] + (bit<5>)hdr.intmon.instructions[12:12]
            + (bit<5>)hdr.intmon.instructions[11:11] + (bit<5>)hdr.intmon.instructions[10:10]
            + (bit<5>)hdr.intmon.instructions[9:9] + (bit<5>)hdr.intmon.instructions[8:8]
            + (bit<5>)hdr.intmon.instructions[7:7] + (bit<5>)hdr.intmon.instructions[6:6]
            + (bit<5>)hdr.intmon.instructions[5:5] + (bit<5>)hdr.intmon.instructions[4:4]
            + (bit<5>)hdr.intmon.instructions[3:3] + (bit<5>)hdr.intmon.instructions[2:2]
            + (bit<5>)hdr.intmon.instructions[1:1] + (bit<5>)hdr.intmon.instructions[0:0];
        meta.stack_bytes = (bit<32>)hdr.intmon.length |-| INTMON_HEADER_BYTES;
        // Too short for the header, too long for the packet, or different from the counts.
        meta.overrun = (INTMON_HEADER_BYTES |-| (bit<32>)hdr.intmon.length)
            + ((bit<32>)hdr.intmon.length |-| meta.room)
            + (meta.stack_bytes ^ (((bit<32>)hdr.intmon.instruction_count * (bit<32>)hdr.intmon.total_hops) << 2))
            + (bit<32>)(meta.instructions_set ^ hdr.intmon.instruction_count)
            + (meta.stack_bytes |-| (STACK_WORDS * 4));
        meta.stack_words = meta.stack_bytes[17:2];
        meta.words_left = meta.stack_words;
        transition select(meta.overrun, meta.stack_words) {
            (0, 0): sound;
            (0, _): word;
            default: accept;
        }
    }

    // The last value is marked, and no other.
    state word {
        packet.extract(hdr.words.next);
        meta.stack_sum = meta.stack_sum + ((bit<32>)hdr.words.last.bottom << 15)
            + (bit<32>)hdr.words.last.value[30:16] + (bit<32>)hdr.words.last.value[15:0];
        meta.words_left = meta.words_left - 1;
        transition select(meta.words_left, hdr.words.last.bottom) {
            (0, 1): sound;
            (0, 0): accept;
            (_, 1): accept;
            default: word;
        }
    }

    state sound {
        meta.has_int = 1;
        transition accept;
    }
}

#endif
