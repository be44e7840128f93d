import { withDefaults } from '../budget/limits.js';
import { Memory } from '../budget/memory.js';
import type { CompiledProgram } from '../compile/compile-program.js';
import type { CommandResult } from '../control/command-context.js';
import { CommandInterpreter } from '../control/command-interpreter.js';
import { ControlPlane } from '../control/control-plane.js';
import type { TableControl } from '../control/table-control.js';
import type { Counter } from '../externs/counter.js';
import type { Digest } from '../externs/digest.js';
import type { Register } from '../externs/register.js';
import type { IrProgram } from '../ir/program.js';
import { declaredBytes } from '../ir/state-bytes.js';
import type { Runtime } from '../machine/runtime.js';
import type { UndefinedRead } from '../poison/undefined-reads.js';
import type { ProgramState } from '../tables/program-state.js';
import { type PacketTrace, type TracedOutput, TraceRecorder } from '../trace/packet-trace.js';
import type { SwitchClock, SwitchEnvironment, TransmitConsumer } from './environment.js';
import { CodePool, type InFlightPacket } from './in-flight.js';
import { PacketPath } from './packet-path.js';
import { Replication } from './replication.js';
import { createRuntime } from './runtime.js';
import type { SwitchStatistics } from './statistics.js';

/** Makes a program's code within `bytes` bytes of state. With `trace`, the code reports each step. */
export type CodeMaker = (trace: boolean, bytes: number) => Pick<CompiledProgram, 'stateBytes' | 'bind'>;

/** A v1model switch with one program. It treats each packet as simple_switch does. */
export class V1Switch {
  readonly #path: PacketPath;
  readonly #runtime: Runtime;
  readonly #makeCode: CodeMaker;
  readonly #memory: Memory;
  #traced: CodePool | undefined;

  readonly replication: Replication;
  /** Tables, extern objects, value sets, digests. */
  readonly state: ProgramState;
  /** Table entries, registers, counters, meters, mirror sessions, multicast groups: by name, as values. */
  readonly control: ControlPlane;
  readonly #commands: CommandInterpreter;

  constructor(
    readonly program: IrProgram,
    makeCode: CodeMaker,
    environment: SwitchEnvironment = {},
  ) {
    const onDigest = (digest: Digest): void => {
      this.statistics.digests++;
      environment.onDigest?.(digest);
    };
    const { stateBytes } = withDefaults(environment.limits);
    const code = makeCode(false, stateBytes);
    this.#memory = new Memory(stateBytes - code.stateBytes);
    const { runtime, state } = createRuntime(program, environment, this.#memory, onDigest);
    this.#runtime = runtime;
    this.state = state;
    this.#makeCode = makeCode;
    this.replication = new Replication(environment.trafficManager);
    this.control = new ControlPlane(program, state, this.replication);
    this.#commands = new CommandInterpreter(this.control, () => this.clock.nowUs());
    this.#path = new PacketPath(runtime, new CodePool(code.bind(runtime), this.#memory), this.replication, environment);
  }

  get statistics(): SwitchStatistics {
    return this.#path.statistics;
  }

  /**
   * Places where the program depends on undefined values, as found in poison mode, in the order of discovery. Empty
   * otherwise.
   */
  get undefinedReads(): readonly UndefinedRead[] {
    return this.#runtime.poison?.reads.list ?? [];
  }

  get clock(): SwitchClock {
    return this.#path.clock;
  }

  /** The consumer of packets that leave the switch. */
  get onTransmit(): TransmitConsumer {
    return this.#path.onTransmit;
  }

  set onTransmit(sink: TransmitConsumer) {
    this.#path.onTransmit = sink;
  }

  /**
   * Receives a packet: `length` bytes of `bytes` from `offset`. The caller may reuse the bytes after the call.
   * Resulting packets go to `onTransmit`; without a traffic manager, before this returns.
   *
   * @throws RangeError if the packet does not lie within `bytes`
   */
  receive(port: number, bytes: Uint8Array, offset = 0, length: number = bytes.length - offset): void {
    if (offset < 0 || length < 0 || offset + length > bytes.length) {
      throw new RangeError(`${length} bytes from ${offset} do not lie within ${bytes.length}`);
    }
    this.#path.receive(port, bytes, offset, length);
  }

  /** A table by its control-plane name, such as `MyIngress.ipv4_lpm`, or the end of one. @throws ControlError */
  table(name: string): TableControl {
    return this.control.table(name);
  }

  /** A register array by its control-plane name. @throws ControlError */
  register(name: string): Register {
    return this.control.register(name);
  }

  /** A counter array by its control-plane name. @throws ControlError */
  counter(name: string): Counter {
    return this.control.counter(name);
  }

  /** Runs one line of the command language of simple_switch_CLI. Never throws: the result tells of a failure. */
  command(line: string): CommandResult {
    return this.#commands.execute(line);
  }

  /** Runs commands, one per line. Empty lines and lines that begin with `#` have no effect. */
  commands(text: string): CommandResult[] {
    const lines = text.split(/\r?\n/).filter((line) => /^\s*[^#\s]/.test(line));
    return lines.map((line) => this.command(line));
  }

  /**
   * Restores tables, registers, counters, mirror sessions, multicast groups and so on to their state after loading. A
   * traffic manager keeps its packets.
   */
  reset(): void {
    this.control.reset();
    this.replication.reset();
  }

  /** Takes a packet back from the traffic manager that leaves its queue. */
  dequeue(packet: InFlightPacket): void {
    this.#path.dequeue(packet);
  }

  /** Takes a packet back from the traffic manager that goes back to the parser. */
  reenter(packet: InFlightPacket): void {
    this.#path.reenter(packet);
  }

  /**
   * Sends one packet and returns the packets that left the switch in this call, in order. A traffic manager may keep
   * some for later. In hot paths use `receive`.
   */
  process(port: number, frame: Uint8Array): TracedOutput[] {
    const outputs: TracedOutput[] = [];
    const { onTransmit } = this.#path;
    this.#path.onTransmit = (out, bytes, offset, length) => {
      outputs.push({ port: out, frame: bytes.slice(offset, offset + length) });
    };
    try {
      this.#path.receive(port, frame, 0, frame.length);
    } finally {
      this.#path.onTransmit = onTransmit;
    }
    return outputs;
  }

  /**
   * Sends one packet and returns all its steps. The packet counts, changes registers and so on as any other, but it
   * goes to egress at once, without the traffic manager.
   *
   * @throws P4Error if the code for traces exceeds the rest of a limit
   */
  trace(port: number, frame: Uint8Array): PacketTrace {
    this.#traced ??= this.#tracedPool();
    const recorder = new TraceRecorder();
    let outputs: TracedOutput[] = [];
    this.#runtime.trace = recorder;
    try {
      this.#path.runWith(this.#traced, () => {
        outputs = this.process(port, frame);
      });
    } finally {
      this.#runtime.trace = undefined;
    }
    return { port, frame: frame.slice(), events: recorder.events, outputs };
  }

  /** The code for traces has its own headers and metadata, but shares the program's tables and extern objects. */
  #tracedPool(): CodePool {
    const declared = declaredBytes(this.program);
    const code = this.#makeCode(true, Math.max(1, this.#memory.left + declared));
    this.#memory.take(code.stateBytes - declared);
    return new CodePool(code.bind(this.#runtime), this.#memory);
  }
}
