// Fields that begin and end within bytes, signed ones and flags among them.
#include "include/base.p4"

header odd_h { bit<3> a; int<11> b; bool c; bit<28> d; bit<5> e; }
struct headers_t { odd_h o; }
NO_METADATA

PARSER { state start { packet.extract(hdr.o); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.o.a = hdr.o.a + 1;
        hdr.o.b = -hdr.o.b;
        if (hdr.o.c) hdr.o.d = ~hdr.o.d;
        hdr.o.e = (bit<5>) hdr.o.b[4:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
