/** A server with a machine behind it, and controllers that talk to it in the same process or over a port. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { P4RuntimeServer, type P4RuntimeServerOptions, P4vmTarget, type P4vmTargetOptions, p4v1 } from '@int/p4runtime';
import { until } from '../../../../.ci/test/until.js';
import { DEVICE_CONFIG, INFO } from './everything.js';

export { Code };

const PIPELINE = { p4info: INFO, deviceConfig: DEVICE_CONFIG };

type Role = MessageInitShape<typeof p4v1.RoleSchema>;
export type StreamRequest = MessageInitShape<typeof p4v1.StreamMessageRequestSchema>;

interface Messages {
  readonly arbitration: p4v1.MasterArbitrationUpdate;
  readonly packet: p4v1.PacketIn;
  readonly digest: p4v1.DigestList;
  readonly idleTimeoutNotification: p4v1.IdleTimeoutNotification;
  readonly error: p4v1.StreamError;
}

/** One stream, with all that came by it. */
export class Session {
  readonly received: p4v1.StreamMessageResponse[] = [];
  /** How it ended; undefined: it goes on, null: without an error. */
  ended: ConnectError | null | undefined;
  readonly #queue: StreamRequest[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;
  readonly #abort = new AbortController();

  constructor(client: Client<typeof p4v1.P4Runtime>) {
    void this.#receive(client.streamChannel(this.#requests(), { signal: this.#abort.signal }));
  }

  send(request: StreamRequest): void {
    this.#queue.push(request);
    this.#wake?.();
  }

  arbitrate(low: bigint | undefined, deviceId = 1n, role?: Role): void {
    const electionId = low === undefined ? undefined : { high: 0n, low };
    this.send({ update: { case: 'arbitration', value: { deviceId, electionId, role } } });
  }

  /** Ends it as a client that goes. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  /** Ends it as a client that dies. */
  cancel(): void {
    this.#abort.abort();
    this.close();
  }

  /** The messages of one kind. */
  of<Kind extends keyof Messages>(kind: Kind): Messages[Kind][] {
    return this.received.flatMap(({ update }) => (update.case === kind ? [update.value as Messages[Kind]] : []));
  }

  /** Waits for the n-th message of a kind. */
  async next<Kind extends keyof Messages>(kind: Kind, n = 1): Promise<Messages[Kind]> {
    await until(`message ${n} of kind ${kind}`, () => this.of(kind).length >= n, { found: () => this.received });
    return this.of(kind)[n - 1]!;
  }

  /** Waits for the end. */
  async end(): Promise<ConnectError | null> {
    await until('the end of the stream', () => this.ended !== undefined);
    return this.ended!;
  }

  async *#requests(): AsyncGenerator<StreamRequest> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) yield next;
      else if (this.#isClosed) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async #receive(messages: AsyncIterable<p4v1.StreamMessageResponse>): Promise<void> {
    try {
      for await (const message of messages) this.received.push(message);
      this.ended = null;
    } catch (error) {
      this.ended = ConnectError.from(error);
    }
  }
}

/** A controller. */
export class Controller {
  readonly client: Client<typeof p4v1.P4Runtime>;
  deviceId = 1n;
  electionId = 1n;
  role = '';

  constructor(transport: Transport) {
    this.client = createClient(p4v1.P4Runtime, transport);
  }

  session(): Session {
    return new Session(this.client);
  }

  /** Becomes primary. */
  async lead(electionId = 1n): Promise<Session> {
    const session = this.session();
    this.electionId = electionId;
    session.arbitrate(electionId, this.deviceId, this.role === '' ? undefined : { name: this.role });
    await session.next('arbitration');
    return session;
  }

  async write(
    updates: readonly p4v1.Update[],
    atomicity = p4v1.WriteRequest_Atomicity.CONTINUE_ON_ERROR,
  ): Promise<void> {
    const { deviceId, role } = this;
    const electionId = { high: 0n, low: this.electionId };
    await this.client.write({ deviceId, electionId, role, updates: [...updates], atomicity });
  }

  /** The canonical code of each update of a Write; 0: done. */
  async codes(updates: readonly p4v1.Update[], atomicity?: p4v1.WriteRequest_Atomicity): Promise<number[]> {
    try {
      await this.write(updates, atomicity);
      return updates.map(() => 0);
    } catch (error) {
      return errorsOf(error).map(({ canonicalCode }) => canonicalCode);
    }
  }

  /** The code of a single update; 0: done. */
  async code(update: p4v1.Update): Promise<number> {
    return (await this.codes([update]))[0]!;
  }

