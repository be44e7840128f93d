/** A software switch as the place where the machines of a P4Runtime device run. */
import type { MachineHost } from '@int/p4runtime';
import type { ForwardingLoop, PreparedPipeline, SoftSwitch } from '@int/p4switch';
import type { Digest, IrProgram, V1Switch } from '@int/p4vm';

/** Time between two looks at the ports, in milliseconds. */
const LOOK_MS = 200;
/** Longest delay of a timer of Node, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

export class SwitchHost implements MachineHost {
  readonly #core: SoftSwitch;
  readonly #loop: Pick<ForwardingLoop, 'wake' | 'meanwhile'>;
  readonly #prepared = new WeakMap<V1Switch, PreparedPipeline>();
  #looking: NodeJS.Timeout | undefined;
  #up = '';

  /** @param loop runs the switch */
  constructor(core: SoftSwitch, loop: Pick<ForwardingLoop, 'wake' | 'meanwhile'>) {
    this.#core = core;
    this.#loop = loop;
  }

  createMachine(program: IrProgram, onDigest: (digest: Digest) => void): V1Switch {
    const pipeline = this.#core.prepare(program, onDigest, () => this.meanwhile());
    this.#prepared.set(pipeline.machine, pipeline);
    return pipeline.machine;
  }

  meanwhile(): void {
    this.#loop.meanwhile();
  }

  useMachine(machine: V1Switch): void {
    const pipeline = this.#prepared.get(machine);
    if (pipeline === undefined) throw new TypeError('not a machine of this switch');
    this.#core.use(pipeline);
  }

  inject(packet: Uint8Array): void {
    if (this.#core.cpuPort === undefined) return;
    this.#core.packetOut(packet);
    this.#core.flush();
    this.#loop.wake();
  }

  setControl(receiver: ((packet: Uint8Array) => void) | undefined): void {
    this.#core.onPacketIn = receiver ?? (() => {});
  }

  setPortListener(listener: (() => void) | undefined): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    if (listener === undefined) return;
    this.#up = this.#state();
    this.#looking = setInterval(() => {
      const state = this.#state();
      if (state === this.#up) return;
      this.#up = state;
      listener();
    }, LOOK_MS);
    this.#looking.unref();
  }

  hasPort(port: number): boolean {
    return port === this.#core.cpuPort || this.#core.ports.some(({ number }) => number === port);
  }

  isPortUp(port: number): boolean {
    return port === this.#core.cpuPort || this.#core.ports.some((each) => each.number === port && each.port.isUp);
  }

  nowNs(): bigint {
    return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
  }

  schedule(delayNs: number, callback: () => void): () => void {
    const timer = setTimeout(callback, Math.min(LONGEST_MS, Math.max(0, Math.ceil(delayNs / 1e6))));
    timer.unref();
    return () => clearTimeout(timer);
  }

  /** Which ports are up, as a text. */
  #state(): string {
    return this.#core.ports.map(({ number, port }) => `${number}${port.isUp ? '+' : '-'}`).join();
  }
}
