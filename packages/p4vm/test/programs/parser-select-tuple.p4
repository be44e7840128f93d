// select on several keys: values, masks, ranges, wildcards for each; don't care of all comes last.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t { bit<9> port; }

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a, hdr.h.b, hdr.h.a == 0x20) {
            (1, 2, false): one;
            (1, _, _): two;
            (0x20 &&& 0xf0, 0x10 .. 0x19, false): three;
            (_, _, _): four;
        }
    }
    state one { meta.port = 1; transition accept; }
    state two { meta.port = 2; transition accept; }
    state three { meta.port = 3; transition accept; }
    state four { meta.port = 4; transition accept; }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = meta.port;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
