import { GPINT_DSCP, gpintProbe } from '@int/codec';
import { GPINT_PORT, gpintProbeExtended } from '@int/codec/internals';
import { ADDRESSES, type Behaviour, GpintSwitch, Network, type Node, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENTS, type EventName, eventsOf, gpintProgram } from './gpint-network.js';
import { undefinedOptions } from './undefined/options.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);
const RUNS = process.env.INT_LONG === '1' ? 1200 : 20;
const MS = 1_000_000;
const PORTS = 4;
const MONITOR_PORT = 2;
const { PROBE, FEEDBACK, RECOVERY } = GPINT_DSCP;

/** Keeps what comes out of a switch, with its port. */
class Outlet implements Behaviour {
  readonly frames: string[] = [];

  readonly #port: number;
  readonly #all: string[];
  constructor(port: number, all: string[]) {
    this.#port = port;
    this.#all = all;
  }

  receive(frame: Uint8Array): void {
    this.#all.push(`${this.#port} ${Buffer.from(frame).toString('hex')}`);
  }
}

interface Bench {
  /** Sends a frame in by a port; what comes out within a millisecond, by port. */
  send(port: number, frame: Uint8Array): string[];
  run(ns: number): string[];
  events(): Record<EventName, number>;
}

/** A switch at the centre of a star, and nothing else. */
function bench(behaviour: Behaviour, events: () => Record<EventName, number>): Bench {
  const network = new Network({ seed: 1 });
  const node: Node = network.add('switch', behaviour);
  const out: string[] = [];
  for (let port = 0; port < PORTS; port++) {
    const outlet = network.add(`outlet ${port}`, new Outlet(port, out));
    network.connect(node, outlet, { aPort: port, bPort: 0 });
  }
  const run = (ns: number): string[] => {
    network.run(network.nowNs + ns);
    return out.splice(0).sort();
  };
  return {
    run,
    send(port, frame) {
      node.accept(frame, port);
      return run(MS);
    },
    events,
  };
}

/** Both kinds of switch, with the same settings. t_f is 50 ms. */
function both(switchId: number, isRecovering = true): [Bench, Bench] {
  const address = ADDRESSES.switch(3);
  const model = new GpintSwitch({
    switchId,
    address,
    monitorAddress: ADDRESSES.monitor,
    monitorPort: MONITOR_PORT,
    recovery: isRecovering,
    timeoutNs: 50 * MS,
  });
  model.routes.set(ADDRESSES.host(0), 1);
  model.routes.set(ADDRESSES.host(1), 3);
  const machine = new P4Switch(gpintProgram(), {
    ...undefinedOptions(),
    recirculationNs: 10_000,
    maxPasses: 1_000_000,
    commands: `
      mirroring_add 1 510
      table_set_default GpintIngress.identity GpintIngress.set_identity ${switchId} ${address} ${ADDRESSES.monitor} ${MONITOR_PORT}
      ${isRecovering ? 'table_set_default GpintIngress.recovery GpintIngress.recover 1000' : ''}
      table_set_default GpintIngress.clone_timeout GpintIngress.keep_for 50000
      table_add GpintIngress.forward GpintIngress.route ${ADDRESSES.host(0)}/32 => 1 0
      table_add GpintIngress.forward GpintIngress.route ${ADDRESSES.host(1)}/32 => 3 1`,
  });
  const counts = (): Record<EventName, number> =>
    Object.fromEntries(EVENTS.map((name) => [name, model[name]])) as Record<EventName, number>;
  return [bench(model, counts), bench(machine, () => eventsOf(machine))];
}

interface Sent {
  readonly port: number;
  readonly frame: Uint8Array;
}

interface Visit {
  readonly switchId: number;
  readonly queueDepth: number;
  readonly values: readonly number[];
}

const visit: fc.Arbitrary<Visit> = fc.record({
  switchId: fc.nat({ max: 255 }),
  queueDepth: fc.nat({ max: 255 }),
  values: fc.array(fc.nat({ max: 0xffff_ffff }), { maxLength: 12 }),
});

