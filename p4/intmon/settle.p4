// Updates lengths and checksums by the bytes and sums in the metadata, and resets these.
#ifndef INT_INTMON_SETTLE_P4
#define INT_INTMON_SETTLE_P4

#include "headers.p4"
#include "../headers/sums.p4"

control IntmonSettle(inout headers_t hdr, inout metadata_t meta) {
    bit<16> before;

    apply {
        // A length of 0 means unknown, and stays.
        if (hdr.ipv4.isValid() && hdr.ipv4.total_length != 0) {
            before = hdr.ipv4.total_length;
            hdr.ipv4.total_length = before + meta.grown - meta.shrunk;
            hdr.ipv4.checksum = updated(hdr.ipv4.checksum, (bit<32>)before, (bit<32>)hdr.ipv4.total_length);
        }
        if (hdr.ipv6.isValid() && hdr.ipv6.payload_length != 0) {
            hdr.ipv6.payload_length = hdr.ipv6.payload_length + meta.grown - meta.shrunk;
        }
        // The pseudo header contains the length again.
        meta.added = meta.added + (bit<32>)meta.grown;
        meta.removed = meta.removed + (bit<32>)meta.shrunk;
        if (hdr.udp.length != 0) {
            hdr.udp.length = hdr.udp.length + meta.grown - meta.shrunk;
            meta.added = meta.added + (bit<32>)meta.grown;
            meta.removed = meta.removed + (bit<32>)meta.shrunk;
        }
        if (hdr.udp.checksum != 0) {
            hdr.udp.checksum = updated(hdr.udp.checksum, meta.removed, meta.added);
            if (hdr.udp.checksum == 0) {
                hdr.udp.checksum = 0xffff;
            }
        }
        meta.ip_bytes = meta.ip_bytes + (bit<32>)meta.grown - (bit<32>)meta.shrunk;
        meta.grown = 0;
        meta.shrunk = 0;
        meta.added = 0;
        meta.removed = 0;
    }
}

#endif
