// Starts, continues or removes INT in packets that leave, and makes the clones that become reports.
#ifndef INT_INT_EGRESS_P4
#define INT_INT_EGRESS_P4

#include "headers.p4"
#include "source.p4"
#include "transit.p4"
#include "sink.p4"
// The control that handles clones. Another program may define a different one.
#ifndef INT_REPORT
#include "report.p4"
#define INT_REPORT IntReport
#endif
// An additional step of a sink before it removes INT. A program may define INT_SINK_STAGE, a control, and
// INT_SINK_STAGE_SESSION, the mirror session of a clone for packets without a report (0: none). If there is a report,
// its clone comes first, and INT_REPORT continues from there.
#include "utilization.p4"
#include "detection.p4"
#include "../headers/sums.p4"

control IntEgress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata)
{
    IntUtilization() utilization;
    IntSource() source;
    IntTransit() transit;
    IntDetection() detection;
    IntKeep() keep;
    IntRestoreKept() restore_kept;
    IntStrip() strip;
    INT_REPORT() report;
#ifdef INT_SINK_STAGE
    INT_SINK_STAGE() sink_stage;
#endif

    bit<32> count;
    bit<32> cell;
    // Bytes of the transport header and INT.
    bit<16> headers;

    // Reports of this switch's own metadata (INT-MX, INT-XD), by flow: packets since the last one reported.
    @id(0x1619bb16)
    register<bit<32>>(65536) sample_count;

    @id(0x015dc72c)
    action set_node(bit<32> id) {
        meta.node.id = id;
    }

    @brief("This switch's node id")
    @id(0x022d35b9)
    table node {
        actions = { set_node; }
        default_action = set_node(0);
    }

    // `mtu`: largest IP packet that may leave, 0: any. `congested_above`: packets in the queue above which reports have the Q
    // bit. `complements`: Checksum Complements are used where they are asked for. `level2_egress`: logical interface, all
    // ones: none.
    @id(0x01c35914)
    action set_port(
        bit<1> is_sink, bit<16> mtu, bit<24> congested_above, bit<1> complements, bit<32> level2_egress)
    {
        meta.port.is_sink = is_sink;
        meta.port.mtu = mtu;
        meta.port.congested_above = congested_above;
        meta.port.complements = complements;
        meta.node.egress_level2 = level2_egress;
    }

    @brief("What each egress port is: inside the INT domain or out of it, its MTU and interface")
    @id(0x024cb4fe)
    table port {
        key = { standard_metadata.egress_port: exact @name("egress_port"); }
        actions = { set_port; }
        size = 512;
        default_action = set_port(0, 0, 0xffffff, 0, 0xffffffff);
    }

    @id(0x01c2c69a)
    action set_level2_ingress(bit<32> level2) {
        meta.node.ingress_level2 = level2;
    }

    @brief("Logical interface of the port that a packet came in by")
    @id(0x02749eaf)
    table ingress_port {
        key = { meta.node.ingress: exact @name("ingress_port"); }
        actions = { set_level2_ingress; }
        size = 512;
        default_action = set_level2_ingress(0xffffffff);
    }

    @id(0x01f149c6)
    action mark_mtu() {
    }

    @id(0x01a8aecd)
    action report_mtu() {
        meta.port.mtu_reports = 1;
    }

    // Handles a packet without room for this switch's metadata: sets the M bit, or sends the stack in an intermediate
    // report.
    @brief("What happens to a packet without room for the metadata of this switch")
    @id(0x02612d42)
    table too_long {
        actions = { mark_mtu; report_mtu; }
        default_action = mark_mtu();
    }

    @id(0x01d7e489)
    action set_session(bit<32> session) {
        meta.report.session = session;
    }

    // Mirror session to the collector; 0: no reports are sent.
    @brief("The mirror session to the collector")
    @id(0x025431fc)
    table reports {
        actions = { set_session; }
        default_action = set_session(0);
    }

    @brief("This switch's metadata for the packet")
    // Times are simple_switch's, in microseconds.
    @id(0x01f4594a)
    action measure() {
        meta.node.latency = (bit<32>)(standard_metadata.egress_global_timestamp
            - standard_metadata.ingress_global_timestamp);
        meta.node.egress = (bit<16>)standard_metadata.egress_port;
        meta.node.queue_id = (bit<8>)standard_metadata.priority;
        meta.node.queue_occupancy = (bit<24>)standard_metadata.deq_qdepth;
        meta.node.ingress_time = (bit<64>)standard_metadata.ingress_global_timestamp;
        meta.node.egress_time = (bit<64>)standard_metadata.egress_global_timestamp;
    }

    @brief("Nothing is reported and nothing changed yet")
    @id(0x0190860a)
    action begin() {
        meta.port.mtu_reports = 0;
        meta.report.wanted = 0;
        meta.report.queue_congested = 0;
        meta.report.intermediate = 0;
        meta.report.items = 0;
        meta.report.has_rule = 0;
        meta.report.rule = 0;
        meta.report.event = 0;
        meta.report.regular = 0;
        meta.report.was_kept = 0;
        meta.removed = 0;
        meta.added = 0;
        meta.growth = 0;
        meta.shrink = 0;
        meta.ip_length = 0;
        meta.ip_payload = 0;
        meta.ip_room = 0;
        meta.pushed = 0;
        meta.pushed_sum = 0;
        meta.discarded = 0;
        meta.new_udp = 0;
#ifdef INT_EXTRA_BEGIN
        INT_EXTRA_BEGIN
#endif
    }

    apply {
        node.apply();
        // A clone of egress keeps these fields of its original.
        if (standard_metadata.instance_type != INSTANCE_EGRESS_CLONE) {
            begin();
            if (standard_metadata.instance_type == INSTANCE_INGRESS_CLONE) {
                // A clone of a dropped packet: it has the packet as received, which was in no queue.
                meta.report.items = 0x4001;
                meta.report.queue_congested = 0;
                meta.node.egress = 0xffff;
                meta.node.latency = 0;
                meta.node.queue_id = 0;
                meta.node.queue_occupancy = 0;
                meta.node.ingress_time = 0;
                meta.node.egress_time = 0;
                meta.node.ingress_level2 = 0xffffffff;
                meta.node.egress_level2 = 0xffffffff;
                meta.node.utilization = 0xffffffff;
            }
            if (hdr.ipv4.isValid()) {
                meta.ip_length = hdr.ipv4.total_length;
                meta.ip_payload = hdr.ipv4.total_length - ((bit<16>)hdr.ipv4.ihl << 2);
                meta.ip_room = 0xffff - hdr.ipv4.total_length;
            } else if (hdr.ipv6.isValid()) {
                meta.ip_payload = hdr.ipv6.payload_length;
                // A packet of 65,496 bytes and more exceeds every MTU.
                meta.ip_length = hdr.ipv6.payload_length |+| 40;
                meta.ip_room = 0xffff - hdr.ipv6.payload_length;
            }
            headers = 0;
            if (hdr.udp.isValid()) {
                headers = 8;
            } else if (hdr.tcp.isValid()) {
                headers = (bit<16>)hdr.tcp.data_offset << 2;
            }
            if (standard_metadata.instance_type != INSTANCE_INGRESS_CLONE && (meta.has_md == 1 || meta.has_mx == 1)
                && hdr.shim.isValid())
            {
                headers = headers + 4 + ((bit<16>)hdr.shim.length << 2);
            }
            meta.report.length = meta.ip_length;
            meta.report.has_payload = (bit<1>)(meta.ip_payload > headers + 1);
            meta.report.tracked_flow = 1;
        }
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE
            || standard_metadata.instance_type == INSTANCE_INGRESS_CLONE)
        {
            if (meta.report.was_kept == 1) {
                restore_kept.apply(hdr);
            }
            report.apply(hdr, meta, standard_metadata);
            if (standard_metadata.egress_port == CPU_PORT) {
                hdr.packet_in.setValid();
                hdr.packet_in.ingress_port = meta.node.ingress[8:0];
                hdr.packet_in.reason = REASON_REPORT;
            }
        } else {
            port.apply();
            ingress_port.apply();
            measure();
            utilization.apply(meta, standard_metadata);
            if (standard_metadata.egress_port == CPU_PORT) {
                // The controller gets packets as they came.
                hdr.packet_in.setValid();
                hdr.packet_in.ingress_port = meta.node.ingress[8:0];
                hdr.packet_in.reason = meta.reason;
                return;
            }

            meta.mtu_room = 0xffff;
            // A sink removes its own metadata with the rest.
            if (meta.port.mtu != 0 && meta.port.is_sink == 0) {
                meta.mtu_room = meta.port.mtu |-| meta.ip_length;
            }

            reports.apply();
            too_long.apply();
            if (meta.has_md == 1) {
                transit.apply(hdr, meta);
            } else if (meta.watch.starts == 1) {
                source.apply(hdr, meta);
            }

            // Update lengths and checksums after changes.
            if (meta.growth != 0) {
                // Lengths of 0 mean unknown (jumbograms, segmentation offload), and stay.
                if (hdr.ipv4.isValid()) {
                    if (hdr.ipv4.total_length != 0) {
                        hdr.ipv4.total_length = hdr.ipv4.total_length + meta.growth - meta.shrink;
                        hdr.ipv4.checksum = updated(hdr.ipv4.checksum, (bit<32>)meta.shrink, (bit<32>)meta.growth);
                    }
                } else if (hdr.ipv6.isValid()) {
                    if (hdr.ipv6.payload_length != 0) {
                        hdr.ipv6.payload_length = hdr.ipv6.payload_length + meta.growth - meta.shrink;
                    }
                }
                meta.added = meta.added + (bit<32>)meta.growth;
                meta.removed = meta.removed + (bit<32>)meta.shrink;
                if (hdr.udp.isValid()) {
                    if (hdr.udp.length != 0 || meta.new_udp == 1) {
                        hdr.udp.length = hdr.udp.length + meta.growth - meta.shrink;
                        meta.added = meta.added + (bit<32>)meta.growth;
                        meta.removed = meta.removed + (bit<32>)meta.shrink;
                    }
                }
            }
            if (meta.added != 0) {
                if (meta.pushed == 1 && meta.port.complements == 1 && hdr.own_complement.isValid()
                    && !(hdr.udp.isValid() && hdr.udp.checksum == 0))
                {
                    // The complement cancels the change, the field stays.
                    hdr.own_complement.value = (bit<32>)fold((bit<32>)fold(meta.removed) + (bit<32>)~fold(meta.added));
                } else if (hdr.udp.isValid()) {
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

            meta.report.queue_congested = (bit<1>)(meta.node.queue_occupancy > meta.port.congested_above);
            // An intermediate report is the packet as it came.
            if (meta.report.intermediate == 0) {
                meta.report.length = meta.ip_length + meta.growth;
            }

            if (meta.has_md == 1 && hdr.md.isValid()) {
                // A sink has room: it makes no intermediate reports.
                if (meta.port.is_sink == 1 && meta.report.intermediate == 0) {
                    detection.apply(hdr, meta, standard_metadata);
#ifdef INT_SINK_STAGE
                    sink_stage.apply(hdr, meta, standard_metadata);
#endif
                }
            } else if (meta.has_mx == 1 || meta.watch.postcard == 1) {
                // A switch reports the items that it has values for. Not bit 0, as the node id is in the group header;
                // not the buffer (bit 8), which v1model does not have; bit 15 has another meaning in reports.
                if (meta.has_mx == 1 && hdr.mx.isValid()) {
                    meta.report.items = hdr.mx.instructions & 0x7f00;
                } else {
                    meta.report.items = meta.watch.instructions & 0x7f00;
                }
                if (meta.node.ingress_level2 == 0xffffffff || meta.node.egress_level2 == 0xffffffff) {
                    meta.report.items = meta.report.items & 0xfdff;
                }
                if (meta.node.utilization == 0xffffffff) {
                    meta.report.items = meta.report.items & 0xfeff;
                }
                meta.report.wanted = 1;
                if (meta.watch.one_in > 1) {
                    // As the sink samples: the cell counts packets since the last one reported, that one included.
                    if (hdr.ipv4.isValid()) {
                        hash(cell, HashAlgorithm.crc32, 32w0,
                            {
                                hdr.ipv4.source, hdr.ipv4.destination,
                                meta.flow.protocol, meta.flow.source_port, meta.flow.destination_port
                            },
                            32w65536);
                    } else if (hdr.ipv6.isValid()) {
                        hash(cell, HashAlgorithm.crc32, 32w0,
                            {
                                hdr.ipv6.source, hdr.ipv6.destination,
                                meta.flow.protocol, meta.flow.source_port, meta.flow.destination_port
                            },
                            32w65536);
                    } else {
                        cell = 0;
                    }
                    sample_count.read(count, cell);
                    if (count == 0 || count >= meta.watch.one_in) {
                        count = 1;
                    } else {
                        count = count + 1;
                        meta.report.wanted = 0;
                    }
                    sample_count.write(cell, count);
                }
            }

            if (meta.port.is_sink == 1 && (meta.has_md == 1 || meta.has_mx == 1) && hdr.shim.isValid()) {
                if (meta.report.wanted == 1 && meta.report.session != 0) {
                    keep.apply(hdr);
                    meta.report.was_kept = 1;
                }
                if ((hdr.md.isValid() && hdr.md.discard == 1) || (hdr.mx.isValid() && hdr.mx.discard == 1)) {
                    meta.discarded = 1;
                }
                strip.apply(hdr, meta);
            }
            if (meta.report.wanted == 1 && meta.report.session != 0) {
                clone_preserving_field_list(CloneType.E2E, meta.report.session, 1);
            }
#ifdef INT_SINK_STAGE
            else if (INT_SINK_STAGE_SESSION != 0) {
                clone_preserving_field_list(CloneType.E2E, INT_SINK_STAGE_SESSION, 1);
            }
#endif
            // A copy or probe that ends here.
            if (meta.discarded == 1) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

#endif
