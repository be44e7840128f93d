// Registers that more than one control reads or writes.
#ifndef INT_GPINT_REGISTERS_P4
#define INT_GPINT_REGISTERS_P4

// By port: packets in the port's queue, as seen by the last packet that left by it.
@id(0x166306c9)
register<bit<32>>(512) queue_depth;

// By cell of the store of clones: ticket (16 bits) and time (48) of the clone last put there.
@id(0x1613cc84)
register<bit<64>>(65536) clone_kept;

#endif
