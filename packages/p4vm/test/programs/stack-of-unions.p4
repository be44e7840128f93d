// A stack of unions: each element holds one header or the other.
#include "include/base.p4"

header short_h { bit<8> kind; bit<8> x; }
header long_h { bit<8> kind; bit<16> y; }
header_union any_h {
    short_h s;
    long_h l;
}
struct headers_t { pair_h h; any_h[2] us; }
NO_METADATA

PARSER {
    bit<8> n = 0;
    state start {
        n = n + 1;
        transition select(n, packet.lookahead<bit<8>>()) {
            (3, _): accept;
            (_, 1): short;
            (_, 2): long;
            default: accept;
        }
    }
    state short { packet.extract(hdr.us.next.s); transition start; }
    state long { packet.extract(hdr.us.next.l); transition start; }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.us[0].s.isValid()) hdr.us[0].s.x = 0xaa;
        if (hdr.us[1].l.isValid()) hdr.us[1].l.y = 0xbbbb;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
