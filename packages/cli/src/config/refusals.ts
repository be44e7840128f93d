/** What a running `int collect` cannot change. */
import { isDeepStrictEqual } from 'node:util';
import type { DeviceSpec } from '@int/network';
import { EXIT, FileProblems } from '../io.js';
import { type IntConfig, nameOf } from './config.js';
import type { ValuePath } from './document.js';
import type { ReadConfig } from './read-config.js';
import { isOfWorkers, takesFlows } from './workers/split.js';

interface Refusal {
  readonly path: ValuePath;
  readonly message: string;
}

/** The members that a reload can change, unless a function below has something against it. */
const CHANGEABLE: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'sources',
  'device',
  'decode',
  'detect',
  'flows',
  'dart',
  'drain',
  'topology',
  'keepUnknownSwitches',
  'sinks',
]);

const START_ANEW = 'a reload cannot change it: start the command anew';

function differs(before: IntConfig, after: IntConfig, key: keyof IntConfig): boolean {
  return !isDeepStrictEqual(before[key], after[key]);
}

/** Members that no reload can change, such as the number of threads. */
function fixedMembers(before: IntConfig, after: IntConfig): Refusal[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof IntConfig)[];
  return keys
    .filter((key) => !CHANGEABLE.has(key) && differs(before, after, key))
    .map((key) => ({ path: [key], message: `${key}: ${START_ANEW}` }));
}

/** What belongs to the threads of `workers`. */
function inWorkers(before: IntConfig, after: IntConfig): Refusal[] {
  if (before.workers === undefined || after.workers === undefined) return [];
  const refused: Refusal[] = [];
  if (differs(before, after, 'flows')) refused.push({ path: ['flows'], message: `flows of workers: ${START_ANEW}` });
  if (differs(before, after, 'topology')) {
    refused.push({ path: ['topology'], message: `topology of workers: ${START_ANEW}` });
  }
  const own = ({ sinks = [] }: IntConfig) => sinks.filter(isOfWorkers);
  const [olds, news] = [own(before), own(after)];
  if (!isDeepStrictEqual(olds, news)) {
    const changed = (after.sinks ?? []).findIndex(
      (sink) => isOfWorkers(sink) && !olds.some((old) => isDeepStrictEqual(old, sink)),
    );
    const path = changed < 0 ? ['sinks'] : ['sinks', changed];
    refused.push({ path, message: `sinks of workers (kafka, opensearch): ${START_ANEW}` });
  }
  if (after.flows !== undefined && takesFlows(before) !== takesFlows(after)) {
    refused.push({ path: ['sinks'], message: `whether workers hand their flows to Parquet files: ${START_ANEW}` });
  }
  return refused;
}

/** AF_XDP has threads of its own, and rules in the kernel. */
function inKernel(before: IntConfig, after: IntConfig): Refusal[] {
  const xdp = ({ sources }: IntConfig) => sources.find(({ afxdp }) => afxdp !== undefined)?.afxdp;
  const index = after.sources.findIndex(({ afxdp }) => afxdp !== undefined);
  const path = index < 0 ? ['sources'] : ['sources', index];
  if (!isDeepStrictEqual(xdp(before), xdp(after))) return [{ path, message: `an afxdp source: ${START_ANEW}` }];
  if (index < 0) return [];
  const refused: Refusal[] = [];
  if (differs(before, after, 'decode')) {
    refused.push({ path: ['decode'], message: `decode of an afxdp source: ${START_ANEW}` });
  }
  // Units are of no concern to it.
  const read = ({ device = {} }: IntConfig): DeviceSpec => ({ ...device, units: {}, switches: {} });
  if (!isDeepStrictEqual(read(before), read(after))) {
    refused.push({ path: ['device'], message: `device of an afxdp source, but for its units: ${START_ANEW}` });
  }
  if (xdp(after)!.prefilter === true && differs(before, after, 'detect')) {
    refused.push({ path: ['detect'], message: `detect with a pre-filter: ${START_ANEW}` });
  }
  return refused;
}

/** What two parts cannot have at the same time. */
function inPlace(before: IntConfig, after: IntConfig): Refusal[] {
  const refused: Refusal[] = [];
  const [old, dart] = [before.dart, after.dart];
  if (old !== undefined && dart !== undefined && old.store === dart.store && differs(before, after, 'dart')) {
    refused.push({ path: ['dart'], message: `dart in the same store: ${START_ANEW}` });
  }
  const spools = new Map(
    (before.sinks ?? []).flatMap((sink) => {
      const directory = sink.kafka?.spool?.directory;
      return directory === undefined ? [] : [[directory, sink]];
    }),
  );
  for (const [index, sink] of (after.sinks ?? []).entries()) {
    const directory = sink.kafka?.spool?.directory;
    const owner = directory === undefined ? undefined : spools.get(directory);
    if (owner === undefined || isDeepStrictEqual(owner, sink)) continue;
    const message = `the spool is open, and belongs to the sink '${nameOf(owner)}': give another folder, or start the command anew`;
    refused.push({ path: ['sinks', index, 'kafka', 'spool'], message });
  }
  return refused;
}

function ofSources(before: IntConfig, after: IntConfig): Refusal[] {
  const isCapture = ({ sources }: IntConfig): boolean => sources.every(({ pcap }) => pcap !== undefined);
  const refused: Refusal[] = [];
  if (isCapture(before) && !isCapture(after)) {
    refused.push({ path: ['sources'], message: `captures alone, without a source that goes on: ${START_ANEW}` });
  }
  for (const [index, source] of after.sources.entries()) {
    if (source.pcap?.file !== '-' || before.sources.some((old) => isDeepStrictEqual(old, source))) continue;
    refused.push({
      path: ['sources', index],
      message: 'standard input is read at the start only: start the command anew',
    });
  }
  return refused;
}

/** Why a running command cannot go from one configuration to another, with positions in that; `null` if it can. */
export function refusals(before: ReadConfig, after: ReadConfig, hasOwnMetrics: boolean): FileProblems | null {
  const [from, to] = [before.config, after.config];
  const found = [fixedMembers, inWorkers, inKernel, inPlace, ofSources].flatMap((find) => find(from, to));
  const page = (to.sinks ?? []).findIndex(({ prometheus }) => prometheus !== undefined);
  if (hasOwnMetrics && page >= 0) {
    found.push({ path: ['sinks', page], message: 'prometheus: the command was started with --metrics' });
  }
  if (found.length === 0) return null;
  return new FileProblems(
    found.flatMap(({ path, message }) => after.problem(path, message).lines),
    undefined,
    EXIT.USAGE,
  );
}
