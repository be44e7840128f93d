// {#} is an invalid header.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.k == (pair_h) {#}) SM.egress_spec = 2;
        hdr.h = {#};
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
