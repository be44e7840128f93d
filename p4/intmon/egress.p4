// Source, transit and sink.
#ifndef INT_INTMON_EGRESS_P4
#define INT_INTMON_EGRESS_P4

#include "headers.p4"
#include "push.p4"
#include "settle.p4"
#include "utilization.p4"

control IntmonEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    IntmonPush() push;
    IntmonSettle() settle;
    IntmonSettle() settle_again;
    IntmonUtilization() utilization;

    // Packets that got a header here, that got this switch's values, that exceeded a limit, that were copied to the
    // management plane.
    @id(0x1297cfba)
    counter(4, CounterType.packets) roles;

    bit<5> words = 0;
    bit<16> bytes = 0;
    bit<32> counted = 0;
    bit<32> limit = 0;
    bit<1> is_pushed = 0;

    @id(0x01af8147)
    action set_node(bit<31> id) {
        meta.has_node = 1;
        meta.node_id = id;
    }

    @brief("Without an id the switch starts INT for watched flows, but pushes no values")
    @id(0x02a4c1eb)
    table node {
        actions = { set_node; NoAction; }
        default_action = NoAction();
    }

    // `is_sink`: no INT leaves by this port. `mtu`: bytes of the largest IP packet, 0: no limit. `congested_at`:
    // packets in the queue from which it counts as congested, 0: unknown.
    @id(0x01df7011)
    action set_port(bit<1> is_sink, bit<16> mtu, bit<31> congested_at) {
        meta.is_sink = is_sink;
        meta.mtu = mtu;
        meta.congestion = INTMON_NOT_AVAILABLE;
        if (congested_at != 0) {
            meta.congestion = 0;
        }
        if (congested_at != 0 && (bit<31>)standard_metadata.deq_qdepth >= congested_at) {
            meta.congestion = 1;
        }
    }

    @brief("What each egress port is: inside the INT domain or out of it")
    @id(0x0237e900)
    table port {
        key = { standard_metadata.egress_port: exact @name("egress_port"); }
        actions = { set_port; }
        default_action = set_port(0, 0, 0);
        size = 512;
    }

    @brief("The mirror session to the management plane")
    @id(0x0172723b)
    action copy_to(bit<32> session) {
        meta.session = session;
    }

    @brief("The mirror session to the management plane")
    @id(0x02bf2eb9)
    table management {
        actions = { copy_to; NoAction; }
        default_action = NoAction();
    }

    @id(0x0177ecc9)
    action keep() {
        hdr.kept_ipv4 = hdr.ipv4;
        hdr.kept_ipv6 = hdr.ipv6;
        hdr.kept_udp = hdr.udp;
        hdr.kept_intmon = hdr.intmon;
        hdr.kept_own = hdr.own;
        hdr.kept_words = hdr.words;
    }

    @id(0x01ef4189)
    action take_kept() {
        hdr.ipv4 = hdr.kept_ipv4;
        hdr.ipv6 = hdr.kept_ipv6;
        hdr.udp = hdr.kept_udp;
        hdr.intmon = hdr.kept_intmon;
        hdr.own = hdr.kept_own;
        hdr.words = hdr.kept_words;
    }

    @brief("Restores the packet as it was before the source")
    // The original port is in the sum before and after.
    @id(0x0140772c)
    action restore() {
        meta.removed = INTMON_PORT + meta.stack_sum
            + (bit<32>)(hdr.intmon.version ++ hdr.intmon.replication ++ hdr.intmon.copy ++ hdr.intmon.hops_exceeded
                ++ hdr.intmon.to_controller ++ hdr.intmon.reserved ++ hdr.intmon.instruction_count)
            + (bit<32>)(hdr.intmon.max_hops ++ hdr.intmon.total_hops)
            + (bit<32>)hdr.intmon.instructions + (bit<32>)hdr.intmon.reserved_2 + (bit<32>)hdr.intmon.length;
        meta.shrunk = hdr.intmon.length;
        hdr.udp.destination_port = hdr.intmon.destination_port;
        hdr.intmon.setInvalid();
        hdr.own.pop_front(16);
        hdr.words.pop_front(STACK_WORDS);
    }

    apply {
        // The controller gets packets as they came.
        if (standard_metadata.egress_port == CPU_PORT && standard_metadata.instance_type != INSTANCE_EGRESS_CLONE) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = meta.ingress;
            hdr.packet_in.reason = meta.reason;
            return;
        }
        meta.grown = 0;
        meta.shrunk = 0;
        meta.removed = 0;
        meta.added = 0;
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            meta.ip_bytes = 0;
            take_kept();
            if (hdr.intmon.to_controller == 0) {
                hdr.intmon.to_controller = 1;
                meta.added = 0x0200;
                settle.apply(hdr, meta);
            }
            if (standard_metadata.egress_port == CPU_PORT) {
                hdr.packet_in.setValid();
                hdr.packet_in.ingress_port = meta.ingress;
                hdr.packet_in.reason = REASON_REPORT;
            }
        } else {
            meta.has_node = 0;
            meta.node_id = 0;
            meta.session = 0;
            meta.own_sum = 0;
            node.apply();
            port.apply();
            management.apply();
            utilization.apply(meta, standard_metadata);

            // The value of the IP length field, and its largest growth.
            counted = meta.ip_bytes;
            if (hdr.ipv6.isValid()) {
                counted = counted - 40;
            }
            limit = 0xffffffff;
            if (meta.mtu != 0) {
                limit = (bit<32>)meta.mtu;
            }

            if (meta.is_watched == 1) {
                words = (bit<5>)meta.instructions[15:15] + (bit<5>)meta.instructions[14:14]
                    + (bit<5>)meta.instructions[13:13] + (bit<5>)meta.instructions[12:12]
                    + (bit<5>)meta.instructions[11:11] + (bit<5>)meta.instructions[10:10]
                    + (bit<5>)meta.instructions[9:9] + (bit<5>)meta.instructions[8:8];
                bytes = (bit<16>)words << 2;
                if (meta.has_node == 1 && words != 0) {
                    is_pushed = 1;
                    if (meta.ip_bytes + INTMON_HEADER_BYTES + (bit<32>)bytes > limit) {
                        is_pushed = 0;
                        bytes = 0;
                    }
                } else {
                    bytes = 0;
                }
                if (meta.max_hops == 0
                    || counted + INTMON_HEADER_BYTES + (bit<32>)bytes > 0xffff
                    || meta.ip_bytes + INTMON_HEADER_BYTES > limit)
                {
                    is_pushed = 0;
                    roles.count(2);
                } else {
                    roles.count(0);
                    hdr.intmon.setValid();
                    hdr.intmon.version = 0;
                    hdr.intmon.replication = 0;
                    hdr.intmon.copy = 0;
                    hdr.intmon.hops_exceeded = 0;
                    hdr.intmon.to_controller = 0;
                    hdr.intmon.reserved = 0;
                    hdr.intmon.instruction_count = words;
                    hdr.intmon.max_hops = meta.max_hops;
                    hdr.intmon.total_hops = 0;
                    hdr.intmon.instructions = meta.instructions;
                    hdr.intmon.reserved_2 = 0;
                    hdr.intmon.length = INTMON_HEADER_BYTES;
                    hdr.intmon.destination_port = hdr.udp.destination_port;
                    // The original port stays part of the sum.
                    hdr.udp.destination_port = INTMON_PORT;
                    meta.grown = INTMON_HEADER_BYTES;
                    meta.added = INTMON_PORT + (bit<32>)words + ((bit<32>)meta.max_hops << 8)
                        + (bit<32>)meta.instructions + INTMON_HEADER_BYTES;
                    meta.has_int = 1;
                }
            } else if (meta.has_int == 1 && meta.has_node == 1) {
                words = hdr.intmon.instruction_count;
                bytes = (bit<16>)words << 2;
                if (hdr.intmon.max_hops <= hdr.intmon.total_hops) {
                    roles.count(2);
                    if (hdr.intmon.hops_exceeded == 0) {
                        hdr.intmon.hops_exceeded = 1;
                        meta.added = 0x0400;
                    }
                } else if (words != 0) {
                    if (counted + (bit<32>)bytes > 0xffff
                        || meta.ip_bytes + (bit<32>)bytes > limit
                        || meta.stack_words + (bit<16>)words > STACK_WORDS)
                    {
                        roles.count(2);
                    } else {
                        is_pushed = 1;
                    }
                }
            }

            if (is_pushed == 1) {
                roles.count(1);
                push.apply(hdr, meta, standard_metadata);
                hdr.intmon.total_hops = hdr.intmon.total_hops + 1;
                hdr.intmon.length = hdr.intmon.length + bytes;
                meta.grown = meta.grown + bytes;
                // Include the count and the length.
                meta.added = meta.added + meta.own_sum + 1 + (bit<32>)bytes;
                meta.stack_sum = meta.stack_sum + meta.own_sum;
                meta.stack_words = meta.stack_words + (bit<16>)words;
            }
            if (meta.has_int == 1) {
                settle.apply(hdr, meta);
            }

            if (meta.has_int == 1 && meta.is_sink == 1) {
                if (meta.session != 0) {
                    roles.count(3);
                    keep();
                    clone_preserving_field_list(CloneType.E2E, meta.session, 1);
                }
                if (hdr.intmon.copy == 1) {
                    // This packet is a copy itself.
                    mark_to_drop(standard_metadata);
                }
                restore();
                settle_again.apply(hdr, meta);
            }
        }
    }
}

#endif
