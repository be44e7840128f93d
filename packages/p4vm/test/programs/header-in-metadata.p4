// Headers in metadata and in local structs keep their validity; they are not sent.
#include "include/base.p4"

struct two_t { pair_h first; pair_h second; }

struct headers_t { pair_h h; pair_h k; pair_h l; }
struct metadata_t { pair_h spare; }

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (meta.spare.isValid()) SM.egress_spec = 2;
        two_t local = { hdr.h, hdr.l };
        meta.spare = local.first;
        if (meta.spare.isValid() && !local.second.isValid()) hdr.k = meta.spare;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
