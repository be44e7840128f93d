// x op= y for every operator that has it.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.d.x += 5;
        hdr.d.x -= 1;
        hdr.d.x *= 3;
        hdr.d.x /= 2;
        hdr.d.x %= 0x10000;
        hdr.d.x <<= 4;
        hdr.d.y |+|= 0x80000000;
        hdr.d.y |-|= 0xf0000000;
        hdr.d.y |= 0x01;
        hdr.d.z >>= 4;
        hdr.d.z &= 0x0ffff0f0;
        hdr.d.z ^= 0xff;
        hdr.d.z[31:28] += 7;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
