/** The tables of int.p4. */
import { prefixOf } from '@int/network';
import type { MeterRates } from '@int/p4runtime';
import { type FlowSpace, familiesOf, familyOf } from '../../intents/flow-space.js';
import { priorityOf, REPORTS_PRIORITY, STAGE } from '../context.js';
import type { Piece } from '../draft.js';
import { defaultEntry, exact, flowFields, lpmMatch, tableEntry } from '../entries.js';
import { NextHops } from './int-next-hops.js';
import {
  type AccessRule,
  type DetectRule,
  type Ground,
  portsOfSwitch,
  type Refusal,
  type Route,
  type Steering,
  type SwitchTables,
  utilizationOf,
  type WatchRule,
} from './switch-tables.js';

const REPORT_SOURCE_PORT = 50_000;

/** Reasons in drop reports: int.p4's README. */
const DROP_DENIED = 3n;
/** A meter lets so much through at once: what comes in a tenth of a second, at least two large packets. */
const BURST_S = 0.1;
const LEAST_BURST_BYTES = 3000;

/** Marks of INT in packets: by DSCP, or behind a UDP header that the source adds, for other protocols. */
const NPT_DSCP = 0n;
const NPT_NEW_UDP = 2n;
const PROTOCOLS_WITH_PORTS = [6, 17];
/** Paths are shorter; a loop ends a stack. */
const MAX_HOPS = 64n;

/** Detectors: numbers of p4/README.md. */
const ALGORITHMS = { perHop: 1n, perFlow: 2n, threshold: 4n } as const;
const METRICS = { hopLatency: 0n, queueOccupancy: 1n, egressUtilization: 2n } as const;
const SCOPES = { hop: 0n, endToEnd: 2n } as const;
/** Above all values: nothing is an event. */
const NO_THRESHOLD = 0xffff_ffff;

const NO_GROUP: Refusal = { code: 'NO_ID', message: 'has no id for a group' };

