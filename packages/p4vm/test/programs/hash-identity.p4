// identity takes the bits themselves as a number, here cut to 32.
#include "include/base.p4"

header data_h { bit<32> x; bit<16> y; bit<8> z; bit<32> r; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hash(hdr.d.r, HashAlgorithm.identity, 32w0, { hdr.d.x, hdr.d.y, hdr.d.z }, 64w0x100000000);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
