// A register indexed by a hash, read, changed and written back by packets of one flow.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    register<bit<16>>(64) bytes;
    apply {
        SM.egress_spec = 1;
        bit<32> slot;
        bit<16> n;
        hash(slot, HashAlgorithm.crc32, 32w0, { hdr.h.a }, 32w64);
        bytes.read(n, slot);
        n = n + SM.packet_length[15:0];
        bytes.write(slot, n);
        hdr.h.b = n[7:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
