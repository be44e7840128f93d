// Tuples: made from lists, read by index, compared.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        tuple<bit<8>, bool, bit<16>> t = { hdr.h.a, hdr.h.b > 9, 16w0x1234 };
        tuple<bit<8>, bool, bit<16>> u = { 8w5, true, 16w0x1234 };
        bit<8> r = t[2][7:0];
        if (t == u) r = 0xee;
        if (t[1]) r = r + 1;
        hdr.h.b = r - t[0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
