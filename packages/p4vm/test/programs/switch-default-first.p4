// A default that is not the last label, and one that others fall into.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        switch (hdr.h.a) {
            1:
            2: { hdr.h.b = 0x12; }
            5: { hdr.h.b = 0x05; }
            7:
            default: { hdr.h.b = 0xdd; }
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
