// Cases of a select: values, masks, ranges, several keys, don't care; the first that matches.
#include "include/base.p4"

struct headers_t {
    pair_h h;
}
struct metadata_t {
    bit<9> port;
}

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a, hdr.h.b) {
            (1, 1): one;
            (1, _): two;
            (0x10 &&& 0xf0, 5 .. 9): three;
            (0x10 &&& 0xf0, 0x80 &&& 0x80): four;
            (20 .. 40, default): five;
            default: six;
        }
    }
    state one { meta.port = 1; transition accept; }
    state two { meta.port = 2; transition accept; }
    state three { meta.port = 3; transition accept; }
    state four { meta.port = 4; transition accept; }
    state five { meta.port = 5; transition accept; }
    state six { meta.port = 6; transition accept; }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = meta.port; }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
