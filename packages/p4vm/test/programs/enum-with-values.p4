// An enum with values: compared, assigned, in a select.
#include "include/base.p4"

enum bit<8> Kind { One = 1, Two = 2, Many = 0x80 }
header x_h {
    Kind kind;
    bit<8> r;
}
struct headers_t {
    x_h h;
    pair_h more;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) {
            Kind.Two: more;
            default: accept;
        }
    }
    state more {
        packet.extract(hdr.more);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.more.isValid()) hdr.h.r = 2;
        if (hdr.h.kind == Kind.One) hdr.h.kind = Kind.Many;
        else if (hdr.h.kind == Kind.Many) hdr.h.kind = Kind.One;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
