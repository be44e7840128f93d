// Part of the control IntIngress: tables that send flows another way than their destination's route, and groups of equal
// next hops.

    @brief("Spreads flows over a group of next hops")
    @id(0x01d601ca)
    action spread(bit<16> group) {
        meta.next_hops = group;
    }

    @brief("Leaves the packet to the route of its destination")
    @id(0x01a5d3ce)
    action follow() {
    }

    @brief("Flows that do not follow the route of their destination")
    // The smaller priority wins.
    @id(0x020bbb97)
    table steer_ipv4 {
        key = {
            standard_metadata.ingress_port: ternary @name("ingress_port");
            hdr.ipv4.source: ternary @name("source_address");
            hdr.ipv4.destination: ternary @name("destination_address");
            meta.flow.protocol: ternary @name("protocol");
            meta.flow.source_port: range @name("source_port");
            meta.flow.destination_port: range @name("destination_port");
        }
        actions = { follow; forward; route; spread; }
        size = 4096;
        default_action = follow();
    }

    @brief("IPv6 flows that do not follow the route of their destination")
    @id(0x02e87350)
    table steer_ipv6 {
        key = {
            standard_metadata.ingress_port: ternary @name("ingress_port");
            hdr.ipv6.source: ternary @name("source_address");
            hdr.ipv6.destination: ternary @name("destination_address");
            meta.flow.protocol: ternary @name("protocol");
            meta.flow.source_port: range @name("source_port");
            meta.flow.destination_port: range @name("destination_port");
        }
        actions = { follow; forward; route; spread; }
        size = 4096;
        default_action = follow();
    }

    @id(0x118a3d91)
    action_selector(HashAlgorithm.crc16, 32w1024, 32w16) members;

    @brief("Groups of next hops; a flow stays with one of them")
    @id(0x020d6099)
    table next_hops {
        key = {
            meta.next_hops: exact @name("group");
            meta.flow_hash: selector;
        }
        actions = { forward; route; no_route; }
        size = 1024;
        const default_action = no_route();
        implementation = members;
    }
