// setInvalid of a member that is not the valid one makes the whole union invalid.
// simple_switch leaves the other member valid.
#include "include/base.p4"

header short_h { bit<8> x; }
header long_h { bit<16> y; }
header_union any_h {
    short_h s;
    long_h l;
}
struct headers_t { pair_h h; any_h u; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.u.s); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.h.a == 1) hdr.u.l.setInvalid();
        if (hdr.u.isValid()) SM.egress_spec = 2;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
