// INT-MD on the way: pushes what the header asks for, or nothing.
#ifndef INT_INT_TRANSIT_P4
#define INT_INT_TRANSIT_P4

#include "headers.p4"
#include "push.p4"

control IntTransit(inout headers_t hdr, inout metadata_t meta) {
    IntPush() push;
    bit<16> bytes;

    apply {
        bytes = (bit<16>)hdr.md.hop_ml << 2;
        if (hdr.md.remaining_hops == 0) {
            if (hdr.md.hops_exceeded == 0) {
                hdr.md.hops_exceeded = 1;
                meta.added = meta.added + 0x0400;
            }
        } else if (hdr.md.hop_ml == 0 || defined_words(hdr.md.instructions) > hdr.md.hop_ml
            || hdr.shim.length > 255 - (bit<8>)hdr.md.hop_ml || meta.ip_room < bytes)
        {
            // Nothing is asked for, the header contradicts itself, or a length field has no room.
        } else if (meta.mtu_room < bytes) {
            if (hdr.md.mtu_exceeded == 0) {
                hdr.md.mtu_exceeded = 1;
                meta.added = meta.added + 0x0200;
            }
        } else {
            push.apply(hdr, meta, hdr.md.instructions, hdr.md.hop_ml);
            meta.pushed = 1;
            hdr.md.remaining_hops = hdr.md.remaining_hops - 1;
            hdr.shim.length = hdr.shim.length + (bit<8>)hdr.md.hop_ml;
            meta.removed = meta.removed + 1;
            meta.added = meta.added + (bit<32>)hdr.md.hop_ml;
            meta.growth = meta.growth + bytes;
        }
    }
}

#endif
