// Sampling at the INT source: one packet of so many of a flow carries INT.
#ifndef INT_INT_SAMPLING_P4
#define INT_INT_SAMPLING_P4

#include "headers.p4"

control IntSampling(inout metadata_t meta) {
    bit<32> count;

    // By flow: packets since the last one that carried INT, that one included.
    @name(".IntIngress.watch_count")
    @id(0x16024ea1)
    register<bit<32>>(65536) watch_count;

    apply {
        watch_count.read(count, (bit<32>)meta.flow_hash);
        if (count == 0 || count >= meta.watch.one_in) {
            count = 1;
        } else {
            count = count + 1;
            meta.watch.starts = 0;
        }
        watch_count.write((bit<32>)meta.flow_hash, count);
    }
}

#endif
