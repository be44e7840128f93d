// RoCEv2 RDMA WRITE-only: Ethernet, IPv4, UDP, BTH, RETH, payload, invariant CRC.
#ifndef INT_HEADERS_ROCE_P4
#define INT_HEADERS_ROCE_P4

const bit<16> ROCE_PORT = 4791;

// Unreliable connected: a gap in the sequence numbers stalls nobody.
const bit<8> ROCE_UC_WRITE_ONLY = 0x2a;

header bth_t {
    bit<8> opcode;
    bit<1> solicited;
    bit<1> migration;
    bit<2> pad;
    bit<4> version;
    bit<16> partition_key;
    bit<8> congestion;          // FECN, BECN, reserved: masked in the invariant CRC
    bit<24> queue_pair;
    bit<1> acknowledge;
    bit<7> reserved;
    bit<24> sequence;
}

header reth_t {
    bit<64> address;
    bit<32> remote_key;
    bit<32> length;
}

// Least significant byte first on the wire.
header icrc_t {
    bit<32> value;
}

#endif
