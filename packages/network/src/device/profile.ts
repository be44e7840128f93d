import type { DecodeOptions, MetricName, Profile } from '@int/codec';
import { PROFILES } from '@int/codec/internals';
import { NetworkError, type NetworkProblem } from '../errors.js';
import { type IdRange, idRangesOf } from '../ids.js';
import { amountOf, parseQuantity, quoted } from '../units/quantity.js';
import {
  cellScale,
  clockTick,
  fullScale,
  isSameScale,
  MEASURED_METRICS,
  type Scale,
  unitScale,
} from '../units/scale.js';
import { ValueError } from '../units/value-error.js';
import { type Prefix, prefixOf } from './prefix.js';
import type { DeviceSpec, UnitSpec, UnitsSpec } from './spec.js';
import { type MetricUnit, unitOfScale, valueText } from './unit.js';

/** What a unit can be of: metrics, and timestamps. */
export type Measured = MetricName | 'timestamps';

/** What has a unit. */
const MEASURED = [...MEASURED_METRICS, 'timestamps'] as const;

/** The units of a profile, for JSON; see {@link DeviceProfile.units}. */
export interface UnitsByMetric
  extends Readonly<
    Record<'hopLatency' | 'queueOccupancy' | 'bufferOccupancy' | 'egressUtilization' | 'timestamps', MetricUnit | null>
  > {
  /** Ids `from` to `to` whose units are others. The first that has an id and a metric counts. */
  readonly switches: readonly (IdRange & { readonly units: Readonly<Partial<Record<Measured, MetricUnit>>> })[];
}

interface SwitchUnits {
  readonly ranges: readonly IdRange[];
  readonly scales: ReadonlyMap<Measured, Scale>;
}

type Path = readonly (string | number)[];

/**
 * What a network's switches are like: the unit of each number that they report, the dialect they speak, and who may send.
 *
 * Everything that shows or exports a number asks this. A number whose unit nobody said stays a plain number.
 *
 * @example
 * const profile = new DeviceProfile({ units: { hopLatency: 'us' }, switches: { '3-5': { units: { hopLatency: 'ns' } } } });
 * profile.unit('hopLatency', 4); // { text: 'ns', base: 'seconds', factor: 1e-9 }
 */
export class DeviceProfile {
  /** Nothing is known: all numbers are plain, everybody may send, packets are decoded by the defaults. */
  static readonly NONE: DeviceProfile = new DeviceProfile();

  /** As it was written. */
  readonly spec: DeviceSpec;
  /** How packets are decoded; `linkType` comes from the source. */
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  /** Who may send; `null`: anybody. */
  readonly sources: readonly Prefix[] | null;
  readonly #scales: ReadonlyMap<Measured, Scale>;
  readonly #switches: readonly SwitchUnits[];
  readonly #units = new Map<Scale, MetricUnit>();

  /** @throws NetworkError with all problems of the description */
  constructor(spec: DeviceSpec = {}) {
    const problems: NetworkProblem[] = [];
    this.spec = spec;
    this.#scales = readUnits(spec.units ?? {}, ['units'], problems);
    this.#switches = Object.entries(spec.switches ?? {}).flatMap(([key, { units }]) => {
      const path = ['switches', key];
      const ranges = idRangesOf(key);
      if (ranges === null)
        problems.push({ path, message: `${quoted(key)} is no switch id or range: write 3, 3-5 or 3, 7-9` });
      const scales = readUnits(units, [...path, 'units'], problems);
      return ranges === null ? [] : [{ ranges, scales }];
    });
    const sources = (spec.sources ?? []).flatMap((text, index) => {
      const prefix = prefixOf(text);
      if (prefix !== null) return [prefix];
      problems.push({
        path: ['sources', index],
        message: `${quoted(text)} is no address or prefix: write 10.9.0.0/16`,
      });
      return [];
    });
    this.sources = spec.sources === undefined ? null : sources;
    this.decode = readDecode(spec, problems);
    if (problems.length > 0) throw new NetworkError(problems);
  }

  /** The unit of a number that a switch reports; `null`: nobody said. @param switchId without it: of most switches */
  unit(measured: Measured, switchId?: number): MetricUnit | null {
    const scale = this.scale(measured, switchId);
    if (scale === null) return null;
    let unit = this.#units.get(scale);
    if (unit === undefined) {
      unit = unitOfScale(scale);
      this.#units.set(scale, unit);
    }
    return unit;
  }

  /** The scale of a number at a switch, for {@link unit} and for rules. */
  scale(measured: Measured, switchId?: number): Scale | null {
    if (switchId !== undefined) {
      for (const { ranges, scales } of this.#switches) {
        const own = scales.get(measured);
        if (own !== undefined && ranges.some(({ from, to }) => switchId >= from && switchId <= to)) return own;
      }
    }
    return this.#scales.get(measured) ?? null;
  }

  /** The ids whose scale is given on its own, with it; those of `scale()` are not among them. */
  ownScales(measured: Measured): { readonly range: IdRange; readonly scale: Scale }[] {
    return this.#switches.flatMap(({ ranges, scales }) => {
      const scale = scales.get(measured);
      return scale === undefined ? [] : ranges.map((range) => ({ range, scale }));
    });
  }

  /** All units, for JSON: of most switches, and of those that have their own; `null` where nobody said. */
  units(): UnitsByMetric {
    const usual = Object.fromEntries(MEASURED.map((name) => [name, this.unit(name)])) as Record<
      Measured,
      MetricUnit | null
    >;
    const switches = this.#switches.flatMap(({ ranges, scales }) => {
      const units = Object.fromEntries([...scales].map(([name, scale]) => [name, unitOfScale(scale)]));
      return ranges.map(({ from, to }) => ({ from, to, units }));
    });
    return { ...usual, switches };
  }

  /** Whether a number of all switches is in one unit, or in none. */
  isUniform(measured: Measured): boolean {
    const usual = this.#scales.get(measured);
    return this.ownScales(measured).every(({ scale }) => usual !== undefined && isSameScale(scale, usual));
  }

  /** A value with its unit, for people: `1.25 ms`. @param value in device units */
  text(measured: Measured, value: number, switchId?: number): string {
    return valueText(value, this.unit(measured, switchId));
  }
}

