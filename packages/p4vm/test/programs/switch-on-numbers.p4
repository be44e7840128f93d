// switch on a number: labels that share a body, one without a match, a default.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        switch (hdr.h.a & 0x0f) {
            1: { hdr.h.b = 0x11; }
            2:
            3: { hdr.h.b = 0x23; }
            15: { }
            default: { hdr.h.b = 0xdd; }
        }
        switch (hdr.h.b) {
            0x11: { SM.egress_spec = 2; }
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
