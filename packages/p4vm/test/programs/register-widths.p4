// Registers of 1, 9, 48 and 128 bits: each cell keeps its number, from packet to packet.
#include "include/base.p4"

header data_h { bit<8> i; bit<128> x; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    register<bit<1>>(2) one;
    register<bit<9>>(2) nine;
    register<bit<48>>(2) address;
    register<bit<128>>(2) wide;
    apply {
        SM.egress_spec = 1;
        bit<32> i = (bit<32>) hdr.d.i;
        bit<128> x;
        bit<48> y;
        bit<9> z;
        bit<1> w;
        wide.read(x, i);
        address.read(y, i);
        nine.read(z, i);
        one.read(w, i);
        wide.write(i, x + hdr.d.x);
        address.write(i, y - hdr.d.x[47:0]);
        nine.write(i, z + hdr.d.x[8:0]);
        one.write(i, w ^ hdr.d.x[0:0]);
        hdr.d.x = x[127:58] ++ y ++ z ++ w;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
