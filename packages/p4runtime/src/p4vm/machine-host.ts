import type { Digest, IrProgram, V1Switch } from '@int/p4vm';

/**
 * What a P4vmTarget needs of the place where machines run: ports, queues and a clock. `P4Switch` of @int/netsim is one, in
 * virtual time.
 */
export interface MachineHost {
  /** Makes a machine, which gets no packets yet. @throws P4Error */
  createMachine(program: IrProgram, onDigest: (digest: Digest) => void): V1Switch;
  /**
   * Lets packets have their turn in the middle of long work, such as making a machine. It is called often, and must not throw.
   * Absent: packets wait.
   */
  meanwhile?(): void;
  /** Sends packets through a machine from now on, in place of the one before. */
  useMachine(machine: V1Switch): void;
  /** Sends a packet of the controller to the machine in use, by the CPU port. */
  inject(packet: Uint8Array): void;
  /** Sets the receiver of packets that leave the machine in use by the CPU port. Their bytes are valid during the call. */
  setControl(receiver: ((packet: Uint8Array) => void) | undefined): void;
  /** Sets who is told when a port comes, goes or changes its state. */
  setPortListener(listener: (() => void) | undefined): void;
  hasPort(port: number): boolean;
  isPortUp(port: number): boolean;
  /** Nanoseconds since the Unix epoch, or since the simulation began. */
  nowNs(): bigint;
  /** Calls back after a delay in nanoseconds. @returns a function that cancels it */
  schedule(delayNs: number, callback: () => void): () => void;
}
