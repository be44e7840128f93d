// Chooses a packet's egress port, and whether its flow is watched.
#ifndef INT_INTMON_INGRESS_P4
#define INT_INTMON_INGRESS_P4

#include "headers.p4"
#include "sampling.p4"

control IntmonIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    IntmonSampling() sampling;

    @brief("Packets by watch rule")
    @id(0x133cfac6)
    direct_counter(CounterType.packets_and_bytes) watched_ipv4;
    @id(0x13002e4e)
    direct_counter(CounterType.packets_and_bytes) watched_ipv6;

    @id(0x01669adf)
    action forward(port_t port) {
        standard_metadata.egress_spec = port;
    }

    @id(0x01fc6ae4)
    action drop() {
        mark_to_drop(standard_metadata);
    }

    @brief("Sends to the controller, which gets the packet as it came and the reason")
    @id(0x015ce92a)
    action to_controller(bit<7> reason) {
        standard_metadata.egress_spec = CPU_PORT;
        meta.reason = reason;
    }

    @brief("Routes of IPv4 packets")
    @id(0x02a06ba5)
    table forward_ipv4 {
        key = { hdr.ipv4.destination: lpm @name("destination"); }
        actions = { forward; drop; to_controller; }
        default_action = drop();
        size = 4096;
    }

    @brief("Routes of IPv6 packets")
    @id(0x0285c172)
    table forward_ipv6 {
        key = { hdr.ipv6.destination: lpm @name("destination"); }
        actions = { forward; drop; to_controller; }
        default_action = drop();
        size = 4096;
    }

    @brief("Packets that are neither IPv4 nor IPv6")
    @id(0x026f1c58)
    table forward_other {
        key = { meta.destination_mac: exact @name("destination"); }
        actions = { forward; drop; to_controller; }
        default_action = drop();
        size = 4096;
    }

    // `fields`: of the eight, the first one the most significant bit. `max_hops`: switches that may push, this one included.
    @id(0x01063b4c)
    action collect(bit<8> fields, bit<8> max_hops) {
        meta.is_watched = 1;
        meta.instructions = fields ++ 8w0;
        meta.max_hops = max_hops;
    }

    @brief("For one packet of `one_in` of a flow; 0 or 1: for all")
    @id(0x0178432a)
    action collect_sampled(bit<8> fields, bit<8> max_hops, bit<32> one_in) {
        meta.is_watched = 1;
        meta.instructions = fields ++ 8w0;
        meta.max_hops = max_hops;
        meta.one_in = one_in;
    }

    @brief("For a rule that exempts flows from one of lower priority")
    @id(0x0138564b)
    action ignore() { }

    @brief("The watch rules of IPv4 packets")
    @id(0x029f408d)
    table watch_ipv4 {
        key = {
            hdr.ipv4.source: ternary @name("source");
            hdr.ipv4.destination: ternary @name("destination");
            hdr.ipv4.protocol: ternary @name("protocol");
            hdr.udp.source_port: ternary @name("source_port");
            hdr.udp.destination_port: ternary @name("destination_port");
        }
        actions = { collect; collect_sampled; ignore; }
        default_action = ignore();
        counters = watched_ipv4;
        size = 1024;
    }

    @brief("The watch rules of IPv6 packets")
    @id(0x021df789)
    table watch_ipv6 {
        key = {
            hdr.ipv6.source: ternary @name("source");
            hdr.ipv6.destination: ternary @name("destination");
            hdr.ipv6.next_header: ternary @name("protocol");
            hdr.udp.source_port: ternary @name("source_port");
            hdr.udp.destination_port: ternary @name("destination_port");
        }
        actions = { collect; collect_sampled; ignore; }
        default_action = ignore();
        counters = watched_ipv6;
        size = 1024;
    }

    apply {
        meta.is_watched = 0;
        meta.instructions = 0;
        meta.max_hops = 0;
        meta.one_in = 0;
        meta.reason = 0;
        meta.ingress = standard_metadata.ingress_port;
        if (IS_PACKET_OUT_DIRECT(meta.packet_out)) {
            // It leaves as the controller made it, whatever it holds.
            standard_metadata.egress_spec = meta.packet_out[8:0];
            meta.has_int = 0;
            return;
        }
        if (hdr.ipv4.isValid()) {
            forward_ipv4.apply();
            if (meta.is_udp == 1) {
                watch_ipv4.apply();
            }
        } else if (hdr.ipv6.isValid()) {
            forward_ipv6.apply();
            if (meta.is_udp == 1) {
                watch_ipv6.apply();
            }
        } else {
            // A packet may be too short for a MAC address.
            meta.destination_mac = 0;
            if (hdr.ethernet.isValid()) {
                meta.destination_mac = hdr.ethernet.destination;
            }
            forward_other.apply();
        }
        if (meta.one_in > 1) {
            sampling.apply(hdr, meta);
        }
    }
}

#endif
