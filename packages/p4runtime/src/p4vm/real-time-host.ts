import {
  createSwitch,
  type Digest,
  type IrProgram,
  type SwitchEnvironment,
  type TransmitConsumer,
  type V1Switch,
} from '@int/p4vm';
import type { MachineHost } from './machine-host.js';

export interface RealTimeHostOptions {
  /** The program's number for the port to the controller. Absent: packets go neither there nor back. */
  readonly cpuPort?: number;
  /** The ports that exist. Default: 0 to 510. */
  readonly ports?: Iterable<number>;
  /** The environment of all machines. The clock is by default the system's, from the start of the host. */
  readonly environment?: Omit<SwitchEnvironment, 'onTransmit' | 'onDigest'>;
  /** The time that controllers see, and timers. Default: the system's. */
  readonly timers?: Pick<MachineHost, 'nowNs' | 'schedule'>;
  /** Receives the packets for all other ports. */
  readonly onTransmit?: TransmitConsumer;
  /**
   * Called again and again in the middle of long work on this thread, so that its user can pass packets on meanwhile. It must
   * not throw.
   */
  readonly onWork?: () => void;
  /** Called with each machine that is used from now on. */
  readonly onMachine?: (machine: V1Switch) => void;
}

const LAST_PORT = 510;
/** Longest delay of a timer of Node, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** Machines on the system's clock. Its user passes packets to `machine.receive`. */
export class RealTimeHost implements MachineHost {
  readonly #options: RealTimeHostOptions;
  readonly #ports: ReadonlySet<number> | undefined;
  readonly #down = new Set<number>();
  readonly #startMs = performance.now();
  #machine: V1Switch | undefined;
  #control: ((packet: Uint8Array) => void) | undefined;
  #portListener: (() => void) | undefined;

  constructor(options: RealTimeHostOptions = {}) {
    this.#options = options;
    this.#ports = options.ports && new Set(options.ports);
  }

  /** The machine that gets packets; undefined before the first pipeline. */
  get machine(): V1Switch | undefined {
    return this.#machine;
  }

  createMachine(program: IrProgram, onDigest: (digest: Digest) => void): V1Switch {
    const { environment, cpuPort, onTransmit, onWork } = this.#options;
    const machine: V1Switch = createSwitch(program, {
      clock: { nowUs: () => Math.floor((performance.now() - this.#startMs) * 1000) },
      ...environment,
      onWork,
      onDigest,
      onTransmit: (port, bytes, offset, length) => {
        if (port !== cpuPort) onTransmit?.(port, bytes, offset, length);
        else if (machine === this.#machine) this.#control?.(bytes.subarray(offset, offset + length));
      },
    });
    return machine;
  }

  meanwhile(): void {
    this.#options.onWork?.();
  }

  useMachine(machine: V1Switch): void {
    this.#machine = machine;
    this.#options.onMachine?.(machine);
  }

  inject(packet: Uint8Array): void {
    const { cpuPort } = this.#options;
    if (cpuPort !== undefined) this.#machine?.receive(cpuPort, packet);
  }

  setControl(receiver: ((packet: Uint8Array) => void) | undefined): void {
    this.#control = receiver;
  }

  setPortListener(listener: (() => void) | undefined): void {
    this.#portListener = listener;
  }

  hasPort(port: number): boolean {
    if (port === this.#options.cpuPort) return true;
    return this.#ports === undefined ? port >= 0 && port <= LAST_PORT : this.#ports.has(port);
  }

  isPortUp(port: number): boolean {
    return this.hasPort(port) && !this.#down.has(port);
  }

  /** Says whether a port is up; at first all are. */
  setPort(port: number, isUp: boolean): void {
    if (isUp) this.#down.delete(port);
    else this.#down.add(port);
    this.#portListener?.();
  }

  nowNs(): bigint {
    const { timers } = this.#options;
    return timers === undefined ? systemNs() : timers.nowNs();
  }

  schedule(delayNs: number, callback: () => void): () => void {
    const { timers } = this.#options;
    if (timers !== undefined) return timers.schedule(delayNs, callback);
    const timer = setTimeout(callback, Math.min(LONGEST_MS, Math.ceil(delayNs / 1e6)));
    timer.unref();
    return () => clearTimeout(timer);
  }
}

function systemNs(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
