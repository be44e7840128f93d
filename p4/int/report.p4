// Turns a clone into a telemetry report 2.0: Ethernet, IPv4 and UDP to the collector, the report's headers, and the
// packet with INT, cut to the collector's limit.
#ifndef INT_INT_REPORT_P4
#define INT_INT_REPORT_P4

#include "headers.p4"
#include "../headers/sums.p4"

// Domain of the metadata that reports of an INT sink carry: DS bit 0 is the number of the deciding rule, 4 bytes. Its status:
// bit 0 if the packet is one of the flow's regular reports, bit 1 if it is no event.
#ifndef INT_REPORT_DOMAIN
#define INT_REPORT_DOMAIN 1
#endif

control IntReport(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata)
{
    bit<16> inner;
    bit<16> words;
    bit<16> item_words;
    // Bytes of UDP: its header 8, group 8, individual 4, main 8, and the rest.
    bit<16> length;
    bit<22> sequence;
    bit<22> next_sequence;
    bit<16> checksum;

    // Report sequence numbers, by collector.
    @name(".IntReport.sequence")
    @id(0x169f5a51)
    register<bit<22>>(256) sequences;

    // `index`: cell of the sequence number; `most`: most bytes of the packet to send, up to 968.
    @name(".IntReport.send")
    @id(0x01008966)
    action send(
        bit<8> index, bit<48> source_mac, bit<48> destination_mac, bit<32> source_address, bit<32> destination_address,
        bit<16> source_port, bit<16> destination_port, bit<6> hardware_id, bit<16> most)
    {
        hdr.report_ethernet.setValid();
        hdr.report_ethernet.destination = destination_mac;
        hdr.report_ethernet.source = source_mac;
        hdr.report_ethernet.ether_type = ETHERTYPE_IPV4;
        hdr.report_ipv4.setValid();
        hdr.report_ipv4.version = 4;
        hdr.report_ipv4.ihl = 5;
        hdr.report_ipv4.dscp = 0;
        hdr.report_ipv4.ecn = 0;
        hdr.report_ipv4.identification = 0;
        // Not fragmented on the way, so no identification is needed (RFC 6864).
        hdr.report_ipv4.flags = 2;
        hdr.report_ipv4.fragment_offset = 0;
        hdr.report_ipv4.ttl = 64;
        hdr.report_ipv4.protocol = PROTOCOL_UDP;
        hdr.report_ipv4.source = source_address;
        hdr.report_ipv4.destination = destination_address;
        hdr.report_udp.setValid();
        hdr.report_udp.source_port = source_port;
        hdr.report_udp.destination_port = destination_port;
        // No checksum: the covered data is not available here.
        hdr.report_udp.checksum = 0;
        sequences.read(sequence, (bit<32>)index);
        next_sequence = sequence + 1;
        sequences.write((bit<32>)index, next_sequence);
        hdr.report_group.setValid();
        hdr.report_group.version = REPORT_VERSION;
        hdr.report_group.hardware_id = hardware_id;
        hdr.report_group.sequence = sequence;
        hdr.report_group.node_id = meta.node.id;
        meta.report.most = most;
    }

    // By the clone's egress port, which is its mirror session's.
    @name(".IntReport.collector")
    @brief("The collector that a report goes to")
    @id(0x022cdddd)
    table collector {
        key = { standard_metadata.egress_port: exact @name("egress_port"); }
        actions = { send; NoAction; }
        size = 256;
        default_action = NoAction();
    }

    apply {
        meta.report.most = 0;
        if (!collector.apply().hit) {
            mark_to_drop(standard_metadata);
        } else {
            item_words = 0;
            hdr.report_main.setValid();
            hdr.report_main.metadata_bits = meta.report.items;
            hdr.report_main.domain_id = 0;
            hdr.report_main.domain_bits = 0;
            hdr.report_main.domain_status = 0;
            if (meta.report.items[14:14] == 1) {
                hdr.report_interfaces.setValid();
                hdr.report_interfaces.ingress = meta.node.ingress;
                hdr.report_interfaces.egress = meta.node.egress;
                item_words = item_words + 1;
            }
            if (meta.report.items[13:13] == 1) {
                hdr.report_hop_latency.setValid();
                hdr.report_hop_latency.latency = meta.node.latency;
                item_words = item_words + 1;
            }
            if (meta.report.items[12:12] == 1) {
                hdr.report_queue.setValid();
                hdr.report_queue.id = meta.node.queue_id;
                hdr.report_queue.occupancy = meta.node.queue_occupancy;
                item_words = item_words + 1;
            }
            if (meta.report.items[11:11] == 1) {
                hdr.report_ingress_time.setValid();
                hdr.report_ingress_time.time = meta.node.ingress_time;
                item_words = item_words + 2;
            }
            if (meta.report.items[10:10] == 1) {
                hdr.report_egress_time.setValid();
                hdr.report_egress_time.time = meta.node.egress_time;
                item_words = item_words + 2;
            }
            if (meta.report.items[9:9] == 1) {
                hdr.report_level2_interfaces.setValid();
                hdr.report_level2_interfaces.ingress = meta.node.ingress_level2;
                hdr.report_level2_interfaces.egress = meta.node.egress_level2;
                item_words = item_words + 2;
            }
            if (meta.report.items[8:8] == 1) {
                hdr.report_utilization.setValid();
                hdr.report_utilization.utilization = meta.node.utilization;
                item_words = item_words + 1;
            }
            if (meta.report.items[0:0] == 1) {
                hdr.report_drop.setValid();
                hdr.report_drop.queue_id = meta.node.queue_id;
                hdr.report_drop.reason = meta.report.drop_reason;
                hdr.report_drop.padding = 0;
                item_words = item_words + 1;
            }
            if (meta.report.has_rule == 1) {
                hdr.report_main.domain_id = INT_REPORT_DOMAIN;
                hdr.report_main.domain_bits = 0x8000;
                if (meta.report.regular == 1) {
                    hdr.report_main.domain_status = 0x8000 | (bit<16>)(meta.report.event ^ 1) << 14;
                }
                hdr.report_rule.setValid();
                hdr.report_rule.number = meta.report.rule;
                item_words = item_words + 1;
            }

            // Reports count words. A packet loses up to three bytes of its payload to end on a word. A packet without
            // payload after INT is sent from its IP header on, so that its headers are whole words.
            hdr.report_individual.setValid();
            hdr.report_individual.type = REPORT_TYPE_INT;
            hdr.report_individual.inner_type = REPORT_INNER_ETHERNET;
            inner = 14 + meta.report.length;
            if (meta.report.has_payload == 0) {
                hdr.ethernet.setInvalid();
                inner = meta.report.length;
                hdr.report_individual.inner_type = REPORT_INNER_IPV4;
                if (hdr.ipv6.isValid()) {
                    hdr.report_individual.inner_type = REPORT_INNER_IPV6;
                }
            }
            if (inner > meta.report.most) {
                inner = meta.report.most;
            }
            // The length in words has eight bits, and all ones have another meaning.
            if (inner > 968) {
                inner = 968;
            }
            words = inner >> 2;
            hdr.report_individual.length = (bit<8>)(2 + item_words + words);
            hdr.report_individual.metadata_length = (bit<8>)item_words;
            hdr.report_individual.dropped = meta.report.dropped;
            hdr.report_individual.queue_congested = meta.report.queue_congested;
            hdr.report_individual.tracked_flow = meta.report.tracked_flow;
            hdr.report_individual.intermediate = meta.report.intermediate;
            hdr.report_individual.reserved = 0;

            length = 28 + (item_words << 2) + (words << 2);
            // An entry of the table may say NoAction.
            if (hdr.report_udp.isValid()) {
                hdr.report_udp.length = length;
            }
            if (hdr.report_ipv4.isValid()) {
                hdr.report_ipv4.total_length = 20 + length;
                hash(checksum, HashAlgorithm.csum16, 16w0,
                    {
                        hdr.report_ipv4.version, hdr.report_ipv4.ihl, hdr.report_ipv4.dscp, hdr.report_ipv4.ecn,
                        hdr.report_ipv4.total_length, hdr.report_ipv4.identification, hdr.report_ipv4.flags,
                        hdr.report_ipv4.fragment_offset, hdr.report_ipv4.ttl, hdr.report_ipv4.protocol,
                        hdr.report_ipv4.source, hdr.report_ipv4.destination
                    },
                    32w65536);
                hdr.report_ipv4.checksum = checksum;
            }
            truncate((bit<32>)length + 34);
        }
    }
}

#endif
