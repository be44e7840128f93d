/** Which settings read a sample best: it is decoded under candidates, which are ranked. */
import type { Profile } from '@int/codec';
import { CODE_NAMES, type CodeName } from '@int/codec';
import { CODE_STATUS, PROFILES } from '@int/codec/internals';
import type { DeviceSpec, UnitsSpec } from '../device/spec.js';
import { changesOf, deviationsOf, type Settings, type TriedSetting } from './changes.js';
import { doubtsOf } from './doubts.js';
import { marksOf, type Ranking, type SampleMarks } from './marks.js';
import { type Reading, SampleReader } from './reading.js';
import type { FrameSample } from './sample.js';
import { type UnitFinding, unitsOf } from './units.js';

export interface TrialOptions {
  /** The settings to compare with, and to change as little as possible. Default: those of the decoder. */
  readonly base?: Settings;
  /** Milliseconds after which no further candidate is tried. Default 5000. */
  readonly withinMs?: number;
  /** Whether units are looked for. Default true. */
  readonly units?: boolean;
}

/** A profile with the settings that go with it, and what it read. */
export interface Tried {
  readonly profile: Profile;
  readonly settings: Settings;
  /** Settings other than the base's. */
  readonly deviations: readonly TriedSetting[];
  readonly reading: Reading;
}

/** What was found. */
export interface DialectTrial {
  /** The settings that read the sample best; `null`: nothing here looks like INT. */
  readonly settings: Settings | null;
  /** The settings of `settings` that differ from the base's. */
  readonly deviations: readonly TriedSetting[];
  /** The same as a description of the device, with units and the ports of the reports that were found. */
  readonly device: DeviceSpec | null;
  /** Frames that were tried. */
  readonly frames: number;
  /** Frames that hold telemetry and are read without a problem. */
  readonly ok: number;
  /** Frames that hold telemetry as far as any candidate can say; the others are plain traffic. */
  readonly telemetry: number;
  /** How much of that is read, 0 to 1. A report whose INT was not found counts half. */
  readonly explained: number;
  /** Frames read so which the base does not read, or of which it reads less. */
  readonly gained: number;
  /** UDP ports of reports that were found, the most frequent first. */
  readonly reportPorts: readonly number[];
  /** What is not sure, a sentence each. */
  readonly doubts: readonly string[];
  /** Each profile that reads something, with the best settings found for it, the best first. `explained` as above. */
  readonly tried: readonly { readonly profile: Profile; readonly settings: Settings; readonly explained: number }[];
}

/** Changes to a profile's settings, at most. */
const MOST_CHANGES = 6;
/** A change must gain at least this part of the frames. */
const LEAST_GAIN = 0.005;
/** So few frames prove a change only if their node ids look like ids, or if the sample is so small that chance is no cause. */
const FEW = 3;
const SMALL_SAMPLE = 8;
/** Of a reading, at least this share must be sound, or have plausible ids. */
const LEAST_SOUND = 0.5;
/** Readings as good as this, of the best score, are ranked by how little they change. */
const NEARLY = 0.995;

/** The UDP ports to which tools send by default: they tell dialects apart whose bytes are the same. */
const USUAL_PORT: Readonly<Partial<Record<Profile, number>>> = {
  intcollector: 54321,
  'geant-generator': 8090,
  'int-afxdp-kafka': 4321,
  intmon: 54321,
};

/**
 * Decodes a sample under all profiles, and under the INT ports, DSCPs, GRE protocols, probe markers and report ports that
 * the sample shows, and says which settings read it best. Bounded by the sample, by candidates and by time.
 *
 * @example
 * const sample = new FrameSample();
 * sample.offer(frame, 0, frame.length, 'ethernet');
 * tryDialects(sample).device; // { intDscp: '0x20' }
 */
