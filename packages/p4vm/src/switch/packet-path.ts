import type { Runtime } from '../machine/runtime.js';
import { deparsePacket } from './deparse.js';
import { type CurrentPacket, Dispatch } from './dispatch.js';
import type { SwitchClock, SwitchEnvironment, TransmitConsumer } from './environment.js';
import { VirtualClock } from './environment.js';
import { type CodePool, clearStandardMetadata, INSTANCE, type InFlightPacket, type SharedState } from './in-flight.js';
import type { MirrorSession, Replication } from './replication.js';
import { SwitchStatistics } from './statistics.js';

const SESSION_MASK = 0x7fff;
const PORT_MASK = 0x1ff;
const TIMESTAMP_MODULUS = 2 ** 48;
const DEPTH_MASK = 0x7ffff;

/**
 * The path of a packet through the switch: parser, ingress, replication, queue, egress, deparser, and back to the
 * parser for resubmitted or recirculated packets. One packet is in a pipeline at a time. Without a traffic manager,
 * `receive` returns when the packet and all its copies are done.
 */
export class PacketPath {
  readonly statistics: SwitchStatistics;
  readonly clock: SwitchClock;
  onTransmit: TransmitConsumer;

  readonly #runtime: Runtime;
  readonly #replication: Replication;
  readonly #dispatch: Dispatch;
  readonly #current: CurrentPacket;
  readonly #dropPort: number;
  readonly #maxPasses: number;
  readonly #maxRuns: number;
  readonly #steps: number;
  /** The current code. Traced packets use other code. */
  #pool: CodePool;
  #isBusy = false;
  #runs = 0;
  #timestamp = 0n;
  #timestampUs = 0;

  constructor(runtime: Runtime, pool: CodePool, replication: Replication, environment: SwitchEnvironment) {
    this.#runtime = runtime;
    this.#pool = pool;
    this.#replication = replication;
    this.#dropPort = environment.dropPort ?? 511;
    this.#maxPasses = environment.maxPasses ?? 1000;
    this.#maxRuns = environment.maxRuns ?? 100_000;
    this.#steps = runtime.work.left;
    this.clock = environment.clock ?? new VirtualClock();
    this.onTransmit = environment.onTransmit ?? (() => {});
    this.statistics = new SwitchStatistics(runtime.faults);
    this.#dispatch = new Dispatch(runtime, replication, this.statistics, environment);
    this.#current = this.#dispatch.current;
  }

  /** Receives a packet on a port. */
  receive(port: number, bytes: Uint8Array, offset: number, length: number): void {
    this.statistics.received++;
    this.statistics.receivedBytes += length;
    if (this.#isBusy) {
      // A consumer that sends a packet straight back: the packet must wait, and its bytes must be copied.
      const packet = this.#pool.packet();
      if (packet === undefined || !packet.keep(bytes, offset, length)) {
        if (packet !== undefined) this.#pool.release(packet);
        this.#dispatch.dropForMemory();
        return;
      }
      packet.ingressPort = port;
      packet.receivedLength = length;
      packet.passes = 0;
      this.#dispatch.toParser.push(packet);
      return;
    }
    this.#isBusy = true;
    this.#runs = 0;
    this.#runtime.work.left = this.#steps;
    try {
      const current = this.#current;
      current.isLasting = this.#dispatch.isImmediate;
      current.passes = 0;
      this.#begin(bytes, offset, length, port, INSTANCE.NORMAL);
      this.#ingress(bytes, offset, length);
      this.#drain();
    } finally {
      this.#rest();
    }
  }

  /** Continues with a packet that leaves its output queue. */
  dequeue(packet: InFlightPacket): void {
    this.#dispatch.toEgress.push(packet);
    this.#resume();
  }

  /** Continues with a packet that goes back to the parser. */
  reenter(packet: InFlightPacket): void {
    this.#dispatch.toParser.push(packet);
    this.#resume();
  }

  /** Runs `work` with other code and without the traffic manager, to trace a packet. */
  runWith(pool: CodePool, work: () => void): void {
    if (this.#isBusy) throw new TypeError('the switch is at work on a packet');
    const { onTransmit } = this;
    const before = this.#pool;
    this.#pool = pool;
    this.#dispatch.isImmediate = true;
    try {
      work();
    } finally {
      this.#pool = before;
      this.#dispatch.restore();
      this.onTransmit = onTransmit;
    }
  }

  #resume(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#runs = 0;
    this.#runtime.work.left = this.#steps;
    try {
      this.#drain();
    } finally {
      this.#rest();
    }
  }