export class IntTables implements SwitchTables {
  readonly file = 'int.p4';
  readonly reportsTo = 'collector';
  readonly #ground: Ground;
  readonly #nextHops: NextHops;

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#nextHops = new NextHops(ground.settings);
  }

  settings(switchId: number): readonly Piece[] {
    const { settings, network, collectorPort } = this.#ground;
    const { collector } = network;
    const stage = STAGE.settings;
    const at = (entity: Piece['entity']): Piece => ({ switchId, entity, stage });
    const seed = settings.hashSeed === 'switch' ? switchId : settings.hashSeed;
    const pieces = [
      at(defaultEntry('IntEgress.node', 'IntEgress.set_node', { id: BigInt(switchId) }, 'node')),
      at(defaultEntry('IntIngress.hash_seed', 'IntIngress.set_hash_seed', { number: BigInt(seed) }, 'hash-seed')),
    ];
    for (const { number, isSink, speedBps } of portsOfSwitch(this.#ground, switchId)) {
      const params = {
        is_sink: isSink ? 1n : 0n,
        mtu: BigInt(settings.mtuBytes),
        congested_above: 0xff_ffffn,
        complements: 0n,
        level2_egress: 0xffff_ffffn,
      };
      const of = { match: { egress_port: exact(number) }, owner: `port:${number}`, stage };
      pieces.push(at(tableEntry({ ...of, table: 'IntEgress.port', action: 'IntEgress.set_port', params })));
      if (speedBps === null) continue;
      const [table, action] = ['IntEgress.utilization.rate', 'IntEgress.utilization.measure'];
      pieces.push(at(tableEntry({ ...of, table, action, params: { ...utilizationOf(speedBps) } })));
    }
    const port = collectorPort(switchId);
    const address = collector === null ? null : prefixOf(collector.address);
    if (port === null || collector === null || address === null) return pieces;
    const id = settings.ids.first;
    const session = {
      kind: 'clone-session',
      id,
      replicas: [{ port, instance: 0 }],
      classOfService: 0,
      packetLengthBytes: 0,
    } as const;
    const send = {
      index: 0n,
      source_mac: 0x0200_0000_0000n + BigInt(switchId),
      destination_mac: macOf(collector.mac),
      source_address: 0xc612_0000n + BigInt(switchId & 0x1_ffff),
      destination_address: address.bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n),
      source_port: BigInt(REPORT_SOURCE_PORT),
      destination_port: BigInt(collector.port),
      hardware_id: 0n,
      most: BigInt(settings.reportBytes),
    };
    const match = { egress_port: exact(port) };
    const owner = 'reports';
    pieces.push(
      at(session),
      at(tableEntry({ table: 'IntReport.collector', match, action: 'IntReport.send', params: send, owner, stage })),
      at(defaultEntry('IntEgress.reports', 'IntEgress.set_session', { session: BigInt(id) }, owner)),
      at(defaultEntry('IntIngress.drop_reports', 'IntIngress.report_drops', { session: BigInt(id) }, owner)),
    );
    return pieces;
  }

  route(switchId: number, { prefix, ports, owner, stage }: Route): readonly Piece[] | Refusal {
    const send = this.#nextHops.via(switchId, ports);
    if (send === null) return NO_GROUP;
    const table = `IntIngress.forward_ipv${familyOf(prefix)}`;
    const match = lpmMatch('destination_address', prefix);
    const entity = tableEntry({ table, match, action: send.action, params: send.params, owner, stage });
    return [...send.pieces, { switchId, entity, stage }];
  }

  readonly steer = (
    switchId: number,
    { space, priority, ports, owner, stage }: Steering,
  ): readonly Piece[] | Refusal => {
    const send = this.#nextHops.via(switchId, ports);
    if (send === null) return NO_GROUP;
    const steered = familiesOf(space).map((family): Piece => {
      const table = `IntIngress.steer_ipv${family}`;
      const { action, params } = send;
      return {
        switchId,
        entity: tableEntry({ table, match: flowFields(space), priority, action, params, owner, stage }),
        stage,
      };
    });
    return [...send.pieces, ...steered];
  };

  readonly access = (switchId: number, { intent, space, cell, reports }: AccessRule): readonly Piece[] => {
    const pieces = familiesOf(space).map((family): Piece => {
      const entry = {
        table: `IntIngress.access_ipv${family}`,
        match: flowFields(space),
        priority: priorityOf(intent.priority, 0),
        owner: intent.id,
        stage: STAGE.access,
      };
      const entity =
        intent.kind === 'block'
          ? tableEntry({
              ...entry,
              action: 'IntIngress.deny',
              params: { reason: DROP_DENIED, reported: BigInt(intent.reportOneIn), place: cell },
            })
          : tableEntry({
              ...entry,
              action: `IntIngress.limit_ipv${family}`,
              params: { reported: 0n, place: cell },
              meter: ratesOf(intent.bitsPerSecond),
            });
      return { switchId, entity, stage: STAGE.access };
    });
    return reports === null ? pieces : [...pieces, exempt(switchId, reports, 'access', 'permit')];
  };

  watch(
    switchId: number,
    { owner, space, priority, instructions, isExplicit, oneIn, reports }: WatchRule,
  ): readonly Piece[] | Refusal {
    // A packet that the first switch left out of the sample is in no sample of a later one.
    const ports = oneIn === 1 ? [null] : this.#ground.graph.hostPorts(switchId).map(({ port }) => port);
    const common = { instructions: BigInt(instructions), max_hops: MAX_HOPS, discard: 0n, entropy_port: 0n };
    const stage = STAGE.watch;
    const pieces: Piece[] = [];
    for (const family of familiesOf(space)) {
      for (const { protocol, npt, level } of formsOf(space)) {
        for (const port of ports) {
          const entity = tableEntry({
            table: `IntIngress.watch_ipv${family}`,
            match: flowFields({ ...space, protocol }, port),
            priority: priorityOf(priority, level + (isExplicit ? 2 : 0)),
            action: oneIn === 1 ? 'IntIngress.start_md' : 'IntIngress.start_md_sampled',
            params: { npt, ...common, ...(oneIn > 1 && { one_in: BigInt(oneIn) }) },
            owner,
            stage,
          });
          pieces.push({ switchId, entity, stage });
        }
      }
    }
    return reports === null ? pieces : [...pieces, exempt(switchId, reports, 'watch', 'ignore')];
  }

  /**
   * A threshold begins at the upper end of its band, where events are fewest; it then follows the events. It is in bank a, the one
   * that int.p4 begins with.
   */
  readonly detect = (switchId: number, { intent, space, rule }: DetectRule): readonly Piece[] => {
    const stage = STAGE.settings;
    const regular = { one_in: BigInt(this.#ground.settings.regularOneIn) };
    const rules = familiesOf(space).map((family): Piece => {
      const entity = tableEntry({
        table: `IntSink.algorithm_ipv${family}_a`,
        match: flowFields(space),
        priority: priorityOf(intent.priority, 0),
        action: 'IntSink.fast_detection',
        params: {
          rule: BigInt(rule),
          algorithm: ALGORITHMS[intent.algorithm],
          metric: METRICS[intent.metric],
          scope: SCOPES[intent.scope],
          threshold: BigInt(intent.band?.maximum ?? NO_THRESHOLD),
          ...{ weight: 0n, one_in: 0n, every: 0n },
        },
        owner: intent.id,
        stage,
      });
      return { switchId, entity, stage };
    });
    const entity = defaultEntry('IntSink.regular', 'IntSink.set_regular', regular, 'regular');
    return [{ switchId, entity, stage }, ...rules];
  };

  unwatched(): null {
    return null;
  }
}

/** Reports are neither bounded nor watched. */
function exempt(switchId: number, reports: FlowSpace, table: 'access' | 'watch', action: string): Piece {
  const entity = tableEntry({
    table: `IntIngress.${table}_ipv4`,
    match: flowFields(reports),
    priority: REPORTS_PRIORITY,
    action: `IntIngress.${action}`,
    params: {},
    owner: 'reports',
    stage: STAGE.settings,
  });
  return { switchId, entity, stage: STAGE.settings };
}

interface Form {
  readonly protocol: number | null;
  readonly npt: bigint;
  readonly level: number;
}

/** INT-MD marks TCP and UDP by DSCP; what else there is, gets a UDP header. */
function formsOf({ protocol }: FlowSpace): readonly Form[] {
  if (protocol !== null) {
    return [{ protocol, npt: PROTOCOLS_WITH_PORTS.includes(protocol) ? NPT_DSCP : NPT_NEW_UDP, level: 1 }];
  }
  return [
    ...PROTOCOLS_WITH_PORTS.map((each) => ({ protocol: each, npt: NPT_DSCP, level: 1 })),
    { protocol: null, npt: NPT_NEW_UDP, level: 0 },
  ];
}

function ratesOf(bitsPerSecond: number): MeterRates {
  const rate = BigInt(Math.max(1, Math.floor(bitsPerSecond / 8)));
  const burst = BigInt(Math.max(LEAST_BURST_BYTES, Math.floor((bitsPerSecond / 8) * BURST_S)));
  return { cir: rate, cburst: burst, pir: rate, pburst: burst };
}

/** The collector's MAC address as a number; that of all, if nobody gave it. */
function macOf(text: string | undefined): bigint {
  if (text === undefined || !/^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i.test(text)) return 0xffff_ffff_ffffn;
  return BigInt(`0x${text.replace(/[:-]/g, '')}`);
}
