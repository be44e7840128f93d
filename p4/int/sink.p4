// Removes INT, and restores the packet as it was before the source.
#ifndef INT_INT_SINK_P4
#define INT_INT_SINK_P4

#include "headers.p4"
#include "../headers/sums.p4"

// Copies the packet for the report into headers that the deparser does not emit.
control IntKeep(inout headers_t hdr) {
    apply {
        hdr.kept_ipv4 = hdr.ipv4;
        hdr.kept_ipv6 = hdr.ipv6;
        hdr.kept_tcp = hdr.tcp;
        hdr.kept_udp = hdr.udp;
        hdr.kept_shim = hdr.shim;
        hdr.kept_md = hdr.md;
        hdr.kept_mx = hdr.mx;
        hdr.kept_node_id = hdr.own_node_id;
        hdr.kept_interfaces = hdr.own_interfaces;
        hdr.kept_hop_latency = hdr.own_hop_latency;
        hdr.kept_queue = hdr.own_queue;
        hdr.kept_ingress_time = hdr.own_ingress_time;
        hdr.kept_egress_time = hdr.own_egress_time;
        hdr.kept_level2_interfaces = hdr.own_level2_interfaces;
        hdr.kept_utilization = hdr.own_utilization;
        hdr.kept_buffer = hdr.own_buffer;
        hdr.kept_ones_1 = hdr.own_ones_1;
        hdr.kept_ones_2 = hdr.own_ones_2;
        hdr.kept_ones_4 = hdr.own_ones_4;
        hdr.kept_ones_8 = hdr.own_ones_8;
        hdr.kept_ones_16 = hdr.own_ones_16;
        hdr.kept_complement = hdr.own_complement;
        hdr.kept_words = hdr.words;
        hdr.kept_stack = hdr.stack;
    }
}

// In the clone that becomes the report: restores the kept packet.
control IntRestoreKept(inout headers_t hdr) {
    apply {
        hdr.ipv4 = hdr.kept_ipv4;
        hdr.ipv6 = hdr.kept_ipv6;
        hdr.tcp = hdr.kept_tcp;
        hdr.udp = hdr.kept_udp;
        hdr.shim = hdr.kept_shim;
        hdr.md = hdr.kept_md;
        hdr.mx = hdr.kept_mx;
        hdr.own_node_id = hdr.kept_node_id;
        hdr.own_interfaces = hdr.kept_interfaces;
        hdr.own_hop_latency = hdr.kept_hop_latency;
        hdr.own_queue = hdr.kept_queue;
        hdr.own_ingress_time = hdr.kept_ingress_time;
        hdr.own_egress_time = hdr.kept_egress_time;
        hdr.own_level2_interfaces = hdr.kept_level2_interfaces;
        hdr.own_utilization = hdr.kept_utilization;
        hdr.own_buffer = hdr.kept_buffer;
        hdr.own_ones_1 = hdr.kept_ones_1;
        hdr.own_ones_2 = hdr.kept_ones_2;
        hdr.own_ones_4 = hdr.kept_ones_4;
        hdr.own_ones_8 = hdr.kept_ones_8;
        hdr.own_ones_16 = hdr.kept_ones_16;
        hdr.own_complement = hdr.kept_complement;
        hdr.words = hdr.kept_words;
        hdr.stack = hdr.kept_stack;
    }
}

// Removes all headers of INT.
control IntRemove(inout headers_t hdr) {
    apply {
        hdr.shim.setInvalid();
        hdr.md.setInvalid();
        hdr.mx.setInvalid();
        hdr.own_node_id.setInvalid();
        hdr.own_interfaces.setInvalid();
        hdr.own_hop_latency.setInvalid();
        hdr.own_queue.setInvalid();
        hdr.own_ingress_time.setInvalid();
        hdr.own_egress_time.setInvalid();
        hdr.own_level2_interfaces.setInvalid();
        hdr.own_utilization.setInvalid();
        hdr.own_buffer.setInvalid();
        hdr.own_ones_1.setInvalid();
        hdr.own_ones_2.setInvalid();
        hdr.own_ones_4.setInvalid();
        hdr.own_ones_8.setInvalid();
        hdr.own_ones_16.setInvalid();
        hdr.own_complement.setInvalid();
        hdr.words.pop_front(STACK_WORDS);
        hdr.stack.setInvalid();
    }
}

