// Utilization of the egress port: bytes of the last full window, times a factor from the control plane, because P4 has
// no division.
#ifndef INT_INTMON_UTILIZATION_P4
#define INT_INTMON_UTILIZATION_P4

#include "headers.p4"

control IntmonUtilization(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    // By port: when the window began, bytes in it, bytes in the one before.
    @id(0x16e484fa)
    register<bit<48>>(512) window_start;
    @id(0x1658d402)
    register<bit<32>>(512) window_bytes;
    @id(0x1607ddbe)
    register<bit<32>>(512) last_bytes;

    bit<48> window;
    bit<32> factor;
    bit<48> begun;
    bit<32> bytes;
    bit<32> last;
    bit<64> utilization;

    // `microseconds`: length of the window; 0: not measured. Utilization is bytes * factor / 65536.
    @id(0x018706b1)
    action measure(bit<48> microseconds, bit<32> per_byte) {
        window = microseconds;
        factor = per_byte;
    }

    @brief("The rate of each egress port, for its utilization")
    @id(0x02e7245d)
    table rate {
        key = { standard_metadata.egress_port: exact @name("egress_port"); }
        actions = { measure; }
        default_action = measure(0, 0);
        size = 512;
    }

    apply {
        meta.utilization = INTMON_NOT_AVAILABLE;
        rate.apply();
        if (window != 0) {
            window_start.read(begun, (bit<32>)standard_metadata.egress_port);
            window_bytes.read(bytes, (bit<32>)standard_metadata.egress_port);
            last_bytes.read(last, (bit<32>)standard_metadata.egress_port);
            if (standard_metadata.egress_global_timestamp - begun >= window) {
                last = bytes;
                // A window without packets passed.
                if (standard_metadata.egress_global_timestamp - begun >= window + window) {
                    last = 0;
                }
                bytes = 0;
                window_start.write((bit<32>)standard_metadata.egress_port, standard_metadata.egress_global_timestamp);
                last_bytes.write((bit<32>)standard_metadata.egress_port, last);
            }
            window_bytes.write((bit<32>)standard_metadata.egress_port, bytes + standard_metadata.packet_length);
            utilization = ((bit<64>)last * (bit<64>)factor) >> 16;
            if (utilization > 0x7ffffffe) {
                utilization = 0x7ffffffe;
            }
            meta.utilization = utilization[30:0];
        }
    }
}

#endif