export function tryDialects(sample: FrameSample, options: TrialOptions = {}): DialectTrial {
  const { base = {}, withinMs = 5000, units: wantsUnits = true } = options;
  const reader = new SampleReader(sample);
  const until = performance.now() + withinMs;
  const plain = reader.read(base);
  const marks = new Map<Profile, SampleMarks>();
  const tried: Tried[] = [];
  for (const profile of profilesFrom(base.profile ?? 'spec')) {
    if (performance.now() > until && tried.length > 0) break;
    const found = marksOf(reader.groups, profile);
    marks.set(profile, found);
    const start: Settings = profile === (base.profile ?? 'spec') ? base : { ...base, profile };
    const { settings, reading } = improve(reader, start, found, until);
    const one = { profile, settings, reading, deviations: deviationsOf(settings, base) };
    if (tried.length === 0 || isCredible(one, found.reportPorts)) tried.push(one);
  }
  const ports = (profile: Profile): Ranking<number> => marks.get(profile)!.reportPorts;
  const ranked = rank(tried, ports);
  const best = ranked[0]!;
  const isFound = isCredible(best, ports(best.profile));
  const { telemetry, most } = whatIsThere(ranked, isFound);
  const shareOf = ({ worth }: Reading): number =>
    most === 0 ? 0 : Math.min(1, worth.reduce((sum, each) => sum + Math.max(0, each), 0) / most);
  const reportPorts = isFound ? ports(best.profile).map(([port]) => port) : [];
  const units: UnitFinding =
    isFound && wantsUnits ? unitsOf(reader.timedHops(best.settings, 16_384)) : { units: {}, doubts: [] };
  return {
    settings: isFound ? best.settings : null,
    deviations: isFound ? best.deviations : [],
    device: isFound ? deviceOf(best.settings, namedPorts(reader, best, reportPorts), units.units) : null,
    frames: reader.size,
    ok: isFound ? best.reading.ok : 0,
    telemetry,
    explained: isFound ? shareOf(best.reading) : 0,
    gained: isFound ? gainedOver(plain, best.reading) : 0,
    reportPorts,
    doubts: [...doubtsOf(ranked, isFound, wrongCodes(best.reading)), ...units.doubts],
    tried: ranked.map(({ profile, settings, reading }) => ({ profile, settings, explained: shareOf(reading) })),
  };
}

const profilesFrom = (first: Profile): Profile[] => [first, ...PROFILES.filter((profile) => profile !== first)];

/** Takes the change that helps most, again and again, while one helps. */
function improve(
  reader: SampleReader,
  start: Settings,
  marks: SampleMarks,
  until: number,
): { readonly settings: Settings; readonly reading: Reading } {
  let settings = start;
  let reading = reader.read(start);
  const least = Math.max(0.2, LEAST_GAIN * reader.size);
  for (let changes = 0; changes < MOST_CHANGES; changes++) {
    let next: { settings: Settings; reading: Reading } | null = null;
    for (const candidate of changesOf(settings, marks)) {
      if (performance.now() > until) break;
      const result = reader.read(candidate);
      const gained = gainedOver(reading, result);
      const isProven = gained >= FEW || reader.size <= SMALL_SAMPLE || result.plausible >= LEAST_SOUND;
      if (gained === 0 || !isProven || result.score - reading.score < least) continue;
      if (next === null || result.score > next.reading.score) next = { settings: candidate, reading: result };
    }
    if (next === null) break;
    ({ settings, reading } = next);
  }
  return { settings, reading };
}

/** Frames that a reading makes more of than another one. */
function gainedOver(before: Reading, after: Reading): number {
  let gained = 0;
  for (let frame = 0; frame < after.worth.length; frame++) {
    if (after.worth[frame]! > 0 && after.worth[frame]! > before.worth[frame]!) gained++;
  }
  return gained;
}

/** Best first: by score; of those that are nearly as good, by deviations, then by the usual port of the tool. */
function rank(tried: readonly Tried[], ports: (profile: Profile) => Ranking<number>): Tried[] {
  const most = Math.max(...tried.map(({ reading }) => reading.score));
  const isNear = ({ reading }: Tried): boolean => most > 0 && reading.score >= NEARLY * most;
  const isUsual = ({ profile }: Tried): boolean => ports(profile).some(([port]) => port === USUAL_PORT[profile]);
  return [...tried].sort((a, b) => {
    const near = Number(isNear(b)) - Number(isNear(a));
    if (near !== 0) return near;
    if (!isNear(a)) return b.reading.score - a.reading.score;
    return a.deviations.length - b.deviations.length || Number(isUsual(b)) - Number(isUsual(a));
  });
}

