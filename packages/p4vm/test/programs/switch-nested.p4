// A switch in a case of a switch; return ends both.
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
        const default_action = two();
        const entries = { 1: one(); }
    }
    table u {
        key = { hdr.h.b: exact; }
        actions = { one; two; }
        const default_action = one();
        const entries = { 2: two(); }
    }
    apply {
        SM.egress_spec = 1;
        switch (t.apply().action_run) {
            one: {
                switch (u.apply().action_run) {
                    one: { hdr.h.b = 0x11; }
                    two: { hdr.h.b = 0x12; return; }
                }
            }
            default: { hdr.h.b = 0x20; }
        }
        hdr.h.a = 0xee;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
