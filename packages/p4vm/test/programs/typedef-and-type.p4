// typedef is another name; type is a type of its own, cast to and fro.
#include "include/base.p4"

typedef bit<8> byte_t;
type bit<8> Label;
header x_h {
    byte_t a;
    Label label;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

const byte_t STEP = 2;

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.a = hdr.h.a + STEP;
        hdr.h.label = (Label) ((bit<8>) hdr.h.label + 1);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