function readUnits(spec: UnitsSpec, path: Path, problems: NetworkProblem[]): Map<Measured, Scale> {
  const scales = new Map<Measured, Scale>();
  for (const [name, value] of Object.entries(spec) as [string, UnitSpec | undefined][]) {
    if (value === undefined) continue;
    try {
      scales.set(name as Measured, readUnit(name, value));
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      problems.push({ path: [...path, name], message: error.message });
    }
  }
  return scales;
}

function readUnit(name: string, value: UnitSpec): Scale {
  if (name === 'timestamps') return timeScale(value);
  const metric = MEASURED_METRICS.find((each) => each === name);
  if (metric === undefined) {
    throw new ValueError('BAD_VALUE', `${quoted(name)} has no unit: there are ${MEASURED.join(', ')}`);
  }
  if (typeof value === 'string') return unitScale(metric, value);
  return 'cell' in value ? cellScale(metric, value.cell) : fullScale(metric, value.full);
}

function timeScale(value: UnitSpec): Scale {
  const text = typeof value === 'string' ? value.trim() : '';
  const tick = clockTick(text);
  if (tick !== null) return { text, per: new Map([['time', tick]]) };
  const quantity = /^[\d.]/.test(text) ? parseQuantity(text) : { number: '1', unit: text };
  const { dimension, amount } = amountOf(quantity);
  if (dimension !== 'time')
    throw new ValueError('WRONG_UNIT', `timestamps are times: write ns, us or clock(200MHz), not ${text}`);
  return { text, per: new Map([['time', amount]]) };
}

const DSCP = /^(0x[\da-f]{1,2}|\d{1,2})(?:\/(0x[\da-f]{1,2}|\d{1,2}))?$/i;

function readDecode(spec: DeviceSpec, problems: NetworkProblem[]): DeviceProfile['decode'] {
  const { profile, intPorts, intDscp, reportPorts, probePorts, greProtocol, probeMarker } = spec;
  const decode: { -readonly [Name in keyof DecodeOptions]: DecodeOptions[Name] } = {};
  if (profile !== undefined) {
    if (PROFILES.includes(profile as Profile)) decode.profile = profile as Profile;
    else problems.push({ path: ['profile'], message: `${quoted(profile)} is none of ${PROFILES.join(', ')}` });
  }
  for (const [name, ports] of Object.entries({ intPorts, reportPorts, probePorts })) {
    if (ports === undefined) continue;
    decode[name as 'intPorts'] = ports;
    for (const [index, port] of ports.entries()) {
      if (!isUint16(port)) problems.push({ path: [name, index], message: `${port} is no port: write 0 to 65535` });
    }
  }
  if (intDscp === null) decode.intDscp = null;
  else if (intDscp !== undefined) {
    const [, value = '', mask = '63'] = DSCP.exec(String(intDscp)) ?? [];
    const dscp = { value: Number(value), mask: Number(mask) };
    if (value !== '' && dscp.value <= 63 && dscp.mask <= 63) decode.intDscp = dscp;
    else
      problems.push({
        path: ['intDscp'],
        message: `${quoted(String(intDscp))} is no DSCP: write 0x17, or 0x20/0x20 with a mask`,
      });
  }
  if (greProtocol !== undefined) {
    if (isUint16(greProtocol)) decode.greProtocol = greProtocol;
    else problems.push({ path: ['greProtocol'], message: `${greProtocol} is no EtherType: write 0 to 0xffff` });
  }
  if (probeMarker !== undefined) {
    if (/^(?:0x)?[\da-f]{1,16}$/i.test(probeMarker))
      decode.probeMarker = BigInt(`0x${probeMarker.replace(/^0x/i, '')}`);
    else
      problems.push({
        path: ['probeMarker'],
        message: `${quoted(probeMarker)} is no marker: write 1 to 16 hexadecimal digits`,
      });
  }
  return decode;
}

const isUint16 = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 0xffff;
