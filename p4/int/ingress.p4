// Chooses a packet's egress port, and whether INT starts here for its flow.
#ifndef INT_INT_INGRESS_P4
#define INT_INT_INGRESS_P4

#include "headers.p4"
#include "access.p4"
#include "sampling.p4"
#include "flow-hash.p4"
#include "../headers/sums.p4"

// Reasons for drops, in reports. The numbers are this domain's.
const bit<8> DROP_NO_ROUTE = 1;
const bit<8> DROP_TTL = 2;

control IntIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata)
{
    IntAccess() access;
    IntSampling() sampling;
    IntFlowHash() flow_hash;

    // The source samples this packet's flow.
    bit<1> samples;

    @id(0x0169d3de)
    action drop(bit<8> reason) {
        meta.report.dropped = 1;
        meta.report.drop_reason = reason;
    }

    @id(0x010d1e31)
    action no_route() {
        meta.report.dropped = 1;
        meta.report.drop_reason = DROP_NO_ROUTE;
    }

    // Not named `drop`, like an action of the tables: a direct call would make a second action of that name without a
    // parameter.
    @id(0x01761488)
    action expire() {
        meta.report.dropped = 1;
        meta.report.drop_reason = DROP_TTL;
    }

    @brief("Sends to the controller, which gets the packet as it came and the reason")
    @id(0x014b79b0)
    action to_controller(bit<7> reason) {
        standard_metadata.egress_spec = CPU_PORT;
        meta.reason = reason;
    }

    // Forwards like a bridge: the packet stays unchanged.
    @id(0x01ca3224)
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    @brief("Sends to a multicast group of the switch")
    // Each copy is a separate packet.
    @id(0x01f5cbb1)
    action multicast(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    @brief("Forwards like a router")
    // The IPv4 checksum follows the time to live.
    @id(0x01f85323)
    action route(bit<9> port, bit<48> source_mac, bit<48> destination_mac) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = source_mac;
        hdr.ethernet.destination = destination_mac;
        meta.routed = 1;
    }

#include "steer.p4"

    @brief("Routes of IPv4 packets")
    @id(0x023c173a)
    table forward_ipv4 {
        key = { hdr.ipv4.destination: lpm @name("destination_address"); }
        actions = { forward; route; multicast; drop; no_route; spread; to_controller; }
        size = 16384;
        default_action = no_route();
    }

    @brief("Routes of IPv6 packets")
    @id(0x029fde01)
    table forward_ipv6 {
        key = { hdr.ipv6.destination: lpm @name("destination_address"); }
        actions = { forward; route; multicast; drop; no_route; spread; to_controller; }
        size = 16384;
        default_action = no_route();
    }

    @brief("Packets that are neither IPv4 nor IPv6")
    @id(0x02a88e3d)
    table forward_other {
        key = { meta.destination_mac: exact @name("destination_mac"); }
        actions = { forward; multicast; drop; no_route; to_controller; }
        size = 4096;
        default_action = no_route();
    }

    @brief("No INT for this flow")
    @id(0x01291806)
    action ignore() {
    }

    // INT-MD: npt 0 marks by DSCP, 1 by UDP port, 2 inserts a new UDP header before the transport header, with
    // `entropy_port` as source port (0: from a hash of the flow).
    @id(0x017e7bdd)
    action start_md(bit<2> npt, bit<16> instructions, bit<8> max_hops, bit<1> discard, bit<16> entropy_port) {
        meta.watch.starts = 1;
        meta.watch.type = INT_TYPE_MD;
        meta.watch.npt = npt;
        meta.watch.instructions = instructions;
        meta.watch.max_hops = max_hops;
        meta.watch.discard = discard;
        meta.watch.entropy_port = entropy_port;
    }

    // INT-MD for one packet of `one_in` of a flow; 0 or 1: all.
    @id(0x01094781)
    action start_md_sampled(
        bit<2> npt, bit<16> instructions, bit<8> max_hops, bit<1> discard, bit<16> entropy_port, bit<32> one_in)
    {
        meta.watch.starts = 1;
        meta.watch.type = INT_TYPE_MD;
        meta.watch.npt = npt;
        meta.watch.instructions = instructions;
        meta.watch.max_hops = max_hops;
        meta.watch.discard = discard;
        meta.watch.entropy_port = entropy_port;
        meta.watch.one_in = one_in;
    }

    // INT-MX: the packet carries the instructions, every switch reports. `one_in`: this switch reports one of this
    // number of packets of a flow; 0 or 1: all.
    @id(0x01823fe9)
    action start_mx(bit<2> npt, bit<16> instructions, bit<1> discard, bit<16> entropy_port, bit<32> one_in) {
        meta.watch.starts = 1;
        meta.watch.type = INT_TYPE_MX;
        meta.watch.npt = npt;
        meta.watch.instructions = instructions;
        meta.watch.discard = discard;
        meta.watch.entropy_port = entropy_port;
        meta.watch.one_in = one_in;
    }

    // INT-XD: this switch reports, the packet stays as it is.
    @id(0x016a7e2f)
    action postcard(bit<16> instructions, bit<32> one_in) {
        meta.watch.postcard = 1;
        meta.watch.instructions = instructions;
        meta.watch.one_in = one_in;
    }

    @brief("The flow watchlist")
    // The smaller priority wins.
    @id(0x02fb760b)
    table watch_ipv4 {
        key = {
            standard_metadata.ingress_port: ternary @name("ingress_port");
            hdr.ipv4.source: ternary @name("source_address");
            hdr.ipv4.destination: ternary @name("destination_address");
            meta.flow.protocol: ternary @name("protocol");
            meta.flow.source_port: range @name("source_port");
            meta.flow.destination_port: range @name("destination_port");
            hdr.ethernet.source: ternary @name("source_mac");
            hdr.ethernet.destination: ternary @name("destination_mac");
        }
        actions = { start_md; start_mx; postcard; ignore; start_md_sampled; }
        size = 4096;
        default_action = ignore();
    }

    @brief("The flow watchlist of IPv6 packets")
    @id(0x02a72f66)
    table watch_ipv6 {
        key = {
            standard_metadata.ingress_port: ternary @name("ingress_port");
            hdr.ipv6.source: ternary @name("source_address");
            hdr.ipv6.destination: ternary @name("destination_address");
            meta.flow.protocol: ternary @name("protocol");
            meta.flow.source_port: range @name("source_port");
            meta.flow.destination_port: range @name("destination_port");
            hdr.ethernet.source: ternary @name("source_mac");
            hdr.ethernet.destination: ternary @name("destination_mac");
        }
        actions = { start_md; start_mx; postcard; ignore; start_md_sampled; }
        size = 4096;
        default_action = ignore();
    }

    @id(0x016feec7)
    action report_drops(bit<32> session) {
        meta.report.session = session;
        clone_preserving_field_list(CloneType.I2E, session, 1);
    }

    @brief("The mirror session to the collector for reports of dropped packets")
    // Without it there are none.
    @id(0x02a9db4e)
    table drop_reports {
        actions = { report_drops; NoAction; }
        default_action = NoAction();
    }

    apply {
        meta.routed = 0;
        meta.reason = 0;
        meta.watch.starts = 0;
        meta.watch.postcard = 0;
        meta.watch.instructions = 0;
        meta.watch.max_hops = 0;
        meta.watch.one_in = 0;
        meta.watch.type = 0;
        meta.next_hops = 0;
        meta.flow_hash = 0;
        meta.report.dropped = 0;
        meta.report.drop_reason = 0;
        meta.report.session = 0;
        // Set these before forwarding overwrites them.
        meta.source_mac = 0;
        meta.destination_mac = 0;
        if (hdr.ethernet.isValid()) {
            meta.source_mac = hdr.ethernet.source;
            meta.destination_mac = hdr.ethernet.destination;
        }
        meta.node.ingress = (bit<16>)standard_metadata.ingress_port;
        if (IS_PACKET_OUT_DIRECT(meta.packet_out)) {
            // It leaves as the controller made it, whatever it holds.
            standard_metadata.egress_spec = meta.packet_out[8:0];
            meta.has_md = 0;
            meta.has_mx = 0;
            return;
        }
        if (meta.has_md == 0 && meta.has_mx == 0) {
            if (hdr.ipv4.isValid()) {
                watch_ipv4.apply();
            } else if (hdr.ipv6.isValid()) {
                watch_ipv6.apply();
            }
        }

        if (hdr.ipv4.isValid()) {
            switch (steer_ipv4.apply().action_run) {
                follow: { forward_ipv4.apply(); }
                default: { }
            }
        } else if (hdr.ipv6.isValid()) {
            switch (steer_ipv6.apply().action_run) {
                follow: { forward_ipv6.apply(); }
                default: { }
            }
        } else {
            forward_other.apply();
        }
        samples = (bit<1>)(meta.watch.type == INT_TYPE_MD && meta.watch.one_in > 1);
        if (samples == 1 || meta.next_hops != 0) {
            flow_hash.apply(hdr, meta);
            if (samples == 1) {
                sampling.apply(meta);
            }
            if (meta.next_hops != 0) {
                next_hops.apply();
            }
        }
        if (meta.routed == 1) {
            if (hdr.ipv4.isValid()) {
                if (hdr.ipv4.ttl <= 1) {
                    expire();
                } else {
                    hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                    hdr.ipv4.checksum = updated(hdr.ipv4.checksum, 0x0100, 0);
                }
            } else if (hdr.ipv6.isValid()) {
                if (hdr.ipv6.hop_limit <= 1) {
                    expire();
                } else {
                    hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
                }
            }
        }

        // Last: what may not enter is dropped whatever its route is, and for this reason.
        access.apply(hdr, meta, standard_metadata);
        if (meta.report.dropped == 1) {
            // Of packets that may not enter, a sample is reported; of others those that are watched: INT packets and flows of
            // the watchlist.
            // A packet of the controller is not cloned: a clone is parsed like a packet of port 0.
            if (meta.packet_out != PACKET_OUT_NONE) {
            } else if (meta.report.access == ACCESS_SAMPLED) {
                drop_reports.apply();
            } else if (meta.report.access == ACCESS_REFUSED) {
                // Counted, not reported.
            } else if (meta.has_md == 1 || meta.has_mx == 1 || meta.watch.starts == 1 || meta.watch.postcard == 1) {
                drop_reports.apply();
            }
            mark_to_drop(standard_metadata);
        }
    }
}

#endif
