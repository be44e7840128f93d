// A header emitted twice is sent twice; one that is not emitted is lost.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); packet.extract(hdr.l); transition accept; } }
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
NO_EGRESS
NO_COMPUTE
DEPARSER {
    apply {
        packet.emit(hdr.k);
        packet.emit(hdr.h);
        packet.emit(hdr.k);
    }
}
SWITCH
