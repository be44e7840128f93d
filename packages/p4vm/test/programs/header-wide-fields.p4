// Fields of hundreds of bits are moved, compared and shifted whole.
#include "include/base.p4"

header wide_h { bit<512> x; }
struct headers_t { wide_h w; }
NO_METADATA

PARSER { state start { packet.extract(hdr.w); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<512> x = hdr.w.x;
        hdr.w.x = (x << 200) | (x >> 231);
        if (x == 1) SM.egress_spec = 2;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
