// INT-MD transit: pushes the requested items, or nothing.
#ifndef INT_INT_TRANSIT_P4
#define INT_INT_TRANSIT_P4

#include "headers.p4"
#include "push.p4"
#include "sink.p4"

control IntTransit(inout headers_t hdr, inout metadata_t meta) {
    IntPush() push;
    IntKeep() keep;
    bit<16> bytes;
    bit<16> sum;
    bit<1> fits;

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
            // Nothing is requested, the header contradicts itself, or a length field has no room.
        } else {
            fits = 1;
            if (meta.mtu_room < bytes) {
                if (meta.port.mtu_reports == 1 && meta.stack_words != 0 && meta.report.session != 0) {
                    // Send the stack to the collector to make room for this switch (INT v2.1, section 5.3).
                    keep.apply(hdr);
                    meta.report.was_kept = 1;
                    meta.report.wanted = 1;
                    meta.report.intermediate = 1;
                    meta.shrink = (bit<16>)meta.stack_words << 2;
                    meta.removed = meta.removed + meta.stack_sum + (bit<32>)meta.stack_words;
                    if (hdr.stack.isValid()) {
                        hash(sum, HashAlgorithm.csum16, 16w0, { hdr.stack.words }, 32w65536);
                        meta.removed = meta.removed + (bit<32>)~sum;
                    }
                    hdr.shim.length = hdr.shim.length - meta.stack_words;
                    hdr.words.pop_front(STACK_WORDS);
                    hdr.stack.setInvalid();
                } else {
                    fits = 0;
                    if (hdr.md.mtu_exceeded == 0) {
                        hdr.md.mtu_exceeded = 1;
                        meta.added = meta.added + 0x0200;
                    }
                }
            }
            if (fits == 1) {
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
}

#endif
