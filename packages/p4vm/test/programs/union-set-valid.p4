// A member of a union made valid makes the others invalid.
#include "include/base.p4"

header short_h { bit<8> kind; bit<8> x; }
header long_h { bit<8> kind; bit<24> y; }
header_union any_h {
    short_h s;
    long_h l;
}
struct headers_t { pair_h h; any_h u; }
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
        if (hdr.u.s.isValid()) {
            hdr.u.l.setValid();
            hdr.u.l.kind = 2;
            hdr.u.l.y = 0xabcdef;
            if (hdr.u.s.isValid()) SM.egress_spec = 3;
        } else if (hdr.u.l.isValid()) {
            hdr.u.s = { 1, 0x55 };
            if (hdr.u.l.isValid()) SM.egress_spec = 4;
        }
        if (hdr.u.isValid()) SM.egress_spec = SM.egress_spec + 1;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
