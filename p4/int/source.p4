// Puts INT into packets of watched flows.
#ifndef INT_INT_SOURCE_P4
#define INT_INT_SOURCE_P4

#include "headers.p4"
#include "push.p4"
#include "../headers/sums.p4"

control IntSource(inout headers_t hdr, inout metadata_t meta) {
    IntPush() push;
    bit<5> hop_ml;
    // Bytes of shim and header, and of an inserted UDP header.
    bit<16> fixed;
    bit<16> entropy;
    bit<1> fits;

    @brief("Inserts a UDP header before the transport header, which moves behind INT")
    @id(0x01314fb6)
    action insert_udp() {
        hdr.inner_tcp = hdr.tcp;
        hdr.inner_tcp_options = hdr.tcp_options;
        hdr.inner_udp = hdr.udp;
        hdr.tcp.setInvalid();
        hdr.tcp_options.setInvalid();
        hdr.udp.setValid();
        hdr.udp.source_port = entropy;
        hdr.udp.destination_port = INT_UDP_PORT;
        meta.new_udp = 1;
        // Egress adds the inserted bytes.
        hdr.udp.length = meta.ip_payload;
        // No checksum, as recommended, over IPv6 too (RFC 6936): the inner checksum covers the relevant data.
        hdr.udp.checksum = 0;
        hdr.shim.original = (bit<16>)meta.flow.protocol;
    }

    apply {
        hop_ml = 0;
        fixed = 16;
        if (meta.watch.type == INT_TYPE_MD) {
            hop_ml = defined_words(meta.watch.instructions) + reserved_words(meta.watch.instructions);
        }
        if (meta.watch.npt == INT_NPT_NEW_UDP) {
            fixed = 24;
        }

        fits = 0;
        // A packet with the mark of INT but without valid INT goes on unchanged.
        if (!hdr.shim.isValid() && meta.fragment == 0 && fixed <= meta.ip_room && fixed <= meta.mtu_room) {
            if (meta.watch.npt == INT_NPT_NEW_UDP
                || (meta.watch.npt == INT_NPT_PORT && hdr.udp.isValid())
                || (meta.watch.npt == INT_NPT_DSCP && (hdr.udp.isValid() || hdr.tcp.isValid())))
            {
                fits = 1;
            }
        }
        // INT starts only if the length fields have room for the header and this switch's block.
        if (fits == 1 && fixed + ((bit<16>)hop_ml << 2) > meta.ip_room) {
            fits = 0;
        }

        if (fits == 1) {
            hdr.shim.setValid();
            hdr.shim.type = meta.watch.type;
            hdr.shim.npt = meta.watch.npt;
            hdr.shim.reserved = 0;
            hdr.shim.length = INT_HEADER_WORDS;
            hdr.shim.original = 0;
            meta.growth = fixed;

            if (meta.watch.npt == INT_NPT_DSCP) {
                hdr.shim.original = (bit<16>)meta.dscp << 2;
                if (hdr.ipv4.isValid()) {
                    hdr.ipv4.checksum = updated(hdr.ipv4.checksum, (bit<32>)meta.dscp << 2, (bit<32>)INT_DSCP << 2);
                    hdr.ipv4.dscp = INT_DSCP;
                } else if (hdr.ipv6.isValid()) {
                    hdr.ipv6.dscp = INT_DSCP;
                }
            } else if (meta.watch.npt == INT_NPT_PORT) {
                if (hdr.udp.isValid()) {
                    hdr.shim.original = hdr.udp.destination_port;
                    hdr.udp.destination_port = INT_UDP_PORT;
                    meta.removed = meta.removed + (bit<32>)hdr.shim.original;
                    meta.added = meta.added + INT_UDP_PORT;
                }
            } else {
                entropy = meta.watch.entropy_port;
                if (entropy == 0) {
                    // A flow stays on one path (INT v2.1, section 5.7.2).
                    if (hdr.ipv4.isValid()) {
                        hash(entropy, HashAlgorithm.crc16, 16w0xc000,
                            {
                                hdr.ipv4.source, hdr.ipv4.destination,
                                meta.flow.protocol, meta.flow.source_port, meta.flow.destination_port
                            },
                            32w0x4000);
                    } else if (hdr.ipv6.isValid()) {
                        hash(entropy, HashAlgorithm.crc16, 16w0xc000,
                            {
                                hdr.ipv6.source, hdr.ipv6.destination,
                                meta.flow.protocol, meta.flow.source_port, meta.flow.destination_port
                            },
                            32w0x4000);
                    }
                }
                insert_udp();
                if (hdr.ipv4.isValid()) {
                    hdr.ipv4.checksum = updated(hdr.ipv4.checksum, (bit<32>)hdr.ipv4.protocol, (bit<32>)PROTOCOL_UDP);
                    hdr.ipv4.protocol = PROTOCOL_UDP;
                } else if (hdr.ipv6.isValid()) {
                    hdr.ipv6.next_header = PROTOCOL_UDP;
                }
            }

            if (meta.watch.type == INT_TYPE_MX) {
                hdr.mx.setValid();
                hdr.mx.version = INT_VERSION;
                hdr.mx.discard = meta.watch.discard;
                hdr.mx.reserved = 0;
                hdr.mx.instructions = meta.watch.instructions;
                hdr.mx.domain_id = 0;
                hdr.mx.domain_instructions = 0;
                hdr.mx.domain_flags = 0;
                meta.has_mx = 1;
            } else {
                hdr.md.setValid();
                hdr.md.version = INT_VERSION;
                hdr.md.discard = meta.watch.discard;
                hdr.md.hops_exceeded = 0;
                hdr.md.mtu_exceeded = 0;
                hdr.md.reserved = 0;
                hdr.md.hop_ml = hop_ml;
                hdr.md.remaining_hops = meta.watch.max_hops;
                hdr.md.instructions = meta.watch.instructions;
                hdr.md.domain_id = 0;
                hdr.md.domain_instructions = 0;
                hdr.md.domain_flags = 0;
                meta.has_md = 1;
                if (hop_ml != 0) {
                    if (fixed + ((bit<16>)hop_ml << 2) > meta.mtu_room) {
                        hdr.md.mtu_exceeded = 1;
                    } else {
                        push.apply(hdr, meta, meta.watch.instructions, hop_ml);
                        meta.pushed = 1;
                        hdr.md.remaining_hops = hdr.md.remaining_hops - 1;
                        hdr.shim.length = INT_HEADER_WORDS + (bit<8>)hop_ml;
                        meta.growth = meta.growth + ((bit<16>)hop_ml << 2);
                    }
                }
            }

            meta.added = meta.added + SHIM_SUM(hdr.shim);
            if (hdr.mx.isValid()) {
                meta.added = meta.added + MX_SUM(hdr.mx);
            } else {
                meta.added = meta.added + MD_SUM(hdr.md);
            }
        }
    }
}

#endif
