// exit in a case of a switch; egress is run all the same.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action one() { }
    action two() { }
    table t {
        key = { hdr.h.a: exact; }
        actions = { one; two; }
        default_action = two();
        const entries = { 1: one(); }
    }
    apply {
        SM.egress_spec = 1;
        switch (t.apply().action_run) {
            one: { hdr.h.b = 0x11; exit; }
            two: { hdr.h.b = 0x22; }
        }
        hdr.h.b = hdr.h.b + 1;
    }
}
EGRESS { apply { hdr.h.a = 0xee; } }
NO_COMPUTE
EMIT_ALL
SWITCH
