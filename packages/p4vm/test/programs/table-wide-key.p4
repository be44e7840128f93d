// Exact keys of 48 and 128 bits.
#include "include/base.p4"

header wide_h {
    bit<48> mac;
    bit<128> ip;
}
struct headers_t { wide_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table macs {
        key = { hdr.h.mac: exact; }
        actions = { to; drop; }
        default_action = drop();
    }
    table ips {
        key = { hdr.h.ip: lpm; }
        actions = { to; NoAction; }
        default_action = NoAction();
    }
    apply {
        macs.apply();
        ips.apply();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
