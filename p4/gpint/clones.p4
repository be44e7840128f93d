// The store of clones. The clones themselves recirculate through the parser; the store tells which of them still wait.
// A request that leaves twice by one port has two clones in one cell. They are numbered, and confirmed in order.
#ifndef INT_GPINT_CLONES_P4
#define INT_GPINT_CLONES_P4

#include "headers.p4"
#include "registers.p4"

control GpintClones(inout metadata_t meta, in bit<48> now) {
    // By cell: request (15 bits) and port (16) of the waiting clones, the oldest clone's ticket, and the next ticket.
    // Equal tickets: the cell is empty.
    @id(0x164f8b6e)
    register<bit<32>>(65536) clone_key;
    @id(0x16fef81d)
    register<bit<16>>(65536) clone_first;
    @id(0x16f76971)
    register<bit<16>>(65536) clone_next;
    @brief("Clones of all cells")
    @id(0x16bac7de)
    register<bit<32>>(1) clones_waiting;
    // By port: duration of the last confirmation in microseconds.
    @id(0x16592140)
    register<bit<48>>(512) round_trip_time;

    bit<32> cell;
    bit<32> key;
    bit<16> first;
    bit<16> next;
    bit<32> waiting;
    bit<64> kept;

    apply {
        meta.clones_done = 0;
        meta.is_confirmed = 0;
        // Ten bits of the request, six of the port: consecutive requests never share a cell.
        if (meta.clones_operation == CLONES_ADD || meta.clones_operation == CLONES_CONFIRM) {
            meta.cell = meta.clone_key[25:16] ++ meta.clone_key[5:0];
        }
        cell = (bit<32>)meta.cell;
        clone_key.read(key, cell);
        clone_first.read(first, cell);
        clone_next.read(next, cell);
        clones_waiting.read(waiting, 0);

        if (meta.clones_operation == CLONES_ADD) {
            if (waiting < meta.clone_capacity && (first == next || key == meta.clone_key)) {
                clone_key.write(cell, meta.clone_key);
                meta.ticket = next;
                clone_next.write(cell, next + 1);
                clones_waiting.write(0, waiting + 1);
                meta.clones_done = 1;
            }
        } else if (meta.clones_operation == CLONES_CONFIRM) {
            if (first != next && key == meta.clone_key) {
                clone_first.write(cell, first + 1);
                clones_waiting.write(0, waiting - 1);
                meta.clones_done = 1;
                clone_kept.read(kept, cell);
                if (kept[63:48] == first) {
                    round_trip_time.write((bit<32>)meta.in_port, now - kept[47:0]);
                }
            }
        } else {
            // Tickets before the oldest one belong to confirmed clones.
            next = meta.ticket - first;
            if (next[15:15] == 1) {
                meta.is_confirmed = 1;
            } else if (meta.clones_operation == CLONES_EXPIRE && next == 0) {
                clone_first.write(cell, first + 1);
                clones_waiting.write(0, waiting - 1);
                meta.clones_done = 1;
            }
        }
    }
}

#endif
