import type { MetricName } from '@int/codec';
import type { MetricUnit } from '@int/network';
import { unitOf } from '@int/network/internals';
import { computed, signal } from '@preact/signals';
import type { SwitchInfo, TopologyAnswer } from '../../client/index.js';
import { type EntityKey, parseEntity, type SeriesMetric } from '../../protocol/entities.js';
import { client } from './connection.js';
import { firstState } from './first-state.js';

/** The switches and links that are known, as they were when they were asked for. */
export const network = signal<TopologyAnswer | null>(null);

const byId = computed(() => new Map(network.value?.switches.map((each) => [each.id, each])));
const portNames = computed(
  () =>
    new Map(
      network.value?.switches.flatMap(({ id, ports }) =>
        ports.map(({ number, name }): [string, string | null] => [`${id}:${number}`, name]),
      ),
    ),
);

let asking: Promise<void> | null = null;
/** Asks for the network, unless it is asked for already. A failure shows elsewhere: the status comes from the same server. */
export function askNetwork(): Promise<void> {
  asking ??= client
    .topology()
    .then(
      (answer) => {
        network.value = answer;
      },
      () => {},
    )
    .finally(() => {
      asking = null;
    });
  return asking;
}

export const switchOf = (id: number | null): SwitchInfo | undefined => (id === null ? undefined : byId.value.get(id));

export function switchName(id: number | null): string {
  if (id === null) return 'unknown';
  return byId.value.get(id)?.name ?? `switch ${id}`;
}

export function portName(id: number, port: number | null): string {
  if (port === null) return '*';
  return portNames.value.get(`${id}:${port}`) ?? String(port);
}

const TEXTS = {
  hopLatency: 'latencyUnit',
  queueOccupancy: 'occupancyUnit',
  egressUtilization: 'utilizationUnit',
} as const;
type UnitName = keyof typeof TEXTS;

const METRIC_OF: Readonly<Partial<Record<string, UnitName>>> = {
  hopLatency: 'hopLatency',
  queueOccupancy: 'queueOccupancy',
  bufferOccupancy: 'queueOccupancy',
  egressUtilization: 'egressUtilization',
};

/** Unit of what a switch measures; of what most switches measure, if none is given. */
export function unitOfMetric(metric: MetricName | string | null, id: number | null): MetricUnit | null {
  const name = metric === null ? undefined : METRIC_OF[metric];
  const found = switchOf(id) ?? network.value?.switches[0];
  if (name === undefined) return null;
  if (found === undefined) return firstState?.units?.[name] ?? null;
  return found.units === undefined ? unitOfText(found[TEXTS[name]]) : found.units[name];
}

const PER_BASE = {
  time: ['seconds', 1e12],
  bytes: ['bytes', 1],
  cells: ['cells', 1],
  packets: ['packets', 1],
} as const;

/** A unit by its name alone, as `ns`. */
export function unitOfText(text: string | null): MetricUnit | null {
  if (text === null) return null;
  try {
    const { dimension, factor } = unitOf(text);
    if (dimension === 'percent') return { text, base: 'ratio', factor: 0.01 };
    if (dimension === 'rate') return { text, base: 'bitsPerSecond', factor: Number(factor) };
    const [base, smallest] = PER_BASE[dimension];
    return { text, base, factor: Number(factor) / smallest };
  } catch {
    return null;
  }
}

const RATIO: MetricUnit = { text: 'share', base: 'ratio', factor: 1 };

/** Unit of a series; `null`: a count, or a plain number. */
export function unitOfSeries(metric: SeriesMetric, entity: EntityKey | null): MetricUnit | null {
  const parsed = entity === null ? null : parseEntity(entity);
  const id =
    parsed === null || parsed.kind === 'all' || parsed.kind === 'other'
      ? null
      : parsed.kind === 'link'
        ? parsed.from
        : parsed.switchId;
  switch (metric) {
    case 'latencyP50':
    case 'latencyP99':
    case 'latencyMax':
      return unitOfMetric('hopLatency', id);
    case 'occupancy':
      return unitOfMetric('queueOccupancy', id);
    case 'utilization':
      return RATIO;
    default:
      return null;
  }
}

/** The name of an entity, for people. */
export function entityName(key: EntityKey): string {
  const entity = parseEntity(key);
  if (entity === null) return key;
  switch (entity.kind) {
    case 'all':
      return 'whole network';
    case 'other':
      return `all other ${entity.of === 'switch' ? 'switches' : `${entity.of}s`}`;
    case 'switch':
      return switchName(entity.switchId);
    case 'queue':
      return `${switchName(entity.switchId)} queue ${entity.queue}`;
    default:
      return `${switchName(entity.from)} › ${switchName(entity.to)}${portsOf(entity)}`;
  }
}

/** Ports tell parallel links apart; a link whose ports nobody named needs none. */
function portsOf({ from, fromPort }: { readonly from: number; readonly fromPort: number | null }): string {
  return fromPort === null ? '' : ` (${portName(from, fromPort)})`;
}

/** All entities of a kind, in the order of the network. */
export function entitiesOf(kind: 'switch' | 'queue' | 'link'): readonly EntityKey[] {
  const known = network.value;
  if (known === null) return [];
  if (kind === 'switch') return known.switches.filter(({ seen }) => seen).map(({ id }) => `switch:${id}`);
  if (kind === 'queue')
    return known.switches.flatMap(({ id, queues }) => queues.map((queue) => `queue:${id}/${queue}`));
  return known.links.map(({ key }) => key);
}
