// bool and bit<1> are cast to each other.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bool odd = (bool) hdr.h.a[0:0];
        bool large = hdr.h.a > 100;
        hdr.h.b = 5w0 ++ (bit<1>) (odd && !large) ++ (bit<1>) (odd == large) ++ (bit<1>) large;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
