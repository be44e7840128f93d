/** Schemas of GPINT probes: three counted lists. */
import type { GpintMeta, GpintProbe } from '../headers/index.js';
import { type HeaderSchema, Parser, schema } from './schema.js';

/** A probe with its counts. */
export interface GpintFields extends GpintProbe {
  routeCount: number;
  switchCount: number;
  measurementCount: number;
}

const TYPES = ['rule-hits', 'port-packets'] as const;
const probeType = { formatter: (bit: number): (typeof TYPES)[number] => TYPES[bit === 0 ? 0 : 1] } as const;

/** A feedback: the request meta, and nothing else. */
export const gpintMetaSchema: HeaderSchema<GpintMeta> = /* @__PURE__ */ schema('gpint', () =>
  new Parser().bit15('requestId').bit1('type', probeType),
);

const probe = (hop: () => Parser, dlv: () => Parser): HeaderSchema<GpintFields> =>
  schema('gpint', () =>
    new Parser()
      .bit15('requestId')
      .bit1('type', probeType)
      .uint16('routeCount')
      .array('route', { type: hop(), length: 'routeCount' })
      .uint16('switchCount')
      .array('switches', { type: dlv(), length: 'switchCount' })
      .uint16('measurementCount')
      .array('measurements', { type: 'uint32be', length: 'measurementCount' }),
  );

export const gpintProbeSchema: HeaderSchema<GpintFields> = /* @__PURE__ */ probe(
  () => new Parser().uint8('nextPort').uint8('firstMeasurement').uint8('measurementCount'),
  () => new Parser().uint8('switchId').uint8('queueDepth').uint16('measurementCount'),
);

export const gpintProbeExtendedSchema: HeaderSchema<GpintFields> = /* @__PURE__ */ probe(
  () => new Parser().uint16('nextPort').uint8('firstMeasurement').uint8('measurementCount'),
  () => new Parser().uint16('switchId').uint16('queueDepth').uint16('measurementCount'),
);
