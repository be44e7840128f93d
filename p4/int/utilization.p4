// Utilization of each egress port. v1model has no rates, so this counts the bytes of a window and uses the last full
// window. P4 has no division, so the control plane gives the factor from bytes to hundredths of a percent.
#ifndef INT_INT_UTILIZATION_P4
#define INT_INT_UTILIZATION_P4

#include "headers.p4"

control IntUtilization(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    bit<48> begun;
    bit<32> bytes;
    bit<32> last;
    bit<32> index;
    bit<48> window;
    bit<32> factor;

    // By port: when the window began, bytes in it, and in the one before.
    @id(0x16cac947)
    register<bit<48>>(512) window_start;
    @id(0x16074764)
    register<bit<32>>(512) window_bytes;
    @id(0x16c8e5f9)
    register<bit<32>>(512) last_bytes;

    // `microseconds`: length of the window, 0: not measured; utilization = bytes * factor / 65536, so for a port of R bit/s
    // factor = 8 * 10000 * 65536 * 1000000 / (R * microseconds).
    @id(0x018aada4)
    action measure(bit<48> microseconds, bit<32> per_byte) {
        window = microseconds;
        factor = per_byte;
    }

    @brief("The rate of each egress port, for its utilization")
    @id(0x0206d1cf)
    table rate {
        key = { standard_metadata.egress_port: exact @name("egress_port"); }
        actions = { measure; }
        size = 512;
        default_action = measure(0, 0);
    }

    apply {
        // Not known.
        meta.node.utilization = 0xffffffff;
        rate.apply();
        if (window != 0) {
            index = (bit<32>)standard_metadata.egress_port;
            window_start.read(begun, index);
            window_bytes.read(bytes, index);
            last_bytes.read(last, index);
            if (standard_metadata.egress_global_timestamp - begun >= window) {
                // A window without packets goes unnoticed; the window before it was then not a full one.
                last = bytes;
                if (standard_metadata.egress_global_timestamp - begun >= window + window) {
                    last = 0;
                }
                bytes = 0;
                window_start.write(index, standard_metadata.egress_global_timestamp);
                last_bytes.write(index, last);
            }
            window_bytes.write(index, bytes + standard_metadata.packet_length);
            meta.node.utilization = (bit<32>)(((bit<64>)last * (bit<64>)factor) >> 16);
        }
    }
}

#endif