  #rest(): void {
    this.#isBusy = false;
    // The queues hold packets only after an exception.
    this.#dispatch.toEgress.clear();
    this.#dispatch.toParser.clear();
  }

  /** Egress goes first, so that packets leave the switch in the order in which they left ingress. */
  #drain(): void {
    const { toEgress, toParser } = this.#dispatch;
    for (;;) {
      const leaving = toEgress.take();
      if (leaving !== undefined) {
        this.#egressOf(leaving);
        continue;
      }
      const entering = toParser.take();
      if (entering === undefined) return;
      this.#ingressOf(entering);
    }
  }

  /** Takes the steps of a pipeline for a packet of `size` bytes. Returns true if it may not run any more. */
  #exhausted(steps: number, size: number): boolean {
    if (++this.#runs > this.#maxRuns) {
      this.#dispatch.drop('loop', 'dropped: too many pipeline runs for one packet');
      return true;
    }
    this.#runtime.work.left -= steps + (size >>> 3);
    return this.#isOutOfSteps();
  }

  /** Whether the live packet has taken too many steps. It is then dropped, whatever it requests. */
  #isOutOfSteps(): boolean {
    if (this.#runtime.work.left >= 0) return false;
    this.#dispatch.drop('steps', 'dropped: it takes more steps than one packet may');
    return true;
  }

  #timestampOf(nowUs: number): bigint {
    if (nowUs !== this.#timestampUs) {
      this.#timestampUs = nowUs;
      this.#timestamp = BigInt(nowUs % TIMESTAMP_MODULUS);
    }
    return this.#timestamp;
  }

  #setInput(bytes: Uint8Array, start: number, length: number): void {
    const { input } = this.#runtime;
    input.bytes = bytes;
    input.start = start;
    input.length = length;
    input.cursor = 0;
  }

  #resetRequests(): void {
    const { requests } = this.#runtime;
    requests.cloneSession = -1;
    requests.cloneFieldList = -1;
    requests.resubmit = -1;
    requests.recirculate = -1;
    requests.truncate = -1;
    requests.lengthChange = 0;
  }

  /** Before the parser: resets everything, and sets the standard metadata of a new packet. */
  #begin(bytes: Uint8Array, start: number, length: number, ingressPort: number, instanceType: number): void {
    const { code } = this.#pool;
    const now = this.clock.nowUs();
    this.#runtime.nowUs = now;
    this.#runtime.packetLength = length;
    this.#setInput(bytes, start, length);
    code.reset();
    clearStandardMetadata(code);
    const standard = code.standardMetadata;
    if (instanceType === INSTANCE.NORMAL) {
      standard.ingress_port = ingressPort & PORT_MASK;
      standard.ingress_global_timestamp = this.#timestampOf(now);
    }
    standard.instance_type = instanceType;
    standard.packet_length = length >>> 0;
    this.#current.ingressPort = ingressPort;
    this.#current.truncate = -1;
  }

  #ingressOf(packet: InFlightPacket): void {
    const outer = this.#pool;
    const pool = packet.owner ?? outer;
    const { bytes, start, size, reentry } = packet;
    this.#pool = pool;
    // A packet that the consumer of another one sent has its own budget.
    if (reentry === 'none') this.#runtime.work.left = this.#steps;
    const type =
      reentry === 'none' ? INSTANCE.NORMAL : reentry === 'resubmit' ? INSTANCE.RESUBMITTED : INSTANCE.RECIRCULATED;
    this.#current.isLasting = packet.isLasting;
    this.#current.passes = packet.passes;
    this.#begin(bytes, start, size, packet.ingressPort, type);
    if (packet.shared !== undefined) pool.code.loadFieldList(packet.fieldList, packet.shared.state);
    this.#ingress(bytes, start, size);
    this.#pool = outer;
    pool.release(packet);
  }

  /** Runs parser and ingress, and carries out the requests of ingress. */
  #ingress(bytes: Uint8Array, start: number, size: number): void {
    if (this.#exhausted(this.#pool.code.ingressSteps, size)) return;
    const runtime = this.#runtime;
    const { requests, trace } = runtime;
    const current = this.#current;
    const dispatch = this.#dispatch;
    const pool = this.#pool;
    const { code } = pool;
    const standard = code.standardMetadata;
    this.#resetRequests();
    if (code.parse() !== 0) this.statistics.parserErrors++;
    this.#findPayload();
    code.verifyChecksum();
    if (standard.checksum_error !== 0) this.statistics.checksumErrors++;
    code.ingress();
    if (this.#isOutOfSteps()) return;

    current.length = Math.max(0, size + (requests.lengthChange >> 3));
    current.truncate = requests.truncate;
    current.recirculate = requests.recirculate;
    const { mcast_grp: group, egress_spec: port, priority } = standard;
    const { resubmit } = requests;
    let kept = requests.cloneSession < 0 ? undefined : this.#ingressClone(size);

    if (resubmit !== -1) {
      if (current.passes >= this.#maxPasses) dispatch.drop('loop', 'dropped: resubmitted too often');
      else {
        if (resubmit >= 0) kept ??= this.#save();
        this.statistics.resubmitted++;
        if (trace !== undefined) trace.event({ kind: 'packet', what: 'resubmitted' });
        if (resubmit < 0 || kept !== undefined) {
          dispatch.goBack(pool, 'resubmit', kept, resubmit, bytes, start, size, current.isLasting);
        }
      }
    } else if (group !== 0) {
      kept ??= this.#save();
      if (kept !== undefined) dispatch.multicast(pool, group, kept, INSTANCE.REPLICATION, priority, 0);
    } else if (port === this.#dropPort) {
      dispatch.drop('ingress', 'dropped at the end of ingress');
    } else if (kept === undefined && dispatch.isFree(port, priority)) {
      // The usual case: nothing must be saved, because the packet goes on to egress at once.
      if (trace !== undefined) trace.event({ kind: 'packet', what: `to the queue of port ${port}` });
      standard.instance_type = INSTANCE.NORMAL;
      standard.enq_timestamp = runtime.nowUs >>> 0;
      standard.enq_qdepth = 0;
      if (!dispatch.isImmediate) runtime.nowUs = this.clock.nowUs();
      this.#egress(port, 0);
    } else {
      kept ??= this.#save();
      if (kept !== undefined) dispatch.unicast(pool, kept, priority, port);
    }
    if (kept !== undefined) pool.drop(kept);
  }

  /** Saves the live packet. Without memory, the caller drops it. */
  #save(): SharedState | undefined {
    const kept = this.#pool.save();
    if (kept === undefined) this.#dispatch.dropForMemory();
    return kept;
  }

  /** The payload begins where the parser stopped. */
  #findPayload(): void {
    const runtime = this.#runtime;
    const { start, length, cursor } = runtime.input;
    runtime.payloadStart = start + (cursor >>> 3);
    runtime.payloadLength = length - (cursor >>> 3);
  }

  /** The session of the requested clone; undefined if it is not configured. */
  #mirror(where: 'ingress' | 'egress'): MirrorSession | undefined {
    const { requests, trace } = this.#runtime;
    const session = requests.cloneSession & SESSION_MASK;
    const destination = this.#replication.mirror(session);
    if (destination === undefined) {
      this.#dispatch.drop('noSession', 'not cloned: its mirror session is not configured');
    } else if (trace !== undefined) {
      trace.event({ kind: 'packet', what: `cloned at ${where} to mirror session ${session}` });
    }
    return destination;
  }

  /**
   * Parses the packet again as it was received. The clone keeps the listed metadata fields from the end of ingress.
   * Returns the saved state of the original, which is no longer live; undefined if nothing was cloned.
   */
  #ingressClone(size: number): SharedState | undefined {
    const destination = this.#mirror('ingress');
    if (destination === undefined) return undefined;
    this.statistics.ingressClones++;
    const { requests, input } = this.#runtime;
    const fieldList = requests.cloneFieldList;
    const current = this.#current;
    const pool = this.#pool;
    const original = this.#save();
    if (original === undefined) return undefined;
    const { cursor } = input;
    input.cursor = 0;
    pool.code.reset();
    clearStandardMetadata(pool.code);
    // The parser sees only the port of its standard metadata.
    pool.code.standardMetadata.ingress_port = current.ingressPort & PORT_MASK;
    pool.code.parse();
    this.#findPayload();
    const { length } = current;
    current.length = size;
    this.#dispatch.clone(pool, destination, original, fieldList, INSTANCE.INGRESS_CLONE);
    current.length = length;
    input.cursor = cursor;
    this.#findPayload();
    return original;
  }

  #egressOf(packet: InFlightPacket): void {
    const pool = packet.owner;
    const { shared, port } = packet;
    if (pool === undefined || shared === undefined) throw new TypeError('this packet is in no queue');
    const outer = this.#pool;
    this.#pool = pool;
    const runtime = this.#runtime;
    const { code } = pool;
    // `load` replaces everything live, so no reset is needed.
    code.load(shared.state);
    const standard = code.standardMetadata;
    standard.instance_type = packet.instanceType;
    if (packet.instanceType !== INSTANCE.NORMAL) standard.egress_rid = packet.replicationId;
    standard.enq_timestamp = packet.enqueueTimeUs >>> 0;
    standard.enq_qdepth = packet.enqueueDepth & DEPTH_MASK;
    // The bytes hold only the payload; the headers are in the state.
    this.#setInput(packet.bytes, packet.start, packet.size);
    runtime.payloadStart = packet.start;
    runtime.payloadLength = packet.size;
    runtime.packetLength = packet.receivedLength;
    runtime.nowUs = this.clock.nowUs();
    const current = this.#current;
    current.isLasting = packet.isLasting;
    current.ingressPort = packet.ingressPort;
    current.length = packet.length;
    current.passes = packet.passes;
    current.truncate = packet.truncate;
    current.recirculate = packet.recirculate;
    const { isImmediate, toEgress } = this.#dispatch;
    this.#egress(port, isImmediate ? toEgress.waiting(port) : packet.dequeueDepth);
    this.#pool = outer;
    pool.release(packet);
  }

  /** Runs egress and deparser for the live packet. */
  #egress(port: number, dequeueDepth: number): void {
    const { code } = this.#pool;
    if (this.#exhausted(code.egressSteps, this.#runtime.payloadLength)) return;
    const runtime = this.#runtime;
    const { requests, trace } = runtime;
    const current = this.#current;
    const standard = code.standardMetadata;
    standard.egress_global_timestamp = this.#timestampOf(runtime.nowUs);
    standard.deq_timedelta = (runtime.nowUs - standard.enq_timestamp) >>> 0;
    standard.deq_qdepth = dequeueDepth & DEPTH_MASK;
    standard.egress_port = port & PORT_MASK;
    // One beyond the drop port, which is 0 in nine bits.
    standard.egress_spec = (this.#dropPort + 1) & PORT_MASK;
    standard.packet_length = current.length >>> 0;
    this.#resetRequests();
    requests.recirculate = current.recirculate;
    code.egress();
    if (this.#isOutOfSteps()) return;
    current.length = Math.max(0, current.length + (requests.lengthChange >> 3));
    const { recirculate, truncate } = requests;
    if (truncate >= 0 && (current.truncate < 0 || truncate < current.truncate)) current.truncate = truncate;
    const isDropped = standard.egress_spec === this.#dropPort;
    if (requests.cloneSession >= 0) this.#egressClone(!isDropped);
    if (isDropped) this.#dispatch.drop('egress', 'dropped at the end of egress');
    else if (recirculate !== -1) this.#recirculate(recirculate);
    else {
      const whole = deparsePacket(runtime, code, current.truncate);
      if (whole < 0 || this.#isOutOfSteps()) {
        if (whole < 0) this.#dropForSize();
        return;
      }
      const size = current.truncate >= 0 ? Math.min(whole, current.truncate) : whole;
      this.statistics.transmitted++;
      this.statistics.transmittedBytes += size;
      if (trace !== undefined) trace.event({ kind: 'packet', what: `sent by port ${port}: ${size} bytes` });
      this.onTransmit(port, runtime.output.bytes, 0, size);
    }
  }

  /** Clones the packet with its headers at the end of egress, before checksums are computed. */
  #egressClone(isLiveNeeded: boolean): void {
    const destination = this.#mirror('egress');
    if (destination === undefined) return;
    const current = this.#current;
    if (current.passes >= this.#maxPasses) {
      this.#dispatch.drop('loop', 'not cloned: cloned too often');
      return;
    }
    this.statistics.egressClones++;
    const pool = this.#pool;
    // The clone has the same headers, so they need not be saved.
    const original = pool.saveMetadata();
    if (original === undefined) {
      this.#dispatch.dropForMemory();
      return;
    }
    const fieldList = this.#runtime.requests.cloneFieldList;
    current.passes++;
    this.#dispatch.clone(pool, destination, original, fieldList, INSTANCE.EGRESS_CLONE);
    current.passes--;
    if (isLiveNeeded) {
      pool.code.loadMetadata(original.state);
    }
    pool.drop(original);
  }

  #dropForSize(): void {
    this.#dispatch.drop('size', 'dropped: longer than a packet may be');
  }

  #recirculate(fieldList: number): void {
    const current = this.#current;
    if (current.passes >= this.#maxPasses) {
      this.#dispatch.drop('loop', 'dropped: recirculated too often');
      return;
    }
    const runtime = this.#runtime;
    const pool = this.#pool;
    const kept = fieldList >= 0 ? this.#save() : undefined;
    if (fieldList >= 0 && kept === undefined) return;
    // truncate cuts only transmitted packets: a recirculated packet is whole.
    const size = deparsePacket(runtime, pool.code, current.truncate);
    if (size < 0) {
      this.#dropForSize();
      if (kept !== undefined) pool.drop(kept);
      return;
    }
    this.statistics.recirculated++;
    runtime.trace?.event({ kind: 'packet', what: 'recirculated' });
    // The next packet that leaves overwrites the output.
    this.#dispatch.goBack(pool, 'recirculate', kept, fieldList, runtime.output.bytes, 0, size, false);
    if (kept !== undefined) pool.drop(kept);
  }
}
