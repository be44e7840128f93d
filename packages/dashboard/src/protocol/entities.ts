/**
 * What a series is about, as text that URLs and messages hold:
 * - `switch:ID`
 * - `queue:ID/QUEUE`, a queue of a switch
 * - `link:ID:PORT-ID:PORT`, from the egress port of a switch to the ingress port of the next; a port that nobody named is `*`
 * - `all`, the whole network
 * - `switch:other`, `queue:other`, `link:other`: all of a kind that have no series of their own, together
 */
export type EntityKey = string;

/** An entity, taken apart. */
export type Entity =
  | { readonly kind: 'all' }
  | { readonly kind: 'other'; readonly of: 'switch' | 'queue' | 'link' }
  | { readonly kind: 'switch'; readonly switchId: number }
  | { readonly kind: 'queue'; readonly switchId: number; readonly queue: number }
  | {
      readonly kind: 'link';
      readonly from: number;
      readonly fromPort: number | null;
      readonly to: number;
      readonly toPort: number | null;
    };

/** The series that are kept of each entity: a value per 100 ms. */
export const SERIES_METRICS = [
  'reports',
  'latencyP50',
  'latencyP99',
  'latencyMax',
  'occupancy',
  'utilization',
  'drops',
  'events',
] as const;
/**
 * - `reports`: of `all`, reports; of an entity, how often a packet that a report tells of has passed it. Those of all switches
 *   and `switch:other` add up to the hops, and the reports without hops
 * - `drops`: reports of dropped packets; `events`: events of rules. Those without a switch count in `all` only
 * - `latencyP50`, `latencyP99`, `latencyMax`: hop latency, in the switch's unit (`SwitchInfo.latencyUnit`); of a link that of the hop before it. Quantiles are off by at most 3.2 %
 * - `occupancy`: the highest queue occupancy of the bucket, in the switch's unit
 * - `utilization`: the highest egress utilisation of the bucket, a share from 0 to 1 where the unit is known
 */
export type SeriesMetric = (typeof SERIES_METRICS)[number];

const OTHER = /^(switch|queue|link):other$/;
const SWITCH = /^switch:(\d{1,10})$/;
const QUEUE = /^queue:(\d{1,10})\/(\d{1,10})$/;
const LINK = /^link:(\d{1,10}):(\*|\d{1,10})-(\d{1,10}):(\*|\d{1,10})$/;
const MAX_WORD = 0xffff_ffff;

const portText = (port: number | null): string => (port === null ? '*' : String(port));
const portOf = (text: string): number | null => (text === '*' ? null : Number(text));

/** The text of an entity. */
export function entityKey(entity: Entity): EntityKey {
  switch (entity.kind) {
    case 'all':
      return 'all';
    case 'other':
      return `${entity.of}:other`;
    case 'switch':
      return `switch:${entity.switchId}`;
    case 'queue':
      return `queue:${entity.switchId}/${entity.queue}`;
    case 'link':
      return `link:${entity.from}:${portText(entity.fromPort)}-${entity.to}:${portText(entity.toPort)}`;
  }
}

/** The entity of a text; `null`: it is none. */
export function parseEntity(text: string): Entity | null {
  if (text === 'all') return { kind: 'all' };
  const other = OTHER.exec(text);
  if (other !== null) return { kind: 'other', of: other[1] as 'switch' | 'queue' | 'link' };
  const match = SWITCH.exec(text) ?? QUEUE.exec(text) ?? LINK.exec(text);
  if (match === null) return null;
  const words = match.slice(1);
  if (words.some((word) => word !== '*' && Number(word) > MAX_WORD)) return null;
  if (words.length === 1) return { kind: 'switch', switchId: Number(words[0]) };
  if (words.length === 2) return { kind: 'queue', switchId: Number(words[0]), queue: Number(words[1]) };
  const [from, fromPort, to, toPort] = words as [string, string, string, string];
  return { kind: 'link', from: Number(from), fromPort: portOf(fromPort), to: Number(to), toPort: portOf(toPort) };
}

/** Width of a bucket of the retained series, in milliseconds. */
export const BUCKET_MS = 100;
