// A struct made of the fields of a header, and a header from a list: it becomes valid.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> a = hdr.h.a;
        hdr.k = { hdr.h.b, a };
        if (hdr.k.isValid()) hdr.h = { 1, 2 };
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
