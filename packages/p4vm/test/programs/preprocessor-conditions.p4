// #if with arithmetic, defined, #elif and nesting; what is left out need not be P4.
#include "include/base.p4"

#define LEVEL 3
#define NAME

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
    #if LEVEL * 2 + 1 == 7 && defined(NAME) && !defined(OTHER)
        hdr.h.a = 0x11;
    #  if (LEVEL << 2) > 12 || LEVEL == 98
        this is not P4
    #  elif LEVEL % 2
        hdr.h.b = 0x22;
    #  else
        nor is this;
    #  endif
    #else
        hdr.h.a = 0xff
    #endif
    #undef NAME
    #ifdef NAME
        hdr.h.b = 0xff;
    #endif
    #ifndef NAME
        hdr.h.b = hdr.h.b + 1;
    #endif
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
