// Turns clones into telemetry reports as in int.p4, evicted entries, and events. Each clone makes the next.
#ifndef INT_FLOWCACHE_EXPORT_P4
#define INT_FLOWCACHE_EXPORT_P4

#include "../int/headers.p4"
#include "../int/report.p4"
#include "../int/sink.p4"
#include "headers.p4"
#include "unroll.p4"

// IPv4 20, UDP 8, flowcache_export_t 12.
#define FLOWCACHE_IP_LENGTH 40
#define FLOWCACHE_ENTRY_BYTES (88 + 52 * FLOWCACHE_HOPS)

#define DROP_HOP(i) hdr.flowcache_hops[i].setInvalid();

// Takes an event to send from the held ones.
#define TAKE_EVENT(i, from) \
    hdr.flowcache_events[i] = hdr.flowcache_held_events[from + i]; \
    if (hdr.flowcache_held_events[from + i].isValid()) { \
        records = records + 1; \
        hdr.flowcache_held_events[from + i].setInvalid(); \
    }

// Seven places: simple_switch lets a packet grow by no more than 512 bytes.
#define TAKE_EVENTS(from) \
    if (records == 0) { \
        TAKE_EVENT(0, from) \
        TAKE_EVENT(1, from) \
        TAKE_EVENT(2, from) \
        TAKE_EVENT(3, from) \
        TAKE_EVENT(4, from) \
        TAKE_EVENT(5, from) \
        TAKE_EVENT(6, from) \
    }

