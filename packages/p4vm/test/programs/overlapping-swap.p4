// Values exchanged by way of locals, by way of slices, and by exclusive or.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<16> both = hdr.h.a ++ hdr.h.b;
        both = both[7:0] ++ both[15:8];
        hdr.k.a = hdr.k.a ^ hdr.k.b;
        hdr.k.b = hdr.k.a ^ hdr.k.b;
        hdr.k.a = hdr.k.a ^ hdr.k.b;
        hdr.h.a = both[15:8];
        hdr.h.b = both[7:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
