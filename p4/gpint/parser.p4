// Checks a probe that comes from a link, and parses it in a later pass.
#ifndef INT_GPINT_PARSER_P4
#define INT_GPINT_PARSER_P4

#include "headers.p4"

parser GpintParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata)
{
    // Metadata is undefined, except for fields that a returning packet kept.
    state start {
        meta.is_probe = 0;
        meta.measurements_expected = 0;
        transition select(standard_metadata.instance_type) {
            INSTANCE_NORMAL: from_a_link;
            default: stage;
        }
    }

    state from_a_link {
        meta.stage = STAGE_ARRIVAL;
        meta.out_port = 0;
        meta.type = 0;
        meta.is_last = 0;
        meta.next_index = 0;
        meta.left = 0;
        meta.clone_key = 0;
        meta.cell = 0;
        meta.ticket = 0;
        meta.kept_at = 0;
        meta.timeout = 0;
        transition stage;
    }

    state stage {
        transition select(meta.stage) {
            STAGE_TRANSIT: accept;
            default: ethernet;
        }
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(meta.stage) {
            STAGE_ARRIVAL: arrival;
            STAGE_PLAIN: accept;
            default: transport;
        }
    }

    // Whole UDP datagrams with the DSCP of probes.
    state arrival {
        transition select(
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.flags & 1, hdr.ipv4.fragment_offset, hdr.ipv4.protocol, hdr.ipv4.dscp)
        {
            (4, 5 .. 15, 0, 0, PROTOCOL_UDP, GPINT_DSCP_PROBE): transport;
            (4, 5 .. 15, 0, 0, PROTOCOL_UDP, GPINT_DSCP_FEEDBACK): transport;
            (4, 5 .. 15, 0, 0, PROTOCOL_UDP, GPINT_DSCP_RECOVERY): transport;
            default: accept;
        }
    }

    state transport {
        transition select(hdr.ipv4.ihl) {
            5: udp;
            default: ipv4_options;
        }
    }

    state ipv4_options {
        packet.extract(hdr.ipv4_options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition udp;
    }

    state udp {
        packet.extract(hdr.udp);
        transition select(meta.stage) {
            STAGE_ARRIVAL: lengths;
            STAGE_SERVE: serve;
            STAGE_APPEND: append;
            default: accept;
        }
    }

    // Excess of the lengths: of the datagram over the packet, of the packet over the frame.
    state lengths {
        meta.overrun = (8 |-| (bit<32>)hdr.udp.length)
            + ((((bit<32>)hdr.ipv4.ihl << 2) + (bit<32>)hdr.udp.length) |-| (bit<32>)hdr.ipv4.total_length)
            + ((14 + (bit<32>)hdr.ipv4.total_length) |-| standard_metadata.packet_length);
        meta.bytes_left = (bit<32>)hdr.udp.length - 8;
        transition select(meta.overrun, hdr.udp.destination_port) {
            (0, GPINT_PORT_PLAIN): probe;
            (0, GPINT_PORT_EXTENDED): probe;
            default: accept;
        }
    }

    state probe {
        meta.is_probe = 1;
        transition select(hdr.ipv4.dscp) {
            GPINT_DSCP_FEEDBACK: feedback;
            default: stacks;
        }
    }

    state feedback {
        verify(meta.bytes_left >= 2, error.BadProbe);
        packet.extract(hdr.request);
        transition accept;
    }

    // The counts must agree with each other and with the length. The entries are skipped, and all DLV headers read into
    // one place: a probe to be served is parsed again.
    state stacks {
        verify(meta.bytes_left <= GPINT_MOST_BYTES, error.BadProbe);
        verify(meta.bytes_left >= 4, error.BadProbe);
        packet.extract(hdr.request);
        packet.extract(hdr.route_count);
        meta.bytes_left = meta.bytes_left - 4;
        transition select(hdr.udp.destination_port) {
            GPINT_PORT_EXTENDED: routes_extended;
            default: routes_plain;
        }
    }

    state routes_plain {
        meta.part_bytes = ((bit<32>)hdr.route_count.count << 1) + (bit<32>)hdr.route_count.count;
        verify(meta.bytes_left >= meta.part_bytes + 2, error.BadProbe);
        meta.bytes_left = meta.bytes_left - meta.part_bytes;
        transition select(hdr.route_count.count) {
            0: visits;
            default: first_route_plain;
        }
    }

    state first_route_plain {
        packet.extract(hdr.route_plain);
        packet.advance((meta.part_bytes - 3) << 3);
        transition visits;
    }

    state routes_extended {
        meta.part_bytes = (bit<32>)hdr.route_count.count << 2;
        verify(meta.bytes_left >= meta.part_bytes + 2, error.BadProbe);
        meta.bytes_left = meta.bytes_left - meta.part_bytes;
        transition select(hdr.route_count.count) {
            0: visits;
            default: first_route_extended;
        }
    }

    state first_route_extended {
        packet.extract(hdr.route_extended);
        packet.advance((meta.part_bytes - 4) << 3);
        transition visits;
    }

    state visits {
        packet.extract(hdr.visit_count);
        meta.visits_left = hdr.visit_count.count;
        meta.bytes_left = meta.bytes_left - 2;
        transition select(hdr.udp.destination_port) {
            GPINT_PORT_EXTENDED: visits_extended;
            default: visits_plain;
        }
    }

    state visits_plain {
        meta.part_bytes = (bit<32>)hdr.visit_count.count << 2;
        verify(meta.bytes_left >= meta.part_bytes + 2, error.BadProbe);
        meta.bytes_left = meta.bytes_left - meta.part_bytes;
        transition select(hdr.visit_count.count) {
            0: measurements;
            default: visit_plain;
        }
    }

    state visit_plain {
        packet.extract(hdr.visit_plain);
        meta.measurements_expected = meta.measurements_expected + (bit<32>)hdr.visit_plain.count;
        meta.visits_left = meta.visits_left - 1;
        transition select(meta.visits_left) {
            0: measurements;
            default: visit_plain;
        }
    }

    state visits_extended {
        meta.part_bytes = ((bit<32>)hdr.visit_count.count << 2) + ((bit<32>)hdr.visit_count.count << 1);
        verify(meta.bytes_left >= meta.part_bytes + 2, error.BadProbe);
        meta.bytes_left = meta.bytes_left - meta.part_bytes;
        transition select(hdr.visit_count.count) {
            0: measurements;
            default: visit_extended;
        }
    }

    state visit_extended {
        packet.extract(hdr.visit_extended);
        meta.measurements_expected = meta.measurements_expected + (bit<32>)hdr.visit_extended.count;
        meta.visits_left = meta.visits_left - 1;
        transition select(meta.visits_left) {
            0: measurements;
            default: visit_extended;
        }
    }

    state measurements {
        packet.extract(hdr.measurement_count);
        meta.part_bytes = (bit<32>)hdr.measurement_count.count << 2;
        verify((bit<32>)hdr.measurement_count.count == meta.measurements_expected, error.BadProbe);
        verify(meta.bytes_left - 2 == meta.part_bytes, error.BadProbe);
        transition accept;
    }

    // A probe that has been checked.
    state serve {
        packet.extract(hdr.request);
        packet.extract(hdr.route_count);
        transition select(hdr.udp.destination_port) {
            GPINT_PORT_EXTENDED: serve_extended;
            default: serve_plain;
        }
    }

    state serve_plain {
        packet.extract(hdr.route_plain);
        meta.part_bytes = (bit<32>)hdr.route_count.count - 1;
        packet.extract(hdr.routes, (meta.part_bytes << 4) + (meta.part_bytes << 3));
        packet.extract(hdr.visit_count);
        packet.extract(hdr.visits, (bit<32>)hdr.visit_count.count << 5);
        transition serve_measurements;
    }

    state serve_extended {
        packet.extract(hdr.route_extended);
        meta.part_bytes = (bit<32>)hdr.route_count.count - 1;
        packet.extract(hdr.routes, meta.part_bytes << 5);
        packet.extract(hdr.visit_count);
        meta.part_bytes = (bit<32>)hdr.visit_count.count;
        packet.extract(hdr.visits, (meta.part_bytes << 5) + (meta.part_bytes << 4));
        transition serve_measurements;
    }

    state serve_measurements {
        packet.extract(hdr.measurement_count);
        packet.extract(hdr.measurements, (bit<32>)hdr.measurement_count.count << 5);
        transition accept;
    }

    // Appended measurements precede the padding of a short frame.
    state append {
        packet.extract(hdr.body, ((bit<32>)hdr.udp.length - 8) << 3);
        transition accept;
    }
}

#endif
