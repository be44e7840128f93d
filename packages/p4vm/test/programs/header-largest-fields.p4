// Fields of 2048 bits: added, masked, compared, assigned whole.
#include "include/base.p4"

header wide_h { bit<2048> x; bit<2048> y; }
struct headers_t { wide_h w; }
NO_METADATA

PARSER { state start { packet.extract(hdr.w); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.w.x > hdr.w.y) SM.egress_spec = 2;
        bit<2048> sum = hdr.w.x + hdr.w.y;
        hdr.w.y = hdr.w.x ^ sum;
        hdr.w.x = sum;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
