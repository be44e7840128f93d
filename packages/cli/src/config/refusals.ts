/** What a running `int collect` cannot change. */
import { isDeepStrictEqual } from 'node:util';
import { type DeviceSpec, Topology } from '@int/network';
import { EXIT, FileProblems } from '../io.js';
import type { IntConfig } from './config.js';
import type { ValuePath } from './document.js';
import type { ReadConfig } from './read-config.js';
import { isOneForWorkers } from './workers/split.js';

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
  'dashboard',
  'topology',
  'keepUnknownSwitches',
  'workers',
  'sinks',
]);

const START_ANEW = 'start the command anew';

function differs(before: IntConfig, after: IntConfig, key: keyof IntConfig): boolean {
  return !isDeepStrictEqual(before[key], after[key]);
}

/** Members that no reload knows how to change. */
function fixedMembers(before: IntConfig, after: IntConfig): Refusal[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof IntConfig)[];
  return keys
    .filter((key) => !CHANGEABLE.has(key) && differs(before, after, key))
    .map((key) => ({ path: [key], message: `${key}: a reload cannot change it: ${START_ANEW}` }));
}

/** Threads whose sinks have spools: others could open these only after all have closed. */
function inWorkers(before: ReadConfig, after: ReadConfig): Refusal[] {
  const [from, to] = [before.config, after.config];
  if (from.workers === undefined || isOneForWorkers(before, after, ONE, ONE)) return [];
  const directoriesOf = ({ sinks = [] }: IntConfig): (string | undefined)[] =>
    sinks.map(({ kafka }) => kafka?.spool?.directory);
  const open = directoriesOf(from);
  const index = directoriesOf(to).findIndex((directory) => directory !== undefined && open.includes(directory));
  if (index < 0) return [];
  const message = `workers begin anew with this change, and those at work have this spool open: give another folder, or ${START_ANEW}`;
  return [{ path: ['sinks', index, 'kafka', 'spool'], message }];
}

const ONE = { topology: Topology.NONE };

/** Rules in the kernel: the program that has them is the one program of its interface, with state that a detector shares. */
function inKernel(before: IntConfig, after: IntConfig): Refusal[] {
  const xdp = ({ sources }: IntConfig) => sources.find(({ afxdp }) => afxdp !== undefined)?.afxdp;
  const [from, to] = [xdp(before), xdp(after)];
  if (from?.prefilter !== true && to?.prefilter !== true) return [];
  const why = 'the pre-filter in the kernel and the detector behind it begin together';
  const index = after.sources.findIndex(({ afxdp }) => afxdp !== undefined);
  const path = index < 0 ? ['sources'] : ['sources', index];
  if (!isDeepStrictEqual(from, to)) return [{ path, message: `an afxdp source: ${why}: ${START_ANEW}` }];
  const refused: Refusal[] = [];
  if (differs(before, after, 'decode')) refused.push({ path: ['decode'], message: `decode: ${why}: ${START_ANEW}` });
  // Units are of no concern to it.
  const read = ({ device = {} }: IntConfig): DeviceSpec => ({ ...device, units: {}, switches: {} });
  if (!isDeepStrictEqual(read(before), read(after))) {
    refused.push({ path: ['device'], message: `device, but for its units: ${why}: ${START_ANEW}` });
  }
  if (differs(before, after, 'detect')) {
    const hint = 'the rules file may change, it is read again';
    refused.push({ path: ['detect'], message: `detect: ${why}: ${START_ANEW} (${hint})` });
  }
  return refused;
}

/** What two parts cannot have at the same time. */
function inPlace(before: IntConfig, after: IntConfig): Refusal[] {
  const refused: Refusal[] = [];
  const [old, dart] = [before.dart, after.dart];
  if (old !== undefined && dart !== undefined && old.store === dart.store && differs(before, after, 'dart')) {
    refused.push({
      path: ['dart'],
      message: `dart: the store is open, and one of another shape needs a folder of its own: give one, or ${START_ANEW}`,
    });
  }
  return refused;
}

function ofSources(before: IntConfig, after: IntConfig): Refusal[] {
  const isCapture = ({ sources }: IntConfig): boolean => sources.every(({ pcap }) => pcap !== undefined);
  const refused: Refusal[] = [];
  if (isCapture(before) && !isCapture(after)) {
    refused.push({
      path: ['sources'],
      message: `the captures so far wait for the reader of the output, and a source that goes on does not: ${START_ANEW}`,
    });
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
  const found = [
    ...inWorkers(before, after),
    ...[fixedMembers, inKernel, inPlace, ofSources].flatMap((find) => find(from, to)),
  ];
  const page = (to.sinks ?? []).findIndex(({ prometheus }) => prometheus !== undefined);
  if (hasOwnMetrics && page >= 0) {
    found.push({
      path: ['sinks', page],
      message: 'prometheus: the command was started with --metrics, which has the page: start it without',
    });
  }
  if (found.length === 0) return null;
  return new FileProblems(
    found.flatMap(({ path, message }) => after.problem(path, message).lines),
    undefined,
    EXIT.USAGE,
  );
}
