// The list of a hash is of fixed width: fields of invalid headers count with what they hold, 0 or what was left there.
#include "include/base.p4"

header sums_h { bit<32> before; bit<32> after; bit<32> word; }
header word_h { bit<32> x; }
struct headers_t { sums_h s; word_h w; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.s);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hash(hdr.s.before, HashAlgorithm.crc32, 32w0, { hdr.w.x, hdr.s.word }, 64w0x100000000);
        hdr.w.setValid();
        hdr.w.x = 7;
        hdr.w.setInvalid();
        hash(hdr.s.after, HashAlgorithm.crc32, 32w0, { hdr.w.x, hdr.s.word }, 64w0x100000000);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
