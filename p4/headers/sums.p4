// One's complement sums (RFC 1071) and incremental update of checksums (RFC 1624). A sum has 32 bits, enough for the
// carries of 65,536 words.
#ifndef INT_HEADERS_SUMS_P4
#define INT_HEADERS_SUMS_P4

// The sum in 16 bits. It is 0 only for 0.
bit<16> fold(in bit<32> sum) {
    bit<32> once = (bit<32>)sum[15:0] + (bit<32>)sum[31:16];
    bit<32> twice = (bit<32>)once[15:0] + (bit<32>)once[31:16];
    return twice[15:0];
}

// The checksum after some words have changed: `removed` and `added` are sums of the old and the new ones.
bit<16> updated(in bit<16> checksum, in bit<32> removed, in bit<32> added) {
    return ~fold((bit<32>)~checksum + (bit<32>)~fold(removed) + (bit<32>)fold(added));
}

// The words of a value, for sums.
bit<32> words_32(in bit<32> value) {
    return (bit<32>)value[31:16] + (bit<32>)value[15:0];
}

bit<32> words_64(in bit<64> value) {
    return (bit<32>)value[63:48] + (bit<32>)value[47:32] + (bit<32>)value[31:16] + (bit<32>)value[15:0];
}

#endif
