import { METRIC_NAMES } from '@int/codec';
import type { RecordKind } from '@int/collector';
import type { UnitsByMetric } from '@int/network';
import type { Rotation } from './lines/index-name.js';

/** What index templates say beside the mapping. */
export interface TemplateOptions {
  /** Primary shards of each index. Default 1. */
  readonly shards?: number;
  /** Copies of each shard beside the primary. Default 1. */
  readonly replicas?: number;
  /** How soon records can be found, as the server writes times. Default `5s`. */
  readonly refreshInterval?: string;
}

/** The names of indexes that a template is for. */
export interface TemplateScope {
  /** What the names begin with, see `OpenSearchSinkOptions.prefix`. Default `int-`. */
  readonly prefix?: string;
  /** Default `day`. */
  readonly rotate?: Rotation;
}

/** A composable index template, as `PUT _index_template/<name>` takes it. */
export interface IndexTemplate {
  readonly index_patterns: readonly string[];
  readonly priority: number;
  /** That of the mapping: a template of a lower version is replaced, one of the same or a higher one is left as it is. */
  readonly version: number;
  readonly template: {
    readonly settings: Readonly<Record<string, string | number>>;
    readonly mappings: Readonly<Record<string, unknown>>;
  };
}

type Mapping = Readonly<Record<string, unknown>>;

/** Counted up with each change of a mapping. */
const VERSION = 3;
/** Above those that distributions bring for common names. */
const PRIORITY = 200;

const KEYWORD: Mapping = { type: 'keyword' };
const BOOLEAN: Mapping = { type: 'boolean' };
/** Unsigned numbers of 32 bits do not fit an `integer`. */
const LONG: Mapping = { type: 'long' };
const DOUBLE: Mapping = { type: 'double' };
/** Times of devices have 64 bits and any epoch. They are text in the records; this finds them by value. */
const DEVICE_TIME: Mapping = { type: 'keyword', ignore_above: 32 };

const properties = (fields: Readonly<Record<string, Mapping>>): Mapping => ({ properties: fields });
const each = (names: readonly string[], mapping: Mapping): Record<string, Mapping> =>
  Object.fromEntries(names.map((name) => [name, mapping]));

const FLOW = /* @__PURE__ */ properties({
  source: { type: 'ip' },
  destination: { type: 'ip' },
  protocol: { type: 'short' },
  sourcePort: { type: 'integer' },
  destinationPort: { type: 'integer' },
});

const COMMON: Readonly<Record<string, Mapping>> = {
  '@timestamp': { type: 'date_nanos' },
  type: KEYWORD,
  id: KEYWORD,
  timeNs: LONG,
  flow: FLOW,
  path: LONG,
  pathNames: KEYWORD,
};

const HOP: Readonly<Record<string, Mapping>> = /* @__PURE__ */ {
  ...each(METRIC_NAMES, LONG),
  ...each(['nodeName', 'l1IngressName', 'l1EgressName'], KEYWORD),
  ...each(['reserved15', 'checksumComplement'], LONG),
  ...each(['ingressTimestamp', 'egressTimestamp'], DEVICE_TIME),
};

const STATISTICS = /* @__PURE__ */ properties({ last: LONG, mean: DOUBLE, count: LONG });

const FIELDS: Readonly<Record<RecordKind, Readonly<Record<string, Mapping>>>> = /* @__PURE__ */ {
  reports: {
    ...COMMON,
    status: KEYWORD,
    report: /* @__PURE__ */ properties({
      ...each(['version', 'metadataBitmap', 'nodeName'], KEYWORD),
      ...each(['hwId', 'sequence', 'nodeId', 'dropReason', 'dropQueueId'], LONG),
      ...each(['dropped', 'queueCongested', 'trackedFlow', 'intermediate'], BOOLEAN),
      ingressTimestamp: DEVICE_TIME,
      metadata: /* @__PURE__ */ properties(HOP),
    }),
    int: /* @__PURE__ */ properties({
      ...each(['mode', 'version', 'encapsulation', 'instructionBitmap'], KEYWORD),
      ...each(['discard', 'hopExceeded', 'mtuExceeded'], BOOLEAN),
    }),
    hops: /* @__PURE__ */ properties(HOP),
  },
  events: {
    ...COMMON,
    ...each(['rule', 'detector', 'metric', 'scope', 'state', 'nodeName', 'eventId', 'severity', 'key'], KEYWORD),
    ...each(['firstSight', 'isFirst'], BOOLEAN),
    ...each(['beginNs', 'findings', 'nodeId', 'hop', 'value', 'previous', 'threshold'], LONG),
    evidence: /* @__PURE__ */ properties({
      ...each(['aggregate', 'metric', 'nodeName'], KEYWORD),
      ...each(['value', 'nodeId', 'hop'], LONG),
    }),
  },
  flows: {
    ...COMMON,
    reason: KEYWORD,
    ...each(['packets', 'firstNs', 'lastNs', 'pathChanges', 'pathLength', 'hopsBeyond'], LONG),
    hops: /* @__PURE__ */ properties({
      nodeId: LONG,
      nodeName: KEYWORD,
      ...each(
        METRIC_NAMES.filter((name) => name !== 'nodeId'),
        STATISTICS,
      ),
    }),
    endToEnd: STATISTICS,
  },
};

/**
 * The index template of one kind of record. Every field that a record can have is mapped; what else comes is kept in the
 * document and not indexed, so that no record can make the mapping grow.
 * @param units of the numbers, which stay as the switches reported them: the mapping names them in `_meta`; `null`: not known
 */
export function indexTemplate(
  kind: RecordKind,
  { prefix = 'int-', rotate = 'day' }: TemplateScope = {},
  { shards = 1, replicas = 1, refreshInterval = '5s' }: TemplateOptions = {},
  units: UnitsByMetric | null = null,
): IndexTemplate {
  const stem = `${prefix}${kind}`;
  return {
    index_patterns: [rotate === 'none' ? stem : `${stem}-*`],
    priority: PRIORITY,
    version: VERSION,
    template: {
      settings: {
        'index.number_of_shards': shards,
        'index.number_of_replicas': replicas,
        'index.refresh_interval': refreshInterval,
        'index.codec': 'best_compression',
      },
      mappings: { dynamic: false, ...(units !== null && { _meta: { units } }), properties: FIELDS[kind] },
    },
  };
}