const visits: fc.Arbitrary<readonly Visit[]> = fc.oneof<fc.Arbitrary<readonly Visit[]>[]>(
  fc.array(visit, { maxLength: 4 }),
  fc.array(visit, { minLength: 30, maxLength: 60 }),
  // As many as there may be, and one less.
  fc.constantFrom(254, 255).map((length) => Array.from({ length }, () => ({ switchId: 1, queueDepth: 0, values: [] }))),
);

/** Sound probes of both layouts, some near their limits. */
const payload = fc
  .record({
    isExtended: fc.boolean(),
    requestId: fc.nat({ max: 0x7fff }),
    type: fc.constantFrom('rule-hits' as const, 'port-packets' as const),
    route: fc.array(
      fc.record({
        nextPort: fc.nat({ max: PORTS }),
        firstMeasurement: fc.oneof(fc.nat({ max: 4 }), fc.nat({ max: 255 })),
        measurementCount: fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 255 })),
      }),
      { maxLength: 5 },
    ),
    visits,
  })
  .map(({ isExtended, visits: visited, ...rest }) => {
    const switches = visited.map(({ values, ...each }) => ({ ...each, measurementCount: values.length }));
    const measurements = visited.flatMap((each) => each.values);
    return {
      isExtended,
      bytes: (isExtended ? gpintProbeExtended : gpintProbe).encode({ ...rest, switches, measurements }),
    };
  })
  .filter(({ bytes }) => bytes.length <= 2200);

const damage = fc.array(fc.tuple(fc.nat({ max: 120 }), fc.nat({ max: 255 })), { maxLength: 3 });

/** Frames of all kinds: probes, feedback, notices, others, whole or damaged. */
const sent: fc.Arbitrary<Sent> = fc
  .record({
    port: fc.nat({ max: PORTS - 1 }),
    payload: fc.oneof(
      { weight: 4, arbitrary: payload },
      fc.uint8Array({ maxLength: 40 }).map((bytes) => ({ isExtended: false, bytes })),
    ),
    dscp: fc.constantFrom(PROBE, PROBE, PROBE, FEEDBACK, RECOVERY, 0),
    otherPort: fc.constantFrom(0, 0, 0, 0, 53),
    destination: fc.constantFrom(ADDRESSES.host(0), ADDRESSES.host(1), ADDRESSES.host(2), ADDRESSES.switch(3)),
    damage: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, damage),
    cut: fc.option(fc.nat({ max: 200 }), { freq: 8 }),
    padding: fc.constantFrom(0, 0, 0, 7),
    options: fc.constantFrom(0, 0, 0, 4, 40),
  })
  .map((each) => {
    const destinationPort = each.otherPort || (each.payload.isExtended ? GPINT_PORT.EXTENDED : GPINT_PORT.PLAIN);
    const plain = udpFrame(
      { source: ADDRESSES.monitor, destination: each.destination, sourcePort: 4000, destinationPort, dscp: each.dscp },
      each.payload.bytes,
    );
    const frame = new Uint8Array(plain.length + each.options + each.padding);
    frame.set(plain.subarray(0, 34));
    frame.set(plain.subarray(34), 34 + each.options);
    const view = new DataView(frame.buffer);
    frame[14] = 0x45 + each.options / 4;
    view.setUint16(16, view.getUint16(16) + each.options);
    for (const [at, value] of each.damage) if (12 + at < frame.length) frame[12 + at] = value;
    return { port: each.port, frame: each.cut === null ? frame : frame.subarray(0, each.cut) };
  });

describe('gpint.p4 and GpintSwitch', () => {
  it('make the same frames and counts of the same frames, whole or damaged', () => {
    fc.assert(
      fc.property(
        fc.array(sent, { minLength: 1, maxLength: 12 }),
        fc.nat({ max: 0xffff }),
        fc.boolean(),
        (list, id, on) => {
          const [model, machine] = both(id, on);
          for (const { port, frame } of list) {
            expect(machine.send(port, frame.slice())).toEqual(model.send(port, frame.slice()));
          }
          // Notices of all that was kept.
          expect(machine.run(60 * MS)).toEqual(model.run(60 * MS));
          expect(machine.events()).toEqual(model.events());
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });
});
