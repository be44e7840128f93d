// Division and modulo by powers of two, of numbers known at compile time too.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    const bit<32> SEVENTEEN = 100 / 6 + 1;
    apply {
        SM.egress_spec = 1;
        hdr.d.z = SEVENTEEN + 100 % 6;
        hdr.d.y = hdr.d.x % 16;
        hdr.d.x = hdr.d.x / 8;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
