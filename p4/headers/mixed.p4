#ifndef INT_HEADERS_MIXED_P4
#define INT_HEADERS_MIXED_P4

// Takes a word into a hash. Not a CRC, which is linear: a seed before its data would only exchange the paths, and switches
// with different seeds would choose alike nevertheless.
bit<32> mixed(in bit<32> value, in bit<32> word) {
    bit<32> product = (value ^ word) * 0x9e3779b1;
    return product ^ (product >> 15);
}

#endif
