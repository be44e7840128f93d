import { setImmediate as breathe } from 'node:timers/promises';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import {
  CAUTIOUS,
  type Clock,
  Controller,
  type ControlPolicy,
  type Intent,
  type LoopNote,
  type NetworkModel,
  P4RuntimeConnection,
  TrafficMeter,
  Twin,
} from '@int/control';
import { type Incident, KnowledgePlane } from '@int/knowledge';
import { Topology, type TopologySpec } from '@int/network';
import { programPath } from '@int/p4';
import { P4vmTarget, p4infoOf } from '@int/p4runtime';
import { writeDeviceProgram } from '@int/p4runtime/internals';
import { loadProgram } from '@int/p4vm/node';
import { type ImmediateEvent, StreamProcessor } from '@int/stream';
import { buildFabric, type Fabric, HOSTS, LEAVES, SWITCHES } from './network/fabric.js';

const EPOCH_MS = 1_700_000_000_000;
const SLICE_NS = 5e6;
const PATH = programPath('int');
const files = new Map<string, string>();
const includes: (readonly [from: string, path: string, file: string])[] = [];
const PROGRAM = loadProgram(PATH, {
  onFile: (file, include) => {
    files.set(file.name, file.text);
    if (include !== undefined) includes.push([include.from.name, include.path, file.name]);
  },
});
const DEVICE_CONFIG = writeDeviceProgram({ main: PATH, files: Object.fromEntries(files), includes, defines: {} });

/** Compiles the program that all switches get but once: it takes as long as a minute of the network's time. */
class CompiledTarget extends P4vmTarget {
  override prepare(
    schema: Parameters<P4vmTarget['prepare']>[0],
    deviceConfig: Uint8Array,
  ): ReturnType<P4vmTarget['prepare']> {
    const isKnown = Buffer.compare(deviceConfig, DEVICE_CONFIG) === 0;
    return isKnown ? this.prepareProgram(schema, PROGRAM) : super.prepare(schema, deviceConfig);
  }
}

const topology = (): Topology => {
  const spec: { switches: Record<string, object>; hosts: Record<string, object> } = { switches: {}, hosts: {} };
  for (const leaf of LEAVES) {
    const ports: Record<number, object> = {};
    for (const spine of [1, 2]) ports[spine] = { to: `spine${spine}:${leaf}`, speed: '10M' };
    for (const [name, host] of Object.entries(HOSTS)) {
      const isHere = name === 'collector' || host.leaf === leaf;
      if (isHere) ports[host.port] = { to: `host ${name}`, speed: '100M' };
    }
    spec.switches[leaf] = { name: `leaf${leaf}`, ports };
  }
  for (const spine of [1, 2]) {
    const ports = Object.fromEntries(LEAVES.map((leaf) => [leaf, { to: `leaf${leaf}:${spine}`, speed: '10M' }]));
    spec.switches[100 + spine] = { name: `spine${spine}`, ports };
  }
  for (const [name, { addresses }] of Object.entries(HOSTS)) spec.hosts[name] = { addresses };
  return new Topology(spec as TopologySpec);
};

/** The closed loop in virtual time: real programs, P4Runtime in this process, telemetry as frames. */
export class VirtualLoop {
  readonly fabric: Fabric;
  readonly controller: Controller;
  readonly notes: LoopNote[] = [];
  readonly incidents: Incident[] = [];
  readonly events: ImmediateEvent[] = [];
  readonly meter = new TrafficMeter();
  readonly knowledge: KnowledgePlane;
  readonly #connections: readonly P4RuntimeConnection[];
  readonly #stream: StreamProcessor;
  readonly #batch = new TelemetryBatch({ frames: 1 });
  readonly #decoder = new BatchDecoder();

  private constructor(seed: number, policy: Partial<ControlPolicy>) {
    this.fabric = buildFabric(seed, PROGRAM, (host) => new CompiledTarget({ host }));
    const { network, server, hosts } = this.fabric;
    const p4info = p4infoOf(PROGRAM);
    const model: NetworkModel = {
      topology: topology(),
      switches: new Map(SWITCHES.map(({ id }) => [id, { id, program: 'int', p4info, isUp: true }])),
      failedLinks: new Set(),
      collector: { address: HOSTS.collector.addresses[0], port: 32_766 },
    };
    const clock: Clock = {
      nowMs: () => EPOCH_MS + network.nowNs / 1e6,
      schedule: (delayMs, callback) => {
        const timer = network.at(Math.ceil(network.nowNs + 1e6 * delayMs), callback);
        return () => timer.cancel();
      },
    };
    this.#connections = SWITCHES.map(
      ({ id }, index) =>
        new P4RuntimeConnection({
          ...{ switchId: id, target: server.transport(), deviceId: index + 1, electionId: 1 },
          pipeline: { p4info, deviceConfig: DEVICE_CONFIG },
        }),
    );
    this.controller = new Controller({
      policy: { ...CAUTIOUS, ...policy },
      network: model,
      connections: this.#connections,
      twin: new Twin({ int: PROGRAM }),
      traffic: this.meter,
      clock,
      measureMs: 500,
      onNote: (note) => this.notes.push(note),
    });
    this.knowledge = new KnowledgePlane(
      { learnMs: 5000 },
      {
        incident: (incident) => {
          this.incidents.push(incident);
          this.controller.give({ kind: 'incident', incident });
        },
      },
    );
    const event = (each: ImmediateEvent): void => {
      this.events.push(each);
      this.controller.give({ kind: 'event', event: each });
    };
    this.#stream = new StreamProcessor({}, { event });
    hosts.collector.onFrame = (frame) => this.#report(frame);
  }

  static async open(seed: number, policy: Partial<ControlPolicy>, intents: readonly Intent[]): Promise<VirtualLoop> {
    const loop = new VirtualLoop(seed, policy);
    loop.controller.start(intents, 'test');
    const { network } = loop.fabric;
    for (let k = 0; k < 20_000 && !loop.controller.state.isSettled; k++) {
      network.run(network.nowNs + SLICE_NS / 5);
      await breathe();
    }
    if (!loop.controller.state.isSettled) throw new Error(JSON.stringify(loop.controller.state.switches));
    return loop;
  }

  get nowMs(): number {
    return EPOCH_MS + this.fabric.network.nowNs / 1e6;
  }

  /** Lets the network's time pass; what is asked of switches is answered meanwhile. */
  async seconds(count: number): Promise<void> {
    const { network } = this.fabric;
    const endNs = Math.round(network.nowNs + 1e9 * count);
    while (network.nowNs < endNs) {
      network.run(Math.min(endNs, network.nowNs + SLICE_NS));
      this.knowledge.advance(this.nowMs - 100);
      await breathe();
      await breathe();
    }
  }

  async close(): Promise<void> {
    await this.controller.stop();
    await Promise.all(this.#connections.map((each) => each.close()));
    await this.fabric.server.close();
  }

  #report(frame: Uint8Array): void {
    const bytes = frame.subarray(0);
    const ns = BigInt(EPOCH_MS) * 1_000_000n + BigInt(Math.floor(this.fabric.network.nowNs));
    this.#batch.clear();
    this.#decoder.decode(this.#batch, {
      bytes,
      offsets: Uint32Array.of(0),
      lengths: Uint32Array.of(bytes.length),
      timestampsHigh: Uint32Array.of(Number(ns >> 32n)),
      timestampsLow: Uint32Array.of(Number(ns & 0xffffffffn)),
    });
    this.meter.process(this.#batch);
    this.knowledge.observe(this.#batch);
    this.#stream.observe(this.#batch);
  }
}