control IntStrip(inout headers_t hdr, inout metadata_t meta) {
    IntRemove() remove;
    bit<16> sum;
    bit<16> bytes;

    apply {
        bytes = ((bit<16>)hdr.shim.length << 2) + 4;
        if (hdr.shim.npt == INT_NPT_NEW_UDP) {
            bytes = bytes + 8;
        }

        if (hdr.shim.npt == INT_NPT_NEW_UDP) {
            if (hdr.ipv4.isValid()) {
                hdr.ipv4.checksum = updated(hdr.ipv4.checksum,
                    (bit<32>)PROTOCOL_UDP + (bit<32>)bytes, (bit<32>)hdr.shim.original[7:0]);
                hdr.ipv4.protocol = hdr.shim.original[7:0];
            } else if (hdr.ipv6.isValid()) {
                hdr.ipv6.next_header = hdr.shim.original[7:0];
            }
            hdr.udp.setInvalid();
        } else {
            // The data that the transport checksum no longer covers. The sum of this switch's block is known.
            meta.removed = meta.stack_sum + meta.pushed_sum + SHIM_SUM(hdr.shim);
            if (hdr.md.isValid()) {
                meta.removed = meta.removed + MD_SUM(hdr.md);
            }
            if (hdr.mx.isValid()) {
                meta.removed = meta.removed + MX_SUM(hdr.mx);
            }
            if (hdr.own_complement.isValid()) {
                meta.removed = meta.removed + words_32(hdr.own_complement.value);
            }
            // Summed separately: simple_switch aborts if it hashes a varbit of an invalid header.
            if (hdr.stack.isValid()) {
                hash(sum, HashAlgorithm.csum16, 16w0, { hdr.stack.words }, 32w65536);
                meta.removed = meta.removed + (bit<32>)~sum;
            }
            meta.added = 0;

            // UDP counts its length twice, in the header and in the pseudo header.
            if (hdr.udp.isValid()) {
                if (hdr.udp.length != 0) {
                    hdr.udp.length = hdr.udp.length - bytes;
                    meta.removed = meta.removed + (bit<32>)bytes;
                }
            }
            meta.removed = meta.removed + (bit<32>)bytes;

            if (hdr.shim.npt == INT_NPT_PORT) {
                if (hdr.udp.isValid()) {
                    meta.removed = meta.removed + (bit<32>)hdr.udp.destination_port;
                    meta.added = (bit<32>)hdr.shim.original;
                    hdr.udp.destination_port = hdr.shim.original;
                }
            } else if (hdr.ipv4.isValid()) {
                hdr.ipv4.checksum = updated(hdr.ipv4.checksum,
                    ((bit<32>)hdr.ipv4.dscp << 2) + (bit<32>)bytes, (bit<32>)hdr.shim.original[7:2] << 2);
                hdr.ipv4.dscp = hdr.shim.original[7:2];
            } else if (hdr.ipv6.isValid()) {
                hdr.ipv6.dscp = hdr.shim.original[7:2];
            }
            if (hdr.udp.isValid()) {
                if (hdr.udp.checksum != 0) {
                    hdr.udp.checksum = updated(hdr.udp.checksum, meta.removed, meta.added);
                    if (hdr.udp.checksum == 0) {
                        hdr.udp.checksum = 0xffff;
                    }
                }
            } else if (hdr.tcp.isValid()) {
                hdr.tcp.checksum = updated(hdr.tcp.checksum, meta.removed, meta.added);
            }
        }
        if (hdr.ipv4.isValid()) {
            if (hdr.shim.npt == INT_NPT_PORT) {
                hdr.ipv4.checksum = updated(hdr.ipv4.checksum, (bit<32>)bytes, 0);
            }
            hdr.ipv4.total_length = hdr.ipv4.total_length - bytes;
        } else if (hdr.ipv6.isValid()) {
            if (hdr.ipv6.payload_length != 0) {
                hdr.ipv6.payload_length = hdr.ipv6.payload_length - bytes;
            }
        }
        remove.apply(hdr);
    }
}

#endif
