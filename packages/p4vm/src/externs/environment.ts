import type { Faults, PacketWork } from '../machine/runtime.js';

/** Facts that tables and extern objects read while a packet is processed: a live part of `Runtime`. */
export interface PacketEnvironment {
  /** Received (or recirculated) length in bytes. */
  readonly packetLength: number;
  /** Microseconds since the switch began. */
  readonly nowUs: number;
  readonly faults: Faults;
  /** Budget of steps. Lookups that compare many entries take steps from it; without it nothing is counted. */
  readonly work?: PacketWork;
}
