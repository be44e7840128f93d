// A custom CRC with the parameters the control plane gives it.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<16> r;
        hash(r, HashAlgorithm.crc16_custom, 16w0, { hdr.k.a, hdr.k.b }, 32w0x10000);
        hdr.h.a = r[15:8];
        hdr.h.b = r[7:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