control FlowCacheExport(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata)
{
    IntReport() report;
    IntRemove() remove;
    bit<32> sequence;
    bit<32> next_sequence;
    bit<16> checksum;
    bit<16> bytes;
    bit<8> records;

    // Sequence numbers, by collector.
    @name(".FlowCacheExport.sequence")
    @id(0x1602d723)
    register<bit<32>>(256) sequences;

    // `index`: cell of the sequence number.
    @name(".FlowCacheExport.send")
    @id(0x01f6aaae)
    action send(
        bit<8> index, bit<48> source_mac, bit<48> destination_mac, bit<32> source_address, bit<32> destination_address,
        bit<16> source_port, bit<16> destination_port)
    {
        hdr.flowcache_ethernet.setValid();
        hdr.flowcache_ethernet.destination = destination_mac;
        hdr.flowcache_ethernet.source = source_mac;
        hdr.flowcache_ethernet.ether_type = ETHERTYPE_IPV4;
        hdr.flowcache_ipv4.setValid();
        hdr.flowcache_ipv4.version = 4;
        hdr.flowcache_ipv4.ihl = 5;
        hdr.flowcache_ipv4.dscp = 0;
        hdr.flowcache_ipv4.ecn = 0;
        hdr.flowcache_ipv4.identification = 0;
        // Not fragmented on the way, so no identification is needed (RFC 6864).
        hdr.flowcache_ipv4.flags = 2;
        hdr.flowcache_ipv4.fragment_offset = 0;
        hdr.flowcache_ipv4.ttl = 64;
        hdr.flowcache_ipv4.protocol = PROTOCOL_UDP;
        hdr.flowcache_ipv4.source = source_address;
        hdr.flowcache_ipv4.destination = destination_address;
        hdr.flowcache_udp.setValid();
        hdr.flowcache_udp.source_port = source_port;
        hdr.flowcache_udp.destination_port = destination_port;
        hdr.flowcache_udp.checksum = 0;
        hdr.flowcache_export.setValid();
        hdr.flowcache_export.version = FLOWCACHE_VERSION;
        hdr.flowcache_export.hops = FLOWCACHE_HOPS;
        hdr.flowcache_export.node_id = meta.node.id;
        sequences.read(sequence, (bit<32>)index);
        next_sequence = sequence + 1;
        sequences.write((bit<32>)index, next_sequence);
        hdr.flowcache_export.sequence = sequence;
    }

    // By the clone's egress port, which is its mirror session's.
    @name(".FlowCacheExport.collector")
    @brief("The host that a clone for it goes to")
    @id(0x0219de6f)
    table collector {
        key = { standard_metadata.egress_port: exact @name("egress_port"); }
        actions = { send; NoAction; }
        size = 256;
        default_action = NoAction();
    }

    @brief("Remove all headers of the monitored packet, and those that the clone before has added")
    @id(0x01c7ab2f)
    action drop_headers() {
        hdr.flowcache_entry.setInvalid();
        FLOWCACHE_EACH_HOP(DROP_HOP)
        hdr.report_ethernet.setInvalid();
        hdr.report_ipv4.setInvalid();
        hdr.report_udp.setInvalid();
        hdr.report_group.setInvalid();
        hdr.report_individual.setInvalid();
        hdr.report_main.setInvalid();
        hdr.report_interfaces.setInvalid();
        hdr.report_hop_latency.setInvalid();
        hdr.report_queue.setInvalid();
        hdr.report_ingress_time.setInvalid();
        hdr.report_egress_time.setInvalid();
        hdr.report_level2_interfaces.setInvalid();
        hdr.report_utilization.setInvalid();
        hdr.report_drop.setInvalid();
        hdr.report_rule.setInvalid();
        hdr.ethernet.setInvalid();
        hdr.ipv4.setInvalid();
        hdr.ipv4_options.setInvalid();
        hdr.ipv6.setInvalid();
        hdr.tcp.setInvalid();
        hdr.tcp_options.setInvalid();
        hdr.udp.setInvalid();
        hdr.inner_tcp.setInvalid();
        hdr.inner_tcp_options.setInvalid();
        hdr.inner_udp.setInvalid();
        hdr.inner_ports.setInvalid();
    }

    apply {
        if ((meta.flowcache.has_entry == 0 && meta.flowcache.events == 0)
            || (meta.report.wanted == 1 && meta.report.session != 0))
        {
            report.apply(hdr, meta, standard_metadata);
            meta.report.wanted = 0;
            meta.report.was_kept = 0;
        } else {
            remove.apply(hdr);
            drop_headers();
            records = 0;
            if (meta.flowcache.has_entry == 0) {
                TAKE_EVENTS(0)
                TAKE_EVENTS(7)
                TAKE_EVENTS(14)
                TAKE_EVENTS(21)
            }
            if (collector.apply().hit) {
                if (meta.flowcache.has_entry == 1) {
                    // An entry of the table may say NoAction.
                    if (hdr.flowcache_export.isValid()) {
                        hdr.flowcache_export.kind = FLOWCACHE_ENTRIES;
                        hdr.flowcache_export.records = 1;
                    }
                    hdr.flowcache_entry = hdr.flowcache_held_entry;
                    hdr.flowcache_hops = hdr.flowcache_held_hops;
                    bytes = FLOWCACHE_ENTRY_BYTES;
                } else {
                    if (hdr.flowcache_export.isValid()) {
                        hdr.flowcache_export.kind = FLOWCACHE_EVENTS;
                        hdr.flowcache_export.records = records;
                    }
                    bytes = (bit<16>)records << 6;
                }
                if (hdr.flowcache_udp.isValid()) {
                    hdr.flowcache_udp.length = FLOWCACHE_IP_LENGTH - 20 + bytes;
                }
                if (hdr.flowcache_ipv4.isValid()) {
                    hdr.flowcache_ipv4.total_length = FLOWCACHE_IP_LENGTH + bytes;
                    hash(checksum, HashAlgorithm.csum16, 16w0,
                        {
                            hdr.flowcache_ipv4.version, hdr.flowcache_ipv4.ihl, hdr.flowcache_ipv4.dscp,
                            hdr.flowcache_ipv4.ecn, hdr.flowcache_ipv4.total_length,
                            hdr.flowcache_ipv4.identification, hdr.flowcache_ipv4.flags,
                            hdr.flowcache_ipv4.fragment_offset, hdr.flowcache_ipv4.ttl,
                            hdr.flowcache_ipv4.protocol, hdr.flowcache_ipv4.source, hdr.flowcache_ipv4.destination
                        },
                        32w65536);
                    hdr.flowcache_ipv4.checksum = checksum;
                }
                // The monitored packet's payload is cut off.
                truncate(14 + FLOWCACHE_IP_LENGTH + (bit<32>)bytes);
            } else {
                // Leave nothing for the next clone: the table may have another default action, which begins a packet.
                hdr.flowcache_ethernet.setInvalid();
                hdr.flowcache_ipv4.setInvalid();
                hdr.flowcache_udp.setInvalid();
                hdr.flowcache_export.setInvalid();
                mark_to_drop(standard_metadata);
            }
            if (meta.flowcache.has_entry == 1) {
                meta.flowcache.has_entry = 0;
            } else {
                meta.flowcache.events = meta.flowcache.events - records;
            }
        }
        if (meta.flowcache.has_entry == 1) {
            clone_preserving_field_list(CloneType.E2E, meta.flowcache.entries_session, 1);
        } else if (meta.flowcache.events != 0) {
            clone_preserving_field_list(CloneType.E2E, meta.flowcache.events_session, 1);
        }
    }
}

#endif
