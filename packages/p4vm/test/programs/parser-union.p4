// A header union: the member that was extracted is valid, and emitted.
#include "include/base.p4"

header short_h { bit<8> kind; bit<8> x; }
header long_h { bit<8> kind; bit<24> y; }
header_union any_h {
    short_h s;
    long_h l;
}
struct headers_t {
    pair_h h;
    any_h u;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(packet.lookahead<bit<8>>()) {
            1: short;
            2: long;
            default: accept;
        }
    }
    state short {
        packet.extract(hdr.u.s);
        transition accept;
    }
    state long {
        packet.extract(hdr.u.l);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.u.s.isValid()) hdr.u.s.x = 0xaa;
        else if (hdr.u.l.isValid()) hdr.u.l.y = 0xbbccdd;
        else SM.egress_spec = 2;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
