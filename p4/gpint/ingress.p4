// The processing of a packet, stage by stage.
#ifndef INT_GPINT_INGRESS_P4
#define INT_GPINT_INGRESS_P4

#include "headers.p4"
#include "registers.p4"
#include "clones.p4"
#include "measurements.p4"

// Cells of the counter `events`.
const bit<32> EVENT_PROBE = 0;
const bit<32> EVENT_COMPLETED = 1;
const bit<32> EVENT_IN_TRANSIT = 2;
const bit<32> EVENT_FEEDBACK_SENT = 3;
const bit<32> EVENT_FEEDBACK_MATCHED = 4;
const bit<32> EVENT_FEEDBACK_UNMATCHED = 5;
const bit<32> EVENT_NOTICE = 6;
const bit<32> EVENT_CLONE_REFUSED = 7;
const bit<32> EVENT_MALFORMED = 8;
const bit<32> EVENT_TOO_LONG = 9;
const bit<32> EVENT_MISDIRECTED = 10;
const bit<32> EVENT_FORWARDED = 11;
const bit<32> EVENT_UNROUTABLE = 12;

control GpintIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    @id(0x12ae37c9)
    counter(16, CounterType.packets) events;
    GpintClones() clones;
    GpintMeasurements() measurements;

    bit<1> is_arrival = 0;
    bit<1> is_forwarded = 0;
    bit<1> has_hit = 0;
    bit<9> rule = 0;
    bit<32> length = 0;
    bit<32> depth = 0;

    @id(0x01855cd8)
    action set_identity(
        bit<16> switch_id, ipv4_address_t address, ipv4_address_t monitor_address, port_t monitor_port)
    {
        meta.has_identity = 1;
        meta.switch_id = switch_id;
        meta.address = address;
        meta.monitor_address = monitor_address;
        meta.monitor_port = (bit<16>)monitor_port;
    }

    @brief("Without an identity the switch forwards probes like other packets")
    @id(0x0291b777)
    table identity {
        actions = { set_identity; NoAction; }
        default_action = NoAction();
    }

    @id(0x01b12158)
    action recover(bit<32> capacity) {
        meta.has_recovery = 1;
        meta.clone_capacity = capacity;
    }

    @brief("Without recovery, probes are neither confirmed nor kept")
    @id(0x0263392e)
    table recovery {
        actions = { recover; NoAction; }
        default_action = NoAction();
    }

    @id(0x01c7ee74)
    action keep_for(bit<48> microseconds) {
        meta.timeout = microseconds;
    }

    @brief("t_f, by the probe's egress port")
    @id(0x0272bde4)
    table clone_timeout {
        key = { meta.out_port: exact @name("out_port"); }
        actions = { keep_for; }
        default_action = keep_for(1500000);
        size = 512;
    }

    @id(0x01e3469c)
    action route(port_t port, bit<9> number) {
        standard_metadata.egress_spec = port;
        has_hit = 1;
        rule = number;
    }

    @id(0x0175be87)
    action drop() {
        mark_to_drop(standard_metadata);
    }

    @brief("Routes of all packets that are no probes of this switch")
    @id(0x02d2465c)
    table forward {
        key = { hdr.ipv4.destination: lpm @name("destination"); }
        actions = { route; drop; }
        default_action = drop();
        size = 512;
    }

    @brief("The headers of a datagram that this switch makes")
    @id(0x016a1026)
    action write_headers(in ipv4_address_t source, in ipv4_address_t destination, in bit<16> source_port, in bit<6> dscp) {
        hdr.ethernet.source = 16w0x0200 ++ source;
        hdr.ethernet.destination = 16w0x0200 ++ destination;
        hdr.ipv4_options.setInvalid();
        hdr.ipv4.ihl = 5;
        hdr.ipv4.dscp = dscp;
        hdr.ipv4.ecn = 0;
        hdr.ipv4.total_length = hdr.udp.length + 20;
        hdr.ipv4.identification = 0;
        hdr.ipv4.flags = 0;
        hdr.ipv4.ttl = 64;
        hdr.ipv4.source = source;
        hdr.ipv4.destination = destination;
        hdr.udp.source_port = source_port;
        hdr.udp.checksum = 0;
        meta.is_rewritten = 1;
    }

    @brief("Back to the parser with the next stage")
    @id(0x017d124e)
    action look_again(in bit<8> stage) {
        meta.stage = stage;
        resubmit_preserving_field_list(KEPT_METADATA);
    }

    @id(0x011cc13d)
    action go_round() {
        standard_metadata.egress_spec = RECIRCULATION_PORT;
    }

    @id(0x0130c9ce)
    action take_route(in bit<16> port, in bit<8> first, in bit<8> count) {
        meta.out_port = port;
        meta.next_index = (bit<16>)first;
        meta.left = count;
        meta.type = hdr.request.type;
        hdr.route_count.count = hdr.route_count.count - 1;
        hdr.visit_count.count = hdr.visit_count.count + 1;
        hdr.measurement_count.count = hdr.measurement_count.count + (bit<16>)count;
    }

    apply {
        meta.has_identity = 0;
        meta.switch_id = 0;
        meta.address = 0;
        meta.monitor_address = 0;
        meta.monitor_port = 0;
        meta.has_recovery = 0;
        meta.clone_capacity = 0;
        meta.clones_operation = CLONES_NOTHING;
        meta.has_clone = 0;
        meta.is_rewritten = 0;
        identity.apply();
        recovery.apply();

        if (meta.stage == STAGE_ARRIVAL) {
            is_arrival = 1;
            meta.in_port = (bit<16>)standard_metadata.ingress_port;
            if (meta.is_probe == 0) {
                is_forwarded = 1;
            } else if (meta.has_identity == 0) {
                look_again(STAGE_PLAIN);
            } else if (standard_metadata.parser_error != error.NoError) {
                events.count(EVENT_MALFORMED);
                drop();
            } else if (hdr.ipv4.dscp == GPINT_DSCP_FEEDBACK) {
                meta.clones_operation = CLONES_CONFIRM;
                meta.clone_key = 1w0 ++ hdr.request.id ++ meta.in_port;
                drop();
            } else if (hdr.ipv4.dscp == GPINT_DSCP_PROBE && hdr.route_count.isValid() && hdr.visit_count.isValid()
                && hdr.route_count.count != 0)
            {
                // In both layouts a DLV header is added, and an SR entry removed.
                if (hdr.route_plain.isValid()) {
                    length = (bit<32>)hdr.udp.length - 7 + ((bit<32>)hdr.route_plain.count << 2);
                } else if (hdr.route_extended.isValid()) {
                    length = (bit<32>)hdr.udp.length - 6 + ((bit<32>)hdr.route_extended.count << 2);
                }
                if (length > GPINT_MOST_BYTES || hdr.visit_count.count == GPINT_MOST_SWITCHES) {
                    // Not confirmed, so that the previous switch sees that the probe ends here.
                    events.count(EVENT_TOO_LONG);
                    drop();
                } else {
                    if (meta.has_recovery == 1) {
                        events.count(EVENT_FEEDBACK_SENT);
                        clone_preserving_field_list(CloneType.I2E, CLONE_SESSION, KEPT_METADATA);
                    }
                    look_again(STAGE_SERVE);
                }
            } else if (meta.in_port == meta.monitor_port) {
                // Sent back to its sender, it would loop.
                events.count(EVENT_MISDIRECTED);
                drop();
            } else {
                events.count(EVENT_IN_TRANSIT);
                look_again(STAGE_TRANSIT);
            }
        } else if (meta.stage == STAGE_PLAIN) {
            is_forwarded = 1;
        } else if (meta.stage == STAGE_TRANSIT) {
            standard_metadata.egress_spec = meta.monitor_port[8:0];
        } else if (!hdr.ipv4.isValid() || !hdr.udp.isValid()) {
            // What comes back is a datagram.
            events.count(EVENT_MALFORMED);
            drop();
        } else if (meta.stage == STAGE_SERVE && hdr.request.isValid() && hdr.route_count.isValid()
            && hdr.visit_count.isValid() && hdr.measurement_count.isValid())
        {
            meta.stage = STAGE_APPEND;
            if (hdr.route_plain.isValid()) {
                take_route((bit<16>)hdr.route_plain.port, hdr.route_plain.first, hdr.route_plain.count);
                queue_depth.read(depth, (bit<32>)meta.out_port[8:0]);
                if (depth > 0xff) {
                    depth = 0xff;
                }
                hdr.visit_plain.setValid();
                hdr.visit_plain.switch_id = meta.switch_id[7:0];
                hdr.visit_plain.queue_depth = depth[7:0];
                hdr.visit_plain.count = (bit<16>)meta.left;
                hdr.udp.length = hdr.udp.length + 1;
            } else if (hdr.route_extended.isValid()) {
                take_route(hdr.route_extended.port, hdr.route_extended.first, hdr.route_extended.count);
                queue_depth.read(depth, (bit<32>)meta.out_port[8:0]);
                if (depth > 0xffff) {
                    depth = 0xffff;
                }
                hdr.visit_extended.setValid();
                hdr.visit_extended.switch_id = meta.switch_id;
                hdr.visit_extended.queue_depth = depth[15:0];
                hdr.visit_extended.count = (bit<16>)meta.left;
                hdr.udp.length = hdr.udp.length + 2;
            }
            meta.clone_key = 1w0 ++ hdr.request.id ++ meta.out_port;
            if (hdr.route_count.count == 0) {
                meta.is_last = 1;
            }
        } else if (meta.stage == STAGE_SERVE) {
            // Parts of the probe are missing.
            events.count(EVENT_MALFORMED);
            drop();
        } else if (meta.stage == STAGE_SEND) {
            if (meta.out_port < (bit<16>)RECIRCULATION_PORT) {
                standard_metadata.egress_spec = meta.out_port[8:0];
            } else {
                drop();
            }
        } else if (meta.stage == STAGE_FEEDBACK) {
            hdr.udp.length = 10;
            write_headers(meta.address, meta.monitor_address, hdr.udp.destination_port, GPINT_DSCP_FEEDBACK);
            standard_metadata.egress_spec = meta.in_port[8:0];
        } else if (meta.stage == STAGE_KEEP) {
            meta.clones_operation = CLONES_LOOK;
        } else if (meta.stage == STAGE_EXPIRED) {
            meta.clones_operation = CLONES_EXPIRE;
        }

        if (is_forwarded == 1) {
            if (hdr.ipv4.isValid() && hdr.ipv4.version == 4) {
                forward.apply();
            } else {
                drop();
            }
            if (has_hit == 1) {
                events.count(EVENT_FORWARDED);
            } else {
                events.count(EVENT_UNROUTABLE);
            }
        }

        measurements.apply(hdr, meta, is_arrival, standard_metadata.ingress_port, has_hit, rule);

        if (meta.stage == STAGE_APPEND && hdr.ipv4.isValid() && hdr.udp.isValid()) {
            go_round();
            if (meta.left == 0) {
                meta.stage = STAGE_SEND;
                if (meta.is_last == 1) {
                    events.count(EVENT_COMPLETED);
                    meta.out_port = meta.monitor_port;
                    write_headers(meta.address, meta.monitor_address, hdr.udp.destination_port, GPINT_DSCP_PROBE);
                } else {
                    events.count(EVENT_PROBE);
                    write_headers(hdr.ipv4.source, hdr.ipv4.destination, hdr.udp.source_port, GPINT_DSCP_PROBE);
                    if (meta.has_recovery == 1) {
                        clone_timeout.apply();
                        meta.clones_operation = CLONES_ADD;
                    }
                }
            }
        }

        if (meta.clones_operation != CLONES_NOTHING) {
            clones.apply(meta, standard_metadata.ingress_global_timestamp);
            if (meta.clones_operation == CLONES_ADD) {
                meta.has_clone = meta.clones_done;
                if (meta.clones_done == 0) {
                    events.count(EVENT_CLONE_REFUSED);
                }
            } else if (meta.clones_operation == CLONES_CONFIRM) {
                if (meta.clones_done == 1) {
                    events.count(EVENT_FEEDBACK_MATCHED);
                } else {
                    events.count(EVENT_FEEDBACK_UNMATCHED);
                }
            } else if (meta.is_confirmed == 1) {
                drop();
            } else if (meta.clones_done == 1 && hdr.ipv4.isValid() && hdr.udp.isValid()) {
                events.count(EVENT_NOTICE);
                meta.stage = STAGE_SEND;
                write_headers(meta.address, meta.monitor_address, hdr.udp.destination_port, GPINT_DSCP_RECOVERY);
                standard_metadata.egress_spec = meta.monitor_port[8:0];
            } else {
                // The timeout is not over, or an older clone of the request still waits.
                meta.stage = STAGE_KEEP;
                go_round();
            }
        }
    }
}

#endif
