/**
 * What a series is about, as text that URLs and messages hold:
 * - `switch:ID`
 * - `queue:ID/QUEUE`, a queue of a switch
 * - `link:ID:PORT-ID:PORT`, from the egress port of a switch to the ingress port of the next; a port that nobody named is `*`
 * - `all`, the whole network
 */
export type EntityKey = string;

/** An entity, taken apart. */
export type Entity =
  | { readonly kind: 'all' }
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
 * - `reports`, `drops`, `events`: counts in the bucket
 * - `latencyP50`, `latencyP99`, `latencyMax`: hop latency, in the switch's unit (`SwitchInfo.latencyUnit`)
 * - `occupancy`: the highest queue occupancy of the bucket, in the switch's unit
 * - `utilization`: the highest egress utilisation of the bucket, a share from 0 to 1 where the unit is known
 */
export type SeriesMetric = (typeof SERIES_METRICS)[number];

/** Width of a bucket of the retained series, in milliseconds. */
export const BUCKET_MS = 100;
