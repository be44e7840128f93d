// Values of an enum are compared, copied, chosen by switch.
#include "include/base.p4"

enum color_t { red, green, blue }

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    color_t color;
    apply {
        SM.egress_spec = 1;
        color = hdr.h.a == 0 ? color_t.red : color_t.green;
        if (hdr.h.a > 9) color = color_t.blue;
        color_t copy = color;
        switch (copy) {
            color_t.red: { hdr.h.b = 0x11; }
            color_t.blue: { hdr.h.b = 0x33; }
            default: { hdr.h.b = 0xdd; }
        }
        if (copy != color_t.red && copy == color) hdr.h.a = 0xee;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
