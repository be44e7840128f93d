// A checksum field of 32 bits with a CRC.
#include "include/base.p4"

header data_h { bit<32> x; bit<16> y; bit<8> z; bit<32> r; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
NO_EGRESS
COMPUTE {
    apply {
        update_checksum(true, { hdr.d.x, hdr.d.y, hdr.d.z }, hdr.d.r, HashAlgorithm.crc32);
    }
}
EMIT_ALL
SWITCH