/** Whether a reading is more than chance: most of what is marked is sound, or its node ids look like ids. */
function isCredible({ profile, reading }: Tried, ports: Ranking<number>): boolean {
  if (reading.ok === 0) return false;
  const wrong = reading.worth.reduce((sum, worth) => (worth < 0 ? sum + 1 : sum), 0);
  // This dialect has no length or version that could be wrong.
  if (profile === 'int-afxdp-kafka' && !ports.some(([port]) => port === USUAL_PORT[profile])) {
    return reading.plausible >= LEAST_SOUND && reading.telling > 0;
  }
  return (
    reading.ok >= LEAST_SOUND * (reading.ok + wrong) || (reading.plausible >= LEAST_SOUND && reading.telling >= FEW)
  );
}

/** Frames that some candidate reads, or in which the best one finds telemetry with a problem, and what they are worth together. */
function whatIsThere([best, ...others]: readonly Tried[], isFound: boolean): { telemetry: number; most: number } {
  let telemetry = 0;
  let most = 0;
  for (let frame = 0; frame < best!.reading.worth.length; frame++) {
    const isWrong = !['ok', 'not-int'].includes(CODE_STATUS[best!.reading.codes[frame]!]!);
    let worth = isWrong ? 1 : isFound ? best!.reading.worth[frame]! : 0;
    if (isFound) for (const { reading } of others) worth = Math.max(worth, reading.worth[frame]!);
    if (worth > 0) telemetry++;
    most += worth;
  }
  return { telemetry, most };
}

/** What is wrong with frames that are not read, by code, the most frequent first. */
function wrongCodes({ codes }: Reading): (readonly [CodeName, number])[] {
  const counts = new Map<CodeName, number>();
  for (const code of codes) {
    const status = CODE_STATUS[code]!;
    if (status === 'ok' || status === 'not-int') continue;
    counts.set(CODE_NAMES[code]!, (counts.get(CODE_NAMES[code]!) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** The ports of reports, if to name them loses nothing: other packets may go there, too, or there may be more ports. */
function namedPorts(reader: SampleReader, { settings, reading }: Tried, found: readonly number[]): readonly number[] {
  if (settings.reportPorts != null) return settings.reportPorts;
  if (found.length === 0) return [];
  return reader.read({ ...settings, reportPorts: found }).score >= reading.score ? found : [];
}

/** Settings as a description of the device, in the form of a file. */
function deviceOf(settings: Settings, reportPorts: readonly number[], units: UnitsSpec): DeviceSpec {
  const { profile, intPorts, intDscp, greProtocol, probeMarker, probePorts } = settings;
  return {
    ...(Object.keys(units).length > 0 && { units }),
    ...(profile !== undefined && profile !== 'spec' && { profile }),
    ...(intPorts !== undefined && { intPorts }),
    ...(intDscp !== undefined && { intDscp: dscpText(intDscp) }),
    ...(reportPorts.length > 0 && { reportPorts }),
    ...(probePorts !== undefined && { probePorts }),
    ...(greProtocol !== undefined && { greProtocol }),
    ...(probeMarker != null && { probeMarker: probeMarker.toString(16).padStart(16, '0') }),
  };
}

/** A DSCP as options and files have it: `0x20`, or `0x20/0x20` with a mask. */
function dscpText(dscp: NonNullable<Settings['intDscp']> | null): string | null {
  if (dscp === null) return null;
  const text = `0x${dscp.value.toString(16).padStart(2, '0')}`;
  return dscp.mask === 0x3f ? text : `${text}/0x${dscp.mask.toString(16).padStart(2, '0')}`;
}
