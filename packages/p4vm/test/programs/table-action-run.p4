// switch on action_run: the case of the action that ran, of the default action too; labels may share a body.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action one() { }
    action two() { }
    action three() { }
    action four() { }
    table t {
        key = { hdr.h.a: exact; }
        actions = { one; two; three; four; }
        default_action = four();
    }
    apply {
        SM.egress_spec = 1;
        switch (t.apply().action_run) {
            one: { hdr.h.b = 0x11; }
            two:
            three: { hdr.h.b = 0x23; }
            default: { hdr.h.b = 0xdd; }
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
