import type { Faults, PacketWork } from '../machine/runtime.js';

/** What tables and extern objects look at while a packet is processed: a part of `Runtime`, live. */
export interface PacketEnvironment {
  /** Received (or recirculated) length in bytes. */
  readonly packetLength: number;
  /** Microseconds since the switch began. */
  readonly nowUs: number;
  readonly faults: Faults;
  /** Lookups that look at many entries take steps of the packet; none are counted without it. */
  readonly work?: PacketWork;
}
