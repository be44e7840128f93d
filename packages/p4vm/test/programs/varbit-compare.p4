// Headers with varbit fields are equal when fields, lengths and bits are.
#include "include/base.p4"

header options_h { bit<8> length; varbit<64> data; }
struct headers_t {
    options_h o;
    options_h p;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.o, (bit<32>) packet.lookahead<bit<8>>() << 3);
        transition select(hdr.o.length) {
            0: accept;
            default: second;
        }
    }
    state second {
        packet.extract(hdr.p, (bit<32>) packet.lookahead<bit<8>>() << 3);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.o == hdr.p) SM.egress_spec = 2;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
