// A varbit field of hundreds of bytes, kept, dropped and copied.
#include "include/base.p4"

header options_h { varbit<2040> data; }
struct headers_t { pair_h h; options_h o; options_h p; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.o, (bit<32>) hdr.h.a * 8);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.h.b == 1) hdr.o.setInvalid();
        if (hdr.h.b == 2) hdr.p = hdr.o;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
