/** Two switches of int.p4 behind P4Runtime, flows that share a slow link, and a controller with all that telemetry goes through. */
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import {
  CAUTIOUS,
  Controller,
  type ControllerMemory,
  type ControlPolicy,
  EventThresholds,
  type Intent,
  Journal,
  type LoopNote,
  type Measurement,
  P4RuntimeConnection,
  TrafficMeter,
  Twin,
} from '@int/control';
import { KnowledgePlane } from '@int/knowledge';
import { Host, Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { Topology } from '@int/network';
import { P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { Random } from '@int/random';
import { inTime } from '../../../../.ci/test/until.js';
import { p4info, pipelineOf, program } from '../fabric.js';
import { VirtualClock } from '../model/virtual-clock.js';

const RATE_BPS = 1e6;
const SLICE_MS = 100;
export const SAMPLING = 4;
export const WINDOW_MS = 3000;
export const [DETECTED, OTHER] = [6000, 7000];
const TOPOLOGY = new Topology({
  switches: {
    1: { name: 'leaf1', ports: { 1: { to: '2:1' }, 11: { to: 'host a' }, 60: { to: 'host collector' } } },
    2: { name: 'leaf2', ports: { 1: { to: '1:1' }, 11: { to: 'host b' } } },
  },
  hosts: {
    a: { addresses: ['10.0.1.1'] },
    b: { addresses: ['10.0.2.1'] },
    collector: { addresses: ['10.9.0.1'] },
  },
});
export const POLICY: ControlPolicy = { ...CAUTIOUS, autonomy: { detect: 'act' }, rehearse: 'off' };
const terms = { owner: 'ann', fromMs: 0, ttlMs: null, reason: '' };
const HOP_LATENCY = 0xa000;

/** All flows are watched, one packet of `SAMPLING`; of those to port `DETECTED` every packet, and slow ones are events. */
export const intents = (target: number): readonly Intent[] => [
  { ...terms, id: 'all', kind: 'watch', priority: 100, match: {}, instructions: HOP_LATENCY, oneIn: SAMPLING },
  ...(['watch', 'detect'] as const).map((kind): Intent => {
    const match = { protocol: 17, destinationPort: [DETECTED, DETECTED] as const };
    const common = { ...terms, priority: 200, match };
    return kind === 'watch'
      ? { ...common, id: 'every', kind, instructions: HOP_LATENCY, oneIn: 1 }
      : {
          ...{
            ...common,
            id: 'slow',
            kind,
            switches: null,
            metric: 'hopLatency',
            algorithm: 'threshold',
            scope: 'hop',
          },
          ...{ target, band: null },
        };
  }),
];

const word = (address: string): number => address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);

export class DetectionWorld {
  readonly clock = new VirtualClock();
  readonly notes: LoopNote[] = [];
  readonly journal = new Journal();
  readonly measurements: Measurement[] = [];
  readonly knowledge = new KnowledgePlane({}, { incident: () => {} });
  /** Packets sent to a port. */
  readonly sent = new Map<number, number>();
  thresholds!: EventThresholds;
  controller!: Controller;
  memory: ControllerMemory | null = null;
  /** Reports get lost on the way to the collector. */
  isCut = false;
  #meter!: TrafficMeter;
  #connections: P4RuntimeConnection[] = [];
  readonly #network = new Network({ seed: 5 });
  readonly #random = new Random(11);
  readonly #server: P4RuntimeServer;
  readonly #host = new Host({ address: word('10.0.1.1') });
  readonly #decoder = new BatchDecoder({ linkType: 'report', intDscp: { value: 0x17, mask: 0x3f } });
  readonly #batch = new TelemetryBatch({ frames: 1 });

  constructor() {
    const machines = [1, 2].map(() => new P4Switch(program, { rateBps: RATE_BPS, queuePackets: 64 }));
    const [one, two] = machines.map((machine, index) => this.#network.add(`leaf${index + 1}`, machine));
    const join = (node: typeof one, aPort: number, behaviour: Parameters<Network['add']>[1], name: string): void => {
      this.#network.connect(node!, this.#network.add(name, behaviour), { aPort, bPort: 0, delayNs: 1000 });
    };
    this.#network.connect(one!, two!, { aPort: 1, bPort: 1, delayNs: 1000 });
    join(one, 11, this.#host, 'a');
    join(two, 11, new Host({ address: word('10.0.2.1') }), 'b');
    join(one, 60, { receive: (frame: Uint8Array) => this.#report(frame) }, 'collector');
    const devices = machines.map((machine, k) => ({ deviceId: k + 1, target: new P4vmTarget({ host: machine }) }));
    this.#server = new P4RuntimeServer({ devices });
  }

  /** Starts a controller that goes on with what the one before has kept. */
  async start(wanted: readonly Intent[], policy = POLICY): Promise<void> {
    this.thresholds = new EventThresholds({ windowMs: WINDOW_MS, learnMs: 8000 });
    this.#meter = new TrafficMeter({ sampling: SAMPLING });
    const pipeline = pipelineOf();
    this.#connections = [1, 2].map(
      (id) => new P4RuntimeConnection({ switchId: id, deviceId: id, target: this.#server.transport(), pipeline }),
    );
    const switches = new Map([1, 2].map((id) => [id, { id, program: 'int', p4info, isUp: true } as const]));
    this.controller = new Controller({
      ...{ policy, connections: this.#connections, twin: new Twin({ int: program }), clock: this.clock },
      network: {
        topology: TOPOLOGY,
        switches,
        failedLinks: new Set(),
        collector: { address: '10.9.0.1', port: 32_766 },
      },
      ...{ thresholds: this.thresholds, memory: this.memory, journal: this.journal },
      traffic: {
        measure: (nowMs) => {
          const measurement = this.#meter.measure(nowMs);
          this.measurements.push(measurement);
          return measurement;
        },
        minute: (nowMs) => this.#meter.minute(nowMs),
      },
      keeper: {
        now: (memory) => {
          this.memory = JSON.parse(JSON.stringify(memory));
        },
        soon: () => {},
      },
      compile: { regularOneIn: SAMPLING, reportBytes: 128 },
      reconcile: { graceMs: 0, onWritten: (written) => void this.journal.record(written) },
      onNote: (note) => this.notes.push(note),
    });
    this.controller.start(wanted, 'test');
    await this.#settled();
  }

  async stop(): Promise<void> {
    await this.controller.stop();
    for (const each of this.#connections) await each.close();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#server.close();
  }

  /** Packets at random times. @param perSecond by port */
  async traffic(seconds: number, perSecond: ReadonlyMap<number, number>): Promise<void> {
    for (let slice = 0; slice < (seconds * 1000) / SLICE_MS; slice++) {
      const startNs = this.#network.nowNs;
      for (const [destinationPort, rate] of perSecond) {
        const addresses = {
          source: word('10.0.1.1'),
          destination: word('10.0.2.1'),
          sourcePort: 5000,
          destinationPort,
        };
        const frame = udpFrame(addresses, new Uint8Array(200));
        for (let atMs = this.#gapMs(rate); atMs < SLICE_MS; atMs += this.#gapMs(rate)) {
          this.#network.at(startNs + Math.floor(atMs * 1e6), () => this.#host.sendFrame(frame));
          this.sent.set(destinationPort, (this.sent.get(destinationPort) ?? 0) + 1);
        }
      }
      this.#network.run(startNs + SLICE_MS * 1e6);
      await this.clock.advance(SLICE_MS);
      await this.#settled();
    }
  }

  #gapMs(rate: number): number {
    return this.#random.exponential(1000 / rate);
  }

  #settled(): Promise<void> {
    // A busy machine compiles the program slowly.
    return inTime('the switches', this.controller.settled(), { withinMs: 120_000, found: () => this.controller.state });
  }

  /** A report goes through the stages as in a collector. */
  #report(frame: Uint8Array): void {
    if (this.isCut) return;
    const bytes = frame.slice(42);
    const time = BigInt(Math.floor(this.#network.nowNs));
    this.#batch.clear();
    this.#decoder.decode(this.#batch, {
      ...{ bytes, offsets: Uint32Array.of(0), lengths: Uint32Array.of(bytes.length) },
      timestampsHigh: Uint32Array.of(Number(time >> 32n)),
      timestampsLow: Uint32Array.of(Number(time & 0xffffffffn)),
    });
    this.#batch.isTimed = true;
    this.thresholds.process(this.#batch);
    this.#meter.process(this.#batch);
    this.knowledge.observe(this.#batch);
  }
}
