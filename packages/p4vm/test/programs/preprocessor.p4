// Macros with arguments, conditions, and what they leave out.
#include "include/base.p4"

#define TWICE(x) ((x) + (x))
#define WIDTH 8
#if WIDTH > 4 && !defined(NARROW)
typedef bit<WIDTH> value_t;
#else
typedef bit<4> value_t;
#endif
header x_h {
    value_t a;
    value_t b;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        #ifdef MISSING
        hdr.h.a = nothing;
        #endif
        hdr.h.b = TWICE(hdr.h.a + 1);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
