// The hash of a flow: it chooses one of several equal paths, and the cell of the flow. All packets of a flow have the same
// one, with INT and without.
#ifndef INT_INT_FLOW_HASH_P4
#define INT_INT_FLOW_HASH_P4

#include "../headers/mixed.p4"
#include "headers.p4"

control IntFlowHash(inout headers_t hdr, inout metadata_t meta) {
    bit<32> seed;
    bit<32> value;

    @name(".IntIngress.set_hash_seed")
    @id(0x01f15a84)
    action set_hash_seed(bit<32> number) {
        seed = number;
    }

    // Switches with one seed choose alike: flows that one of them has sent the same way stay together at the next.
    @name(".IntIngress.hash_seed")
    @brief("The seed of this switch for the choice among equal paths")
    @id(0x024665d6)
    table hash_seed {
        actions = { set_hash_seed; }
        default_action = set_hash_seed(0);
    }

    apply {
        hash_seed.apply();
        value = seed;
        if (hdr.ipv4.isValid()) {
            value = mixed(value, hdr.ipv4.source);
            value = mixed(value, hdr.ipv4.destination);
        } else if (hdr.ipv6.isValid()) {
            value = mixed(value, hdr.ipv6.source[127:96]);
            value = mixed(value, hdr.ipv6.source[95:64]);
            value = mixed(value, hdr.ipv6.source[63:32]);
            value = mixed(value, hdr.ipv6.source[31:0]);
            value = mixed(value, hdr.ipv6.destination[127:96]);
            value = mixed(value, hdr.ipv6.destination[95:64]);
            value = mixed(value, hdr.ipv6.destination[63:32]);
            value = mixed(value, hdr.ipv6.destination[31:0]);
        }
        value = mixed(value, meta.flow.source_port ++ meta.flow.destination_port);
        value = mixed(value, (bit<32>)meta.flow.protocol);
        meta.flow_hash = value[31:16];
    }
}

#endif
