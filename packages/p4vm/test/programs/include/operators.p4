// Every operator of two numbers of WIDTH bits; NUMBER is their type. The packet brings x, y and the amount n of a shift.
#include "base.p4"

header in_h {
    bit<8> n;
    NUMBER x;
    NUMBER y;
    bit<(8 - 2 * WIDTH % 8)> unused;
}
header out_h {
    NUMBER sum;
    NUMBER difference;
    NUMBER product;
    NUMBER sum_saturated;
    NUMBER difference_saturated;
    NUMBER both;
    NUMBER either;
    NUMBER one;
    NUMBER complement;
    NUMBER negative;
    NUMBER left;
    NUMBER right;
    bit<1> equal;
    bit<1> different;
    bit<1> less;
    bit<1> less_or_equal;
    bit<1> greater;
    bit<1> greater_or_equal;
    bit<(8 - (12 * WIDTH + 6) % 8)> unused;
}
struct headers_t {
    in_h i;
    out_h o;
}
NO_METADATA

PARSER { state start { packet.extract(hdr.i); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        NUMBER x = hdr.i.x;
        NUMBER y = hdr.i.y;
        hdr.o.setValid();
        hdr.o.sum = x + y;
        hdr.o.difference = x - y;
        hdr.o.product = x * y;
        hdr.o.sum_saturated = x |+| y;
        hdr.o.difference_saturated = x |-| y;
        hdr.o.both = x & y;
        hdr.o.either = x | y;
        hdr.o.one = x ^ y;
        hdr.o.complement = ~x;
        hdr.o.negative = -x;
        hdr.o.left = x << hdr.i.n;
        hdr.o.right = x >> hdr.i.n;
        hdr.o.equal = (bit<1>) (x == y);
        hdr.o.different = (bit<1>) (x != y);
        hdr.o.less = (bit<1>) (x < y);
        hdr.o.less_or_equal = (bit<1>) (x <= y);
        hdr.o.greater = (bit<1>) (x > y);
        hdr.o.greater_or_equal = (bit<1>) (x >= y);
        hdr.i.setInvalid();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