  /** The error of a single update. */
  async refusal(update: p4v1.Update): Promise<Refused> {
    return refusalOf(this.write([update]));
  }

  /** The error of a Read of one entity. */
  async readRefusal(entity: p4v1.Entity): Promise<Refused> {
    return refusalOf(this.read(entity));
  }

  async read(...entities: p4v1.Entity[]): Promise<p4v1.Entity[]> {
    const found: p4v1.Entity[] = [];
    const { deviceId, role } = this;
    for await (const { entities: each } of this.client.read({ deviceId, role, entities })) found.push(...each);
    return found;
  }

  /** The code per request of a Read that fails; 0: no error. */
  async readCode(entity: p4v1.Entity): Promise<number> {
    try {
      await this.read(entity);
      return 0;
    } catch (error) {
      const [first] = errorsOf(error);
      return first?.canonicalCode ?? ConnectError.from(error).code;
    }
  }

  async setPipeline(
    action: p4v1.SetForwardingPipelineConfigRequest_Action,
    config?: MessageInitShape<typeof p4v1.ForwardingPipelineConfigSchema>,
  ): Promise<number> {
    const electionId = { high: 0n, low: this.electionId };
    return codeOf(
      this.client.setForwardingPipelineConfig({ deviceId: this.deviceId, role: this.role, electionId, action, config }),
    );
  }
}

/** The errors of a batch. */
function errorsOf(error: unknown): p4v1.Error[] {
  return ConnectError.from(error).findDetails(p4v1.ErrorSchema);
}

/** An error that a controller gets. */
export interface Refused {
  readonly code: number;
  readonly message: string;
}

/** The error of a call: of its first entity, or of the call as a whole. @throws Error if it does not fail */
export async function refusalOf(call: Promise<unknown>): Promise<Refused> {
  const error = await call.then(
    () => undefined,
    (each) => ConnectError.from(each),
  );
  if (error === undefined) throw new Error('the call was not refused');
  const [first] = errorsOf(error);
  return { code: first?.canonicalCode ?? error.code, message: first?.message ?? error.rawMessage };
}

/** The code with which a call fails; 0: it does not. */
export async function codeOf(call: Promise<unknown>): Promise<number> {
  try {
    await call;
    return 0;
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

/** A clock that tests move: timers run when it has passed them. */
export class TestClock {
  #nowNs = 0n;
  #timers: { atNs: bigint; callback: () => void }[] = [];

  nowNs(): bigint {
    return this.#nowNs;
  }

  nowUs(): number {
    return Number(this.#nowNs / 1000n);
  }

  schedule(delayNs: number, callback: () => void): () => void {
    const timer = { atNs: this.#nowNs + BigInt(Math.ceil(delayNs)), callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  /** Moves the time on, and runs the timers that are due, in order. */
  advance(ns: number): void {
    const endNs = this.#nowNs + BigInt(ns);
    for (;;) {
      this.#timers.sort((a, b) => Number(a.atNs - b.atNs));
      const next = this.#timers[0];
      if (next === undefined || next.atNs > endNs) break;
      this.#timers.shift();
      this.#nowNs = next.atNs;
      next.callback();
    }
    this.#nowNs = endNs;
  }
}

export interface Bench {
  readonly server: P4RuntimeServer;
  readonly target: P4vmTarget;
  readonly controller: Controller;
  readonly clock: TestClock;
  readonly sent: { port: number; frame: Uint8Array }[];
}

/** A server whose time stands still unless moved; with the pipeline unless `isEmpty`. */
export function createBench(
  options: Partial<P4RuntimeServerOptions> & {
    readonly isEmpty?: boolean;
    readonly target?: P4vmTargetOptions;
    readonly device?: Partial<P4RuntimeServerOptions['devices'][number]>;
  } = {},
): Bench {
  const clock = new TestClock();
  const sent: { port: number; frame: Uint8Array }[] = [];
  const target = new P4vmTarget({
    cpuPort: 510,
    environment: { clock },
    timers: clock,
    onTransmit: (port, packet, offset, length) => sent.push({ port, frame: packet.slice(offset, offset + length) }),
    ...options.target,
  });
  const server = new P4RuntimeServer({
    limits: options.limits ?? {},
    devices: [
      { deviceId: 1, target, ...(options.isEmpty === true ? {} : { pipeline: PIPELINE }), ...options.device },
      ...(options.devices ?? []),
    ],
  });
  return { server, target, controller: new Controller(server.transport()), clock, sent };
}
