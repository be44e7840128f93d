// type makes a new type of the same values: casts lead in and out; typedef is only another name.
#include "include/base.p4"

typedef bit<8> octet_t;
type octet_t age_t;

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        age_t age = (age_t) hdr.h.a;
        octet_t limit = 18;
        bit<8> number = (bit<8>) age;
        if (age == (age_t) 99) hdr.h.b = 0x99;
        else if (number >= limit) hdr.h.b = number - limit;
        else hdr.h.b = 0xff;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
